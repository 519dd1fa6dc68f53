//===- Counted.h - run an assembled kernel and count it ----------------------------===//
//
// Owns the way from assembly text to Counts for the tests of this directory.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_COUNT_COUNTED_H
#define TESTS_EMULATOR_COUNT_COUNTED_H

#include "tools/gfx950emu/count/Counts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace gfx950emu::test {

struct Launch {
  uint32_t grid = 1, block = 64;
  uint32_t ldsBytes = 0;
  uint32_t bufferBytes = 64 * 1024; ///< of the one argument, an address aligned to 4096 bytes
  unsigned threads = 1;
  uint64_t seed = 0;
};

struct Counted {
  count::Counts counts;
  RunStats stats;
  KernelInfo kernel;
};

/// `body` runs up to an s_endpgm that is appended: kernarg pointer in s[0:1], workgroup in s2, lane
/// in v0, v0..v39 to use. Failures are failures of the test.
Counted runCounted(const std::string &body, const Launch &launch = {});

/// Loads the buffer's address to s[4:5] and 4 * lane to v1: SMEM 1, VALU 1, other 1.
inline constexpr char prologue[] = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                   "v_lshlrev_b32_e32 v1, 2, v0\n"
                                   "s_waitcnt lgkmcnt(0)\n";

} // namespace gfx950emu::test

#endif // TESTS_EMULATOR_COUNT_COUNTED_H
