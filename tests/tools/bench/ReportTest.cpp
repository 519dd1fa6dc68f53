//===- ReportTest.cpp - the two printed forms ---------------------------------===//

#include "tools/bench/Bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using bench::Report;
using bench::Row;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Row rowOf(std::string_view shape) {
  Row row;
  row.family = "index_topk";
  row.unit = "page";
  row.floor = "pages once";
  row.shape.name = shape;
  row.shape.phase = "prefill";
  row.shape.chunk = row.shape.fullChunk = 128;
  row.shape.groups[0] = {1, 0};
  return row;
}

Report sample() {
  Report report;
  report.bundle = "x.hsaco";
  nvfp4rt::Kernel kernel;
  kernel.symbol = "scorer";
  kernel.family = "index_topk";
  kernel.block[0] = 256;
  kernel.resources = {128, 32, 50, 4096, 0, 1000};
  report.kernels.push_back(kernel);

  Row ran = rowOf("a");
  ran.outcome.demand = {10, 900, 100, 290.0, 1};
  ran.outcome.demand.readingWaves = 6;
  bench::Measurement &m = ran.outcome.measurement;
  m.symbol = "scorer";
  m.buffers = {{"index_payload", 0, 4096, 900, 0}, {"partial", 8192, 4096, 0, 350}};
  m.counts.total.instructions = 3333;
  m.counts.waves = 8;
  m.cost.occupancy = {4, 4, 4, 8, 4};
  m.cost.cycles = 1000;
  m.cost.limits = {{"VALU", "", 1000, true}, {"HBM", "", 10, false}};
  report.rows.push_back(ran);

  Row sampled = ran;
  sampled.shape.name = "b";
  sampled.shape.chunk = 64;
  report.rows.push_back(sampled);

  Row skipped = rowOf("c");
  skipped.skipped = "no variant";
  report.rows.push_back(skipped);
  return report;
}

TEST(BenchReport, TableSaysWhatItIs) {
  const std::string text = bench::reportTable(sample());
  EXPECT_THAT(text, HasSubstr("Emulated on a CPU, nothing measured"));
  EXPECT_THAT(text, HasSubstr("index_topk [emulated]; floor: pages once"));
  EXPECT_THAT(text, HasSubstr("1.2500")); // (900 + 350) / 1000
  EXPECT_THAT(text, HasSubstr("125.0"));  // bytes a page
  EXPECT_THAT(text, HasSubstr("333.3"));  // instructions a page
  EXPECT_THAT(text, HasSubstr("290"));
  EXPECT_THAT(text, HasSubstr("VALU"));
  EXPECT_THAT(text, HasSubstr("b (sample: 64 of 128 rows)"));
  EXPECT_THAT(text, Not(HasSubstr("a (sample")));
  EXPECT_THAT(text, HasSubstr("c: not served: no variant"));
}

// What a fused family saves: bytes of what it replaces less its own 900 + 350.
TEST(BenchReport, SavingOfAFusedFamily) {
  Report report = sample();
  EXPECT_THAT(bench::reportTable(report), Not(HasSubstr("saves against")));
  EXPECT_FALSE(bench::reportJson(report).at("rows")[0].contains("saving"));
  report.rows[0].outcome.demand.replaced = bench::Replaced{"two kernels", 2000, 2};
  report.rows[1].outcome.demand.replaced = bench::Replaced{"two kernels", 1000, 3};
  const std::string text = bench::reportTable(report);
  EXPECT_THAT(text, HasSubstr("a layer saves against two kernels:"));
  EXPECT_THAT(text, testing::ContainsRegex("\na +2000 +750 +37.5 % +75.0 +2 -> 1\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nb .* 1000 +-250 +-25.0 % +-25.0 +3 -> 1\n"));
  const json row = bench::reportJson(report).at("rows")[0].at("saving");
  EXPECT_EQ(row.at("bytes"), 750);
  EXPECT_EQ(row.at("launches"), 1);
  EXPECT_EQ(row.at("against"), "two kernels");
}

TEST(BenchReport, JsonHasTheSameNumbers) {
  const json report = bench::reportJson(sample());
  EXPECT_EQ(report.at("emulated"), true);
  EXPECT_EQ(report.at("kernels")[0].at("vgprs"), 128);
  EXPECT_EQ(report.at("kernels")[0].at("agprs"), 32);
  const json &row = report.at("rows")[0];
  EXPECT_EQ(row.at("bytes").at("read"), 900);
  EXPECT_EQ(row.at("bytes").at("written"), 350);
  EXPECT_EQ(row.at("bytes").at("floor"), 1000);
  EXPECT_EQ(row.at("bytes").at("ratio"), 1.25);
  EXPECT_EQ(row.at("bytes").at("buffers")[1].at("name"), "partial");
  EXPECT_EQ(row.at("instructions").at("per_unit"), 333.3);
  EXPECT_EQ(row.at("instructions").at("floor_per_unit"), 290.0);
  EXPECT_EQ(row.at("imbalance"), 1);
  EXPECT_EQ(row.at("reading_waves"), 6);
  EXPECT_EQ(row.at("waves_per_simd"), 4.0);
  EXPECT_EQ(row.at("estimate").at("limits")[0].at("binding"), true);
  EXPECT_EQ(report.at("rows")[1].at("shape").at("sample").at("rows"), 64);
  EXPECT_EQ(report.at("rows")[1].at("shape").at("sample").at("of"), 128);
  EXPECT_EQ(report.at("rows")[2].at("skipped"), "no variant");
  EXPECT_FALSE(report.at("rows")[2].contains("bytes"));
}

TEST(BenchReport, PassedMeansThatSomethingRanAndNothingFailed) {
  Report report = sample();
  EXPECT_TRUE(report.passed());
  report.rows[1].failed = "fault";
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(bench::reportTable(report), HasSubstr("b: FAILED: fault"));
  EXPECT_EQ(bench::reportJson(report).at("rows")[1].at("failed"), "fault");
  report = sample();
  report.rows.erase(report.rows.begin(), report.rows.begin() + 2);
  EXPECT_FALSE(report.passed());
}

} // namespace
