//===- SpecRules.h - rules over several fields of a spec --------------------===//
//
// A rule looks at fields that are each valid and says whether they fit together.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_SPEC_SPECRULES_H
#define NVFP4GEN_COMPILER_SPEC_SPECRULES_H

#include "compiler/spec/SpecFields.h"

#include <optional>
#include <span>
#include <string>

namespace nvfp4gen::spec {

struct Rule {
  size_t at;      ///< field under which a violation is reported
  FieldSet reads; ///< fields that must be valid before `violation` may run
  /// "expected ..., found ...", or empty when the rule holds.
  std::optional<std::string> (*violation)(const Spec &);
};

std::span<const Rule> rules();

} // namespace nvfp4gen::spec

#endif // NVFP4GEN_COMPILER_SPEC_SPECRULES_H
