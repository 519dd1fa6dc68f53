//===- NormRopeFaultTest.cpp - verify fails on faults planted in W2 ---------===//

#include "tests/tools/verify/NormRopeFake.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

using fake::NormRopeFault;
using enum fake::NormRopeFault;

namespace {

verify::Report run(fake::NormRopeTarget &target, const nvfp4rt::Manifest &manifest) {
  verify::VerifyOptions options;
  options.family = "qk_norm_rope_store";
  auto report = verify::verifyManifest(manifest, target, options);
  EXPECT_TRUE(report) << report.error().message;
  return report.value_or(verify::Report{});
}

const verify::VariantReport &variant(const verify::Report &report, std::string_view name) {
  for (const auto &v : report.variants)
    if (v.name == name)
      return v;
  ADD_FAILURE() << "no variant " << name;
  return report.variants.front();
}

std::string faultOf(const verify::VariantReport &variant) {
  return variant.firstFault.value_or("");
}

TEST(VerifyNormRope, CleanTwinPasses) {
  fake::NormRopeTarget target;
  const verify::Report report = run(target, fake::normRopeManifest());
  ASSERT_EQ(report.variants.size(), 5u);
  for (const auto &v : report.variants) {
    EXPECT_TRUE(v.passed()) << v.name << ": " << faultOf(v);
    EXPECT_EQ(v.mismatchingBytes, 0u);
    EXPECT_GT(v.worstError, 0.49) << "half an ulp of fp16 is half of 2^-10";
    EXPECT_LE(v.worstError, 1);
    EXPECT_GT(v.launches, 30u);
    // No kv_store serves the fp16 model, and the report says so once.
    EXPECT_EQ(v.skipped.size(), v.name == "fp16_verify_b4" ? 1u : 0u) << v.name;
  }
  EXPECT_EQ(target.liveAllocations(), 0u);
  ASSERT_EQ(report.kernels.size(), 4u);
  EXPECT_EQ(report.kernels[0].variant, "decode_b4");
  for (const auto &kernel : report.kernels) {
    EXPECT_GT(kernel.poolBytes, uint64_t{1} << 32) << kernel.symbol;
    ASSERT_FALSE(kernel.pinnedSets.empty());
    EXPECT_GT(kernel.pinnedSets[0].values, 16u * 9000) << kernel.symbol;
  }
  // The bf16 model has two kernels: each is compared with the other.
  EXPECT_EQ(report.kernels[0].pinnedSets.size(), 2u);
  EXPECT_EQ(report.kernels[1].pinnedSets.size(), 2u);
  EXPECT_EQ(report.kernels[2].pinnedSets.size(), 1u);
}

struct Planted {
  NormRopeFault fault;
  const char *name;
  const char *words;                 ///< of the message
  const char *variant = "decode_b4"; ///< that must show it
  bool dequantizes = true;           ///< values are wrong, not only places
};

class NormRopeFaultTest : public testing::TestWithParam<Planted> {};

TEST_P(NormRopeFaultTest, IsFound) {
  const Planted &planted = GetParam();
  fake::NormRopeTarget target(planted.fault);
  // Faults are planted in the bf16 model that stores V.
  nvfp4rt::Manifest manifest = fake::normRopeManifest();
  std::erase_if(manifest.variants, [](const auto &v) {
    return v.symbol == "kernel_fp16" || v.symbol == "kernel_still";
  });
  const verify::Report report = run(target, manifest);
  EXPECT_FALSE(report.passed());
  const verify::VariantReport &v = variant(report, planted.variant);
  ASSERT_FALSE(v.passed());
  EXPECT_NE(faultOf(v).find(planted.words), std::string::npos) << faultOf(v);
  EXPECT_EQ(v.worstError > 1, planted.dequantizes) << v.worstError;
}

INSTANTIATE_TEST_SUITE_P(W2, NormRopeFaultTest,
                         testing::Values(Planted{OffsetIgnored, "OffsetIgnored", "rule W2"},
                                         Planted{EpsIgnored, "EpsIgnored", "rule W2"},
                                         Planted{EpsOutsideRoot, "EpsOutsideRoot", "rule W2"},
                                         Planted{MeanOfHalf, "MeanOfHalf", "rule W2"},
                                         Planted{SquaresOverflow, "SquaresOverflow", "rule W2"},
                                         Planted{SubnormalsFlushed, "SubnormalsFlushed", "rule W2"},
                                         Planted{Truncated, "Truncated", "rounded once"},
                                         Planted{RoundedTwice, "RoundedTwice", "rounded once"},
                                         Planted{RawPartner, "RawPartner", "rule W2"},
                                         Planted{AdjacentPairs, "AdjacentPairs", "rule W2"},
                                         Planted{SineFirst, "SineFirst", "rule W2"},
                                         Planted{SineSign, "SineSign", "rule W2"},
                                         Planted{NextPosition, "NextPosition", "rule W2"},
                                         Planted{TurnedPast, "TurnedPast", "rule W2"},
                                         Planted{WeightsOfQ, "WeightsOfQ", "of the rounded values"},
                                         Planted{WeightsOfK, "WeightsOfK", "index key"},
                                         Planted{OneUlp, "OneUlp", "element 77"},
                                         Planted{NaNSwallowed, "NaNSwallowed", "rule W2"},
                                         Planted{InfinityKept, "InfinityKept", "rule W2"},
                                         Planted{KeysNearlySame, "KeysNearlySame",
                                                 "of the rounded values"}),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Cache, NormRopeFaultTest,
    testing::Values(Planted{Unrounded, "Unrounded", "of the rounded values"},
                    Planted{VNormed, "VNormed", "V payload"}, Planted{KAtIndex, "KAtIndex", "rule"},
                    Planted{PadWritten, "PadWritten", "rule P1, P2", "decode_b4", false},
                    Planted{WrappedSlot, "WrappedSlot", "rule P1, P2", "decode_b4", false},
                    Planted{Offset32, "Offset32", "pools of ", "decode_b4", true},
                    Planted{NoSlotsNoIndex, "NoSlotsNoIndex", "no slots", "decode_b1", true}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Rows, NormRopeFaultTest,
    testing::Values(
        Planted{PadSkipsQ, "PadSkipsQ", ", padded"},
        Planted{PadSkipsIndexQ, "PadSkipsIndexQ", "index_q of row"},
        Planted{NoIndexSlotsNoIndexQ, "NoIndexSlotsNoIndexQ", "no index slots", "decode_b1"},
        Planted{RowStrideIgnored, "RowStrideIgnored", "gapped layout"},
        Planted{HeadStrideIgnored, "HeadStrideIgnored", "gapped layout", "decode_b1"},
        Planted{RowOffset32, "RowOffset32", "huge strides"},
        Planted{HeadOffset32, "HeadOffset32", "huge strides"},
        Planted{PositionOffset32, "PositionOffset32", "huge strides"},
        Planted{NextHeadWritten, "NextHeadWritten", "nothing may be written here", "decode_b1",
                false},
        Planted{InputChanged, "InputChanged", "an input has changed", "decode_b1", false},
        Planted{LastRowDropped, "LastRowDropped", "rule W2"},
        Planted{NoRowsWriteOne, "NoRowsWriteOne", "no rows", "decode_b1", false},
        Planted{KvStore, "KvStore", "kv_store on the rounded rows", "decode_b1", true},
        Planted{LaunchFails, "LaunchFails", "fake launch failed", "decode_b1", false}),
    [](const auto &info) { return info.param.name; });

// Both kernels are within the bound, and differ: only their comparison shows it (G5).
TEST(VerifyNormRope, AnotherKernelHasTheSameBits) {
  fake::NormRopeTarget target(OtherKernel);
  const verify::Report report = run(target, fake::normRopeManifest());
  EXPECT_TRUE(variant(report, "decode_b1").passed()) << "it carries no checks of its kernel";
  const auto &v = variant(report, "decode_b4");
  ASSERT_FALSE(v.passed());
  EXPECT_NE(faultOf(v).find("rules W2, G5"), std::string::npos) << faultOf(v);
  EXPECT_LE(v.worstError, 1);
}

// P1: a device that is too small for huge pools and strides says so, and the rest runs.
TEST(VerifyNormRope, WhatDoesNotFitIsSkippedInWords) {
  fake::NormRopeTarget target(None, uint64_t{1} << 30);
  const verify::Report report = run(target, fake::normRopeManifest());
  EXPECT_TRUE(report.passed());
  const auto &v = variant(report, "decode_b4");
  ASSERT_EQ(v.skipped.size(), 6u);
  EXPECT_TRUE(v.skipped[0].starts_with("pools of 33554440 pages")) << v.skipped[0];
  EXPECT_TRUE(v.skipped[5].starts_with("huge strides")) << v.skipped[5];
  EXPECT_EQ(report.kernels[0].poolPages, 0);
  fake::NormRopeTarget small(None, 1000);
  const verify::Report none = run(small, fake::normRopeManifest());
  EXPECT_NE(faultOf(none.variants[0]).find("fake device is full"), std::string::npos);
}

TEST(VerifyNormRope, VariantsThatTheOracleCannotJudgeFail) {
  nvfp4rt::Manifest manifest = fake::normRopeManifest();
  std::erase_if(manifest.variants[0].guard.terms,
                [](const auto &term) { return term.field == nvfp4rt::Field::rotary_dim; });
  for (auto &term : manifest.variants[1].guard.terms)
    if (term.field == nvfp4rt::Field::rotary_dim)
      term.values = {130};
  fake::NormRopeTarget target;
  const verify::Report report = run(target, manifest);
  EXPECT_NE(faultOf(report.variants[0]).find("expected a term on rotary_dim"), std::string::npos);
  EXPECT_NE(faultOf(report.variants[1]).find("an even rotary_dim within it"), std::string::npos);
}

} // namespace
