//===- BlocksTests.cpp - workgroups, LDS and atomics against plain loops ------------===//

#include "tests/emulator/device/Table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gfx950emu::test {
namespace {

constexpr uint32_t groups = 4, block = 256, items = groups * block;

void transpose(const Data &d) {
  for (uint32_t i = 0; i < groups * 1024; ++i)
    d.out[i] = d.in[i / 1024 * 1024 + i % 32 * 32 + i / 32 % 32];
}

/// Each 128 bytes: a matrix of 16 columns of T, of which lane c gets column c.
template <class T> void transposeRead(const Data &d) {
  constexpr uint32_t rows = 8 / sizeof(T);
  const T *in = reinterpret_cast<const T *>(d.in);
  T *out = reinterpret_cast<T *>(d.out);
  for (uint32_t base = 0; base < items * rows; base += 16 * rows)
    for (uint32_t c = 0; c < 16; ++c)
      for (uint32_t r = 0; r < rows; ++r)
        out[base + c * rows + r] = in[base + r * 16 + c];
}

void bitonicSort(const Data &d) {
  std::copy(d.in, d.in + groups * 1024, d.out);
  for (uint32_t g = 0; g < groups; ++g)
    std::sort(d.out + g * 1024, d.out + (g + 1) * 1024);
}

void ldsDma(const Data &d) {
  for (uint32_t i = 0; i < groups * 1024; ++i) {
    const uint32_t *in = d.in + i / 1024 * 1024;
    uint32_t e = i % 1024, n = e % 256;
    d.out[i] = in[4 * ((e / 4) ^ 5) + e % 4] + 7 * in[n / 64 * 64 + 63 - n % 64];
  }
}

void pipeline(const Data &d) {
  for (uint32_t i = 0; i < items; ++i)
    for (uint32_t t = 0; t < items / 256; ++t)
      for (uint32_t k = 0; k < 8; ++k)
        d.out[i] = d.out[i] * 31 + d.in[t * 256 + ((i % 256 * 9 + k * 37 + i / 256) & 255)];
}

void scan(const Data &d) {
  for (uint32_t i = 0; i < items; ++i)
    d.out[i] = i % 256 ? d.out[i - 1] + d.in[i - 1] : 0;
}

void integerAtomics(const Data &d) {
  uint32_t *out = d.out;
  uint64_t wide[3] = {};
  for (uint32_t i = 0; i < items; ++i) {
    uint32_t v = d.in[i];
    out[v & 3] += v;
    out[4] -= v >> 3;
    out[5] = uint32_t(std::min(int32_t(out[5]), int32_t(v)));
    out[6] = uint32_t(std::max(int32_t(out[6]), int32_t(v)));
    out[7] |= 1u << (v >> 27);
    out[8] ^= v;
    out[9] &= ~(i << 1);
    wide[0] += uint64_t(v) * v;
    wide[1] = std::max(wide[1], uint64_t(v) << 20 | i);
    wide[2] ^= uint64_t(v) << 31;
    out[11] += out[10]++;
  }
  std::memcpy(out + 16, wide, sizeof wide);
}

void floatAtomics(const Data &d) {
  float sums[16] = {};
  double wide[8] = {};
  for (uint32_t i = 0; i < items; ++i) {
    float f = float(int32_t(d.in[i] >> 16 & 0xff) - 100) * 0.25f;
    sums[d.in[i] & 15] += f;
    wide[d.in[i] & 7] += double(f) * 0.5;
  }
  std::memcpy(d.out, sums, sizeof sums);
  std::memcpy(d.out + 16, wide, sizeof wide);
}

void swapLoops(const Data &d) {
  uint64_t wide[2] = {};
  std::fill(d.out + 8, d.out + 8 + 8 * groups, 1u);
  for (uint32_t i = 0; i < items; ++i) {
    uint32_t v = d.in[i], &product = d.out[8 + i / block * 8 + (v >> 8 & 7)];
    d.out[v & 3] = (d.out[v & 3] + (v & 0xffff)) % 65521;
    wide[v >> 4 & 1] += uint64_t(v) * 0x100000001;
    product *= v | 1;
  }
  std::memcpy(d.out + 4, wide, sizeof wide);
}

#define BLOCKS(NAME, IN, OUT, EXPECT)                                                              \
  Row { "Blocks", #NAME, groups, block, IN, OUT, anyWords, EXPECT }

INSTANTIATE_TEST_SUITE_P(
    Blocks, Kernels,
    ::testing::Combine(
        ::testing::Values(BLOCKS(transpose, groups * 1024, groups * 1024, transpose),
                          BLOCKS(transposeRead16, 2 * items, 2 * items, transposeRead<uint16_t>),
                          BLOCKS(transposeRead8, 2 * items, 2 * items, transposeRead<uint8_t>),
                          BLOCKS(bitonicSort, groups * 1024, groups * 1024, bitonicSort),
                          BLOCKS(ldsDma, groups * 1024, groups * 1024, ldsDma),
                          BLOCKS(pipeline, items, items, pipeline),
                          BLOCKS(scan, items, items, scan),
                          BLOCKS(integerAtomics, items, 22, integerAtomics),
                          BLOCKS(floatAtomics, items, 32, floatAtomics),
                          BLOCKS(swapLoops, items, 8 + 8 * groups, swapLoops)),
        ::testing::ValuesIn(levels)),
    rowName);

} // namespace
} // namespace gfx950emu::test
