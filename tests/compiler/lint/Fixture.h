//===- Fixture.h - assembly text to findings --------------------------------===//
#ifndef NVFP4GEN_TESTS_COMPILER_LINT_FIXTURE_H
#define NVFP4GEN_TESTS_COMPILER_LINT_FIXTURE_H

#include "compiler/lint/CodeRules.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace nvfp4gen::lint {

/// A function `kernel` with this body and an end, as the text of an object.
std::string kernelText(const std::string &body);

/// The findings in such a function, warnings too; fails the test when it does not assemble.
KernelLint lintBody(const std::string &body);

/// "rule +second <- +first needed/found" for each hazard, or "rule +pc".
std::vector<std::string> briefs(const KernelLint &lint);

/// Body that makes so many wait states, with one instruction each or with s_nop.
std::string waits(unsigned states, bool single);

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_TESTS_COMPILER_LINT_FIXTURE_H
