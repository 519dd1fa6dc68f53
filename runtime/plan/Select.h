//===- Select.h - which variant serves a request ----------------------------===//
//
// Guard look-up over the manifest's table, and its explanation (G1, G4).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_SELECT_H
#define NVFP4_RUNTIME_PLAN_SELECT_H

#include "runtime/bundle/Bundle.h"

namespace nvfp4rt {

/// The variant of `family` whose guard holds; at most one does. Borrowed from the bundle.
/// NVFP4RT_ERROR_UNKNOWN_FIELD when the request names a field that no guard of the family has, or
/// lacks one that all of them have; else NVFP4RT_ERROR_NO_MATCH with the nearest variant: the one
/// with the most passed terms, and of those the one whose failed term is closest to the value.
Result<const Variant *> selectVariant(const Bundle &bundle, std::string_view family,
                                      const Request &request);

/// One line a variant of the family: "NAME: match" or "NAME: " and the first failed term with both
/// values. NVFP4RT_ERROR_NO_MATCH when the bundle has no such family.
Result<std::string> explainRequest(const Bundle &bundle, std::string_view family,
                                   const Request &request);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_SELECT_H
