//===- Family.h - what a kernel family tells the generator ------------------===//
//
// A family (templates/Families.def) turns a guard cell into a kernel. The
// generator enumerates the cells of a spec, asks each family which kernel serves
// each cell, and lets cells with the same answer share one function.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_VARIANTS_FAMILY_H
#define NVFP4GEN_COMPILER_VARIANTS_FAMILY_H

#include "compiler/spec/Spec.h"
#include "runtime/bundle/Manifest.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvfp4gen {

class KernelBuilder;

/// One cell of the guard space: a phase, a query length (0 in prefill) and a request bucket.
struct Cell {
  Phase phase;
  int64_t queryLen;
  int64_t requestsLow, requestsHigh; ///< inclusive; requestsHigh is the bucket
};

/// A function to be emitted.
struct KernelPlan {
  std::string symbol; ///< carries every parameter the code was specialized for
  std::string_view family;
  nvfp4rt::GridAxis grid[3];
  uint32_t block[3] = {1, 1, 1};
  /// Whether LLVM may use v_pk_*_f32: two fp32 operations an instruction. One form of v_pk_fma_f32,
  /// op_sel:[0,1,0], is reported wrong on gfx950, so only kernels that gain from it ask for it.
  bool packedFp32 = false;
  /// Emit the body; runs on any thread, once a build.
  std::function<void(KernelBuilder &)> emit;
};

/// How a family serves a cell.
struct CellPlan {
  KernelPlan kernel;
  /// Guard terms on configuration fields (dtype, kv_heads, page_size ...), in the order in which a
  /// mismatch should be reported; phase, query_len and requests are added from the cell.
  std::vector<nvfp4rt::Term> config;
  nvfp4rt::Workspace workspace;
};

struct Family {
  std::string_view name;
  /// Empty when the spec has no use for the family (for example kv_store of a cache without
  /// planes).
  std::optional<CellPlan> (*plan)(const Spec &spec, const Cell &cell);
};

/// All families, in registry order.
std::span<const Family *const> families();

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_VARIANTS_FAMILY_H
