//===- CommandTest.cpp - nvfp4gen lint as a process -------------------------===//

#include "tests/tools/nvfp4gen/CliFixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string object(const std::string &name) { return LINT_OBJECT_DIR "/" + name + ".hsaco"; }

class LintCommand : public Cli {};

TEST_F(LintCommand, ExitCodesAreCleanErrorAndFindings) {
  EXPECT_EQ(run({"lint", object("clean")}).exitCode, 0);
  EXPECT_EQ(run({"lint", object("clean"), "--strict"}).exitCode, 0);
  EXPECT_EQ(run({"lint", object("hazard")}).exitCode, 4);
  EXPECT_EQ(run({"lint", object("long_text")}).exitCode, 0) << "a warning alone";
  EXPECT_EQ(run({"lint", object("long_text"), "--strict"}).exitCode, 4);
  EXPECT_EQ(run({"lint", object("gfx942")}).exitCode, 1);
  EXPECT_EQ(run({"lint", object("no_such_file")}).exitCode, 1);
  EXPECT_EQ(run({"lint"}).exitCode, 2);
}

TEST_F(LintCommand, ErrorsNameTheFile) {
  Outcome other = run({"lint", object("gfx942")});
  EXPECT_THAT(other.err, HasSubstr(object("gfx942") + ": "));
  EXPECT_THAT(other.err, HasSubstr("gfx942"));
  EXPECT_TRUE(other.out.empty());
  EXPECT_THAT(run({"lint", object("no_such_file")}).err, HasSubstr("no_such_file"));
}

TEST_F(LintCommand, JsonHasBothPlacesOfAHazard) {
  Outcome outcome = run({"lint", object("hazard"), "--json"});
  EXPECT_EQ(outcome.exitCode, 4);
  json report = json::parse(outcome.out);
  EXPECT_EQ(report["errors"], 1);
  EXPECT_EQ(report["kernels"][0]["kernel"], "kernel");
  std::vector<json> hazards;
  for (const json &finding : report["findings"])
    if (finding["rule"] == "mfma-valu-read")
      hazards.push_back(finding);
  ASSERT_EQ(hazards.size(), 1u);
  const json &hazard = hazards[0];
  EXPECT_EQ(hazard["severity"], "error");
  EXPECT_EQ(hazard["at"]["pc"], 0x10);
  EXPECT_EQ(hazard["at"]["instruction"], "v_mov_b32_e32 v12, v0");
  EXPECT_EQ(hazard["source"]["pc"], 0x8);
  EXPECT_EQ(hazard["needed"], 8);
  EXPECT_EQ(hazard["found"], 0);
}

TEST_F(LintCommand, JsonOfARuleOnTheWholeKernelHasNoPlace) {
  json report = json::parse(run({"lint", object("lds"), "--json"}).out);
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["rule"], "lds");
  EXPECT_TRUE(report["findings"][0]["at"].is_null());
  EXPECT_TRUE(report["findings"][0]["needed"].is_null());
}

TEST_F(LintCommand, HelpListsEveryRule) {
  std::string help = run({"lint", "--help"}).out;
  for (const char *rule : {"mfma-ab", "mfma-mixed-c", "pk-fma-op-sel", "lds", "not-analysable"})
    EXPECT_THAT(help, HasSubstr(rule));
}

TEST_F(LintCommand, ABuiltBundleIsClean) {
  Outcome built = run({"build", kSpecs + "tiny.toml", "-o", folder / "tiny.hsaco"});
  ASSERT_EQ(built.exitCode, 0) << built.err;
  EXPECT_THAT(built.out, HasSubstr(" ms: no hazards, 0 repaired; "));
  Outcome outcome = run({"lint", folder / "tiny.hsaco"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr(" 0 errors, "));
}

} // namespace
