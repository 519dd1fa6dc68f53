//===- MfmaShapes.cpp - layouts of the matrix instructions' operands -------===//
#include "tests/emulator/isa/MfmaShapes.h"

namespace isatest {
namespace {

const Element F16{"f16", 16, false, &F16Format}, BF16{"bf16", 16, false, &BF16Format},
    F32{"f32", 32, false, &F32Format}, FP8{"fp8", 8, false, &FP8Format},
    BF8{"bf8", 8, false, &BF8Format}, I8{"i8", 8, true, nullptr};

/// Lane l holds row l % m, and as many consecutive k as it has elements, from l / m on.
Place consecutive(const Shape &s, const Element &, unsigned lane, unsigned e) {
  return {0, lane % s.m, lane / s.m * s.elements + e};
}
/// Block l / 4, row l % 4, k = element.
Place fourByFour(const Shape &, const Element &, unsigned lane, unsigned e) {
  return {lane / 4, lane % 4, e};
}
/// f8f6f4: 32 consecutive k, except that 8-bit elements come as two runs of 16, half of K apart.
Place narrow(const Shape &s, const Element &element, unsigned lane, unsigned e) {
  const unsigned group = lane / s.m;
  if (element.bits != 8)
    return {0, lane % s.m, 32 * group + e};
  return {0, lane % s.m, e / 16 * (s.k / 2) + 16 * group + e % 16};
}

Cell rows16(const Shape &, unsigned lane, unsigned reg) {
  return {0, 4 * (lane / 16) + reg, lane % 16};
}
Cell rows32(const Shape &, unsigned lane, unsigned reg) {
  return {0, 8 * (reg / 4) + 4 * (lane / 32) + reg % 4, lane % 32};
}
Cell rows4(const Shape &, unsigned lane, unsigned reg) { return {lane / 4, reg, lane % 4}; }

//                           m   k   blocks elements results
const Shape M16K16{16, 16, 1, 4, 4, consecutive, rows16};
const Shape M16K32{16, 32, 1, 8, 4, consecutive, rows16};
const Shape M16K64{16, 64, 1, 16, 4, consecutive, rows16};
const Shape M16K4{16, 4, 1, 1, 4, consecutive, rows16};
const Shape M32K2{32, 2, 1, 1, 16, consecutive, rows32};
const Shape M32K8{32, 8, 1, 4, 16, consecutive, rows32};
const Shape M32K16{32, 16, 1, 8, 16, consecutive, rows32};
const Shape M32K32{32, 32, 1, 16, 16, consecutive, rows32};
const Shape M4K4{4, 4, 16, 4, 4, fourByFour, rows4};

} // namespace

const std::vector<Instruction> &instructions() {
  static const std::vector<Instruction> table{
      {"v_mfma_f32_16x16x16_f16", M16K16, F16, F16},
      {"v_mfma_f32_16x16x16_bf16", M16K16, BF16, BF16},
      {"v_mfma_f32_32x32x8_f16", M32K8, F16, F16},
      {"v_mfma_f32_32x32x8_bf16", M32K8, BF16, BF16},
      {"v_mfma_f32_16x16x32_f16", M16K32, F16, F16},
      {"v_mfma_f32_16x16x32_bf16", M16K32, BF16, BF16},
      {"v_mfma_f32_32x32x16_f16", M32K16, F16, F16},
      {"v_mfma_f32_32x32x16_bf16", M32K16, BF16, BF16},
      {"v_mfma_f32_4x4x4_16b_f16", M4K4, F16, F16},
      {"v_mfma_f32_16x16x4_f32", M16K4, F32, F32},
      {"v_mfma_f32_32x32x2_f32", M32K2, F32, F32},
      {"v_mfma_f32_16x16x32_fp8_fp8", M16K32, FP8, FP8},
      {"v_mfma_f32_16x16x32_bf8_bf8", M16K32, BF8, BF8},
      {"v_mfma_f32_16x16x32_fp8_bf8", M16K32, FP8, BF8},
      {"v_mfma_f32_16x16x32_bf8_fp8", M16K32, BF8, FP8},
      {"v_mfma_f32_32x32x16_fp8_fp8", M32K16, FP8, FP8},
      {"v_mfma_f32_32x32x16_bf8_bf8", M32K16, BF8, BF8},
      {"v_mfma_i32_16x16x32_i8", M16K32, I8, I8},
      {"v_mfma_i32_32x32x16_i8", M32K16, I8, I8},
      {"v_mfma_i32_16x16x64_i8", M16K64, I8, I8},
      {"v_mfma_i32_32x32x32_i8", M32K32, I8, I8},
  };
  return table;
}

const std::vector<Element> &narrowElements() {
  static const std::vector<Element> table{{"fp8", 8, false, &FP8Format},
                                          {"bf8", 8, false, &BF8Format},
                                          {"fp6", 6, false, &FP6Format},
                                          {"bf6", 6, false, &BF6Format},
                                          {"fp4", 4, false, &FP4Format}};
  return table;
}

const Shape &shape16x16x128() {
  static const Shape shape{16, 128, 1, 32, 4, narrow, rows16};
  return shape;
}
const Shape &shape32x32x64() {
  static const Shape shape{32, 64, 1, 32, 16, narrow, rows32};
  return shape;
}

} // namespace isatest
