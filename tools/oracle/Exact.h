//===- Exact.h - exact numbers for the oracle -------------------------------===//
//
// Owns: non-negative dyadic rationals, and the exact values of bf16, fp16, E4M3FN
// and E2M1 bit patterns as such rationals. No floating point.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_EXACT_H
#define NVFP4GEN_TOOLS_ORACLE_EXACT_H

#include "tools/oracle/Oracle.h"

#include <array>
#include <compare>
#include <cstdint>

namespace oracle {

/// mantissa * 2^exponent, mantissa < 2^32.
struct Dyadic {
  uint32_t mantissa = 0;
  int32_t exponent = 0;
};

/// Exact order of two dyadics.
std::strong_ordering compare(Dyadic a, Dyadic b);

enum class NumberClass : uint8_t { Finite, Infinity, NaN };

/// A bf16 or fp16 bit pattern taken apart.
struct Number {
  NumberClass kind = NumberClass::Finite;
  bool negative = false;
  Dyadic magnitude; ///< of a finite number
};

/// Widths of a model dtype.
struct DTypeTraits {
  int mantissaBits; ///< stored bits
  int exponentBits;
  int bias;
  uint16_t infinity() const {
    return static_cast<uint16_t>(((1u << exponentBits) - 1) << mantissaBits);
  }
  uint16_t maxFinite() const { return static_cast<uint16_t>(infinity() - 1); }
  uint16_t minNormal() const { return static_cast<uint16_t>(1u << mantissaBits); }
  uint16_t quietNaN() const {
    return static_cast<uint16_t>(infinity() | (1u << (mantissaBits - 1)));
  }
};
DTypeTraits traits(DType dtype);

inline constexpr uint16_t kSignBit = 0x8000;

Number decode(uint16_t bits, DType dtype);

/// The largest finite pattern without sign whose value is <= `value`.
uint16_t floorBits(Dyadic value, DType dtype);

/// The pattern nearest to `value`, ties to even; infinity from half an ulp past the largest finite
/// value on, and the quiet NaN (without sign) for NaN.
uint16_t roundBits(double value, DType dtype);

/// K1, A1: a model-dtype pattern as the fp16 pattern that the matrix product sees (RNE).
uint16_t toFp16(uint16_t bits, DType dtype);

/// F3: the value of scale byte 0x00..0x7E in units of 2^-9.
uint32_t scaleUnits(uint8_t scale);
inline constexpr int kScaleUnitExponent = -9;
inline constexpr uint8_t kMinScale = 0x01; ///< 2^-9
inline constexpr uint8_t kMaxScale = 0x7E; ///< 448

/// F2: twice the magnitude of code index 0..7.
inline constexpr std::array<uint8_t, 8> kTwiceMagnitude = {0, 1, 2, 3, 4, 6, 8, 12};

/// F5: four times the midpoint between magnitudes i and i+1.
inline constexpr std::array<uint8_t, 7> kFourMidpoint = {1, 3, 5, 7, 10, 14, 20};

/// t * s of F5, exactly: midpoint `i` under scale byte `scale`.
Dyadic midpoint(size_t i, uint8_t scale);

/// F4: the scale byte of a group whose largest magnitude is `amax`.
uint8_t scaleOf(Dyadic amax);

/// F5..F7: the code of a value under a stored scale byte.
uint8_t codeUnder(const Number &x, uint8_t scale);

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_EXACT_H
