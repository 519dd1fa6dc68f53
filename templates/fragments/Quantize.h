//===- Quantize.h - NVFP4 quantizer fragments (rules F1..F7) ----------------===//
//
// Work split: a lane holds 8 consecutive elements, so two neighbouring lanes hold
// one group of 16. A lane's 16-byte load of model-dtype elements and its 4-byte
// payload store are then both contiguous over the wave.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_QUANTIZE_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_QUANTIZE_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

inline constexpr unsigned kElementsPerLane = 8;
inline constexpr unsigned kGroupSize = 16; ///< F1

/// 8 model-dtype elements packed in 4 dwords, lifted to fp32 (exact).
llvm::SmallVector<Val> liftPacked(KernelBuilder &kb, DType dtype, llvm::ArrayRef<Val> words);

struct QuantizedLane {
  Val codes; ///< i32: this lane's 8 codes, F2 order
  Val scale; ///< i32: the group's scale byte; equal in both lanes of the group
};

/// F4..F7 on 8 fp32 values that are exact bf16 or fp16 values. Both lanes of a group must be
/// active.
QuantizedLane quantize(KernelBuilder &kb, llvm::ArrayRef<Val> x);

/// The scale bytes of 4 consecutive groups as one dword (F3 order), in all 8 lanes that hold them.
/// `lane` is the lane's index, counted so that groups start at even lanes; all 8 lanes must be
/// active.
Val gatherScales(KernelBuilder &kb, Val scale, Val lane);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_QUANTIZE_H
