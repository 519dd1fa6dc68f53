//===- NormRope.h - host reference of qk_norm_rope_store ----------*- C++ -*-===//
//
// Owns: rule W2 in float64 with one rounding to the model dtype, the cache written
// through the quantizer of F4..F7; what a kernel may write instead.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_NORMROPE_H
#define NVFP4GEN_TOOLS_ORACLE_NORMROPE_H

#include "tools/oracle/Oracle.h"

#include <optional>

namespace oracle {

/// Values are lifted to double by the caller, whatever their type: weights, cos and sin.
struct NormRopeShape {
  KvStoreShape store; ///< dtype, kvHeads, headDim, indexHeadDim, pageSize; which planes there are
  int64_t qHeads = 0;
  int64_t indexHeads = 0; ///< 0: no index branch, the packed row ends after v
  int64_t rotaryDim = 0;  ///< even, at most either head dim; 0: no RoPE
  double eps = 1e-6;
  bool gemma = true; ///< norm by 1 + w; otherwise by w
};

struct NormRopeValue {
  double value = 0;
  /// Of the terms of which `value` is the sum: |y cos| + |partner sin|. RoPE may cancel; an fp32
  /// error is relative to this.
  double magnitude = 0;
  /// What fp32 loses where x * rsqrt(...) is below its normal numbers: its smallest step, times the
  /// weight that follows.
  double underflow = 0;
};

/// W2 on one head: x * rsqrt(mean(x^2) + eps) * (1 + w), then NeoX RoPE with `cosSin` = rotaryDim
/// values, the first half cosines. Everything in float64, so that no finite model-dtype row
/// overflows: its result is finite. A NaN in x makes every element NaN; an infinity makes itself
/// NaN (and its RoPE partner) and the others 0.
std::vector<NormRopeValue> normRope(const NormRopeShape &shape, std::span<const double> x,
                                    std::span<const double> weight, std::span<const double> cosSin);

/// The values of normRope rounded once.
std::vector<uint16_t> roundValues(std::span<const NormRopeValue> values, DType dtype);

/// Rows in model dtype that are written.
struct OutRows {
  void *base = nullptr;
  int64_t rowStride = 0, headStride = 0; ///< bytes
};

/// Host pointers; the caller vouches for their extents.
struct NormRopeInputs {
  const void *packed = nullptr;       ///< rows [q | k | v | index_q | index_k], model dtype
  int64_t packedStride = 0;           ///< bytes between rows
  const int64_t *positions = nullptr; ///< in range for padded rows as well
  std::span<const double> qWeight, kWeight, indexQWeight, indexKWeight;
  std::span<const double> cosSin; ///< [max_pos][rotaryDim]
  OutRows q, indexQ;              ///< may be the packed row itself
  /// Planes, slots, pages and row count of the cache; its k, v and index_k are not read.
  nvfp4rt_kv_store_args cache{};
};

/// W2. Writes q and index_q of every row, and K, V and index key of rows with a slot.
void qkNormRopeStore(const NormRopeShape &shape, const NormRopeInputs &inputs);

/// Whether a kernel may give `got` for a value: at most one ulp of the dtype from the rounded
/// value, or within 2^-20 of the magnitude where RoPE cancels. NaN for NaN.
bool allows(const NormRopeValue &expected, uint16_t got, DType dtype);

/// Whether `got` is some value within 2^-20 of the magnitude, the error of fp32 arithmetic (and a
/// few steps of underflow), rounded once to the dtype: nearly everywhere one pattern. Stricter than
/// `allows`, and so within 2^-8 (bf16) or 2^-10 (fp16) of the value but where RoPE cancels or the
/// dtype has no normal number. NaN for NaN; either zero for zero.
bool rounds(const NormRopeValue &expected, uint16_t got, DType dtype);

/// Whether `got` is the quantization (F4..F7) of 16 values of which each is one that `allows`.
bool allows(std::span<const NormRopeValue, 16> expected, const Group &got, DType dtype);

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_NORMROPE_H
