//===- ReportTest.cpp - the printed forms of a report -----------------------===//

#include "tests/tools/verify/FakeTarget.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

verify::Report sample() {
  verify::Report report;
  report.bundle = "x.hsaco";
  report.specName = "tiny";
  report.buildId = "abc";
  report.device = "fake device";
  report.seed = 7;
  const nvfp4rt::Manifest manifest = fake::manifest();
  for (size_t i = 0; i < 2; ++i) {
    verify::VariantReport variant;
    variant.name = manifest.variants[i].name;
    variant.family = "kv_store";
    variant.symbol = "kernel_two";
    variant.guard = manifest.variants[i].guard;
    variant.resources = {40, 0, 28, 0, 0, 1234};
    variant.launches = 3;
    variant.values = 96;
    variant.bytesCompared = 1000;
    report.variants.push_back(variant);
  }
  report.kernels.push_back(
      {"kernel_two", "decode_b1", {{"F6 zeros", 67}, {"F2 positions", 33}}, true, 5, 70});
  return report;
}

TEST(Report, TableOfAPass) {
  const std::string table = verify::reportTable(sample());
  EXPECT_EQ(table,
            R"(bundle x.hsaco
spec   tiny, build abc
run on fake device, seed 7

kv_store: every guard has phase == decode, query_len == 1, dtype == bf16, kv_format == nvfp4, index_format == nvfp4, kv_heads == 2, head_dim == 128, index_head_dim == 128, planes == kvi, page_size == 16, plane_order == nhd

variant    guard               VGPR  SGPR  LDS  code  values  wrong bytes  worst error  result
----------------------------------------------------------------------------------------------
decode_b1  requests in [1, 1]    40    28    0  1234      96            0            0  pass
decode_b4  requests in [2, 4]    40    28    0  1234      96            0            0  pass

values: compared with the oracle; worst error: share of the bound, 0 or inf where the rule is exact; LDS and code in bytes
kernel kernel_two, in launches of decode_b1: 100 pinned values in 2 sets; addresses in pools of 5 pages, 70 bytes
2 variants, 6 launches, 2000 bytes compared, 0 failed, 0.0 s
)");
}

TEST(Report, TablePrintsACommonPrefixOfNamesOnce) {
  verify::Report report = sample();
  report.variants[0].name = "kv_store__x__decode_q1_b1";
  report.variants[1].name = "kv_store__x__decode_q1_b4";
  const std::string table = verify::reportTable(report);
  EXPECT_NE(table.find("names begin with kv_store__x__\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\ndecode_q1_b1  requests"), std::string::npos) << table;
  report.variants.pop_back();
  EXPECT_NE(verify::reportTable(report).find("\ndecode_q1_b1  "), std::string::npos);
}

TEST(Report, TableOfAFailureAndASkip) {
  verify::Report report = sample();
  report.kernels[0].poolPages = 0;
  report.variants[0].skipped = {"pools of 5 pages: needs 9 bytes"};
  report.variants[1].firstFault = "row 3: wrong";
  report.variants[1].mismatchingBytes = 2;
  report.variants[1].worstError = 0.5;
  EXPECT_FALSE(report.passed());
  const std::string table = verify::reportTable(report);
  EXPECT_NE(table.find("pass, some skipped\n"), std::string::npos);
  EXPECT_NE(table.find("            2          0.5  FAIL\n"), std::string::npos) << table;
  EXPECT_NE(table.find("no pool past 2^32 bytes\n"), std::string::npos);
  EXPECT_NE(table.find("skipped in decode_b1: pools of 5 pages: needs 9 bytes\n"),
            std::string::npos);
  EXPECT_NE(table.find("FAIL decode_b4: row 3: wrong\n"), std::string::npos);
  EXPECT_NE(table.find(" 1 failed,"), std::string::npos);
}

TEST(Report, Json) {
  verify::Report report = sample();
  report.variants[1].firstFault = "row 3: wrong";
  report.variants[1].worstError = std::numeric_limits<double>::infinity();
  const nlohmann::json json = nlohmann::json::parse(verify::reportJson(report).dump());
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["seed"], 7);
  ASSERT_EQ(json["variants"].size(), 2u);
  const auto &first = json["variants"][0], &second = json["variants"][1];
  EXPECT_EQ(first["name"], "decode_b1");
  EXPECT_EQ(first["passed"], true);
  EXPECT_TRUE(first["first_fault"].is_null());
  EXPECT_EQ(first["vgprs"], 40);
  EXPECT_EQ(first["code_bytes"], 1234);
  EXPECT_EQ(first["values"], 96);
  EXPECT_EQ(first["worst_error"], 0);
  EXPECT_EQ(second["worst_error"], "infinity");
  EXPECT_EQ(second["first_fault"], "row 3: wrong");
  EXPECT_EQ(json["kernels"][0]["pool_pages"], 5);
  EXPECT_EQ(json["kernels"][0]["pinned_sets"][1]["values"], 33);
}

// A bundle or library that is not there is an error with both names, not a report.
TEST(VerifyBundle, MissingBundle) {
  verify::VerifyOptions options;
  options.bundlePath = "/nonexistent/x.hsaco";
  auto report = verify::verifyBundle(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, NVFP4RT_ERROR_IO);
  EXPECT_NE(report.error().message.find("/nonexistent/x.hsaco"), std::string::npos);
}

} // namespace
