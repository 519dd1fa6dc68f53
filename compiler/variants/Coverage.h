//===- Coverage.h - every step a spec allows has exactly one variant --------===//
//
// Rule G2, checked on the guards themselves with the runtime's own matcher.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_VARIANTS_COVERAGE_H
#define NVFP4GEN_COMPILER_VARIANTS_COVERAGE_H

#include "compiler/spec/Spec.h"
#include "runtime/bundle/Manifest.h"

#include "llvm/Support/Error.h"

#include <span>

namespace nvfp4gen {

/// `variants` are all variants of one family, at least one. The first guard that asks for other
/// fields than its siblings, and the first request count that no guard or more than one guard
/// serves, is an error naming the variants.
llvm::Error checkCoverage(const Spec &spec, std::span<const nvfp4rt::Variant> variants);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_VARIANTS_COVERAGE_H
