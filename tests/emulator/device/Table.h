//===- Table.h - rows of kernels and what they must give -----------------------------===//
//
// A row is a kernel of the form (out, in, n), its launch, its input and its expected
// output. A test compares every dword of `out` at each level of optimisation.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_DEVICE_TABLE_H
#define TESTS_EMULATOR_DEVICE_TABLE_H

#include "tests/emulator/Fixture.h"

#include <gtest/gtest.h>

#include <ostream>

namespace gfx950emu::test {

/// One launch's data; `out` starts as zeros on both sides.
struct Data {
  const uint32_t *in;
  uint32_t *out;
  uint32_t items; ///< work-items of the grid
  bool flush;     ///< compiled with f32 denormals flushed
};

struct Row {
  const char *source; ///< file under tests/emulator/device
  const char *kernel;
  uint32_t groups, block;
  uint32_t inWords, outWords;
  void (*fill)(uint32_t *in, uint32_t words, Random &random);
  void (*expect)(const Data &data);
};
inline void PrintTo(const Row &row, std::ostream *os) { *os << row.kernel; }

/// Uniform words.
void anyWords(uint32_t *in, uint32_t words, Random &random);

/// What differs from the row's expectation at `level`; at the end of a faulted launch, the fault.
std::vector<std::string> differences(const Row &row, const std::string &level);

/// Levels of the tables: -O1, -O3, GlobalISel, flushed f32 denormals.
inline constexpr const char *levels[] = {"O1", "O3", "GlobalISel", "Flush"};

/// A row at one level.
class Kernels : public ::testing::TestWithParam<std::tuple<Row, const char *>> {};

/// "kernel_level".
std::string rowName(const ::testing::TestParamInfo<Kernels::ParamType> &info);

} // namespace gfx950emu::test

#endif // TESTS_EMULATOR_DEVICE_TABLE_H
