//===- LanesTests.cpp - exchange between lanes against plain loops -------------------===//

#include "tests/emulator/device/Table.h"

#include <algorithm>

namespace gfx950emu::test {
namespace {

void dppRows(const Data &d) {
  for (uint32_t i = 0; i < d.items; ++i) {
    const uint32_t row = i & ~15u, lane = i & 63, *wave = d.in + (i & ~63u);
    uint32_t sum = 0, most = 0;
    for (uint32_t k = row; k < row + 16; ++k) {
      sum += d.in[k];
      most = std::max(most, d.in[k]);
    }
    d.out[4 * i] = sum;
    d.out[4 * i + 1] = most;
    // Only rows 0 and 2 are written; their last lane has no source and keeps its value.
    bool shifted = lane / 16 % 2 == 0 && lane % 16 != 15;
    d.out[4 * i + 2] = shifted ? wave[lane + 1] : wave[lane] ^ 1;
    d.out[4 * i + 3] = (lane ? wave[lane - 1] : 0) + 3 * wave[(lane + 63) % 64];
  }
}

void swizzleMax(const Data &d) {
  for (uint32_t i = 0; i < d.items; ++i) {
    const uint32_t *half = d.in + (i & ~31u), *wave = d.in + (i & ~63u);
    d.out[2 * i] = *std::max_element(half, half + 32);
    d.out[2 * i + 1] = *std::max_element(wave, wave + 64);
  }
}

void laneSwaps(const Data &d) {
  for (uint32_t i = 0; i < d.items; ++i) {
    const uint32_t *v = d.in + (i & ~63u), lane = i & 63;
    auto w = [&](uint32_t l) { return v[l] * 3 + 1; };
    // Odd rows (upper half) of the first change places with even rows (lower half) of the second.
    d.out[4 * i] = lane & 16 ? w(lane - 16) : v[lane];
    d.out[4 * i + 1] = lane & 16 ? w(lane) : v[lane + 16];
    d.out[4 * i + 2] = lane & 32 ? w(lane - 32) : v[lane];
    d.out[4 * i + 3] = lane & 32 ? w(lane) : v[lane + 32];
  }
}

void permutes(const Data &d) {
  for (uint32_t i = 0; i < d.items; ++i) {
    const uint32_t *v = d.in + (i & ~63u), lane = i & 63;
    d.out[2 * i] = v[v[lane] >> 8 & 63];
    d.out[2 * ((i & ~63u) + ((lane * 37 + 11) & 63)) + 1] = v[lane];
  }
}

void compact(const Data &d) {
  for (uint32_t base = 0; base < d.items; base += 64) {
    uint32_t *to = d.out + base;
    for (uint32_t parity : {1, 0})
      to = std::copy_if(d.in + base, d.in + base + 64, to,
                        [=](uint32_t v) { return (v & 1) == parity; });
  }
}

void waterfall(const Data &d) {
  for (uint32_t base = 0; base < d.items; base += 64) {
    std::vector<uint32_t> seen;
    for (uint32_t i = base; i < base + 64; ++i) {
      auto at = std::find(seen.begin(), seen.end(), d.in[i] & 7);
      d.out[2 * i] = uint32_t(at - seen.begin());
      if (at == seen.end())
        seen.push_back(d.in[i] & 7);
      d.out[2 * i + 1] = d.in[base + (d.in[base] & 63)];
    }
  }
}

constexpr uint32_t items = 5 * 192;
#define LANES(NAME, WORDS)                                                                         \
  Row { "Lanes", #NAME, 5, 192, items, WORDS *items, anyWords, NAME }

INSTANTIATE_TEST_SUITE_P(
    Lanes, Kernels,
    ::testing::Combine(::testing::Values(LANES(dppRows, 4), LANES(swizzleMax, 2),
                                         LANES(laneSwaps, 4), LANES(permutes, 2), LANES(compact, 1),
                                         LANES(waterfall, 2)),
                       ::testing::ValuesIn(levels)),
    rowName);

} // namespace
} // namespace gfx950emu::test
