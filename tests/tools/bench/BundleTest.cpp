//===- BundleTest.cpp - kv_store of generated bundles -------------------------===//
//
// W1: each input byte is read once and each output byte written once; the counts say
// so exactly, and of a kernel that does its work twice they say that.
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
using testing::HasSubstr;

const std::set<std::string_view> kKvStore = {"kv_store"};

Report benched(const BundleFile &bundle, const std::string &shape = {}) {
  bench::BenchOptions options;
  options.bundlePath = bundle.path();
  options.family = "kv_store";
  options.shape = shape;
  auto report = bench::benchBundle(options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  for (const Row &row : report->rows)
    EXPECT_FALSE(row.failed) << row.shape.name << ": " << *row.failed;
  return *report;
}

uint64_t readOf(const Row &row, std::string_view buffer) {
  for (const bench::BufferTraffic &traffic : row.outcome.measurement.buffers)
    if (traffic.name == buffer)
      return traffic.read;
  return 0;
}

uint64_t writtenOf(const Row &row, std::string_view buffer) {
  for (const bench::BufferTraffic &traffic : row.outcome.measurement.buffers)
    if (traffic.name == buffer)
      return traffic.written;
  return 0;
}

TEST(BenchKvStore, MovesEachByteOnce) {
  const BundleFile bundle(test::specOf("minimax_m3_1_tp4_bf16"), kKvStore);
  const Report report = benched(bundle);
  ASSERT_EQ(report.rows.size(), 6u);
  for (const Row &row : report.rows) {
    ASSERT_FALSE(row.skipped) << *row.skipped;
    SCOPED_TRACE(row.shape.name);
    const auto rows = static_cast<uint64_t>(row.shape.rows());
    EXPECT_EQ(row.outcome.demand.units, rows);
    EXPECT_EQ(row.outcome.demand.floorRead, rows * (3 * 256 + 2 * 8));
    EXPECT_EQ(row.outcome.demand.floorWritten, rows * 3 * 72);
    for (const char *tensor : {"k", "v", "index_k"}) {
      EXPECT_EQ(readOf(row, tensor), rows * 256);
      EXPECT_EQ(writtenOf(row, tensor), 0u);
      EXPECT_EQ(writtenOf(row, std::string(tensor) + "_payload"), rows * 64);
      EXPECT_EQ(writtenOf(row, std::string(tensor) + "_scale"), rows * 8);
    }
    // K and V are other workgroups, each of which needs the slot.
    EXPECT_EQ(readOf(row, "slots"), 2 * rows * 8);
    EXPECT_EQ(readOf(row, "index_slots"), rows * 8);
    EXPECT_EQ(row.outcome.measurement.bytesRead(), rows * (3 * 256 + 3 * 8));
    EXPECT_EQ(row.outcome.measurement.bytesWritten(), row.outcome.demand.floorWritten);
  }
}

TEST(BenchKvStore, FollowsHeadsAndPlanes) {
  Spec spec = test::specOf("tiny");
  spec.cache.planes = {Plane::K, Plane::V};
  const BundleFile bundle(spec, kKvStore);
  const Report report = benched(bundle, "rows-4096");
  ASSERT_EQ(report.rows.size(), 1u);
  const Row &row = report.rows[0];
  EXPECT_EQ(row.outcome.demand.floorRead, 4096u * (2 * 2 * 256 + 8));
  EXPECT_EQ(row.outcome.demand.floorWritten, 4096u * 2 * 2 * 72);
  EXPECT_EQ(readOf(row, "index_k"), 0u);
  EXPECT_EQ(readOf(row, "k"), 4096u * 512);
}

// Planted fault: a kernel that does everything twice.
TEST(BenchKvStore, WorkDoneTwiceShows) {
  Spec spec = test::specOf("tiny");
  VariantList list = BundleFile::only(test::variantsOf(spec), kKvStore);
  for (KernelPlan &kernel : list.kernels)
    kernel.emit = [once = kernel.emit](KernelBuilder &kb) {
      once(kb);
      once(kb);
    };
  const BundleFile bundle(spec, list);
  const Report report = benched(bundle, "rows-1");
  ASSERT_EQ(report.rows.size(), 1u);
  const Row &row = report.rows[0];
  EXPECT_EQ(readOf(row, "k"), 2u * 512);
  EXPECT_EQ(row.outcome.measurement.bytesWritten(), 2 * row.outcome.demand.floorWritten);
}

// What the bundle does not serve is said, and is no failure beside what it serves.
TEST(BenchKvStore, ShapesBeyondTheBundleAreSkipped) {
  const BundleFile bundle(test::specOf("tiny"), kKvStore); // at most 4 requests
  const Report report = benched(bundle);
  ASSERT_EQ(report.rows.size(), 6u);
  EXPECT_TRUE(report.passed());
  EXPECT_FALSE(report.rows[0].skipped);
  ASSERT_TRUE(report.rows[3].skipped);
  EXPECT_EQ(*report.rows[3].skipped,
            "no variant of kv_store for phase decode, query_len 1, requests 384");
  EXPECT_FALSE(benched(bundle, "rows-384").passed());
}

TEST(BenchBundle, RefusesWhatItDoesNotKnow) {
  const BundleFile bundle(test::specOf("tiny"), kKvStore);
  bench::BenchOptions options;
  options.bundlePath = bundle.path();
  options.family = "nosuch";
  auto report = bench::benchBundle(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(report.error().message, HasSubstr("family: expected one of kv_store"));
  EXPECT_THAT(report.error().message, HasSubstr("found 'nosuch'"));

  options.family = "kv_store";
  options.shape = "nosuch";
  report = bench::benchBundle(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(report.error().message,
              HasSubstr("shape: expected one of rows-1, rows-8, rows-64, rows-384, rows-4096, "
                        "rows-32768; found 'nosuch'"));

  options.shape = {};
  options.sample = 0;
  report = bench::benchBundle(options);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("sample: expected at least 1, found 0"));

  options = {};
  options.bundlePath = bundle.path() + ".missing";
  report = bench::benchBundle(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, NVFP4RT_ERROR_IO);
}

TEST(BenchBundle, ReportsProgress) {
  const BundleFile bundle(test::specOf("tiny"), kKvStore);
  bench::BenchOptions options;
  options.bundlePath = bundle.path();
  options.family = "kv_store";
  options.shape = "rows-4096";
  uint64_t last = 0, total = 0;
  options.onProgress = [&](const bench::Progress &progress) {
    EXPECT_EQ(progress.shape, "rows-4096");
    last = progress.workgroup;
    total = progress.workgroups;
  };
  ASSERT_TRUE(bench::benchBundle(options));
  EXPECT_GT(total, 0u);
  EXPECT_EQ(last, total);
}

} // namespace
} // namespace nvfp4gen
