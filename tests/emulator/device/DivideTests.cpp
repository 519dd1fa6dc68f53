//===- DivideTests.cpp - division against the host's, bit for bit --------------------===//
//
// Operands: every pair of edge values, then pairs whose quotient lies at a boundary that
// the expansion treats apart (overflow, underflow to denormals and to zero, the exponents
// at which v_div_scale begins to scale).
//
//===------------------------------------------------------------------------===//

#include "tests/emulator/device/Table.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace gfx950emu::test {
namespace {

/// Fields of a format, and the exponent fields at which its division changes course.
template <class B> struct Format {
  unsigned mantissa, exponent;
  std::vector<unsigned> edges;

  B make(uint64_t sign, uint64_t field, uint64_t fraction) const {
    return B(sign << (mantissa + exponent) | field << mantissa |
             (fraction & ((uint64_t(1) << mantissa) - 1)));
  }
  unsigned last() const { return (1u << exponent) - 1; }
  unsigned bias() const { return last() / 2; }
};
const Format<uint16_t> format16{10, 5, {0, 1, 2, 5, 14, 15, 16, 25, 29, 30, 31}};
const Format<uint32_t> format32{
    23, 8, {0, 1, 2, 22, 23, 24, 25, 29, 31, 100, 126, 127, 128, 131, 222, 252, 253, 254, 255}};
const Format<uint64_t> format64{
    52, 11, {0, 1, 2, 51, 52, 53, 54, 254, 255, 1022, 1023, 1024, 1790, 2044, 2045, 2046, 2047}};

template <class B> std::vector<B> edges(const Format<B> &f) {
  const uint64_t ones = ~uint64_t(0), half = uint64_t(1) << (f.mantissa - 1);
  std::vector<B> values;
  for (unsigned field : f.edges)
    for (uint64_t fraction : {uint64_t(0), uint64_t(1), uint64_t(15), half, ones})
      values.push_back(f.make(values.size() % 3 == 0, field, fraction));
  return values;
}

template <class B> void pairs(uint32_t *in, uint32_t words, Random &random, const Format<B> &f) {
  const std::vector<B> values = edges(f);
  const size_t count = size_t(words) * 4 / sizeof(B) / 2;
  std::vector<B> out;
  for (B x : values)
    for (B y : values)
      out.insert(out.end(), {x, y});
  const int scaled = int(f.exponent == 11 ? 768 : 96), bias = int(f.bias());
  const int quotients[] = {
      bias,   1 - bias, -bias,      -bias - int(f.mantissa), -bias - int(f.mantissa) - 1,
      scaled, -scaled,  -scaled + 1};
  while (out.size() < 2 * count) {
    // Numerator field less denominator field near one of the boundaries.
    const int delta =
        quotients[random.next32() % std::size(quotients)] + int(random.next32() % 5) - 2;
    const int y = int(random.next32() % f.last()), x = std::clamp(y + delta, 0, int(f.last()) - 1);
    const uint64_t keep = random.next32() % 2 ? ~uint64_t(0) : ~uint64_t(0) << (f.mantissa - 3);
    out.push_back(f.make(random.next() & 1, unsigned(x), random.next() & keep));
    out.push_back(f.make(random.next() & 1, unsigned(y), random.next() & keep));
  }
  memcpy(in, out.data(), size_t(words) * 4);
}
void pairs16(uint32_t *in, uint32_t n, Random &random) { pairs(in, n, random, format16); }
void pairs32(uint32_t *in, uint32_t n, Random &random) { pairs(in, n, random, format32); }
void pairs64(uint32_t *in, uint32_t n, Random &random) { pairs(in, n, random, format64); }

/// `Work` holds a quotient of T that rounds to the right T. A NaN result is the device's default
/// NaN, or the NaN operand made quiet, the numerator's first.
template <class T, class Work, class B, B Quiet> void divided(const Data &data) {
  const B *in = reinterpret_cast<const B *>(data.in);
  B *out = reinterpret_cast<B *>(data.out);
  const B sign = B(B(1) << (sizeof(B) * 8 - 1));
  auto quotient = [&](B n, B d) {
    if (sizeof(B) == 4 && data.flush)
      for (B *v : {&n, &d})
        *v = *v & 0x7f800000 ? *v : B(*v & sign);
    const T x = std::bit_cast<T>(n), y = std::bit_cast<T>(d);
    if (x != x || y != y)
      return B((x != x ? n : d) | Quiet);
    const T q = T(Work(x) / Work(y));
    if (q != q)
      return B(sign | Quiet);
    const B bits = std::bit_cast<B>(q);
    return sizeof(B) == 4 && data.flush && !(bits & 0x7f800000) ? B(bits & sign) : bits;
  };
  for (uint32_t i = 0; i < data.items; ++i) {
    out[2 * i] = quotient(in[2 * i], in[2 * i + 1]);
    out[2 * i + 1] = quotient(std::bit_cast<B>(T(1)), in[2 * i + 1]);
  }
}
constexpr auto divided16 = divided<_Float16, double, uint16_t, 0x7e00>;
constexpr auto divided32 = divided<float, float, uint32_t, 0x7fc00000>;
constexpr auto divided64 = divided<double, double, uint64_t, 0x7ff8000000000000>;

constexpr uint32_t groups = 64, block = 256, items = groups * block;
#define DIVIDE(BITS)                                                                               \
  Row {                                                                                            \
    "Divide", "divide" #BITS, groups, block, items *BITS / 16, items *BITS / 16, pairs##BITS,      \
        divided##BITS                                                                              \
  }

INSTANTIATE_TEST_SUITE_P(Divide, Kernels,
                         ::testing::Combine(::testing::Values(DIVIDE(16), DIVIDE(32), DIVIDE(64)),
                                            ::testing::ValuesIn(levels)),
                         rowName);

} // namespace
} // namespace gfx950emu::test
