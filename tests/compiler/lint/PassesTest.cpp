//===- PassesTest.cpp - every matrix instruction has its passes -------------===//
//
// The figures are those of llvm-mca for gfx950 (latency less 4), except where a
// row says otherwise: a second source for the table.
//
//===------------------------------------------------------------------------===//

#include "compiler/lint/Instruction.h"

#include <gtest/gtest.h>

namespace nvfp4gen::lint {
namespace {

struct Row {
  const char *mnemonic;
  unsigned passes;
};

constexpr Row kRows[] = {
    {"v_mfma_f32_16x16x16_bf16", 4},       {"v_mfma_f32_16x16x16_f16", 4},
    {"v_mfma_f32_16x16x1_4b_f32", 8},      {"v_mfma_f32_16x16x32_bf16", 4},
    {"v_mfma_f32_16x16x32_bf8_bf8", 4},    {"v_mfma_f32_16x16x32_bf8_fp8", 4},
    {"v_mfma_f32_16x16x32_f16", 4},        {"v_mfma_f32_16x16x32_fp8_bf8", 4},
    {"v_mfma_f32_16x16x32_fp8_fp8", 4},    {"v_mfma_f32_16x16x4_4b_bf16", 8},
    {"v_mfma_f32_16x16x4_4b_f16", 8},      {"v_mfma_f32_16x16x4_f32", 8},
    {"v_mfma_f32_32x32x16_bf16", 8},       {"v_mfma_f32_32x32x16_bf8_bf8", 8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 8},    {"v_mfma_f32_32x32x16_f16", 8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 8},    {"v_mfma_f32_32x32x16_fp8_fp8", 8},
    {"v_mfma_f32_32x32x1_2b_f32", 16},     {"v_mfma_f32_32x32x2_f32", 16},
    {"v_mfma_f32_32x32x4_2b_bf16", 16},    {"v_mfma_f32_32x32x4_2b_f16", 16},
    {"v_mfma_f32_32x32x8_bf16", 8},        {"v_mfma_f32_32x32x8_f16", 8},
    {"v_mfma_f32_4x4x1_16b_f32", 2},       {"v_mfma_f32_4x4x4_16b_bf16", 2},
    {"v_mfma_f32_4x4x4_16b_f16", 2},       {"v_mfma_f64_16x16x4_f64", 16},
    {"v_mfma_f64_4x4x4_4b_f64", 4},        {"v_mfma_i32_16x16x32_i8", 4},
    {"v_mfma_i32_16x16x4_4b_i8", 8},       {"v_mfma_i32_16x16x64_i8", 4},
    {"v_mfma_i32_32x32x16_i8", 8},         {"v_mfma_i32_32x32x32_i8", 8},
    {"v_mfma_i32_32x32x4_2b_i8", 16},      {"v_mfma_i32_4x4x4_16b_i8", 2},
    {"v_smfmac_f32_16x16x128_bf8_bf8", 4}, {"v_smfmac_f32_16x16x128_fp8_fp8", 4},
    {"v_smfmac_f32_16x16x32_bf16", 4},     {"v_smfmac_f32_16x16x32_f16", 4},
    {"v_smfmac_f32_16x16x64_bf16", 4},     {"v_smfmac_f32_16x16x64_bf8_fp8", 4},
    {"v_smfmac_f32_16x16x64_f16", 4},      {"v_smfmac_f32_16x16x64_fp8_bf8", 4},
    {"v_smfmac_f32_32x32x16_bf16", 8},     {"v_smfmac_f32_32x32x16_f16", 8},
    {"v_smfmac_f32_32x32x32_bf16", 8},     {"v_smfmac_f32_32x32x32_bf8_bf8", 8},
    {"v_smfmac_f32_32x32x32_f16", 8},      {"v_smfmac_f32_32x32x64_bf8_fp8", 8},
    {"v_smfmac_f32_32x32x64_fp8_fp8", 8},  {"v_smfmac_i32_16x16x128_i8", 4},
    {"v_smfmac_i32_16x16x64_i8", 4},       {"v_smfmac_i32_32x32x32_i8", 8},
    {"v_smfmac_i32_32x32x64_i8", 8},
};

TEST(MatrixPasses, AreThoseOfTheSchedulingModel) {
  for (const Row &row : kRows)
    EXPECT_EQ(matrixPasses(row.mnemonic, ""), row.passes) << row.mnemonic;
}

// llvm-mca gives 4 and 8 for every format; AMD's table of throughput doubles those of 8 bits.
TEST(MatrixPasses, OfMixedFormatsDoubleWithAnOperandOfEightBits) {
  for (const char *scale : {"", "scale_"}) {
    std::string small = std::string("v_mfma_") + scale + "f32_16x16x128_f8f6f4";
    std::string large = std::string("v_mfma_") + scale + "f32_32x32x64_f8f6f4";
    for (const char *formats : {"f4_f4", "f6_f4", "f4_f6", "f6_f6"}) {
      std::string name = std::string("V_MFMA_F8F6F4_") + formats + "_gfx940_vcd";
      EXPECT_EQ(matrixPasses(small, name), 4u) << formats;
      EXPECT_EQ(matrixPasses(large, name), 8u) << formats;
    }
    for (const char *formats : {"f8_f8", "f8_f4", "f4_f8", "f6_f8"}) {
      std::string name = std::string("V_MFMA_F8F6F4_") + formats + "_gfx940_vcd";
      EXPECT_EQ(matrixPasses(small, name), 8u) << formats;
      EXPECT_EQ(matrixPasses(large, name), 16u) << formats;
    }
  }
}

TEST(MatrixPasses, OfAnUnknownShapeAreNotGuessed) {
  EXPECT_EQ(matrixPasses("v_mfma_f32_64x64x64_f16", ""), std::nullopt);
  EXPECT_EQ(matrixPasses("v_mfma_f32_16x16x8_xf32", ""), std::nullopt);
  EXPECT_EQ(matrixPasses("v_mfma_f32_64x64x64_f8f6f4", "F8F6F4_f4_f4_gfx940"), std::nullopt);
}

} // namespace
} // namespace nvfp4gen::lint
