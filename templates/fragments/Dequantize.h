//===- Dequantize.h - NVFP4 to fp16 fragments (rule F8) ---------------------===//
//
// Work split: a lane holds 32 consecutive elements of a row, two groups, which is one
// 16-byte load of payload and two scale bytes.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_DEQUANTIZE_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_DEQUANTIZE_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

/// Four vectors of 8 fp16, exact: dims 8m .. 8m+7 of the lane's 32 in vector m. `payload` is four
/// dwords, `scales` an i16 with the scale bytes of both groups.
llvm::SmallVector<Val, 4> dequantize32(KernelBuilder &kb, Val payload, Val scales);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_DEQUANTIZE_H
