//===- Main.cpp - the instruction tests and their coverage report ----------===//
//
// Registers one test for each suite and mnemonic, then two on the tables
// themselves: every listed opcode has a case, and (over a whole run) every case
// ran to its end.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Harness.h"

#include "fmt/format.h"
#include "gtest/gtest.h"

#include <fstream>

namespace {

std::vector<std::string> listedOpcodes() {
  std::vector<std::string> opcodes;
  std::ifstream file(ISA_TESTS_OPCODES);
  for (std::string line; std::getline(file, line);)
    if (!line.empty())
      opcodes.push_back(line);
  return opcodes;
}

std::set<std::string> covered;

TEST(Tables, EveryListedOpcodeHasACase) {
  const std::vector<std::string> opcodes = listedOpcodes();
  ASSERT_GE(opcodes.size(), 443u) << "cannot read " << ISA_TESTS_OPCODES;
  for (const std::string &opcode : opcodes)
    EXPECT_TRUE(covered.count(opcode)) << opcode << " is in opcodes.txt and in no table";
}

class CoverageReport : public testing::Environment {
public:
  void TearDown() override {
    const std::set<std::string> &executed = isatest::executedMnemonics();
    const std::vector<std::string> opcodes = listedOpcodes();
    std::string missing;
    size_t ran = 0, extra = 0;
    for (const std::string &opcode : opcodes) {
      if (executed.count(opcode))
        ++ran;
      else
        missing += " " + opcode;
    }
    const std::set<std::string> listed(opcodes.begin(), opcodes.end());
    for (const std::string &mnemonic : executed)
      extra += !listed.count(mnemonic);
    fmt::print("coverage: {} of {} listed opcodes executed, {} more beyond the list\n", ran,
               opcodes.size(), extra);
    if (!missing.empty())
      fmt::print("not executed:{}\n", missing);
    // A filtered run executes what it was asked to.
    if (testing::GTEST_FLAG(filter) == "*")
      EXPECT_EQ(ran, opcodes.size()) << "listed opcodes that did not run to their end:" << missing;
  }
};

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  covered = isatest::registerSuites();
  testing::AddGlobalTestEnvironment(new CoverageReport);
  return RUN_ALL_TESTS();
}
