//===- QkNormRopeTest.cpp - counts of qk_norm_rope_store ----------------------===//
//
// W2: each byte of a row is read once and each byte of its results written once; what
// is read more than once are the norm weights, once a wave.
//
//===------------------------------------------------------------------------===//
#include "tests/BundleFixture.h"
#include "tools/bench/Bench.h"

#include <gmock/gmock.h>

namespace nvfp4gen {
namespace {

using bench::Report;
using bench::Row;
using test::BundleFile;

Report benched(const BundleFile &bundle, std::string_view shape) {
  bench::BenchOptions options;
  options.bundlePath = bundle.path();
  options.family = "qk_norm_rope_store";
  options.shape = shape;
  auto report = bench::benchBundle(options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  EXPECT_TRUE(report->passed());
  EXPECT_EQ(report->rows.size(), 1u);
  return *report;
}

// TP4: 20 heads of 256 B a row in, 17 of them out as they came, three in 64 + 8 B.
TEST(BenchQkNormRopeStore, MovesEachByteOfARowOnce) {
  const BundleFile bundle(test::specOf("minimax_m3_1_tp4_bf16"), {"qk_norm_rope_store"});
  // Rows, and waves that have them: one each in decode, 7 a wave in prefill.
  for (auto [shape, rows, waves] : {std::tuple("rows-1", 1u, 1u), std::tuple("rows-64", 64u, 64u),
                                    std::tuple("rows-4096", 4096u, 586u)}) {
    SCOPED_TRACE(shape);
    const Report report = benched(bundle, shape);
    const auto &[demand, measured] = report.rows.at(0).outcome;
    std::map<std::string, std::pair<uint64_t, uint64_t>> moved;
    for (const bench::BufferTraffic &buffer : measured.buffers)
      moved[buffer.name] = {buffer.read, buffer.written};
    using Moved = std::pair<uint64_t, uint64_t>;
    EXPECT_EQ(moved.at("packed"), Moved(rows * 20 * 256, 0));
    EXPECT_EQ(moved.at("positions"), Moved(rows * 8, 0));
    EXPECT_EQ(moved.at("cos_sin"), Moved(rows * 256, 0));
    EXPECT_EQ(moved.at("slots"), Moved(rows * 8, 0));
    EXPECT_EQ(moved.at("index_slots"), Moved(rows * 8, 0));
    EXPECT_EQ(moved.at("q_out"), Moved(0, rows * 16 * 256));
    EXPECT_EQ(moved.at("index_q_out"), Moved(0, rows * 256));
    for (const char *plane : {"k", "v", "index_k"}) {
      EXPECT_EQ(moved.at(plane + std::string("_payload")), Moved(0, rows * 64));
      EXPECT_EQ(moved.at(plane + std::string("_scale")), Moved(0, rows * 8));
    }
    for (const char *weight : {"q_weight", "k_weight", "index_q_weight", "index_k_weight"})
      EXPECT_EQ(moved.at(weight), Moved(waves * 256, 0));
    EXPECT_EQ(moved.size(), 17u);

    EXPECT_EQ(measured.counts.waves, waves);
    EXPECT_EQ(demand.floorRead, rows * (20 * 256 + 8 + 256 + 16) + 4 * 256);
    EXPECT_EQ(demand.floorWritten, rows * (17 * 256 + 3 * 72));
    // K and the index key, written to a staging buffer and read again.
    ASSERT_TRUE(demand.replaced);
    EXPECT_EQ(demand.replaced->bytes, demand.floorBytes() + rows * 2 * 2 * 256);
    EXPECT_EQ(demand.replaced->launches, 2u);
  }
}

// With enough rows, what is read twice (weights; of a row in parts, cosines and sines) is at most
// 2 % of the floor.
TEST(BenchQkNormRopeStore, PrefillIsNearItsFloor) {
  for (const char *spec : {"minimax_m3_1_tp1_bf16", "minimax_m3_1_tp2_bf16",
                           "minimax_m3_1_tp4_fp16", "minimax_m3_1_tp8_bf16"}) {
    const BundleFile bundle(test::specOf(spec), {"qk_norm_rope_store"});
    const Report report = benched(bundle, "rows-4096");
    const auto &[demand, measured] = report.rows.at(0).outcome;
    const double moved = double(measured.bytesRead() + measured.bytesWritten());
    EXPECT_LE(moved / double(demand.floorBytes()), 1.02) << spec;
    EXPECT_GE(moved, double(demand.floorBytes())) << spec;
  }
}

} // namespace
} // namespace nvfp4gen
