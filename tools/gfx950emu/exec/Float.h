//===- Float.h - narrow float formats ---------------------------------------------===//
//
// Owns conversions between f32/f64 and f16, bf16, fp8 (OCP), fp6, fp4. All without
// branches where they run per lane, so that loops over lanes vectorize.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_FLOAT_H
#define GFX950EMU_EXEC_FLOAT_H

#include "tools/gfx950emu/exec/Exec.h"

GFX950EMU_EXEC_BEGIN

inline uint32_t bitsOf(float f) { return std::bit_cast<uint32_t>(f); }
inline uint64_t bitsOf(double f) { return std::bit_cast<uint64_t>(f); }
inline float floatOf(uint32_t u) { return std::bit_cast<float>(u); }
inline double doubleOf(uint64_t u) { return std::bit_cast<double>(u); }

inline float halfToFloat(uint32_t h) {
  uint32_t o = (h & 0x7fff) << 13, exponent = o & 0x0f800000;
  o += (127 - 15) << 23;
  uint32_t special = o + ((128 - 16) << 23);
  uint32_t denormal = bitsOf(floatOf(o + (1u << 23)) - floatOf(113u << 23));
  o = exponent == 0x0f800000 ? special : exponent == 0 ? denormal : o;
  return floatOf(o | (h & 0x8000) << 16);
}

/// Round to nearest even; NaNs become quiet and keep the high bits of their payload.
inline uint32_t floatToHalf(float value) {
  uint32_t f = bitsOf(value), sign = f & 0x80000000;
  f ^= sign;
  uint32_t nan = 0x7e00 | (f >> 13 & 0x1ff);
  constexpr uint32_t magic = ((127 - 15) + (23 - 10) + 1) << 23;
  uint32_t denormal = bitsOf(floatOf(f) + floatOf(magic)) - magic;
  uint32_t normal = (f + ((15u - 127) << 23) + 0xfff + (f >> 13 & 1)) >> 13;
  uint32_t o = f > 0x7f800000 ? nan : f >= 0x47800000 ? 0x7c00 : f < 0x38800000 ? denormal : normal;
  return o | sign >> 16;
}

/// MODE's rounding fields.
enum : unsigned { RoundNearestEven = 0, RoundUp = 1, RoundDown = 2, RoundTowardZero = 3 };

/// Round up, down or toward zero.
inline uint32_t floatToHalfDirected(float value, unsigned round) {
  uint32_t f = bitsOf(value), sign = f >> 16 & 0x8000;
  f &= 0x7fffffff;
  if (f >= 0x7f800000)
    return floatToHalf(value);
  // The magnitude truncated, and whether anything was lost.
  uint32_t shift = f >= 0x38800000 ? 13 : std::min(126 - (f >> 23), 31u);
  uint32_t mantissa = f >= 0x38800000  ? f + ((15u - 127) << 23)
                      : f < 0x00800000 ? f
                                       : (f & 0x7fffff) | 0x800000;
  bool overflow = f >= 0x47800000;
  uint32_t truncated = overflow ? 0x7bff : mantissa >> shift;
  bool inexact = overflow || (mantissa & ((1u << shift) - 1));
  bool away = (round == RoundUp && !sign) || (round == RoundDown && sign);
  return sign | (truncated + (away && inexact ? 1 : 0));
}
inline uint32_t floatToHalfTowardZero(float value) {
  return floatToHalfDirected(value, RoundTowardZero);
}

/// Round to nearest even, directly from f64 (rounding through f32 would round twice).
inline uint32_t doubleToHalf(double value) {
  // Round to odd at f32 precision first: then rounding to f16 is right.
  float f = float(value);
  uint32_t bits = bitsOf(f);
  if (double(f) != value && value == value && (bits & 0x7fffffff) != 0x7f800000) {
    bool tooFar = std::fabs(double(f)) > std::fabs(value);
    bits = tooFar ? (bits - 1) | 1 : bits | 1;
  } else if ((bits & 0x7fffffff) == 0x7f800000 && std::isfinite(value)) {
    bits -= 1;
  }
  return floatToHalf(floatOf(bits));
}

/// a * b + c with one rounding to f16: exact in f64 but for the last sum, which rounds to odd.
inline uint32_t fmaHalf(float a, float b, float c) {
  double product = double(a) * double(b), addend = double(c);
  double sum = product + addend;
  // Two-sum: the error of the addition is exact.
  double t = sum - product, error = (product - (sum - t)) + (addend - t);
  uint64_t bits = bitsOf(sum);
  bool inexact = error != 0 && std::isfinite(sum);
  bool towardZero = (error > 0) != (sum > 0); // |exact| < |sum|
  uint64_t truncated = towardZero ? bits - 1 : bits;
  return doubleToHalf(doubleOf(inexact ? truncated | 1 : bits));
}

inline float bf16ToFloat(uint32_t b) { return floatOf(b << 16); }

inline uint32_t floatToBf16(float value) {
  uint32_t f = bitsOf(value);
  uint32_t rounded = (f + 0x7fff + (f >> 16 & 1)) >> 16;
  uint32_t nan = f >> 16 | 0x40;
  return (f & 0x7fffffff) > 0x7f800000 ? nan : rounded;
}

/// A small float format: sign, E exponent bits, M mantissa bits, bias 2^(E-1)-1.
template <unsigned E, unsigned M> struct Small {
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr uint32_t signBit = 1u << (E + M);
  /// OCP: e5m2 has infinities; e4m3 has one NaN code and no infinity; the 6- and 4-bit formats have
  /// neither.
  static constexpr bool hasInf = E == 5, hasNan = E == 5 || (E == 4 && M == 3);
  static constexpr uint32_t largest = hasInf ? 0x7b : hasNan ? 0x7e : signBit - 1;
  static constexpr uint32_t nan = hasInf ? 0x7e : 0x7f;
  static constexpr uint32_t inf = hasInf ? 0x7c : nan;

  static float decode(uint32_t code) {
    uint32_t magnitude = code & (signBit - 1);
    // Place exponent and mantissa in an f32 and rebias by an exact multiplication, denormals too.
    float f = floatOf(magnitude << (23 - M)) * floatOf(uint32_t(127 + 127 - bias) << 23);
    uint32_t bits = bitsOf(f);
    if constexpr (hasInf)
      bits = magnitude == 0x7c ? 0x7f800000 : magnitude > 0x7c ? 0x7fc00000 : bits;
    else if constexpr (hasNan)
      bits = magnitude == 0x7f ? 0x7fc00000 : bits;
    return floatOf(bits | (code & signBit ? 0x80000000 : 0));
  }

  /// The magnitude code of finite |value|, rounded to nearest even, not yet saturated. The code
  /// counts quanta, so carries and denormals need no case.
  static uint64_t quanta(double magnitude) {
    int exponent = int(bitsOf(magnitude) >> 52) - 1023;
    exponent = std::max(exponent, 1 - bias);
    double scaled = magnitude * doubleOf(uint64_t(1023 - exponent + int(M)) << 52);
    return (uint64_t(exponent + bias - 1) << M) + uint64_t(std::rint(scaled));
  }

  /// `saturate`: overflow and infinity become the largest value instead of inf or NaN.
  static uint32_t encode(double value, bool saturate) {
    uint32_t sign = bitsOf(value) >> 63 ? signBit : 0;
    if (value != value)
      return sign | (hasNan ? nan : nanFallback);
    double magnitude = std::fabs(value);
    if (magnitude > 1e30)
      return sign | (saturate || !hasNan ? largest : inf);
    uint64_t code = quanta(magnitude);
    if (code > largest)
      return sign | (saturate || !hasNan ? largest : inf);
    return sign | uint32_t(code);
  }

  /// What a NaN becomes in a format without one: open in public sources, taken as the largest
  /// value.
  static constexpr uint32_t nanFallback = largest;

  /// Stochastic: add `random` (32 bits, a fraction of the last place) and truncate.
  static uint32_t encodeStochastic(double value, uint32_t random, bool saturate) {
    uint32_t sign = bitsOf(value) >> 63 ? signBit : 0;
    if (value != value)
      return sign | (hasNan ? nan : nanFallback);
    double magnitude = std::fabs(value);
    if (magnitude > 1e30)
      return sign | (saturate || !hasNan ? largest : inf);
    int exponent = std::max(int(bitsOf(magnitude) >> 52) - 1023, 1 - bias);
    double scaled = magnitude * doubleOf(uint64_t(1023 - exponent + int(M)) << 52);
    uint64_t code = (uint64_t(exponent + bias - 1) << M) +
                    uint64_t(std::floor(scaled + double(random) * 0x1p-32));
    if (code > largest)
      return sign | (saturate || !hasNan ? largest : inf);
    return sign | uint32_t(code);
  }
};

using Fp8 = Small<4, 3>; // e4m3fn
using Bf8 = Small<5, 2>; // e5m2
using Fp6 = Small<2, 3>;
using Bf6 = Small<3, 2>;
using Fp4 = Small<2, 1>;

inline bool isNan(float f) { return f != f; }
inline bool isSignallingNan(float f) {
  uint32_t b = bitsOf(f) & 0x7fffffff;
  return b > 0x7f800000 && b < 0x7fc00000;
}
inline bool isSignallingNan(double f) {
  uint64_t b = bitsOf(f) & 0x7fffffffffffffff;
  return b > 0x7ff0000000000000 && b < 0x7ff8000000000000;
}
/// The NaN that an operation gives for operands that are none (the square root of -1, 0 / 0): the
/// manual's examples have its sign set.
template <class V> constexpr V defaultNan = -std::numeric_limits<V>::quiet_NaN();
inline float quiet(float f) { return floatOf(bitsOf(f) | 0x00400000); }
inline double quiet(double f) { return doubleOf(bitsOf(f) | 0x0008000000000000); }

/// Denormals become zeros of the same sign.
inline float flushed(float f) {
  uint32_t b = bitsOf(f);
  return floatOf((b & 0x7f800000) == 0 ? b & 0x80000000 : b);
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_FLOAT_H
