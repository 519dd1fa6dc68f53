//===- AttentionFaultTest.cpp - the checks of attention fail on faults ------===//

#include "tests/tools/verify/AttentionFake.h"
#include "tests/tools/verify/FaultFixture.h"

#include <vector>

using fake::AttentionFault;
using testing::HasSubstr;

namespace {

constexpr const char *kAttention = "sparse_attention", *kMerge = "sparse_attention_merge";

class CleanAttention
    : public testing::TestWithParam<std::tuple<const char *, const char *, const char *>> {};

TEST_P(CleanAttention, Passes) {
  const auto &[family, rank, bucket] = GetParam();
  fake::AttentionFake target;
  const fake::Checked checked =
      check(fake::attentionManifest(), family, std::string(rank) + "_" + bucket, target,
            /*onceAKernel=*/true);
  expectClean(checked, target, 10'000);
  EXPECT_GT(checked.variant.worstError, 0);
  for (const auto &set : checked.kernel.pinnedSets)
    EXPECT_TRUE(set.values > 0 || set.name == "sensitivity") << set.name;
  if (family == std::string_view(kAttention)) {
    EXPECT_GE(checked.kernel.poolPages, 8'401'239);
    EXPECT_EQ(checked.kernel.pinnedSets.size(), 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, CleanAttention,
                         testing::Combine(testing::Values(kAttention, kMerge),
                                          testing::Values("eight", "sixteen"),
                                          testing::Values("small", "decode", "verify", "prefill")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param) + "_" + std::get<2>(info.param);
                         });

TEST(AttentionCheck, TellsWhatItCannotRun) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  std::erase_if(manifest.variants, [](const auto &v) { return v.family == "index_topk"; });
  fake::AttentionFake target({}, AttentionFault::None, uint64_t{3} << 30);
  const fake::Checked checked = check(manifest, kAttention, "sixteen_prefill", target, true);
  EXPECT_TRUE(checked.variant.passed()) << checked.fault();
  ASSERT_EQ(checked.variant.skipped.size(), 5u); // three pools, two phases
  EXPECT_THAT(checked.variant.skipped[0], HasSubstr("fake device is full"));
  EXPECT_THAT(checked.variant.skipped[3], HasSubstr("no index_topk in this bundle"));
  EXPECT_EQ(checked.kernel.poolPages, 0);
}

/// A manifest that says what cannot be right.
struct WrongManifest {
  const char *name;
  void (*change)(nvfp4rt::Manifest &);
  const char *bucket;
  const char *words; ///< of the message
};

class AttentionManifest : public testing::TestWithParam<WrongManifest> {};

TEST_P(AttentionManifest, IsRefused) {
  nvfp4rt::Manifest manifest = fake::attentionManifest();
  GetParam().change(manifest);
  fake::AttentionFake target;
  const fake::Checked checked = check(manifest, kAttention, GetParam().bucket, target, false);
  EXPECT_THAT(checked.fault(), HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, AttentionManifest,
    testing::Values(WrongManifest{"NoMergeForAWorkspace",
                                  [](nvfp4rt::Manifest &manifest) {
                                    std::erase_if(manifest.variants, [](const auto &variant) {
                                      return variant.family.ends_with("n_merge");
                                    });
                                  },
                                  "eight_small", "expected a sparse_attention_merge"},
                    WrongManifest{"SmallWorkspace",
                                  [](nvfp4rt::Manifest &manifest) {
                                    for (nvfp4rt::Variant &variant : manifest.variants)
                                      if (variant.workspace.perRequest > 0)
                                        variant.workspace.perRequest -= 4;
                                  },
                                  "eight_verify", "workspace: expected at least"},
                    WrongManifest{"OtherGroups",
                                  [](nvfp4rt::Manifest &manifest) {
                                    for (nvfp4rt::Variant &variant : manifest.variants)
                                      for (nvfp4rt::Term &term : variant.guard.terms)
                                        if (term.field == nvfp4rt::Field::q_heads)
                                          term.values = {24};
                                  },
                                  "eight_decode", "8 or 16 q heads a kv head (A5)"}),
    [](const auto &info) { return info.param.name; });

using Planted = fake::Planted<AttentionFault>;
using AttentionFaultTest =
    fake::FaultTest<fake::AttentionFake, AttentionFault, fake::attentionManifest>;

TEST_P(AttentionFaultTest, IsFound) { expectFound(); }

#define PLANTED(family, fault, ...)                                                                \
  Planted { #fault, family, AttentionFault::fault, __VA_ARGS__ }

/// Messages name the rules that do not hold.
constexpr const char *kWrong = "rules A1, A3, A6, P4, P5", *kBits = "rules A4, P5",
                     *kNothing = "rules A2, P4", *kMerged = "rules A1, A4",
                     *kStray = "nothing may be written here";

constexpr Planted kPlanted[] = {
    PLANTED(kAttention, TokenDropped, "eight_decode", kWrong),
    PLANTED(kAttention, TokenDoubled, "sixteen_prefill", kWrong),
    PLANTED(kAttention, TokenShifted, "eight_decode", kWrong),
    PLANTED(kAttention, MaskLong, "eight_prefill", kWrong),
    PLANTED(kAttention, MaskShort, "eight_verify", kWrong),
    PLANTED(kAttention, NoMask, "sixteen_decode", kWrong),
    PLANTED(kAttention, TailTimesZero, "eight_decode", kBits),
    PLANTED(kAttention, TailInMax, "eight_verify", kWrong),
    PLANTED(kAttention, MaxFromZero, "eight_decode", kWrong),
    PLANTED(kAttention, NoMax, "sixteen_decode", kWrong),
    PLANTED(kAttention, Unscaled, "eight_decode", kWrong),
    PLANTED(kAttention, LastMasked, "eight_decode", kWrong),
    PLANTED(kAttention, HoleEnds, "eight_decode", kWrong),
    PLANTED(kAttention, PastCausal, "eight_prefill", "ids past the causal length"),
    PLANTED(kAttention, Position32, "eight_decode", kNothing),
    PLANTED(kAttention, HeadIgnored, "eight_decode", kWrong),
    PLANTED(kAttention, PageModulo, "eight_decode", "impossible pages"),
    PLANTED(kAttention, PageClamped, "eight_decode", "impossible pages"),
    PLANTED(kAttention, PageUnchecked, "eight_decode", "impossible pages"),
    PLANTED(kAttention, OffsetSigned, "sixteen_decode", "huge pools", true),
    PLANTED(kAttention, TokenStride, "eight_decode", kWrong),
    PLANTED(kAttention, ScaleStride, "sixteen_prefill", "gapped HND pools"),
    PLANTED(kAttention, HeadStride, "eight_prefill", "gapped HND pools"),
    PLANTED(kAttention, QueryStride, "eight_decode", kBits),
    PLANTED(kAttention, OutStride, "eight_decode", "out, byte"),
    PLANTED(kAttention, NibblesSwapped, "eight_decode", kWrong),
    PLANTED(kAttention, PaddedUnwritten, "eight_decode", kNothing),
    PLANTED(kAttention, PaddedNaN, "eight_prefill", kNothing),
    PLANTED(kAttention, NegativeZero, "sixteen_decode", kNothing),
    PLANTED(kAttention, StrayAfter, "sixteen_prefill", kStray),
    PLANTED(kAttention, LastRowDropped, "eight_decode", kWrong),
    PLANTED(kAttention, BatchBits, "eight_decode", kBits),
    PLANTED(kAttention, BatchBits, "eight_small", kBits),
    PLANTED(kAttention, NeighbourBits, "eight_decode", kBits),
    PLANTED(kAttention, BucketBits, "eight_decode", kBits),
    PLANTED(kAttention, PhaseRounding, "eight_verify", kBits),
    PLANTED(kAttention, OutWritten, "eight_small", "out, byte"),
    PLANTED(kAttention, PartUnwritten, "eight_small", "partial result"),
    PLANTED(kAttention, PartMaxZero, "eight_verify", "found m 0"),
    PLANTED(kAttention, PartsReversed, "sixteen_verify", "partial result"),
    PLANTED(kAttention, PartPastEnd, "eight_verify", kStray),
    PLANTED(kMerge, LastPartIgnored, "eight_small", "rules A"),
    PLANTED(kAttention, CacheChanged, "eight_decode", "a launch has changed its input"),
    PLANTED(kMerge, LastPartIgnored, "eight_decode", kMerged),
    PLANTED(kMerge, MaxOfFirst, "eight_verify", kMerged),
    PLANTED(kMerge, SumsAdded, "sixteen_decode", kMerged),
    PLANTED(kMerge, EmptyNaN, "eight_prefill", "every part is empty, expected +0; rule A2"),
    PLANTED(kMerge, NegativeZero, "sixteen_prefill", "expected 0x00, found 0x80"),
    PLANTED(kMerge, BatchBits, "eight_decode", "expected the bits of row 0"),
    PLANTED(kMerge, LastRowDropped, "sixteen_verify", kMerged),
    PLANTED(kMerge, StrayAfter, "eight_decode", kStray),
};

std::vector<Planted> inEveryFamily() {
  std::vector<Planted> all;
  for (const char *family : {kAttention, kMerge}) {
    all.push_back(PLANTED(family, InputChanged, "eight_decode", "an input has changed"));
    all.push_back(PLANTED(family, LaunchFails, "eight_decode", "fake launch failed"));
  }
  return all;
}

#undef PLANTED

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionFaultTest, testing::ValuesIn(kPlanted),
                         [](const auto &info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(EveryFamily, AttentionFaultTest, testing::ValuesIn(inEveryFamily()),
                         [](const auto &info) { return nameOf(info.param); });

} // namespace
