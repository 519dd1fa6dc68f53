//===- Queries.h - query rows as MFMA operands ------------------------------===//
//
// A workgroup loads the columns (row, head) of its queries once, rounds
// them to fp16 and stages them in LDS, from where every wave reads them as the B
// operand of K Q^T: lane l holds column l % 16 of a tile and, in step s, dims
// 32 (l / 16) + 8s .. + 7, as fragments::dequantize32 orders the keys.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_QUERIES_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_QUERIES_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

inline constexpr unsigned kTileColumns = 16;
inline constexpr unsigned kMfmaSteps = 4;

/// LDS bytes of `tiles` tiles of columns of `headDim` dims.
unsigned stagedQueryBytes(unsigned tiles, int64_t headDim);

/// A column to be staged.
struct QueryColumn {
  Val exists; ///< i1; others become 0 and are not loaded
  Val offset; ///< i64: bytes from the argument `<rows>.base`
};

/// Stage `tiles` tiles; `item` is the work-item of `workgroup`, a multiple of 256; `column` maps a
/// column index (i32) to where it is. A barrier must follow before readQueries.
void stageQueries(KernelBuilder &kb, DType dtype, int64_t headDim, unsigned tiles,
                  std::string_view rows, Val shared, Val item, int64_t workgroup,
                  llvm::function_ref<QueryColumn(Val index)> column);

/// B operands, [tile][step].
llvm::SmallVector<KernelBuilder::Vals> readQueries(KernelBuilder &kb, int64_t headDim,
                                                   unsigned tiles, Val shared, Val lane);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_QUERIES_H
