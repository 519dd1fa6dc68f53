//===- AttentionTest.cpp - attention of generated bundles ---------------------===//
//
// A1, A4: a row reads the pages that it has chosen, each once, whoever shares it. The
// counts say so exactly.
//
//===------------------------------------------------------------------------===//
#include "tests/BundleFixture.h"
#include "tools/bench/FamilyBenches.h"

namespace nvfp4gen {
namespace {

using bench::Outcome;
using bench::Shape;
using test::BundleFile;

class BenchAttention : public testing::Test {
protected:
  void SetUp() override {
    const BundleFile file(test::specOf("tiny"),
                          {"step_map", "sparse_attention", "sparse_attention_merge"});
    auto opened = nvfp4rt::Bundle::openFile(file.path());
    ASSERT_TRUE(opened) << opened.error().message;
    bundle.emplace(std::move(*opened));
    auto opener = bench::Device::open(*bundle);
    ASSERT_TRUE(opener) << opener.error().message;
    device = std::move(*opener);
    for (const nvfp4rt::Variant &variant : bundle->manifest().variants)
      if (variant.family == "sparse_attention") {
        auto value = [&](nvfp4rt::Field field) {
          return static_cast<uint64_t>(bench::configOf(variant, field).value());
        };
        kvHeads = value(nvfp4rt::Field::kv_heads);
        qHeads = value(nvfp4rt::Field::q_heads);
        topK = value(nvfp4rt::Field::top_k);
      }
  }

  nvfp4rt::Result<Outcome> run(std::string_view family, const Shape &shape) {
    for (const bench::FamilyEntry &entry : bench::familyEntries())
      if (entry.name == family)
        return entry.bench->run(*device, shape);
    return nvfp4rt::fail(NVFP4RT_ERROR_INTERNAL, "no family " + std::string(family));
  }

  std::optional<nvfp4rt::Bundle> bundle;
  std::unique_ptr<bench::Device> device;
  uint64_t kvHeads = 0, qHeads = 0, topK = 0;
};

bench::BufferTraffic trafficOf(const Outcome &outcome, std::string_view buffer) {
  for (const bench::BufferTraffic &traffic : outcome.measurement.buffers)
    if (traffic.name == buffer)
      return traffic;
  return {};
}

/// Rows end within a block, so the last page of each list is not whole.
const Shape kDecode = {"decode", "", "decode", 1, {{{1, 40 * 128 - 28}, {2, 20 * 128 - 28}}}};
const Shape kPrefill = {"prefill", "", "prefill", 0, {{{1, 30 * 128}}}, 64, 64};

TEST_F(BenchAttention, ReadsEachChosenPageOnce) {
  for (const Shape *shape : {&kDecode, &kPrefill}) {
    SCOPED_TRACE(shape->name);
    auto outcome = run("sparse_attention", *shape);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto rows = static_cast<uint64_t>(shape->rows());
    const bench::Demand &demand = outcome->demand;
    EXPECT_EQ(demand.units, rows * kvHeads * topK);
    // Pages are loaded whole or up to the last visible token.
    EXPECT_LE(demand.floorRead,
              demand.units * 18432 + rows * (qHeads * 256 + kvHeads * topK * 4 + 16));
    EXPECT_LE(trafficOf(*outcome, "k_payload").read, demand.units * 8192);
    EXPECT_GT(trafficOf(*outcome, "k_payload").read, (demand.units - rows * kvHeads) * 8192);
    EXPECT_LE(trafficOf(*outcome, "v_scale").read, demand.units * 1024);
    EXPECT_EQ(demand.floorWritten, outcome->measurement.bytesWritten());
    EXPECT_EQ(demand.readingWaves, trafficOf(*outcome, "k_payload").readers);
    EXPECT_GE(*demand.readingWaves, rows * kvHeads);
    EXPECT_LE(*demand.imbalance, 1u);
    EXPECT_GE(static_cast<double>(outcome->measurement.counts.total.instructions),
              *demand.floorInstructions * static_cast<double>(demand.units));
  }
}

TEST_F(BenchAttention, MergesWhereThereIsSomethingToMerge) {
  auto attended = run("sparse_attention", kDecode);
  ASSERT_TRUE(attended) << attended.error().message;
  const bool split = trafficOf(*attended, "partial").written > 0;
  auto merged = run("sparse_attention_merge", kDecode);
  ASSERT_EQ(merged.has_value(), split) << (merged ? "" : merged.error().message);
  if (!split) {
    EXPECT_EQ(merged.error().code, NVFP4RT_ERROR_NO_MATCH);
    return;
  }
  EXPECT_EQ(merged->demand.units, 3u);
  EXPECT_EQ(merged->demand.floorRead, trafficOf(*attended, "partial").written);
  EXPECT_EQ(trafficOf(*merged, "out").written, 3 * qHeads * 256);
}

} // namespace
} // namespace nvfp4gen
