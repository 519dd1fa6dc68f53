//===- FaultTest.cpp - verify fails on every planted fault ------------------===//

#include "tests/tools/verify/FakeTarget.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

using fake::Fault;

namespace {

verify::Report run(fake::FakeTarget &target, const nvfp4rt::Manifest &manifest) {
  auto report = verify::verifyManifest(manifest, target, {});
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

TEST(Verify, CleanTwinPasses) {
  fake::FakeTarget target;
  const verify::Report report = run(target, fake::manifest());
  ASSERT_EQ(report.variants.size(), 5u);
  for (const auto &v : report.variants) {
    EXPECT_TRUE(v.passed()) << v.name << ": " << faultOf(v);
    EXPECT_TRUE(v.skipped.empty()) << v.name << ": " << v.skipped.front();
    EXPECT_EQ(v.mismatchingBytes, 0u);
    EXPECT_EQ(v.worstError, 0);
    EXPECT_GT(v.values, 0u);
    EXPECT_GT(v.launches, 6u);
  }
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(target.liveAllocations(), 0u);
  // Pinned inputs once a kernel, in the variant with the largest launches.
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].variant, "prefill_b64");
  EXPECT_EQ(report.kernels[1].variant, "fp16_verify_b8");
  uint64_t pinned = 0;
  for (const auto &set : report.kernels[0].pinnedSets)
    pinned += set.values;
  EXPECT_GT(pinned, 16 * (9000u + 65536u));
  EXPECT_GE(variant(report, "prefill_b64").pinnedValues, 3 * pinned);
  EXPECT_EQ(variant(report, "decode_b1").pinnedValues, 0u);
}

struct Planted {
  Fault fault;
  const char *name;
  const char *words;   ///< of the message
  const char *variant; ///< that must show it
  bool dequantizes;    ///< stored values are wrong, not only places
};

class FaultTest : public testing::TestWithParam<Planted> {};

TEST_P(FaultTest, IsFound) {
  const Planted &planted = GetParam();
  fake::FakeTarget target(planted.fault);
  nvfp4rt::Manifest manifest = fake::manifest();
  manifest.variants.pop_back(); // no fault is planted in the other kernel
  const verify::Report report = run(target, manifest);
  EXPECT_FALSE(report.passed());
  const verify::VariantReport &v = variant(report, planted.variant);
  ASSERT_FALSE(v.passed());
  EXPECT_NE(faultOf(v).find(planted.words), std::string::npos) << faultOf(v);
  EXPECT_EQ(v.worstError > 0, planted.dequantizes) << v.worstError;
  std::cout << faultOf(v) << "\n";
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultTest,
    testing::Values(
        Planted{Fault::SwappedNibble, "SwappedNibble", "rule F2", "decode_b1", true},
        Planted{Fault::OneTieUp, "OneTieUp", "inputs 0x450c (2240)", "prefill_b64", true},
        Planted{Fault::SwappedScales, "SwappedScales", "rule F3", "verify_b4", true},
        Planted{Fault::StrayBefore, "StrayBefore", "no row stores there", "decode_b1", false},
        Planted{Fault::StrayAfter, "StrayAfter", "no row stores there", "decode_b1", false},
        Planted{Fault::PadWritten, "PadWritten", "rule P1, P2", "decode_b1", false},
        Planted{Fault::WrappedSlot, "WrappedSlot", "rule P1, P2", "decode_b1", false},
        Planted{Fault::TruncatedSlot, "TruncatedSlot", "rule P1, P2", "decode_b1", false},
        Planted{Fault::TruncatedOffset, "TruncatedOffset", "huge pools", "prefill_b64", true},
        Planted{Fault::SignedOffset, "SignedOffset", "huge pools", "prefill_b64", true},
        Planted{Fault::IgnoredPageStride, "IgnoredPageStride", "gapped layout", "verify_b4", true},
        Planted{Fault::IgnoredHeadStride, "IgnoredHeadStride", "gapped layout", "decode_b1", true},
        Planted{Fault::IgnoredRowStride, "IgnoredRowStride", "gapped layout", "decode_b4", true},
        Planted{Fault::IndexAtSlots, "IndexAtSlots", "index key", "decode_b1", true},
        Planted{Fault::IndexPagesOfK, "IndexPagesOfK", "index key", "decode_b1", true},
        Planted{Fault::LastRowDropped, "LastRowDropped", "rule F2", "decode_b4", true},
        Planted{Fault::NoRowsWriteOne, "NoRowsWriteOne", "no rows", "decode_b1", false},
        Planted{Fault::InputChanged, "InputChanged", "W1: expected inputs", "decode_b1", false},
        Planted{Fault::LaunchFails, "LaunchFails", "fake launch failed", "decode_b1", false}),
    [](const auto &info) { return info.param.name; });

// The pinned tie is what random rows do not show: variants without pinned inputs pass.
TEST(Verify, OnlyPinnedInputsShowOneTie) {
  fake::FakeTarget target(Fault::OneTieUp);
  const verify::Report report = run(target, fake::manifest());
  EXPECT_TRUE(variant(report, "verify_b4").passed());
  EXPECT_FALSE(variant(report, "prefill_b64").passed());
}

// P1: a device too small for the largest pools says so, and the smaller pools still run.
TEST(Verify, HugePoolsThatDoNotFitAreSkippedInWords) {
  fake::FakeTarget target(Fault::None, uint64_t{10} << 30);
  const verify::Report report = run(target, fake::manifest());
  EXPECT_TRUE(report.passed());
  const auto &v = variant(report, "prefill_b64");
  ASSERT_EQ(v.skipped.size(), 2u);
  EXPECT_TRUE(v.skipped[0].starts_with("pools of 33554440 pages: needs ")) << v.skipped[0];
  EXPECT_TRUE(v.skipped[1].starts_with("pools of 16777224 pages: needs ")) << v.skipped[1];

  EXPECT_EQ(report.kernels[0].poolPages, 4194312);

  fake::FakeTarget truncating(Fault::TruncatedOffset, uint64_t{10} << 30);
  EXPECT_FALSE(run(truncating, fake::manifest()).passed());

  fake::FakeTarget small(Fault::None, uint64_t{1} << 30);
  const verify::Report without = run(small, fake::manifest());
  EXPECT_EQ(variant(without, "prefill_b64").skipped.size(), 3u);
  EXPECT_EQ(without.kernels[0].poolPages, 0);
}

TEST(Verify, NoMemoryForOrdinaryPoolsIsAFault) {
  fake::FakeTarget target(Fault::None, 1000);
  const verify::Report report = run(target, fake::manifest());
  EXPECT_FALSE(report.passed());
  EXPECT_NE(faultOf(report.variants[0]).find("fake device is full"), std::string::npos);
}

TEST(Verify, FamilyFilter) {
  fake::FakeTarget target;
  verify::VerifyOptions options;
  options.bundlePath = "x.hsaco";
  options.family = "topk";
  auto report = verify::verifyManifest(fake::manifest(), target, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "x.hsaco: expected variants of family 'topk', found families: kv_store");
}

TEST(Verify, VariantsThatTheOracleCannotJudgeFail) {
  nvfp4rt::Manifest manifest = fake::manifest();
  manifest.variants.resize(3);
  manifest.variants[0].family = "another";
  std::erase_if(manifest.variants[1].guard.terms,
                [](const auto &term) { return term.field == nvfp4rt::Field::planes; });
  for (auto &term : manifest.variants[2].guard.terms)
    if (term.field == nvfp4rt::Field::kv_format)
      term.values = {nvfp4rt::symbolValue(term.field, "mxfp4").value()};
  fake::FakeTarget target;
  const verify::Report report = run(target, manifest);
  EXPECT_EQ(faultOf(report.variants[0]), "family 'another' has no check in this build");
  EXPECT_NE(faultOf(report.variants[1]).find("expected a term on planes"), std::string::npos);
  EXPECT_NE(faultOf(report.variants[2]).find("found mxfp4"), std::string::npos);
}

// The same seed gives the same report, another one other inputs.
TEST(Verify, Repeats) {
  auto counts = [](uint64_t seed) {
    fake::FakeTarget target(Fault::SwappedNibble);
    nvfp4rt::Manifest manifest = fake::manifest();
    manifest.variants = {manifest.variants[3]};
    verify::VerifyOptions options;
    options.seed = seed;
    return faultOf(verify::verifyManifest(manifest, target, options)->variants[0]);
  };
  EXPECT_EQ(counts(1), counts(1));
  EXPECT_NE(counts(1), counts(2));
}

} // namespace
