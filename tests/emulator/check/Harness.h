//===- Harness.h - run a few lines of assembly under the checker ---------------------===//
//
// Owns the kernel around a snippet: s[4:5] = input, s[6:7] = output, s2 = workgroup,
// v0 = work-item, v1 = 4 * v0.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_CHECK_HARNESS_H
#define TESTS_EMULATOR_CHECK_HARNESS_H

#include "tools/gfx950emu/check/Checker.h"

#include <string>
#include <vector>

namespace gfx950emu::check::test {

struct Setup {
  uint32_t workgroups = 1;
  uint32_t waves = 1;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  bool inputWritable = true;
  bool inputDefined = true;
  uint64_t maxInstructions = 1'000'000;
  CheckOptions options{};
};

struct Outcome {
  std::vector<Finding> findings;
  uint64_t skippedRaceAccesses = 0;
  std::string error; ///< of the assembler, the loader or the dispatch

  /// The only finding's message; all messages when there is not exactly one; "silent".
  std::string text() const;
};

/// The module text around a snippet; its kernel is "checked".
std::string moduleText(const std::string &snippet, const Setup &setup);

/// 4,096 bytes of input, as many of output for each of up to 16 waves and workgroups.
Outcome check(const std::string &snippet, const Setup &setup = {});

} // namespace gfx950emu::check::test

#endif // TESTS_EMULATOR_CHECK_HARNESS_H
