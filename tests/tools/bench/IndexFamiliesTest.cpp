//===- IndexFamiliesTest.cpp - block selectors of generated bundles -----------===//
//
// K4: a page is read once for all rows and heads of its segment, whatever the split,
// and every workgroup has the same number of pages within one. The counts say so
// exactly.
//
//===------------------------------------------------------------------------===//
#include "tests/BundleFixture.h"
#include "tools/bench/FamilyBenches.h"

namespace nvfp4gen {
namespace {

using bench::Outcome;
using bench::Shape;
using test::BundleFile;

class BenchIndexFamilies : public testing::Test {
protected:
  void SetUp() override {
    const BundleFile file(test::specOf("tiny"),
                          {"step_map", "index_score", "topk", "index_topk", "index_topk_merge"});
    auto opened = nvfp4rt::Bundle::openFile(file.path());
    ASSERT_TRUE(opened) << opened.error().message;
    bundle.emplace(std::move(*opened));
  }

  /// Bench one family on a shape that is not in the tables. Empty after a failure.
  std::optional<Outcome> outcomeOf(std::string_view family, const Shape &shape) {
    auto device = bench::Device::open(*bundle);
    if (!device) {
      ADD_FAILURE() << device.error().message;
      return std::nullopt;
    }
    for (const bench::FamilyEntry &entry : bench::familyEntries())
      if (entry.name == family) {
        auto outcome = entry.bench->run(**device, shape);
        if (outcome)
          return std::move(*outcome);
        ADD_FAILURE() << outcome.error().message;
        return std::nullopt;
      }
    ADD_FAILURE() << "no family " << family;
    return std::nullopt;
  }

  std::optional<nvfp4rt::Bundle> bundle;

  static const bench::BufferTraffic &trafficOf(const Outcome &outcome, std::string_view buffer) {
    static const bench::BufferTraffic kNone{};
    for (const bench::BufferTraffic &traffic : outcome.measurement.buffers)
      if (traffic.name == buffer)
        return traffic;
    return kNone;
  }
};

/// Lengths differ, so a workgroup's pages are of several requests.
const Shape kDecode = {"decode", "", "decode", 1, {{{1, 80 * 1024}, {3, 24 * 1024}}}};
const Shape kVerify = {"verify", "", "verify", 2, {{{1, 80 * 1024}, {3, 24 * 1024}}}};
constexpr uint64_t kPages = 640 + 3 * 192;
const Shape kPrefill = {"prefill", "", "prefill", 0, {{{1, 8 * 1024}}}, 1024, 1024};
constexpr uint64_t kPrefillPages = 16 * 64 + 2 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);

TEST_F(BenchIndexFamilies, ScorersReadEachPageOnce) {
  for (const char *family : {"index_score", "index_topk"})
    for (auto [shape, pages] : {std::pair(&kDecode, kPages), std::pair(&kVerify, kPages),
                                std::pair(&kPrefill, kPrefillPages)}) {
      SCOPED_TRACE(std::string(family) + " on " + std::string(shape->name));
      auto outcome = outcomeOf(family, *shape);
      ASSERT_TRUE(outcome);
      EXPECT_EQ(outcome->demand.units, pages);
      EXPECT_EQ(outcome->demand.floorRead, pages * 9216);
      EXPECT_EQ(trafficOf(*outcome, "index_payload").read, pages * 8192);
      EXPECT_EQ(trafficOf(*outcome, "index_scale").read, pages * 1024);
      EXPECT_LE(*outcome->demand.imbalance, 1u);
      const auto &counts = outcome->measurement.counts;
      EXPECT_GE(static_cast<double>(counts.total.instructions),
                *outcome->demand.floorInstructions * static_cast<double>(pages));
      EXPECT_GT(bench::mfmaShare(counts), 0.0);
    }
}

TEST_F(BenchIndexFamilies, EachScoreIsWrittenOnce) {
  auto outcome = outcomeOf("index_score", kVerify);
  ASSERT_TRUE(outcome);
  // Two rows of two heads; no row ends before the last page.
  EXPECT_EQ(outcome->demand.floorWritten, kPages * 2 * 2 * 4);
  EXPECT_EQ(trafficOf(*outcome, "scores").written, outcome->demand.floorWritten);
}

TEST_F(BenchIndexFamilies, SelectorsWriteEachIdOnce) {
  for (const char *family : {"topk", "index_topk_merge"}) {
    SCOPED_TRACE(family);
    auto outcome = outcomeOf(family, kVerify);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->demand.units, 8u * 2u);
    EXPECT_EQ(trafficOf(*outcome, "ids").written, 8u * 2u * 16 * 4);
    EXPECT_EQ(trafficOf(*outcome, "ids").read, 0u);
  }
}

TEST_F(BenchIndexFamilies, StepMapWritesItsTablesOnce) {
  for (const Shape *shape : {&kDecode, &kVerify, &kPrefill}) {
    SCOPED_TRACE(shape->name);
    auto outcome = outcomeOf("step_map", *shape);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->measurement.bytesWritten(), outcome->demand.floorWritten);
    EXPECT_EQ(*outcome->demand.imbalance, 1u); // 1216 or 1096 pages on 512 workers
  }
}

} // namespace
} // namespace nvfp4gen
