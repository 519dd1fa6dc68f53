//===- CheckedRun.cpp - every launch of the fixture under the checker ----------------------===//
//
// Buffers that the tests fill from the host count as written; registers, LDS and scratch do
// not.
//
//===------------------------------------------------------------------------===//

#include "tests/emulator/Fixture.h"
#include "tools/gfx950emu/check/Checker.h"

#include <gtest/gtest.h>

namespace gfx950emu::test {
namespace {

llvm::Expected<RunStats> checkedRun(const Dispatch &dispatch, MemoryMap &memory,
                                    const RunOptions &options) {
  check::Checker checker;
  RunOptions checked = options;
  checked.observer = &checker;
  auto stats = run(dispatch, memory, checked);
  for (const check::Finding &finding : checker.findings())
    ADD_FAILURE() << finding.message();
  return stats;
}

const bool installed = (runner = checkedRun, true);

TEST(CheckedRun, IsInstalled) { EXPECT_TRUE(installed); }

} // namespace
} // namespace gfx950emu::test
