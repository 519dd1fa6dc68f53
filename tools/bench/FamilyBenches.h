//===- FamilyBenches.h - one bench a kernel family ----------------------------===//
//
// Owns: the interface between the walk over families and shapes and what each family
// knows of itself, and the table of families, made from templates/Families.def: a row
// without bench<CamelName> does not link.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_FAMILYBENCHES_H
#define NVFP4GEN_TOOLS_BENCH_FAMILYBENCHES_H

#include "tools/bench/Bench.h"

#include <span>
#include <string_view>

namespace bench {

struct FamilyBench {
  std::string_view unit;  ///< what counts are given for each of: "row", "page"
  std::string_view floor; ///< what the floor is made of
  std::span<const Shape> shapes;
  /// Inputs in device memory, launches that others depend on, the counted launch.
  /// NVFP4RT_ERROR_NO_MATCH: the bundle does not serve the shape.
  Result<Outcome> (*run)(Device &device, const Shape &shape);
};

struct FamilyEntry {
  std::string_view name;
  const FamilyBench *bench;
};

/// All families, in registry order.
std::span<const FamilyEntry> familyEntries();

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_FAMILYBENCHES_H
