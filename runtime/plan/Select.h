//===- Select.h - which variant serves a request ----------------------------===//
//
// The guards of a family evaluated one by one, and their explanation (G1, G4).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_SELECT_H
#define NVFP4_RUNTIME_PLAN_SELECT_H

#include "runtime/bundle/Bundle.h"

namespace nvfp4rt {

/// Why a request is one for no variant of the family at all: a field that none of its guards has,
/// or none of a field that all of them have (NVFP4RT_ERROR_UNKNOWN_FIELD); or no such family
/// (NVFP4RT_ERROR_NO_MATCH). Values are not looked at.
std::optional<Error> wrongFields(const Bundle &bundle, std::string_view family,
                                 const Request &request);

/// Of the variants that refuse a request the nearest (G4): the one with the most passed terms, and
/// of those the one whose failed term is closest to the request's value.
class Nearest {
public:
  void consider(std::string_view variant, const Mismatch &miss);
  std::string_view variant() const { return variant_; }
  /// "nearest is VARIANT: expected requests in [3, 4], found 5".
  std::string text() const;

private:
  std::string_view variant_;
  Mismatch miss_;
};

/// The error of a request that no guard holds for: wrongFields(), else NVFP4RT_ERROR_NO_MATCH with
/// the nearest variant and the text of explainRequest().
Error whyNone(const Bundle &bundle, std::string_view family, const Request &request);

/// The variant of `family` whose guard holds; at most one does. Borrowed from the bundle. Walks the
/// guards one by one: Index.h is the fast form. The error is that of whyNone().
Result<const Variant *> selectVariant(const Bundle &bundle, std::string_view family,
                                      const Request &request);

/// One line a variant of the family: "NAME: match" or "NAME: " and the first failed term with both
/// values. NVFP4RT_ERROR_NO_MATCH when the bundle has no such family.
Result<std::string> explainRequest(const Bundle &bundle, std::string_view family,
                                   const Request &request);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_SELECT_H
