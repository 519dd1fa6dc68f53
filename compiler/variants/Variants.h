//===- Variants.h - the finite list of variants of a spec -------------------===//
//
// Rules G1 and G2: every (phase, query length, request count) a spec allows maps
// to exactly one variant of each family, known before anything is compiled.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_VARIANTS_VARIANTS_H
#define NVFP4GEN_COMPILER_VARIANTS_VARIANTS_H

#include "compiler/variants/Family.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <vector>

namespace nvfp4gen {

struct VariantList {
  std::vector<KernelPlan> kernels;        ///< unique by symbol, sorted by symbol
  std::vector<nvfp4rt::Variant> variants; ///< family by family, phase, query length, bucket
};

/// Cells of a spec: phases in order; for decode and verify each of their query lengths; for each
/// the request ranges (previous bucket + 1 .. bucket).
std::vector<Cell> cellsOf(const Spec &spec);

/// What a spec says of a guard field on the configuration: Equal to this is the term a family
/// writes for a field it specializes on. Phase, query length and request count are not the spec's
/// to say: empty for these.
std::optional<int64_t> configValue(const Spec &spec, nvfp4rt::Field field);

/// Specialize a plan on a field: a guard term Equal to what the spec says of it, and `prefix` with
/// that value as a part of the kernel's name.
void specialize(CellPlan &plan, const Spec &spec, std::string_view prefix, nvfp4rt::Field field);

/// Enumerate with the families given. A family that answers some cells and not others, two kernels
/// of one symbol with different plans, and guards that overlap or leave a gap are errors naming
/// both sides (G2).
llvm::Expected<VariantList> enumerateVariants(const Spec &spec,
                                              std::span<const Family *const> families);

/// `nvfp4gen list`: a table for people, or the map of G2 as JSON.
void printList(const Spec &spec, const VariantList &list, llvm::raw_ostream &os);
llvm::json::Value listJson(const Spec &spec, const VariantList &list);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_VARIANTS_VARIANTS_H
