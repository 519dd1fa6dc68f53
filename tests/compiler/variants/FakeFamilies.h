//===- FakeFamilies.h - specs and families without a template ---------------===//
#ifndef NVFP4GEN_TESTS_COMPILER_VARIANTS_FAKEFAMILIES_H
#define NVFP4GEN_TESTS_COMPILER_VARIANTS_FAKEFAMILIES_H

#include "compiler/variants/Variants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace nvfp4gen::test {

inline Spec load(std::string_view name) {
  llvm::Expected<Spec> spec = loadSpec(fmt::format(SPEC_DIR "/{}.toml", name));
  if (spec)
    return *spec;
  ADD_FAILURE() << llvm::toString(spec.takeError());
  return {};
}

inline nvfp4rt::Term equalToSpec(const Spec &spec, nvfp4rt::Field field) {
  return {field, nvfp4rt::Relation::Equal, {*configValue(spec, field)}};
}

/// One kernel for all cells, specialized for dtype and kv_heads.
inline CellPlan sharedPlan(const Spec &spec, std::string_view family) {
  CellPlan plan;
  plan.kernel.symbol = fmt::format("{}__hkv{}", family, spec.model.kvHeads);
  plan.kernel.family = family;
  plan.kernel.grid[0] = {"rows", 4, 2};
  plan.kernel.block[0] = 64;
  plan.config = {equalToSpec(spec, nvfp4rt::Field::dtype),
                 equalToSpec(spec, nvfp4rt::Field::kv_heads)};
  plan.workspace = {16, 8};
  return plan;
}

inline constexpr Family kShared = {"shared",
                                   [](const Spec &spec, const Cell &) -> std::optional<CellPlan> {
                                     return sharedPlan(spec, "shared");
                                   }};

/// One kernel a bucket.
inline constexpr Family kPerBucket = {
    "bucket", [](const Spec &spec, const Cell &cell) -> std::optional<CellPlan> {
      CellPlan plan = sharedPlan(spec, "bucket");
      plan.kernel.symbol += fmt::format("_b{}", cell.requestsHigh);
      return plan;
    }};

inline constexpr Family kUnused = {
    "unused", [](const Spec &, const Cell &) -> std::optional<CellPlan> { return std::nullopt; }};

/// The error of an enumeration, "" when it succeeds.
inline std::string faultOf(const Spec &spec, std::vector<const Family *> families) {
  llvm::Expected<VariantList> list = enumerateVariants(spec, families);
  return list ? "" : llvm::toString(list.takeError());
}

inline VariantList enumerate(const Spec &spec, std::vector<const Family *> families) {
  llvm::Expected<VariantList> list = enumerateVariants(spec, families);
  if (list)
    return std::move(*list);
  ADD_FAILURE() << llvm::toString(list.takeError());
  return {};
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_COMPILER_VARIANTS_FAKEFAMILIES_H
