//===- Inputs.h - random device memory, cheaply -------------------------------===//
//
// Owns: what benched kernels read, the same on every run. Large pools are copies of a
// random tile from changing offsets, so no two pages are alike, and filling them costs
// little beside emulating a kernel on them.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_INPUTS_H
#define NVFP4GEN_TOOLS_BENCH_INPUTS_H

#include "tools/bench/Device.h"

#include <cstdint>
#include <vector>

namespace bench {

/// Any bytes: packed codes (rule F2).
void fillCodes(const Buffer &buffer);
/// Scale bytes 0x01 to 0x7E (rule F3).
void fillScales(const Buffer &buffer);
/// Finite values of the model dtype (a value of the guard field), magnitudes 2^-7 to 2.
void fillValues(const Buffer &buffer, int64_t dtype);
/// Distinct-looking fp32 scores in [0, 1).
void fillScores(const Buffer &buffer);

/// Slots of a step's rows in a pool of `pages` pages: in prefill they fill pages one after the
/// other, in decode and verify each goes to a page of its own.
void fillSlots(const Buffer &slots, const Shape &shape, int64_t pageSize, int64_t pages);

/// 0 to n - 1, shuffled.
std::vector<int32_t> permutation(int64_t n, uint64_t seed);

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_INPUTS_H
