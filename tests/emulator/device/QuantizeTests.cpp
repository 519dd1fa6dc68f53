//===- QuantizeTests.cpp - block quantization against a search of all codes ----------===//

#include "tests/emulator/device/Table.h"

#include <bit>
#include <cmath>

namespace gfx950emu::test {
namespace {

constexpr uint32_t items = 4 * 192;

/// Blocks of 16 whose sizes differ, some of them zero, with fp4 midpoints among them.
void blocks(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i) {
    static constexpr float points[] = {6, 5, 3.5f, 2.5f, 1.75f, 1.25f, 0.75f, 0.25f};
    float v = i % 16 == 0 || random.next32() % 4 == 0
                  ? points[i % 16 ? random.next32() % 8 : 0]
                  : std::ldexp(float(int32_t(random.next32())), -29);
    int size = int(i / 16 % 18) - 9; // scales up to 256
    in[i] = std::bit_cast<uint32_t>(i / 16 % 23 == 7 ? 0.0f : std::ldexp(v, size));
  }
}

double value(unsigned code, int exponentBits, int mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1, exponent = int(code >> mantissaBits);
  double mantissa = code & ((1u << mantissaBits) - 1);
  return exponent ? std::ldexp(1 + std::ldexp(mantissa, -mantissaBits), exponent - bias)
                  : std::ldexp(mantissa, 1 - bias - mantissaBits);
}

/// Nearest code up to `largest`, ties to the even one.
unsigned nearest(double v, int exponentBits, int mantissaBits, unsigned largest) {
  unsigned best = 0;
  for (unsigned c = 1; c <= largest; ++c) {
    double here = std::fabs(value(c, exponentBits, mantissaBits) - v),
           there = std::fabs(value(best, exponentBits, mantissaBits) - v);
    if (here < there || (here == there && c % 2 == 0))
      best = c;
  }
  return best;
}

void quantizeBlocks(const Data &d) {
  for (uint32_t i = 0; i < items; ++i) {
    float most = 0;
    for (uint32_t k = 0; k < 16; ++k)
      most = std::max(most, std::fabs(std::bit_cast<float>(d.in[i / 4 * 16 + k])));
    uint32_t *o = d.out + 6 * i;
    o[1] = nearest(double(most / 6.0f), 4, 3, 0x7e);
    float scale = float(value(o[1], 4, 3));
    for (uint32_t k = 0; k < 4; ++k) {
      float v = std::bit_cast<float>(d.in[4 * i + k]), w = scale > 0 ? v / scale : 0;
      unsigned code = nearest(std::fabs(double(w)), 2, 1, 7);
      float back = std::copysign(float(value(code, 2, 1)), w) * scale;
      o[0] |= (code | (std::signbit(w) ? 8u : 0u)) << (4 * k);
      o[2 + k] = std::bit_cast<uint32_t>(back);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Quantize, Kernels,
                         ::testing::Combine(::testing::Values(Row{"Quantize", "quantizeBlocks", 4,
                                                                  192, 4 * items, 6 * items, blocks,
                                                                  quantizeBlocks}),
                                            ::testing::ValuesIn(levels)),
                         rowName);

} // namespace
} // namespace gfx950emu::test
