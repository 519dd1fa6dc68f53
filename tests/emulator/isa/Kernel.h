//===- Kernel.h - a snippet wrapped as a kernel ----------------------------===//
//
// Owns the assembly around a snippet: descriptor, metadata, loading and storing
// of the wave's state.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_ISA_KERNEL_H
#define TESTS_EMULATOR_ISA_KERNEL_H

#include "tests/emulator/isa/Harness.h"

namespace isatest {

/// Kernel arguments, in this order: addresses of the buffers below.
struct KernelArgs {
  uint64_t vgprIn, vgprOut; ///< wave w, register r, lane l: dword (w * vgprs + r) * 64 + l
  uint64_t sgprIn;          ///< wave w, register r: dword w * 32 + r
  uint64_t scalarOut;       ///< wave w: s32..s63, VCC, EXEC, M0, SCC, 64 dwords apart
  uint64_t memory;          ///< wave w: global memory, then the LDS image
};

constexpr unsigned ScalarOutDwords = 64;

std::string kernelName(unsigned index);

/// The code object's text for all cases: kernel i is kernelName(i).
std::string moduleText(const std::vector<Case> &cases);

/// A module with the one kernel kernelName(0) that is `body` and s_endpgm. `args` 8-byte arguments,
/// kernarg pointer in s[0:1], workgroup id in s2.
std::string rawModuleText(const std::string &body, unsigned args, unsigned ldsBytes,
                          unsigned scratchBytes);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_KERNEL_H
