//===- CommandTest.cpp - nvfp4gen bench as a user runs it ---------------------===//

#include "tests/BundleFixture.h"

#include "llvm/Support/Program.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace nvfp4gen {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::BundleFile;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  int exitCode;
  std::string out, err;
};

std::string take(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  fs::remove(path);
  return text;
}

Outcome bench(std::vector<std::string> arguments) {
  const std::string stem = testing::TempDir() + "/bench-command-" + std::to_string(::getpid());
  const std::string out = stem + ".out", err = stem + ".err";
  std::vector<llvm::StringRef> words = {NVFP4GEN, "bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const int code = llvm::sys::ExecuteAndWait(NVFP4GEN, words, std::nullopt, {"", out, err});
  return {code, take(out), take(err)};
}

TEST(BenchCommand, TableAndJsonAgree) {
  const BundleFile bundle(test::specOf("minimax_m3_1_tp4_bf16"), {"kv_store"});
  Outcome text = bench({bundle.path(), "--family", "kv_store", "--shape", "rows-64"});
  EXPECT_EQ(text.exitCode, 0) << text.err;
  EXPECT_THAT(text.err, IsEmpty()); // no progress where there is no terminal
  EXPECT_THAT(text.out, HasSubstr("kv_store [emulated]"));
  EXPECT_THAT(text.out, HasSubstr("rows-64    64   50688      13824    64000  1.0080  1008.0  "
                                  "1000.0"));
  Outcome asJson = bench({bundle.path(), "--family", "kv_store", "--shape", "rows-64", "--json"});
  ASSERT_EQ(asJson.exitCode, 0) << asJson.err;
  const json report = json::parse(asJson.out);
  ASSERT_EQ(report.at("rows").size(), 1u);
  const json &row = report.at("rows")[0];
  EXPECT_EQ(row.at("family"), "kv_store");
  EXPECT_EQ(row.at("bytes").at("read"), 50688);
  EXPECT_EQ(row.at("bytes").at("written"), 13824);
  EXPECT_EQ(row.at("bytes").at("floor"), 64000);
  EXPECT_EQ(row.at("bytes").at("ratio"), 1.008);
  EXPECT_THAT(text.out, HasSubstr(std::to_string(row.at("instructions").at("total").get<int>())));
}

TEST(BenchCommand, SamplesSaySo) {
  const BundleFile bundle(test::specOf("tiny"), {"kv_store"});
  Outcome text =
      bench({bundle.path(), "--family", "kv_store", "--shape", "rows-4096", "--sample", "4"});
  EXPECT_EQ(text.exitCode, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("rows-4096 (sample: 1024 of 4096 rows)"));
}

TEST(BenchCommand, ErrorsAndTheirExitCodes) {
  const BundleFile bundle(test::specOf("tiny"), {"kv_store"});
  Outcome family = bench({bundle.path(), "--family", "nosuch"});
  EXPECT_EQ(family.exitCode, 1);
  EXPECT_THAT(family.err, HasSubstr("family: expected one of kv_store"));
  Outcome shape = bench({bundle.path(), "--shape", "nosuch"});
  EXPECT_EQ(shape.exitCode, 1);
  EXPECT_THAT(shape.err, HasSubstr("shape: expected one of rows-1, "));
  EXPECT_EQ(bench({bundle.path() + ".missing"}).exitCode, 1);
  EXPECT_EQ(bench({}).exitCode, 2);
  EXPECT_EQ(bench({bundle.path(), "--sample", "0"}).exitCode, 2);
  // Served by no variant of the bundle.
  Outcome unserved = bench({bundle.path(), "--shape", "rows-384"});
  EXPECT_EQ(unserved.exitCode, 1);
  EXPECT_THAT(unserved.out, HasSubstr("rows-384: not served: no variant of kv_store"));
}

TEST(BenchCommand, HelpDefinesTheFigures) {
  Outcome help = bench({"--help"});
  EXPECT_EQ(help.exitCode, 0);
  EXPECT_THAT(help.out,
              HasSubstr("MFMA passes x 4 cycles / (those + 4 cycles for each other VALU"));
}

} // namespace
} // namespace nvfp4gen
