//===- SwitchTests.cpp - every check can be switched alone --------------------------------===//

#include "tests/emulator/check/Harness.h"

#include <gtest/gtest.h>

#include <set>

namespace gfx950emu::check {
static void PrintTo(const CheckSwitch &value, std::ostream *os) { *os << value.name.str(); }
} // namespace gfx950emu::check

namespace gfx950emu::check::test {
namespace {

/// The smallest kernel with a fault of that kind and no other.
struct Smallest {
  const char *code;
  Setup setup{};
};

Smallest smallest(CheckKind kind) {
  switch (kind) {
  case CheckKind::Bounds:
    return {"global_load_dword v2, v1, s[4:5] offset:4092\n s_waitcnt vmcnt(0)"};
  case CheckKind::Alignment:
    return {"v_mov_b32_e32 v2, 0\n v_mov_b32_e32 v3, 0\n s_mov_b64 exec, 1\n"
            "global_atomic_add_x2 v1, v[2:3], s[4:5] offset:4"};
  case CheckKind::ReadOnly:
    return {"global_store_dword v1, v0, s[4:5]", {.inputWritable = false}};
  case CheckKind::Undefined:
    return {"global_store_dword v1, v2, s[6:7]"};
  case CheckKind::Race:
    return {"global_store_dword v1, v0, s[6:7]", {.workgroups = 2}};
  case CheckKind::WaitCount:
    return {"global_load_dword v2, v1, s[4:5]\n v_add_u32_e32 v3, v2, v0"};
  case CheckKind::Hazard:
    return {"v_readfirstlane_b32 s8, v0\n v_readlane_b32 s9, v0, s8"};
  case CheckKind::Barrier:
    return {"v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lout\n s_barrier\n.Lout:",
            {.waves = 2}};
  case CheckKind::Progress:
    return {".Lforever:\n s_branch .Lforever", {.maxInstructions = 1000}};
  }
  return {};
}

class Switch : public ::testing::TestWithParam<CheckSwitch> {};
INSTANTIATE_TEST_SUITE_P(All, Switch, ::testing::ValuesIn(checkSwitches()),
                         [](const auto &info) { return info.param.name.str(); });

std::set<CheckKind> kinds(const Outcome &outcome) {
  std::set<CheckKind> found;
  for (const Finding &f : outcome.findings)
    found.insert(f.kind);
  return found;
}

TEST_P(Switch, OffByNameLeavesTheOthersOn) {
  auto options = parseChecks(GetParam().name, Listed::Off);
  ASSERT_TRUE(bool(options));
  for (const CheckSwitch &other : checkSwitches()) {
    Smallest planted = smallest(other.kind);
    planted.setup.options = *options;
    std::set<CheckKind> expected;
    if (other.kind != GetParam().kind)
      expected.insert(other.kind);
    Outcome outcome = check(planted.code, planted.setup);
    EXPECT_EQ(kinds(outcome), expected) << other.name.str() << ": " << outcome.text();
  }
}

TEST_P(Switch, OnByNameLeavesTheOthersOff) {
  auto options = parseChecks(GetParam().name, Listed::On);
  ASSERT_TRUE(bool(options));
  for (const CheckSwitch &other : checkSwitches()) {
    Smallest planted = smallest(other.kind);
    planted.setup.options = *options;
    std::set<CheckKind> expected;
    if (other.kind == GetParam().kind)
      expected.insert(other.kind);
    Outcome outcome = check(planted.code, planted.setup);
    EXPECT_EQ(kinds(outcome), expected) << other.name.str() << ": " << outcome.text();
  }
}

TEST_P(Switch, FindingBeginsWithItsTitle) {
  Outcome outcome = check(smallest(GetParam().kind).code, smallest(GetParam().kind).setup);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(outcome.findings[0].message().find((GetParam().title + ": kernel checked, ").str()), 0u)
      << outcome.text();
}

TEST(Names, TableIsInTheOrderOfTheKinds) {
  std::set<llvm::StringRef> names;
  for (size_t i = 0; i < checkSwitches().size(); ++i) {
    EXPECT_EQ(size_t(checkSwitches()[i].kind), i);
    EXPECT_TRUE(names.insert(checkSwitches()[i].name).second);
    EXPECT_NE(checkHelp().find(("  " + checkSwitches()[i].name + " ").str()), std::string::npos);
  }
}

TEST(Names, ParseAndPrint) {
  auto names = [](llvm::StringRef list, Listed listed) -> std::string {
    auto options = parseChecks(list, listed);
    return options ? checkNames(*options) : toString(options.takeError());
  };
  EXPECT_EQ(names("all", Listed::On), "all");
  EXPECT_EQ(names("all", Listed::Off), "none");
  EXPECT_EQ(names("waits,races", Listed::On), "races,waits");
  EXPECT_EQ(names("races,races", Listed::On), "races");
  EXPECT_EQ(names("bounds,alignment,readonly,undefined,barriers,progress", Listed::Off),
            "races,waits,hazards");
  EXPECT_FALSE(anyCheck(*parseChecks("all", Listed::Off)));
  EXPECT_TRUE(anyCheck(*parseChecks("progress", Listed::On)));
  EXPECT_EQ(
      names("races,waitz", Listed::Off),
      "expected all or names of checks (bounds, alignment, readonly, undefined, races, waits, "
      "hazards, barriers, progress) with commas between, found 'waitz' in 'races,waitz'");
  EXPECT_NE(names("", Listed::On).find("found '' in ''"), std::string::npos);
}

/// An atomic at a bad address is one occurrence, although the interpreter stops at it too.
TEST(Alignment, AnAtomicCountsOnce) {
  Outcome outcome = check(smallest(CheckKind::Alignment).code);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].count, 1u) << outcome.text();
}

} // namespace
} // namespace gfx950emu::check::test
