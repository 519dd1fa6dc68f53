//===- SecondMethod.h - F4..F8 once more, by other means --------------------===//
//
// Owns: a quantizer that shares nothing with tools/oracle but the interface:
// long double division (64-bit significand, correctly rounded) and a search for
// the nearest entry of a table, ties to the even entry.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_ORACLE_SECONDMETHOD_H
#define NVFP4GEN_TESTS_ORACLE_SECONDMETHOD_H

#include "tools/oracle/Oracle.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace second {

inline constexpr std::array<long double, 8> kMagnitudes = {0, 0.5L, 1, 1.5L, 2, 3, 4, 6};

/// Value of a model-dtype pattern, by fields and ldexp.
inline long double value(uint16_t bits, oracle::DType dtype) {
  const bool bf16 = dtype == oracle::DType::BF16;
  const int fractionBits = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, top = bf16 ? 255 : 31;
  int fraction = bits % (1 << fractionBits);
  int exponent = (bits & 0x7FFF) >> fractionBits;
  long double sign = bits >= 0x8000 ? -1.0L : 1.0L;
  if (exponent == top)
    return fraction ? std::numeric_limits<long double>::quiet_NaN()
                    : sign * std::numeric_limits<long double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp((long double)fraction, 1 - bias - fractionBits);
  return sign * std::ldexp(1 + std::ldexp((long double)fraction, -fractionBits), exponent - bias);
}

/// Value of an E4M3FN byte 0x00..0x7E.
inline long double e4m3(int byte) {
  int exponent = byte / 8, fraction = byte % 8;
  return exponent == 0 ? std::ldexp(fraction / 8.0L, -6)
                       : std::ldexp(1 + fraction / 8.0L, exponent - 7);
}

/// Index of the entry nearest to x; of two equally near ones the even index.
template <typename Table> int nearest(long double x, int entries, Table table) {
  int best = 0;
  for (int i = 1; i < entries; ++i) {
    long double distance = std::fabs(x - table(i)), least = std::fabs(x - table(best));
    if (distance < least || (distance == least && i % 2 == 0))
      best = i;
  }
  return best;
}

/// F4.
inline uint8_t scale(long double amax) {
  int byte = nearest(std::fmin(amax / 6, 448), 0x7F, e4m3);
  return static_cast<uint8_t>(byte < 1 ? 1 : byte);
}

/// F5..F7.
inline uint8_t code(long double x, uint8_t scaleByte) {
  if (std::isnan(x))
    return 0;
  long double quotient = std::fmin(std::fabs(x) / e4m3(scaleByte), 6);
  int index = nearest(quotient, 8, [](int i) { return kMagnitudes[size_t(i)]; });
  return static_cast<uint8_t>(index && x < 0 ? index + 8 : index);
}

inline oracle::Group quantize(std::span<const uint16_t, 16> bits, oracle::DType dtype) {
  long double amax = 0;
  for (uint16_t b : bits)
    amax = std::fmax(amax, std::fabs(second::value(b, dtype))); // fmax drops NaN
  oracle::Group group;
  group.scale = scale(amax);
  for (size_t i = 0; i < 16; ++i)
    group.payload[i / 2] = static_cast<uint8_t>(
        group.payload[i / 2] + (code(second::value(bits[i], dtype), group.scale) << (i % 2 * 4)));
  return group;
}

} // namespace second

#endif // NVFP4GEN_TESTS_ORACLE_SECONDMETHOD_H
