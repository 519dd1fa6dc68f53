//===- IndexFaultTest.cpp - the selectors' checks fail on planted faults ----===//

#include "tests/tools/verify/FaultFixture.h"
#include "tests/tools/verify/IndexFake.h"

#include <vector>

using fake::IndexFault;

namespace {

constexpr const char *kStepMap = "step_map", *kScore = "index_score", *kTopk = "topk",
                     *kFused = "index_topk", *kMerge = "index_topk_merge";
constexpr const char *kFamilies[] = {kStepMap, kScore, kTopk, kFused, kMerge};

class CleanIndex : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

TEST_P(CleanIndex, Passes) {
  const auto &[family, phase] = GetParam();
  fake::IndexFake target;
  const fake::Checked checked =
      check(fake::indexManifest(), family, phase, target, /*onceAKernel=*/true);
  expectClean(checked, target, 100);
  if (checked.kernel.usesPools) {
    EXPECT_GE(checked.kernel.poolPages, 8'401'239);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CleanIndex,
                         testing::Combine(testing::ValuesIn(kFamilies),
                                          testing::Values("decode", "verify", "prefill")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param);
                         });

using Planted = fake::Planted<IndexFault>;
using IndexFaultTest = fake::FaultTest<fake::IndexFake, IndexFault, fake::indexManifest>;

TEST_P(IndexFaultTest, IsFound) { expectFound(); }

#define PLANTED(family, fault, ...)                                                                \
  Planted { #fault, family, IndexFault::fault, __VA_ARGS__ }

/// Messages name the rules that do not hold.
constexpr const char *kWork = "rule S4, K4", *kScores = "rules K1, P4, P5", *kIds = "rules K2, K3",
                     *kLists = "rules K1, K2, K3, K4";

constexpr Planted kPlanted[] = {
    PLANTED(kStepMap, CausalOffByOne, "decode", "rule S1"),
    PLANTED(kStepMap, CausalOffByOne, "prefill", "rule S1"),
    PLANTED(kStepMap, LiveIgnored, "verify", "live < requests"),
    PLANTED(kStepMap, NotClamped, "verify", "causal_len -1"),
    PLANTED(kStepMap, PaddedUnwritten, "verify", "request -1 causal_len 0"),
    PLANTED(kStepMap, PaddedRequest, "prefill", "request -1 causal_len 0"),
    PLANTED(kStepMap, BlocksOfFirstRow, "verify", "rule S3"),
    PLANTED(kStepMap, MinCausalOfLast, "verify", "min_causal_len"),
    PLANTED(kStepMap, SegmentPastEnd, "prefill", "nothing may be written here"),
    PLANTED(kStepMap, WorkRoundedUp, "decode", kWork),
    PLANTED(kStepMap, Work32, "verify", kWork),
    PLANTED(kStepMap, WorkEndUnwritten, "decode", kWork),
    PLANTED(kStepMap, WorkAtSegmentEnd, "decode", kWork),
    PLANTED(kStepMap, WorkersOfEmpty, "decode", "worker_count 0"),
    PLANTED(kScore, MaskPastEnd, "verify", kScores),
    PLANTED(kScore, MaskShort, "verify", kScores),
    PLANTED(kScore, NoMask, "decode", kScores),
    PLANTED(kScore, NaNTail, "decode", "found nan"),
    PLANTED(kScore, PageModulo, "decode", kScores),
    PLANTED(kScore, PageClamped, "verify", "expected nan"),
    PLANTED(kScore, PageNotChecked, "verify", "expected nan"),
    PLANTED(kScore, OffsetSigned, "decode", "in a pool of 33554440 pages", true),
    PLANTED(kScore, TokenStride, "decode", "gapped layout"),
    PLANTED(kScore, ScaleStride, "decode", "gapped layout"),
    PLANTED(kScore, QueryStride, "decode", "head 1"),
    PLANTED(kScore, SubnormalFlushed, "verify", "special values", true),
    PLANTED(kScore, InfinityClipped, "verify", "special values", true),
    PLANTED(kScore, NibblesSwapped, "decode", "exact values"),
    PLANTED(kScore, HeadsSwapped, "decode", "exact values"),
    PLANTED(kScore, ScoreRounded, "decode", "exact values"),
    PLANTED(kScore, ScoreOneUlp, "decode", "exact values"),
    PLANTED(kScore, ScoreUnscaled, "decode", "exact values"),
    PLANTED(kScore, BlockDropped, "decode", kScores),
    PLANTED(kScore, ScorePastEnd, "verify", "found -inf"),
    PLANTED(kScore, PaddedScored, "verify", "nothing may be written here"),
    PLANTED(kScore, NaNScoreMinusInf, "decode", "found -inf"),
    PLANTED(kScore, MaskPastEnd, "prefill", kScores),
    PLANTED(kTopk, TiesToLower, "decode", kIds),
    PLANTED(kTopk, NegativeZeroBelow, "verify", kIds),
    PLANTED(kTopk, NaNLargest, "verify", kIds),
    PLANTED(kTopk, NaNAsMinusInf, "verify", kIds),
    PLANTED(kTopk, InitDropped, "decode", kIds),
    PLANTED(kTopk, LocalDropped, "decode", kIds),
    PLANTED(kTopk, LocalBeforeInit, "verify", kIds),
    PLANTED(kTopk, FloorBlocks, "decode", kIds),
    PLANTED(kTopk, ReadsPastEnd, "verify", kIds),
    PLANTED(kTopk, ShortWithZero, "verify", kIds),
    PLANTED(kTopk, PaddedIdsUnwritten, "verify", kIds),
    PLANTED(kTopk, PaddedIdsZero, "verify", kIds),
    PLANTED(kTopk, Ascending, "decode", kIds),
    PLANTED(kTopk, CutoffEarly, "verify", kIds),
    PLANTED(kTopk, IdPastList, "verify", kIds),
    PLANTED(kTopk, LastRowDropped, "verify", kIds),
    PLANTED(kTopk, HeadIgnored, "verify", "head 1"),
    PLANTED(kFused, MaskPastEnd, "verify", kLists),
    PLANTED(kFused, MaskShort, "verify", kLists),
    PLANTED(kFused, NoMask, "verify", kLists),
    PLANTED(kFused, PageModulo, "decode", kLists),
    PLANTED(kFused, PageNotChecked, "verify", kLists),
    PLANTED(kFused, OffsetSigned, "decode", "in a pool of 33554440 pages", true),
    PLANTED(kFused, ScaleStride, "decode", "gapped layout"),
    PLANTED(kFused, SubnormalFlushed, "verify", kLists, true),
    PLANTED(kFused, LocalDropped, "decode", "local 1"),
    PLANTED(kFused, TailUnwritten, "decode", kLists),
    PLANTED(kFused, BlindRowUnwritten, "verify", kLists),
    PLANTED(kFused, ListsWithoutSegment, "decode", "is not one of the worker's"),
    PLANTED(kFused, KeyOneUlp, "decode", "against index_score"),
    PLANTED(kFused, ListStray, "decode", "is missing"),
    PLANTED(kFused, BestDropped, "decode", "is missing"),
    PLANTED(kFused, Ascending, "decode", "strictly descending"),
    PLANTED(kFused, InitAsLocal, "decode", "init 2"),
    PLANTED(kMerge, LastWorkerDropped, "decode", kIds),
    PLANTED(kMerge, WorkerTooMany, "decode", kIds),
    PLANTED(kMerge, RowIgnored, "verify", kIds),
    PLANTED(kMerge, HeadIgnored, "verify", "head 1"),
    PLANTED(kMerge, IdOffByOne, "verify", kIds),
    PLANTED(kMerge, ListsWithoutSegment, "verify", kIds),
    PLANTED(kMerge, PaddedIdsUnwritten, "verify", kIds),
    PLANTED(kMerge, ShortWithZero, "verify", kIds),
    PLANTED(kMerge, CutoffEarly, "verify", kIds),
    PLANTED(kMerge, Ascending, "prefill", kIds),
    PLANTED(kMerge, LastRowDropped, "prefill", kIds),
};

std::vector<Planted> inEveryFamily() {
  std::vector<Planted> all;
  for (const char *family : kFamilies) {
    all.push_back(PLANTED(family, InputChanged, "decode", "an input has changed"));
    all.push_back(PLANTED(family, LaunchFails, "decode", "fake launch failed"));
  }
  return all;
}

#undef PLANTED

INSTANTIATE_TEST_SUITE_P(Kernels, IndexFaultTest, testing::ValuesIn(kPlanted),
                         [](const auto &info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(EveryFamily, IndexFaultTest, testing::ValuesIn(inEveryFamily()),
                         [](const auto &info) { return nameOf(info.param); });

} // namespace
