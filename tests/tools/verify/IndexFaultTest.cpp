//===- IndexFaultTest.cpp - the selectors' checks fail on planted faults ----===//

#include "tests/tools/verify/IndexFake.h"
#include "tools/verify/FamilyChecks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

using fake::IndexFault;

namespace {

constexpr const char *kStepMap = "step_map", *kScore = "index_score", *kTopk = "topk",
                     *kFused = "index_topk", *kMerge = "index_topk_merge";

struct Outcome {
  verify::VariantReport variant;
  verify::KernelReport kernel;
};

/// Check one variant; once-a-kernel cases only if asked for.
Outcome check(std::string_view family, std::string_view phase, fake::IndexFake &target,
              bool onceAKernel, const nvfp4rt::Manifest &manifest = fake::indexManifest()) {
  Outcome outcome;
  const auto entries = verify::familyEntries();
  const auto entry = std::ranges::find(entries, family, &verify::FamilyEntry::name);
  for (const nvfp4rt::Variant &variant : manifest.variants)
    if (entry != entries.end() && variant.family == family && variant.name.ends_with(phase)) {
      verify::Job job{target, manifest,        variant,
                      1,      outcome.variant, onceAKernel ? &outcome.kernel : nullptr};
      entry->check(job);
      return outcome;
    }
  ADD_FAILURE() << "no variant of " << family << " in " << phase;
  return outcome;
}

std::string words(const verify::VariantReport &variant) { return variant.firstFault.value_or(""); }

class CleanTwin : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

TEST_P(CleanTwin, Passes) {
  const auto &[family, phase] = GetParam();
  fake::IndexFake target;
  const Outcome outcome = check(family, phase, target, /*onceAKernel=*/true);
  EXPECT_TRUE(outcome.variant.passed()) << words(outcome.variant);
  for (const std::string &skipped : outcome.variant.skipped)
    ADD_FAILURE() << skipped;
  EXPECT_EQ(outcome.variant.mismatchingBytes, 0u);
  EXPECT_GT(outcome.variant.values, 100u);
  EXPECT_GT(outcome.variant.launches, 5u);
  EXPECT_LE(outcome.variant.worstError, 1);
  EXPECT_EQ(target.liveAllocations(), 0u);
  if (outcome.kernel.usesPools) {
    EXPECT_GE(outcome.kernel.poolPages, 8'401'239);
  }
}

std::string
familyAndPhase(const testing::TestParamInfo<std::tuple<const char *, const char *>> &info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Families, CleanTwin,
                         testing::Combine(testing::Values(kStepMap, kScore, kTopk, kFused, kMerge),
                                          testing::Values("decode", "verify", "prefill")),
                         familyAndPhase);

struct Planted {
  const char *name;
  const char *family;
  IndexFault fault;
  const char *phase;
  const char *words;        ///< of the message
  bool onceAKernel = false; ///< only those cases show it
};

void PrintTo(const Planted &planted, std::ostream *stream) {
  *stream << planted.family << " " << planted.name;
}

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, IsFound) {
  const Planted &planted = GetParam();
  fake::IndexFake target(planted.family, planted.fault);
  Outcome outcome = check(planted.family, planted.phase, target, planted.onceAKernel);
  ASSERT_FALSE(outcome.variant.passed());
  EXPECT_NE(words(outcome.variant).find(planted.words), std::string::npos);
  std::cout << words(outcome.variant) << "\n";
}

INSTANTIATE_TEST_SUITE_P(
    StepMap, PlantedFault,
    testing::Values(
        Planted{"CausalOffByOne", kStepMap, IndexFault::CausalOffByOne, "decode", "rule S1"},
        Planted{"CausalOffByOneInPrefill", kStepMap, IndexFault::CausalOffByOne, "prefill",
                "rule S1"},
        Planted{"LiveIgnored", kStepMap, IndexFault::LiveIgnored, "verify", "live < requests"},
        Planted{"NotClamped", kStepMap, IndexFault::NotClamped, "verify", "causal_len -1"},
        Planted{"PaddedUnwritten", kStepMap, IndexFault::PaddedUnwritten, "verify",
                "request -1 causal_len 0"},
        Planted{"PaddedRequest", kStepMap, IndexFault::PaddedRequest, "prefill",
                "request -1 causal_len 0"},
        Planted{"BlocksOfFirstRow", kStepMap, IndexFault::BlocksOfFirstRow, "verify", "rule S3"},
        Planted{"MinCausalOfLast", kStepMap, IndexFault::MinCausalOfLast, "verify",
                "min_causal_len"},
        Planted{"SegmentPastEnd", kStepMap, IndexFault::SegmentPastEnd, "prefill",
                "nothing may be written here"},
        Planted{"WorkRoundedUp", kStepMap, IndexFault::WorkRoundedUp, "decode", "rule S4, K4"},
        Planted{"Work32", kStepMap, IndexFault::Work32, "verify", "rule S4, K4"},
        Planted{"WorkEndUnwritten", kStepMap, IndexFault::WorkEndUnwritten, "decode",
                "rule S4, K4"},
        Planted{"WorkAtSegmentEnd", kStepMap, IndexFault::WorkAtSegmentEnd, "decode",
                "rule S4, K4"},
        Planted{"WorkersOfEmpty", kStepMap, IndexFault::WorkersOfEmpty, "decode", "worker_count 0"},
        Planted{"InputChanged", kStepMap, IndexFault::InputChanged, "decode",
                "an input has changed"},
        Planted{"LaunchFails", kStepMap, IndexFault::LaunchFails, "decode", "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    IndexScore, PlantedFault,
    testing::Values(
        Planted{"MaskPastEnd", kScore, IndexFault::MaskPastEnd, "verify", "rules K1, P4, P5"},
        Planted{"MaskShort", kScore, IndexFault::MaskShort, "verify", "rules K1, P4, P5"},
        Planted{"NoMask", kScore, IndexFault::NoMask, "decode", "rules K1, P4, P5"},
        Planted{"NaNTail", kScore, IndexFault::NaNTail, "decode", "found nan"},
        Planted{"PageModulo", kScore, IndexFault::PageModulo, "decode", "rules K1, P4, P5"},
        Planted{"PageClamped", kScore, IndexFault::PageClamped, "verify", "expected nan"},
        Planted{"PageNotChecked", kScore, IndexFault::PageNotChecked, "verify", "expected nan"},
        Planted{"OffsetSigned", kScore, IndexFault::OffsetSigned, "decode",
                "in a pool of 33554440 pages", true},
        Planted{"TokenStride", kScore, IndexFault::TokenStride, "decode", "gapped layout"},
        Planted{"ScaleStride", kScore, IndexFault::ScaleStride, "decode", "gapped layout"},
        Planted{"QueryStride", kScore, IndexFault::QueryStride, "decode", "head 1"},
        Planted{"SubnormalFlushed", kScore, IndexFault::SubnormalFlushed, "verify",
                "special values", true},
        Planted{"InfinityClipped", kScore, IndexFault::InfinityClipped, "verify", "special values",
                true},
        Planted{"NibblesSwapped", kScore, IndexFault::NibblesSwapped, "decode", "exact values"},
        Planted{"HeadsSwapped", kScore, IndexFault::HeadsSwapped, "decode", "exact values"},
        Planted{"ScoreRounded", kScore, IndexFault::ScoreRounded, "decode", "exact values"},
        Planted{"ScoreOneUlp", kScore, IndexFault::ScoreOneUlp, "decode", "exact values"},
        Planted{"ScoreUnscaled", kScore, IndexFault::ScoreUnscaled, "decode", "exact values"},
        Planted{"BlockDropped", kScore, IndexFault::BlockDropped, "decode", "rules K1, P4, P5"},
        Planted{"ScorePastEnd", kScore, IndexFault::ScorePastEnd, "verify", "found -inf"},
        Planted{"PaddedScored", kScore, IndexFault::PaddedScored, "verify",
                "nothing may be written here"},
        Planted{"NaNScoreMinusInf", kScore, IndexFault::NaNScoreMinusInf, "decode", "found -inf"},
        Planted{"MaskPastEndInPrefill", kScore, IndexFault::MaskPastEnd, "prefill",
                "rules K1, P4, P5"},
        Planted{"InputChanged", kScore, IndexFault::InputChanged, "decode", "an input has changed"},
        Planted{"LaunchFails", kScore, IndexFault::LaunchFails, "decode", "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Topk, PlantedFault,
    testing::Values(
        Planted{"TiesToLower", kTopk, IndexFault::TiesToLower, "decode", "rules K2, K3"},
        Planted{"NegativeZeroBelow", kTopk, IndexFault::NegativeZeroBelow, "verify",
                "rules K2, K3"},
        Planted{"NaNLargest", kTopk, IndexFault::NaNLargest, "verify", "rules K2, K3"},
        Planted{"NaNAsMinusInf", kTopk, IndexFault::NaNAsMinusInf, "verify", "rules K2, K3"},
        Planted{"InitDropped", kTopk, IndexFault::InitDropped, "decode", "rules K2, K3"},
        Planted{"LocalDropped", kTopk, IndexFault::LocalDropped, "decode", "rules K2, K3"},
        Planted{"LocalBeforeInit", kTopk, IndexFault::LocalBeforeInit, "verify", "rules K2, K3"},
        Planted{"FloorBlocks", kTopk, IndexFault::FloorBlocks, "decode", "rules K2, K3"},
        Planted{"ReadsPastEnd", kTopk, IndexFault::ReadsPastEnd, "verify", "rules K2, K3"},
        Planted{"ShortWithZero", kTopk, IndexFault::ShortWithZero, "verify", "rules K2, K3"},
        Planted{"PaddedIdsUnwritten", kTopk, IndexFault::PaddedIdsUnwritten, "verify",
                "rules K2, K3"},
        Planted{"PaddedIdsZero", kTopk, IndexFault::PaddedIdsZero, "verify", "rules K2, K3"},
        Planted{"Ascending", kTopk, IndexFault::Ascending, "decode", "rules K2, K3"},
        Planted{"CutoffEarly", kTopk, IndexFault::CutoffEarly, "verify", "rules K2, K3"},
        Planted{"IdPastList", kTopk, IndexFault::IdPastList, "verify", "rules K2, K3"},
        Planted{"LastRowDropped", kTopk, IndexFault::LastRowDropped, "verify", "rules K2, K3"},
        Planted{"HeadIgnored", kTopk, IndexFault::HeadIgnored, "verify", "head 1"},
        Planted{"InputChanged", kTopk, IndexFault::InputChanged, "decode", "an input has changed"},
        Planted{"LaunchFails", kTopk, IndexFault::LaunchFails, "decode", "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    IndexTopk, PlantedFault,
    testing::Values(
        Planted{"MaskPastEnd", kFused, IndexFault::MaskPastEnd, "verify", "rules K1, K2, K3, K4"},
        Planted{"MaskShort", kFused, IndexFault::MaskShort, "verify", "rules K1, K2, K3, K4"},
        Planted{"NoMask", kFused, IndexFault::NoMask, "verify", "rules K1, K2, K3, K4"},
        Planted{"PageModulo", kFused, IndexFault::PageModulo, "decode", "rules K1, K2, K3, K4"},
        Planted{"PageNotChecked", kFused, IndexFault::PageNotChecked, "verify",
                "rules K1, K2, K3, K4"},
        Planted{"OffsetSigned", kFused, IndexFault::OffsetSigned, "decode",
                "in a pool of 33554440 pages", true},
        Planted{"ScaleStride", kFused, IndexFault::ScaleStride, "decode", "gapped layout"},
        Planted{"SubnormalFlushed", kFused, IndexFault::SubnormalFlushed, "verify",
                "rules K1, K2, K3, K4", true},
        Planted{"LocalDropped", kFused, IndexFault::LocalDropped, "decode", "local 1"},
        Planted{"TailUnwritten", kFused, IndexFault::TailUnwritten, "decode",
                "rules K1, K2, K3, K4"},
        Planted{"BlindRowUnwritten", kFused, IndexFault::BlindRowUnwritten, "verify",
                "rules K1, K2, K3, K4"},
        Planted{"ListsWithoutSegment", kFused, IndexFault::ListsWithoutSegment, "decode",
                "is not one of the worker's"},
        Planted{"KeyOneUlp", kFused, IndexFault::KeyOneUlp, "decode", "against index_score"},
        Planted{"ListStray", kFused, IndexFault::ListStray, "decode", "is missing"},
        Planted{"BestDropped", kFused, IndexFault::BestDropped, "decode", "is missing"},
        Planted{"Ascending", kFused, IndexFault::Ascending, "decode", "strictly descending"},
        Planted{"InitAsLocal", kFused, IndexFault::InitAsLocal, "decode", "init 2"},
        Planted{"InputChanged", kFused, IndexFault::InputChanged, "decode", "an input has changed"},
        Planted{"LaunchFails", kFused, IndexFault::LaunchFails, "decode", "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Merge, PlantedFault,
    testing::Values(
        Planted{"LastWorkerDropped", kMerge, IndexFault::LastWorkerDropped, "decode",
                "rules K2, K3"},
        Planted{"WorkerTooMany", kMerge, IndexFault::WorkerTooMany, "decode", "rules K2, K3"},
        Planted{"RowIgnored", kMerge, IndexFault::RowIgnored, "verify", "rules K2, K3"},
        Planted{"HeadIgnored", kMerge, IndexFault::HeadIgnored, "verify", "head 1"},
        Planted{"IdOffByOne", kMerge, IndexFault::IdOffByOne, "verify", "rules K2, K3"},
        Planted{"ListsWithoutSegment", kMerge, IndexFault::ListsWithoutSegment, "verify",
                "rules K2, K3"},
        Planted{"PaddedIdsUnwritten", kMerge, IndexFault::PaddedIdsUnwritten, "verify",
                "rules K2, K3"},
        Planted{"ShortWithZero", kMerge, IndexFault::ShortWithZero, "verify", "rules K2, K3"},
        Planted{"CutoffEarly", kMerge, IndexFault::CutoffEarly, "verify", "rules K2, K3"},
        Planted{"Ascending", kMerge, IndexFault::Ascending, "prefill", "rules K2, K3"},
        Planted{"LastRowDropped", kMerge, IndexFault::LastRowDropped, "prefill", "rules K2, K3"},
        Planted{"InputChanged", kMerge, IndexFault::InputChanged, "decode", "an input has changed"},
        Planted{"LaunchFails", kMerge, IndexFault::LaunchFails, "decode", "fake launch failed"}),
    [](const auto &info) { return info.param.name; });

} // namespace
