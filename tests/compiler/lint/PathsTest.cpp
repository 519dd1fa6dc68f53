//===- PathsTest.cpp - hazards across branches, joins and loops -------------===//

#include "tests/compiler/lint/Fixture.h"

namespace nvfp4gen::lint {
namespace {

using Briefs = std::vector<std::string>;

// 8 wait states: the result of 4 passes read as A.
constexpr const char *kFirst = "  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0\n";
constexpr const char *kSecond = "  v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[68:71], v[40:43]\n";

Briefs hazardsOf(const std::string &body) {
  KernelLint lint = lintBody(body);
  std::erase_if(lint.findings, [](const Finding &f) { return !f.isHazard(); });
  return briefs(lint);
}

TEST(LintPaths, ABranchThatSkipsWaitStatesIsTheShorterPath) {
  std::string body = std::string(kFirst) + "  s_cbranch_scc1 use\n  s_nop 7\nuse:\n" + kSecond;
  EXPECT_EQ(hazardsOf(body), Briefs({"mfma-ab +0x10 <- +0x0 8/1"}));
}

TEST(LintPaths, OnlyOneOfTwoJoiningPathsIsShort) {
  std::string body = "  s_cbranch_scc1 other\n" + std::string(kFirst) +
                     "  s_nop 7\n  s_branch use\nother:\n" + kFirst + "  s_nop 2\nuse:\n" + kSecond;
  EXPECT_EQ(hazardsOf(body), Briefs({"mfma-ab +0x20 <- +0x14 8/3"}));
}

TEST(LintPaths, TheBackEdgeOfALoopIsAPath) {
  std::string loop =
      "loop:\n" + std::string(kSecond) + "  s_nop 7\n" + kFirst + "  s_cbranch_scc1 loop\n";
  EXPECT_EQ(hazardsOf(loop), Briefs({"mfma-ab +0x0 <- +0xc 8/1"}));
  std::string enough =
      "loop:\n  s_nop 6\n" + std::string(kSecond) + kFirst + "  s_cbranch_scc1 loop\n";
  EXPECT_EQ(hazardsOf(enough), Briefs());
}

TEST(LintPaths, ALoopThatIsShorterThanTheReachEnds) {
  // The result is carried around the loop any number of times.
  std::string body = std::string(kFirst) + "loop:\n  s_cbranch_scc1 loop\n" + kSecond;
  EXPECT_EQ(hazardsOf(body), Briefs({"mfma-ab +0xc <- +0x0 8/1"}));
}

TEST(LintPaths, AnInstructionIsAHazardToItself) {
  std::string body = "loop:\n  v_mfma_f32_16x16x32_f16 v[0:3], v[0:3], v[68:71], 0\n"
                     "  s_cbranch_scc1 loop\n";
  EXPECT_EQ(hazardsOf(body), Briefs({"mfma-ab +0x0 <- +0x0 8/1"}));
}

TEST(LintPaths, WhatStandsNextInTheFileIsNoPath) {
  std::string body =
      "  s_cbranch_scc1 use\n" + std::string(kFirst) + "  s_endpgm\nuse:\n" + kSecond;
  EXPECT_EQ(hazardsOf(body), Briefs());
  body = "  s_branch first\nuse:\n" + std::string(kSecond) + "  s_endpgm\nfirst:\n" + kFirst +
         "  s_nop 6\n  s_branch use\n";
  EXPECT_EQ(hazardsOf(body), Briefs());
}

TEST(LintPaths, AResultIsReplacedOnOnePathOnly) {
  // Of 16 passes, then of 4: the second replaces the first unless the branch is taken.
  std::string body = "  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0\n"
                     "  s_cbranch_scc1 use\n" +
                     std::string(kFirst) + "use:\n  s_nop 8\n" + kSecond;
  EXPECT_EQ(hazardsOf(body), Briefs({"mfma-ab +0x18 <- +0x0 20/10"}));
}

TEST(LintPaths, PartOfAResultIsReplaced) {
  std::string body = "  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0\n" +
                     std::string(kFirst) + "  s_nop 7\n";
  EXPECT_EQ(hazardsOf(body + kSecond), Briefs());
  EXPECT_EQ(hazardsOf(body + "  v_mfma_f32_16x16x32_f16 v[40:43], v[2:5], v[68:71], v[40:43]\n"),
            Briefs({"mfma-ab +0x14 <- +0x0 20/9"}));
}

TEST(LintPaths, EveryInstructionLacksItsOwnWaitStates) {
  std::string body = std::string(kFirst) + "  v_mov_b32_e32 v50, v0\n  v_mov_b32_e32 v51, v1\n";
  EXPECT_EQ(hazardsOf(body),
            Briefs({"mfma-valu-read +0x8 <- +0x0 8/0", "mfma-valu-read +0xc <- +0x0 8/1"}));
}

TEST(LintPaths, NopsCountTheirOperand) {
  for (unsigned nop = 0; nop < 16; ++nop)
    EXPECT_EQ(hazardsOf(kFirst + ("  s_nop " + std::to_string(nop) + "\n") + kSecond).size(),
              nop + 1 < 8 ? 1u : 0u)
        << nop;
}

} // namespace
} // namespace nvfp4gen::lint
