//===- AttentionFaultTest.cpp - the checks of attention fail on faults ------===//

#include "tests/tools/verify/AttentionFake.h"
#include "tools/verify/FamilyChecks.h"

#include <gtest/gtest.h>

namespace verify {
void verifySparseAttention(Job &job);
void verifySparseAttentionMerge(Job &job);
} // namespace verify

using fake::AttentionFault;

namespace {

struct Family {
  const char *name;
  verify::FamilyCheck check;
};
const Family kAttention{"sparse_attention", verify::verifySparseAttention};
const Family kMerge{"sparse_attention_merge", verify::verifySparseAttentionMerge};

struct Outcome {
  verify::VariantReport variant;
  verify::KernelReport kernel;
};

/// Check one variant; once-a-kernel cases only if asked for.
Outcome check(const Family &family, const std::string &bucket, fake::AttentionFake &target,
              bool onceAKernel, const nvfp4rt::Manifest &manifest = fake::attentionManifest()) {
  Outcome outcome;
  for (const nvfp4rt::Variant &variant : manifest.variants)
    if (variant.name == std::string(family.name) + "__" + bucket) {
      verify::Job job{target, manifest,        variant,
                      1,      outcome.variant, onceAKernel ? &outcome.kernel : nullptr};
      family.check(job);
      return outcome;
    }
  ADD_FAILURE() << "no variant of " << family.name << " for " << bucket;
  return outcome;
}

std::string words(const verify::VariantReport &variant) { return variant.firstFault.value_or(""); }

class CleanAttention : public testing::TestWithParam<std::tuple<bool, const char *, const char *>> {
};

TEST_P(CleanAttention, Passes) {
  const auto &[merges, rank, bucket] = GetParam();
  fake::AttentionFake target;
  const Outcome outcome = check(merges ? kMerge : kAttention, std::string(rank) + "_" + bucket,
                                target, /*onceAKernel=*/true);
  EXPECT_TRUE(outcome.variant.passed()) << words(outcome.variant);
  for (const std::string &skipped : outcome.variant.skipped)
    ADD_FAILURE() << skipped;
  EXPECT_EQ(outcome.variant.mismatchingBytes, 0u);
  EXPECT_GT(outcome.variant.values, 10'000u);
  EXPECT_GT(outcome.variant.launches, 5u);
  EXPECT_GT(outcome.variant.worstError, 0);
  EXPECT_LE(outcome.variant.worstError, 1);
  EXPECT_EQ(target.liveAllocations(), 0u);
  for (const auto &set : outcome.kernel.pinnedSets)
    EXPECT_TRUE(set.values > 0 || set.name == "sensitivity") << set.name;
  if (!merges) {
    EXPECT_GE(outcome.kernel.poolPages, 8'401'239);
    EXPECT_EQ(outcome.kernel.pinnedSets.size(), 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, CleanAttention,
                         testing::Combine(testing::Bool(), testing::Values("eight", "sixteen"),
                                          testing::Values("small", "decode", "verify", "prefill")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param) ? "Merge_" : "Attention_") +
                                  std::get<1>(info.param) + "_" + std::get<2>(info.param);
                         });

TEST(AttentionCheck, TellsWhatItCannotRun) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  std::erase_if(manifest.variants, [](const auto &v) { return v.family == "index_topk"; });
  fake::AttentionFake target({}, AttentionFault::None, uint64_t{3} << 30);
  const Outcome outcome = check(kAttention, "sixteen_prefill", target, true, manifest);
  EXPECT_TRUE(outcome.variant.passed()) << words(outcome.variant);
  ASSERT_EQ(outcome.variant.skipped.size(), 5u); // three pools, two phases
  EXPECT_NE(outcome.variant.skipped[0].find("fake device is full"), std::string::npos);
  EXPECT_NE(outcome.variant.skipped[3].find("no index_topk in this bundle"), std::string::npos);
  EXPECT_EQ(outcome.kernel.poolPages, 0);
}

TEST(AttentionCheck, NeedsTheMergeOfAWorkspace) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  std::erase_if(manifest.variants, [](const auto &v) { return v.family.ends_with("n_merge"); });
  fake::AttentionFake target;
  const Outcome outcome = check(kAttention, "eight_small", target, false, manifest);
  EXPECT_NE(words(outcome.variant).find("expected a sparse_attention_merge"), std::string::npos)
      << words(outcome.variant);
}

TEST(AttentionCheck, FindsASmallWorkspace) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  for (nvfp4rt::Variant &variant : manifest.variants)
    if (variant.workspace.perRequest > 0)
      variant.workspace.perRequest -= 4;
  fake::AttentionFake target;
  const Outcome outcome = check(kAttention, "eight_verify", target, false, manifest);
  EXPECT_NE(words(outcome.variant).find("workspace: expected at least"), std::string::npos)
      << words(outcome.variant);
}

TEST(AttentionCheck, RefusesOtherGroups) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  for (nvfp4rt::Variant &variant : manifest.variants)
    for (nvfp4rt::Term &term : variant.guard.terms)
      if (term.field == nvfp4rt::Field::q_heads)
        term.values = {24};
  fake::AttentionFake target;
  const Outcome outcome = check(kAttention, "eight_decode", target, false, manifest);
  EXPECT_NE(words(outcome.variant).find("8 or 16 q heads a kv head (A5)"), std::string::npos)
      << words(outcome.variant);
}

struct Planted {
  const char *name;
  Family family;
  AttentionFault fault;
  const char *bucket;
  const char *words;        ///< of the message
  bool onceAKernel = false; ///< only those cases show it
};

void PrintTo(const Planted &planted, std::ostream *stream) { *stream << planted.name; }

class PlantedInAttention : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInAttention, IsFound) {
  const Planted &planted = GetParam();
  fake::AttentionFake target(planted.family.name, planted.fault);
  const Outcome outcome = check(planted.family, planted.bucket, target, planted.onceAKernel);
  ASSERT_FALSE(outcome.variant.passed());
  EXPECT_NE(words(outcome.variant).find(planted.words), std::string::npos);
  std::cout << words(outcome.variant) << "\n";
}

const char *const kWrong = "rules A1, A3, A6, P4, P5", *const kBits = "rules A4, P5",
                  *const kNothing = "rules A2, P4";

INSTANTIATE_TEST_SUITE_P(
    Attention, PlantedInAttention,
    testing::Values(
        Planted{"TokenDropped", kAttention, AttentionFault::TokenDropped, "eight_decode", kWrong},
        Planted{"TokenDoubled", kAttention, AttentionFault::TokenDoubled, "sixteen_prefill",
                kWrong},
        Planted{"TokenShifted", kAttention, AttentionFault::TokenShifted, "eight_decode", kWrong},
        Planted{"MaskLong", kAttention, AttentionFault::MaskLong, "eight_prefill", kWrong},
        Planted{"MaskShort", kAttention, AttentionFault::MaskShort, "eight_verify", kWrong},
        Planted{"NoMask", kAttention, AttentionFault::NoMask, "sixteen_decode", kWrong},
        Planted{"TailTimesZero", kAttention, AttentionFault::TailTimesZero, "eight_decode", kBits},
        Planted{"TailInMax", kAttention, AttentionFault::TailInMax, "eight_verify", kWrong},
        Planted{"MaxFromZero", kAttention, AttentionFault::MaxFromZero, "eight_decode", kWrong},
        Planted{"NoMax", kAttention, AttentionFault::NoMax, "sixteen_decode", kWrong},
        Planted{"Unscaled", kAttention, AttentionFault::Unscaled, "eight_decode", kWrong},
        Planted{"LastMasked", kAttention, AttentionFault::LastMasked, "eight_decode", kWrong},
        Planted{"HoleEnds", kAttention, AttentionFault::HoleEnds, "eight_decode", kWrong},
        Planted{"PastCausal", kAttention, AttentionFault::PastCausal, "eight_prefill",
                "ids past the causal length"},
        Planted{"Position32", kAttention, AttentionFault::Position32, "eight_decode", kNothing},
        Planted{"HeadIgnored", kAttention, AttentionFault::HeadIgnored, "eight_decode", kWrong},
        Planted{"PageModulo", kAttention, AttentionFault::PageModulo, "eight_decode",
                "impossible pages"},
        Planted{"PageClamped", kAttention, AttentionFault::PageClamped, "eight_decode",
                "impossible pages"},
        Planted{"PageUnchecked", kAttention, AttentionFault::PageUnchecked, "eight_decode",
                "impossible pages"},
        Planted{"OffsetSigned", kAttention, AttentionFault::OffsetSigned, "sixteen_decode",
                "huge pools", true},
        Planted{"TokenStride", kAttention, AttentionFault::TokenStride, "eight_decode", kWrong},
        Planted{"ScaleStride", kAttention, AttentionFault::ScaleStride, "sixteen_prefill",
                "gapped HND pools"},
        Planted{"HeadStride", kAttention, AttentionFault::HeadStride, "eight_prefill",
                "gapped HND pools"},
        Planted{"QueryStride", kAttention, AttentionFault::QueryStride, "eight_decode", kBits},
        Planted{"OutStride", kAttention, AttentionFault::OutStride, "eight_decode", "out, byte"},
        Planted{"NibblesSwapped", kAttention, AttentionFault::NibblesSwapped, "eight_decode",
                kWrong},
        Planted{"PaddedUnwritten", kAttention, AttentionFault::PaddedUnwritten, "eight_decode",
                kNothing},
        Planted{"PaddedNaN", kAttention, AttentionFault::PaddedNaN, "eight_prefill", kNothing},
        Planted{"NegativeZero", kAttention, AttentionFault::NegativeZero, "sixteen_decode",
                kNothing},
        Planted{"StrayAfter", kAttention, AttentionFault::StrayAfter, "sixteen_prefill",
                "nothing may be written here"},
        Planted{"LastRowDropped", kAttention, AttentionFault::LastRowDropped, "eight_decode", ""},
        Planted{"BatchBits", kAttention, AttentionFault::BatchBits, "eight_decode", kBits},
        Planted{"BatchBitsInSmallBatches", kAttention, AttentionFault::BatchBits, "eight_small",
                kBits},
        Planted{"NeighbourBits", kAttention, AttentionFault::NeighbourBits, "eight_decode", kBits},
        Planted{"BucketBits", kAttention, AttentionFault::BucketBits, "eight_decode", kBits},
        Planted{"PhaseRounding", kAttention, AttentionFault::PhaseRounding, "eight_verify", kBits},
        Planted{"OutWritten", kAttention, AttentionFault::OutWritten, "eight_small", "out, byte"},
        Planted{"PartUnwritten", kAttention, AttentionFault::PartUnwritten, "eight_small",
                "partial result"},
        Planted{"PartMaxZero", kAttention, AttentionFault::PartMaxZero, "eight_verify",
                "found m 0"},
        Planted{"PartsReversed", kAttention, AttentionFault::PartsReversed, "sixteen_verify",
                "partial result"},
        Planted{"PartPastEnd", kAttention, AttentionFault::PartPastEnd, "eight_verify",
                "nothing may be written here"},
        Planted{"MergeBesideIt", kMerge, AttentionFault::LastPartIgnored, "eight_small", "rules A"},
        Planted{"InputChanged", kAttention, AttentionFault::InputChanged, "eight_decode",
                "an input has changed"},
        Planted{"CacheChanged", kAttention, AttentionFault::CacheChanged, "eight_decode",
                "a launch has changed its input"},
        Planted{"LaunchFails", kAttention, AttentionFault::LaunchFails, "eight_decode",
                "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Merge, PlantedInAttention,
    testing::Values(
        Planted{"LastPartIgnored", kMerge, AttentionFault::LastPartIgnored, "eight_decode",
                "rules A1, A4"},
        Planted{"MaxOfFirst", kMerge, AttentionFault::MaxOfFirst, "eight_verify", "rules A1, A4"},
        Planted{"SumsAdded", kMerge, AttentionFault::SumsAdded, "sixteen_decode", "rules A1, A4"},
        Planted{"EmptyNaN", kMerge, AttentionFault::EmptyNaN, "eight_prefill",
                "every part is empty, expected +0; rule A2"},
        Planted{"NegativeZero", kMerge, AttentionFault::NegativeZero, "sixteen_prefill",
                "expected 0x00, found 0x80"},
        Planted{"BatchBits", kMerge, AttentionFault::BatchBits, "eight_decode",
                "expected the bits of row 0"},
        Planted{"LastRowDropped", kMerge, AttentionFault::LastRowDropped, "sixteen_verify",
                "rules A1, A4"},
        Planted{"StrayAfter", kMerge, AttentionFault::StrayAfter, "eight_decode",
                "nothing may be written here"},
        Planted{"InputChanged", kMerge, AttentionFault::InputChanged, "eight_decode",
                "an input has changed"},
        Planted{"LaunchFails", kMerge, AttentionFault::LaunchFails, "eight_decode",
                "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

} // namespace
