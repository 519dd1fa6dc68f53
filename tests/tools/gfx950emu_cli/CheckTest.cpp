//===- CheckTest.cpp - gfx950emu run --check and --seeds ----------------------===//

#include "tests/tools/gfx950emu_cli/Command.h"
#include "tools/gfx950emu/check/Switches.h"

#include <nlohmann/json.hpp>

using gfx950emu::check::CheckKind;
using gfx950emu::check::checkSwitches;
using nlohmann::json;

namespace gfx950emu::check {
static void PrintTo(const CheckSwitch &value, std::ostream *os) { *os << value.name.str(); }
} // namespace gfx950emu::check

namespace {

class Checked : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    std::vector<unsigned> in(1024);
    for (unsigned i = 1; i < in.size(); ++i)
      in[i] = i * 3 + 1;
    write("in.bin", in);
  }
  /// Workgroups of two waves: two for kernels that race, else one.
  Outcome kernel(const std::string &name, const std::string &options) {
    std::filesystem::remove(path("out.bin"));
    const std::string groups = name.starts_with("races") ? "2" : "1";
    return run("run " FAULTS " --kernel " + name + " --grid " + groups +
               " --block 128 --arg buf:" + path("in.bin") + " --arg out:" + path("out.bin") +
               ":4096 --max-instructions 100000 " + options);
  }
  bool wroteOutput() const { return std::filesystem::exists(path("out.bin")); }
};

class EveryCheck : public Checked,
                   public testing::WithParamInterface<gfx950emu::check::CheckSwitch> {};
INSTANTIATE_TEST_SUITE_P(Checks, EveryCheck, testing::ValuesIn(checkSwitches()),
                         [](const auto &info) { return info.param.name.str(); });

TEST_P(EveryCheck, FindsItsFaultAlone) {
  const std::string name = GetParam().name.str();
  Outcome outcome = kernel(name, "--check=" + name);
  EXPECT_EQ(outcome.exitCode, 6) << outcome.output;
  for (const std::string &part :
       {GetParam().title.str() + ": kernel " + name + ", workgroup (", std::string("), wave "),
        std::string(", pc 0x"), "(" + name + "+0x", std::string("): `")})
    EXPECT_NE(outcome.output.find(part), std::string::npos) << part << '\n' << outcome.output;
  EXPECT_FALSE(wroteOutput());
  outcome = kernel(name + "_ok", "--check=" + name);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("checks " + name + ": nothing found\n"), std::string::npos)
      << outcome.output;
  EXPECT_TRUE(wroteOutput());
}

TEST_P(EveryCheck, IsSilentWhenOff) {
  const std::string name = GetParam().name.str();
  Outcome outcome = kernel(name, "--no-check=" + name);
  // Without the check these end the dispatch, as they do without the checker.
  const CheckKind kind = GetParam().kind;
  const bool faults = kind == CheckKind::Bounds || kind == CheckKind::Alignment ||
                      kind == CheckKind::ReadOnly || kind == CheckKind::Progress;
  EXPECT_EQ(outcome.exitCode, faults ? 4 : 0) << outcome.output;
  EXPECT_EQ(outcome.output.find(": kernel ") != std::string::npos, faults) << outcome.output;
}

TEST_P(EveryCheck, IsFoundAmongAll) {
  const std::string name = GetParam().name.str();
  Outcome outcome = kernel(name, "--check");
  EXPECT_EQ(outcome.exitCode, 6) << outcome.output;
  EXPECT_NE(outcome.output.find(GetParam().title.str() + ": kernel "), std::string::npos)
      << outcome.output;
  outcome = kernel(name + "_ok", "--check");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("checks all: nothing found\n"), std::string::npos)
      << outcome.output;
}

TEST_F(Checked, UncheckedRunsFindNothing) {
  for (const char *option : {"", "--no-check"}) {
    Outcome outcome = kernel("races", option);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    EXPECT_EQ(outcome.output.find("check"), std::string::npos) << outcome.output;
  }
}

TEST_F(Checked, NamesAreValidated) {
  for (const char *option : {"--check=race", "--no-check=race", "--no-check=waits,race"}) {
    Outcome outcome = kernel("races_ok", option);
    EXPECT_EQ(outcome.exitCode, 2) << option;
    EXPECT_NE(outcome.output.find(gfx950emu::check::knownChecks()), std::string::npos);
    EXPECT_NE(outcome.output.find("found 'race'"), std::string::npos) << outcome.output;
  }
  EXPECT_EQ(kernel("races_ok", "--check --no-check=waits").exitCode, 2);
  EXPECT_EQ(kernel("races_ok", "--seeds 1").exitCode, 2);
  EXPECT_NE(run("run --help").output.find(gfx950emu::check::checkHelp()), std::string::npos);
}

TEST_F(Checked, FindingsAsJson) {
  Outcome outcome = kernel("races", "--check --json");
  EXPECT_EQ(outcome.exitCode, 6) << outcome.output;
  json report = json::parse(outcome.output);
  EXPECT_EQ(report["checks"], "all");
  EXPECT_EQ(report["more_findings"], 0);
  ASSERT_EQ(report["findings"].size(), 1u);
  const json &finding = report["findings"][0];
  EXPECT_EQ(finding["check"], "races");
  EXPECT_EQ(finding["kernel"], "races");
  EXPECT_EQ(finding["workgroup"].size(), 3u);
  EXPECT_LT(finding["wave"], 2);
  EXPECT_EQ(finding["lane"], 0);
  EXPECT_NE(finding["instruction"].get<std::string>().find("global_store_dword"),
            std::string::npos);
  EXPECT_EQ(finding["location"].get<std::string>().find("races+0x"), 0u);
  EXPECT_NE(finding["detail"].get<std::string>().find(" race with the write `global_store_dword"),
            std::string::npos);
  EXPECT_NE(finding["detail"].get<std::string>().find(" of workgroup ("), std::string::npos);
  EXPECT_EQ(finding["count"], 128);
  ASSERT_EQ(report["arguments"].size(), 2u);
  EXPECT_EQ(report["arguments"][1]["bytes"], 4096);

  report = json::parse(kernel("races_ok", "--check --json").output);
  EXPECT_EQ(report["findings"], json::array());
  EXPECT_EQ(report["buffers"].size(), 1u);
}

TEST_F(Checked, AFaultIsInTheJson) {
  Outcome outcome = kernel("bounds", "--json");
  EXPECT_EQ(outcome.exitCode, 4);
  // stdout and stderr come together.
  const size_t begin = outcome.output.find('{'), end = outcome.output.rfind('}') + 1;
  json report = json::parse(outcome.output.substr(begin, end - begin));
  EXPECT_EQ(report["fault"].get<std::string>().find("out of bounds: kernel bounds"), 0u);
  EXPECT_FALSE(report.contains("waves"));
}

// Counting goes on beside the checker, and only of the first order.
TEST_F(Checked, CountsBesideChecksAndOrders) {
  json plain = json::parse(kernel("races_ok", "--count --json").output);
  json checked = json::parse(kernel("races_ok", "--count --check --seeds 3 --json").output);
  EXPECT_EQ(checked["counts"], plain["counts"]);
  EXPECT_EQ(kernel("bounds", "--count --check").exitCode, 6) << "and does not end the dispatch";
}

TEST_F(Checked, OrderDependenceIsReported) {
  // Every workgroup writes the number of its ticket; all bytes that can differ are named.
  auto ticket = [&](const std::string &options) {
    return run("run " FAULTS " --kernel ticket --grid 8 --block 64 --arg null --arg buf:" +
               path("out.bin") + ":rw " + options);
  };
  write("out.bin", std::vector<unsigned>(16, 0));
  Outcome outcome = ticket("--seeds 4 --check");
  EXPECT_EQ(outcome.exitCode, 7) << outcome.output;
  EXPECT_NE(outcome.output.find("out.bin: byte "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find(" with seed 0, "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("orders of seeds 0 1 2 3: different bytes"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("checks all: nothing found"), std::string::npos) << outcome.output;
  EXPECT_EQ(read<unsigned>("out.bin"), std::vector<unsigned>(16, 0)) << "nothing is written";

  json report = json::parse(ticket("--seeds 2 --json").output);
  EXPECT_EQ(report["seeds"], json({0, 1}));
  ASSERT_FALSE(report["differences"].empty());
  for (const json &difference : report["differences"]) {
    EXPECT_EQ(difference["buffer"], path("out.bin"));
    EXPECT_EQ(difference["offset"].get<unsigned>() % 4, 0u);
    EXPECT_EQ(difference["first_seed"], 0);
    EXPECT_EQ(difference["seed"], 1);
    EXPECT_EQ(difference["first"], difference["offset"].get<unsigned>() / 4 - 1) << "ascending";
    EXPECT_NE(difference["found"], difference["first"]);
  }
  EXPECT_EQ(json::parse(ticket("--seeds 2 --seed 5 --json").output)["seeds"][0], 5);
}

TEST_F(Checked, RepairedOrderIsSilent) {
  write("out.bin", std::vector<unsigned>(16, 100));
  Outcome outcome = run("run " FAULTS " --kernel ticket_ok --grid 8 --block 64 --arg null "
                        "--arg buf:" +
                        path("out.bin") + ":rw --seeds 4");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("orders of seeds 0 1 2 3: the same bytes\n"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(read<unsigned>("out.bin")[0], 128u) << "as after one run";
  outcome = run("run " FAULTS " --kernel ticket_ok --grid 1 --block 64 --arg null --arg buf:" +
                path("out.bin") + ":rw --seeds 4");
  EXPECT_NE(outcome.output.find("orders of seeds 0: the same bytes; this dispatch has no other"),
            std::string::npos)
      << outcome.output;
}

} // namespace
