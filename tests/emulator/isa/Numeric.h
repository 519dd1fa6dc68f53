//===- Numeric.h - reference arithmetic of the narrow float formats --------===//
//
// Every format is described by its field widths and decoded and rounded by the
// same two routines, in 113-bit arithmetic, so that sums and products of narrow
// values are exact before the one rounding that an instruction makes.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_ISA_NUMERIC_H
#define TESTS_EMULATOR_ISA_NUMERIC_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace isatest {

using Wide = __float128;

struct Format {
  int exponentBits, mantissaBits, bias;
  bool infinity;    ///< has infinities (then NaNs lie above them)
  uint32_t largest; ///< code of the largest finite magnitude
  uint32_t nan;     ///< code of a NaN; 0 when the format has none

  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint32_t signBit() const { return 1u << (bits() - 1); }
};

inline constexpr Format F32Format{8, 23, 127, true, 0x7f7fffff, 0x7fc00000};
inline constexpr Format F16Format{5, 10, 15, true, 0x7bff, 0x7e00};
inline constexpr Format BF16Format{8, 7, 127, true, 0x7f7f, 0x7fc0};
inline constexpr Format FP8Format{4, 3, 7, false, 0x7e, 0x7f}; // OCP e4m3fn
inline constexpr Format BF8Format{5, 2, 15, true, 0x7b, 0x7f}; // OCP e5m2
inline constexpr Format FP6Format{2, 3, 1, false, 0x1f, 0};    // e2m3
inline constexpr Format BF6Format{3, 2, 3, false, 0x1f, 0};    // e3m2
inline constexpr Format FP4Format{2, 1, 1, false, 0x7, 0};     // e2m1

enum class Round : uint8_t { NearestEven, Up, Down, Zero }; ///< the codes of MODE.round

inline Wide scale2(Wide x, int exponent) {
  constexpr int Step = 16;
  for (; exponent >= Step; exponent -= Step)
    x *= 1 << Step;
  for (; exponent <= -Step; exponent += Step)
    x /= 1 << Step;
  return exponent < 0 ? x / (1 << -exponent) : x * (1 << exponent);
}

inline bool isNan(Wide x) { return x != x; }
inline bool isInf(Wide x) { return x == Wide(INFINITY) || x == -Wide(INFINITY); }
inline bool signOf(Wide x) {
  unsigned __int128 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits >> 127;
}

inline Wide decode(const Format &f, uint32_t code) {
  const bool negative = code & f.signBit();
  const uint32_t magnitude = code & (f.signBit() - 1);
  if (magnitude > f.largest) {
    const bool infinite = f.infinity && magnitude == f.largest + 1;
    Wide special = infinite ? INFINITY : NAN;
    return negative ? -special : special;
  }
  const int exponent = int(magnitude >> f.mantissaBits);
  const uint32_t mantissa = magnitude & ((1u << f.mantissaBits) - 1);
  Wide value = exponent ? Wide(mantissa + (1u << f.mantissaBits)) : Wide(mantissa);
  value = scale2(value, (exponent ? exponent : 1) - f.bias - f.mantissaBits);
  return negative ? -value : value;
}

/// Code of `x` rounded to the format. Overflow gives infinity (or the format's NaN), or the largest
/// finite value when `saturate`, when the format has neither, or when the mode rounds towards it.
inline uint32_t encode(const Format &f, Wide x, Round round = Round::NearestEven,
                       bool saturate = false) {
  const bool negative = signOf(x);
  const uint32_t sign = negative ? f.signBit() : 0;
  if (isNan(x))
    return f.nan | sign;
  const uint32_t overflowed = f.infinity ? f.largest + 1 : f.nan;
  if (isInf(x))
    return sign | (saturate || !overflowed ? f.largest : overflowed);
  const Wide magnitude = negative ? -x : x;
  if (magnitude == 0)
    return sign;

  // magnitude = significand * 2^(exponent - 112), significand in [2^112, 2^113) if normal.
  unsigned __int128 bits;
  __builtin_memcpy(&bits, &magnitude, sizeof bits);
  const int exponent = int(bits >> 112) - 16383;
  const unsigned __int128 significand =
      (bits & (((unsigned __int128)1 << 112) - 1)) | (unsigned __int128)1 << 112;
  const int lowest = 1 - f.bias;
  const int quantum = (exponent > lowest ? exponent : lowest) - f.mantissaBits;
  const int shift = quantum - (exponent - 112); // bits that are rounded away
  uint64_t kept = 0;
  unsigned __int128 rest = significand, half = 0;
  if (shift < 114) {
    kept = uint64_t(significand >> shift);
    rest = significand - ((unsigned __int128)kept << shift);
    half = (unsigned __int128)1 << (shift - 1);
  }
  const bool inexact = rest != 0;
  bool up = false;
  switch (round) {
  case Round::NearestEven:
    up = half && (rest > half || (rest == half && (kept & 1)));
    break;
  case Round::Up:
    up = inexact && !negative;
    break;
  case Round::Down:
    up = inexact && negative;
    break;
  case Round::Zero:
    break;
  }
  kept += up;
  const uint64_t biased = exponent >= lowest ? uint64_t(exponent + f.bias - 1) : 0;
  const uint64_t code = (biased << f.mantissaBits) + kept;
  if (code <= f.largest)
    return sign | uint32_t(code);
  const bool towardsFinite = round == Round::Zero || (round == Round::Up && negative) ||
                             (round == Round::Down && !negative);
  return sign | (saturate || towardsFinite || !overflowed ? f.largest : overflowed);
}

inline float asF32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
inline double asF64(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }
inline Wide f16(uint64_t bits) { return decode(F16Format, bits & 0xffff); }
inline Wide bf16(uint64_t bits) { return decode(BF16Format, bits & 0xffff); }

inline bool isNan32(uint64_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
inline bool isNan16(uint64_t bits) { return (bits & 0x7fff) > 0x7c00; }
inline bool isSignalling32(uint64_t bits) { return isNan32(bits) && !(bits & 0x400000); }
inline bool isSignalling16(uint64_t bits) { return isNan16(bits) && !(bits & 0x200); }

/// Denormals become zeros of their sign.
inline uint64_t flush32(uint64_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }
inline uint64_t flush16(uint64_t bits) { return bits & 0x7c00 ? bits : bits & 0x8000; }
inline uint64_t flush64(uint64_t bits) {
  return bits & 0x7ff0000000000000 ? bits : bits & 0x8000000000000000;
}

template <typename To> To saturate(double x) {
  if (std::isnan(x))
    return 0;
  if (x <= double(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (x >= double(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return To(x);
}

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_NUMERIC_H
