//===- Attention.h - host reference of block-sparse attention -----*- C++ -*-===//
//
// Owns: sparse_attention in float64 over the exactly dequantized cache, written
// from rules A, F8, P4 and P5 alone; its bound A6, and the ways to be wrong that the
// bound must catch.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_ATTENTION_H
#define NVFP4GEN_TOOLS_ORACLE_ATTENTION_H

#include "tools/oracle/Oracle.h"
#include "tools/oracle/Pool.h"

#include <optional>

namespace oracle {

struct AttentionShape {
  DType dtype = DType::BF16; ///< of q and out
  int64_t kvHeads = 1;
  int64_t groupHeads = 16; ///< q heads per kv head; q head j of kv head h is h * groupHeads + j
  int64_t headDim = 128;
  int64_t blockSize = 128;
  int64_t topK = 16;
  float scoreScale = 0; ///< fp32(qk_scale) * 1.4426950409f, rounded to fp32
};

/// Host pointers; the caller vouches for their extents. K and V have one block table.
struct AttentionInputs {
  nvfp4rt_rows q{}; ///< [rows, kvHeads * groupHeads, headDim]
  PagedTensor k, v;
  const nvfp4rt_step_row *stepRows = nullptr;
  const int32_t *ids = nullptr;                ///< int32[topK] of (row, kv head)
  int64_t idsRowStride = 0, idsHeadStride = 0; ///< bytes
};

/// A planted error. Tokens are counted in list order over those that the row attends to.
struct Defect {
  static constexpr int64_t kNone = -1;
  int64_t drop = kNone;    ///< this token is left out
  int64_t twice = kNone;   ///< this token counts twice
  int64_t shift = kNone;   ///< this token takes the V row of the token before (the first: after) it
  int64_t causalShift = 0; ///< added to causal_len; the table must reach as far
};

/// A1..A3, P4, P5: [groupHeads][headDim] of (row, kvHead). q is not rounded to anything: the bound
/// is against the model's own numbers. Ids in the list twice count twice; ids that lie past
/// causal_len have no token. With no token at all, zeros (A2).
std::vector<double> sparseAttention(const AttentionShape &shape, const AttentionInputs &inputs,
                                    uint32_t row, int64_t kvHead, const Defect &defect = {});

/// Softmax weights of the tokens of (row, kvHead) for its q head `head` < groupHeads.
std::vector<double> attentionWeights(const AttentionShape &shape, const AttentionInputs &inputs,
                                     uint32_t row, int64_t kvHead, int64_t head);

/// The same contract from the other end: dense causal attention of (row, kvHead) over every token
/// whose block is in `blocks`, in long double. Takes no list: inputs.ids is not read.
std::vector<double> denseAttention(const AttentionShape &shape, const AttentionInputs &inputs,
                                   uint32_t row, int64_t kvHead, std::span<const int32_t> blocks);

/// |got - reference| / |reference| in the Euclidean norm; 0 when both are zero, NaN when `got` has
/// a NaN, infinity when only the reference is zero.
double relativeL2(std::span<const double> reference, const uint16_t *got, DType dtype);

/// A6: the largest relative L2 of one row and q head.
constexpr double attentionBound(DType dtype) { return dtype == DType::BF16 ? 4e-3 : 2e-3; }

/// Compares out [rows, kvHeads * groupHeads, headDim] of `rows` rows: every q head of every row
/// within A6, exactly zero where nothing is selected (A2). The first fault, in words.
std::optional<std::string> checkAttention(const AttentionShape &shape,
                                          const AttentionInputs &inputs, uint32_t rows,
                                          const nvfp4rt_rows &out);

/// A query that gives the token at `position` of (request, kvHead) about `weight` of the softmax
/// over positions [0, causalLen), in model dtype: a multiple of that token's key. 0 < weight < 1.
/// Needs a key that stands out from the others.
std::vector<uint16_t> peakedQuery(const AttentionShape &shape, const PagedTensor &k,
                                  int64_t request, int64_t kvHead, int64_t causalLen,
                                  int64_t position, double weight);

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_ATTENTION_H
