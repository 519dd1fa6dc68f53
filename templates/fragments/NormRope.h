//===- NormRope.h - RMS norm and NeoX RoPE fragments (rule W2) ---------------===//
//
// Work split: 16 lanes a head of 128 dims, 8 consecutive dims a lane, as in
// Quantize.h. Sums and exchanges stay inside these 16 lanes, which must be active.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_NORMROPE_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_NORMROPE_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

inline constexpr unsigned kLanesPerHead = 16;

/// rsqrt(mean(x^2) + eps) of each head, in all its lanes; `heads` are the lane's 8 values of each.
/// An x whose squares overflow in fp32 has the factor it has in real numbers, within 2^-21; the
/// factor is 0 when an x is infinite and NaN when one is NaN.
KernelBuilder::Vals normFactors(KernelBuilder &kb, DType dtype,
                                llvm::ArrayRef<KernelBuilder::Vals> heads, Val eps);

/// What RoPE does to the dims of a lane.
struct Rotation {
  unsigned distance = 0;   ///< lanes between the halves of a pair, a power of two; 0: no RoPE
  KernelBuilder::Vals cos; ///< of each of the 8 dims
  KernelBuilder::Vals sin; ///< negative in the first half
  Val turned;              ///< the lane's dims are below rotary_dim
};

/// Cosines and sines of a row of the cache (fp32, `rotaryDim` values) for lane `headLane` (0..15)
/// of a head.
Rotation loadRotation(KernelBuilder &kb, int64_t rotaryDim, Val cacheRow, Val headLane);

/// x cos + partner sin.
KernelBuilder::Vals turn(KernelBuilder &kb, const Rotation &rotation, llvm::ArrayRef<Val> x);

/// 8 fp32 values rounded once to `dtype`, packed in 4 dwords.
KernelBuilder::Vals roundPacked(KernelBuilder &kb, DType dtype, llvm::ArrayRef<Val> x);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_NORMROPE_H
