//===- MatrixPasses.cpp - how long matrix instructions take -----------------===//
//
// From AMD's table of instruction throughput for CDNA4: cycles / 4.
//
//===------------------------------------------------------------------------===//

#include "compiler/lint/Instruction.h"

namespace nvfp4gen::lint {

namespace {

struct Shape {
  llvm::StringRef size;  ///< what the mnemonic has between the types
  llvm::StringRef types; ///< what the mnemonic ends in; empty = any
  uint8_t passes;
};

// The first row that fits counts.
constexpr Shape kShapes[] = {
    {"_4x4x4_4b_", "f64", 4},
    {"_16x16x4_", "f64", 16},
    {"_4x4x1_16b_", "f32", 2},
    {"_16x16x1_4b_", "f32", 8},
    {"_32x32x1_2b_", "f32", 16},
    {"_16x16x4_", "f32", 8},
    {"_32x32x2_", "f32", 16},
    {"_4x4x4_16b_", "", 2},
    {"_16x16x4_4b_", "", 8},
    {"_32x32x4_2b_", "", 16},
    {"_16x16x16_", "", 4},
    {"_16x16x32_", "", 4},
    {"_16x16x64_", "", 4},
    {"_32x32x8_", "", 8},
    {"_32x32x16_", "", 8},
    {"_32x32x32_", "", 8},
    // Sparse forms of the same rate.
    {"_16x16x128_", "i8", 4},
    {"_16x16x128_", "fp8", 4},
    {"_16x16x128_", "bf8", 4},
    {"_32x32x64_", "i8", 8},
    {"_32x32x64_", "fp8", 8},
    {"_32x32x64_", "bf8", 8},
};

/// f8f6f4: twice as long when an operand has 8 bits. Opcode names carry both formats, "_f8_f4_".
std::optional<uint8_t> mixedPasses(llvm::StringRef mnemonic, llvm::StringRef opcodeName) {
  auto [formats, rest] = opcodeName.split("F8F6F4").second.split("_gfx");
  uint8_t doubled = formats.contains("f8") ? 2 : 1;
  if (mnemonic.contains("_16x16x128_"))
    return uint8_t(4 * doubled);
  if (mnemonic.contains("_32x32x64_"))
    return uint8_t(8 * doubled);
  return std::nullopt;
}

} // namespace

std::optional<uint8_t> matrixPasses(llvm::StringRef mnemonic, llvm::StringRef opcodeName) {
  if (mnemonic.ends_with("_f8f6f4"))
    return mixedPasses(mnemonic, opcodeName);
  for (const Shape &shape : kShapes)
    if (mnemonic.contains(shape.size) && mnemonic.ends_with(shape.types))
      return shape.passes;
  return std::nullopt;
}

} // namespace nvfp4gen::lint
