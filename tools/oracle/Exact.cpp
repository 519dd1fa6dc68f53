//===- Exact.cpp - exact numbers for the oracle -----------------------------===//
//
// Owns: the arithmetic declared in Exact.h.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Exact.h"

#include <algorithm>
#include <cmath>

namespace oracle {

std::strong_ordering compare(Dyadic a, Dyadic b) {
  if (a.mantissa == 0 || b.mantissa == 0)
    return a.mantissa <=> b.mantissa;
  int shift = a.exponent - b.exponent;
  // Both mantissas are in [1, 2^32): a distance of 32 decides on its own.
  if (shift >= 32)
    return std::strong_ordering::greater;
  if (shift <= -32)
    return std::strong_ordering::less;
  uint64_t left = a.mantissa, right = b.mantissa;
  if (shift >= 0)
    left <<= shift;
  else
    right <<= -shift;
  return left <=> right;
}

DTypeTraits traits(DType dtype) {
  return dtype == DType::BF16 ? DTypeTraits{7, 8, 127} : DTypeTraits{10, 5, 15};
}

Number decode(uint16_t bits, DType dtype) {
  const DTypeTraits t = traits(dtype);
  uint32_t fraction = bits & ((1u << t.mantissaBits) - 1);
  int exponent = (bits >> t.mantissaBits) & ((1 << t.exponentBits) - 1);
  Number number;
  number.negative = bits & kSignBit;
  if (exponent == (1 << t.exponentBits) - 1) {
    number.kind = fraction ? NumberClass::NaN : NumberClass::Infinity;
    return number;
  }
  if (exponent == 0) // subnormal: exponent of the smallest normal, no hidden bit
    number.magnitude = {fraction, 1 - t.bias - t.mantissaBits};
  else
    number.magnitude = {fraction | (1u << t.mantissaBits), exponent - t.bias - t.mantissaBits};
  return number;
}

uint16_t floorBits(Dyadic value, DType dtype) {
  // Magnitudes grow with their patterns.
  uint16_t low = 0, high = traits(dtype).maxFinite();
  while (low < high) {
    uint16_t mid = static_cast<uint16_t>(low + (high - low + 1) / 2);
    if (compare(decode(mid, dtype).magnitude, value) <= 0)
      low = mid;
    else
      high = static_cast<uint16_t>(mid - 1);
  }
  return low;
}

uint16_t roundBits(double value, DType dtype) {
  const DTypeTraits t = traits(dtype);
  if (std::isnan(value))
    return t.quietNaN();
  const uint16_t sign = std::signbit(value) ? kSignBit : 0;
  value = std::fabs(value);
  if (value == 0)
    return sign;
  if (std::isinf(value) || std::ilogb(value) > t.bias)
    return sign | t.infinity();
  const int exponent = std::max(std::ilogb(value), 1 - t.bias);
  // In units of the last place the magnitude is an integer; the pattern is linear in it, up to the
  // infinity that follows the largest finite one.
  const uint64_t units = uint64_t(std::nearbyint(std::ldexp(value, t.mantissaBits - exponent)));
  return static_cast<uint16_t>(sign |
                               (units + (uint64_t(exponent + t.bias - 1) << t.mantissaBits)));
}

uint16_t toFp16(uint16_t bits, DType dtype) {
  return dtype == DType::FP16 ? bits : roundBits(oracle::value(bits, dtype), DType::FP16);
}

uint32_t scaleUnits(uint8_t scale) {
  uint32_t exponent = scale >> 3, fraction = scale & 7;
  return exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
}

Dyadic midpoint(size_t i, uint8_t scale) {
  return {kFourMidpoint[i] * scaleUnits(scale), kScaleUnitExponent - 2};
}

uint8_t scaleOf(Dyadic amax) {
  // amax / 6 against (lower + upper) / 2 is amax against 3 * (lower + upper): no division. Above
  // the last midpoint everything is 448, as min(amax / 6, 448) wants.
  uint8_t scale = 0;
  while (scale < kMaxScale) {
    uint8_t next = static_cast<uint8_t>(scale + 1);
    auto order = compare(amax, {3 * (scaleUnits(scale) + scaleUnits(next)), kScaleUnitExponent});
    // On the midpoint the even byte wins: stay when `scale` is the even one.
    if (order < 0 || (order == 0 && scale % 2 == 0))
      break;
    scale = next;
  }
  return scale < kMinScale ? kMinScale : scale;
}

} // namespace oracle
