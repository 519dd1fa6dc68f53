//===- Dequantize.cpp -------------------------------------------------------===//

#include "templates/fragments/Dequantize.h"

namespace nvfp4gen::fragments {

llvm::SmallVector<Val, 4> dequantize32(KernelBuilder &kb, Val payload, Val scales) {
  Val scalePair = kb.unpackE4M3(kb.anyext(scales));
  llvm::SmallVector<Val, 4> result;
  for (auto [dword, codes] : llvm::enumerate(kb.elements(payload))) {
    // Two dwords a group. The hardware converter's own scale operand applies only a power of two,
    // so the E4M3 scale is a multiplication of its own; the product is exact (F8).
    Val scale = kb.splat(scalePair, dword / 2, 2);
    llvm::SmallVector<Val, 4> pairs;
    for (unsigned byte = 0; byte < 4; ++byte)
      pairs.push_back(kb.unpackE2M1(codes, byte) * scale);
    result.push_back(kb.concat(pairs));
  }
  return result;
}

} // namespace nvfp4gen::fragments
