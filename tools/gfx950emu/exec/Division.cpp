//===- Division.cpp - v_div_scale, v_div_fmas, v_div_fixup ------------------------------===//
//
// Owns the primitives from which compilers build correctly rounded division. Source
// order: scale (value, denominator, numerator), fixup (quotient, denominator, numerator).
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

#include <optional>

GFX950EMU_EXEC_BEGIN

namespace {

/// Constants of the two formats. Exponents are the fields as encoded; a denormal's is 0.
template <class V> struct Format;
template <> struct Format<float> {
  using Wider = double;
  using WiderBits = uint64_t;
  static constexpr int bias = 127, farApart = 96, scale = 64, underflow = -150;
  /// With a numerator down to here the last bit of N - D * Q may lie below the smallest denormal.
  static constexpr int tiny = 24;
  static int exponent(float v) { return int(bitsOf(v) >> 23 & 0xff); }
};
template <> struct Format<double> {
  using Wider = __float128;
  using WiderBits = unsigned __int128;
  static constexpr int bias = 1023, farApart = 768, scale = 128, underflow = -1075;
  static constexpr int tiny = 53;
  static int exponent(double v) { return int(bitsOf(v) >> 52 & 0x7ff); }
};

/// Scale numerator and denominator so that the Newton steps neither overflow nor lose bits; the
/// mask tells v_div_fmas to undo it. The manual speaks of denormal quotients and reciprocals: the
/// unit has only the difference of the exponents to tell, and a quotient that underflows to zero
/// counts as well.
template <class V> V divScale(V value, V denominator, V numerator, bool &postScale) {
  using F = Format<V>;
  postScale = false;
  if (numerator == 0 || denominator == 0)
    return defaultNan<V>;
  const int exponent = F::exponent(denominator), apart = F::exponent(numerator) - exponent;
  const bool isDenominator = value == denominator;
  const bool tinyReciprocal = exponent >= 2 * F::bias - 1;
  int power = 0;
  if (apart >= F::farApart) {
    postScale = true;
    power = isDenominator ? F::scale : 0;
  } else if (exponent == 0) {
    power = F::scale;
  } else if (apart <= -F::farApart) {
    // A huge denominator is scaled down and not the numerator up: the quotient is the same.
    postScale = true;
    power = tinyReciprocal ? (isDenominator ? -F::scale : 0) : (isDenominator ? 0 : F::scale);
  } else if (tinyReciprocal) {
    power = -F::scale;
  } else if (F::exponent(numerator) <= F::tiny) {
    power = F::scale;
  }
  return power ? std::ldexp(value, power) : value;
}

/// a * b + c, scaled by a power of two with one rounding: up when the quotient estimate c is large
/// (the denominator had been scaled up), else down.
template <class V> V divFmas(V a, V b, V c, bool postScale) {
  using F = Format<V>;
  using W = typename F::Wider;
  using Bits = typename F::WiderBits;
  if (!postScale || !std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
    return std::fma(a, b, c);
  W product = W(a) * W(b), addend = W(c), sum = product + addend;
  // Round the sum to odd, so that the final rounding is the only one.
  W t = sum - product, error = (product - (sum - t)) + (addend - t);
  if (error != 0) {
    Bits bits = std::bit_cast<Bits>(sum);
    sum = std::bit_cast<W>(((error > 0) != (sum > 0) ? bits - 1 : bits) | 1);
  }
  const V factor = std::ldexp(V(1), F::exponent(c) > F::bias ? F::scale : -F::scale);
  return V(sum * W(factor));
}

/// What division gives, when that follows from the kinds of the operands.
template <class V> std::optional<V> specialQuotient(V denominator, V numerator) {
  const V sign = std::signbit(denominator) != std::signbit(numerator) ? V(-1) : V(1);
  if (numerator != numerator)
    return quiet(numerator);
  if (denominator != denominator)
    return quiet(denominator);
  bool infN = std::isinf(numerator), infD = std::isinf(denominator);
  if ((denominator == 0 && numerator == 0) || (infD && infN))
    return defaultNan<V>;
  if (denominator == 0 || infN)
    return std::copysign(std::numeric_limits<V>::infinity(), sign);
  if (infD || numerator == 0)
    return std::copysign(V(0), sign);
  return std::nullopt;
}

/// The special cases of division, and the sign of the quotient.
template <class V> V divFixup(V quotient, V denominator, V numerator) {
  using F = Format<V>;
  if (std::optional<V> special = specialQuotient(denominator, numerator))
    return *special;
  const V sign = std::signbit(denominator) != std::signbit(numerator) ? V(-1) : V(1);
  if (F::exponent(numerator) - F::exponent(denominator) < F::underflow)
    return std::copysign(V(0), sign);
  // A quotient so large that the Newton steps overflowed arrives as NaN.
  if (quotient != quotient)
    return std::copysign(std::numeric_limits<V>::infinity(), sign);
  return std::copysign(quotient, sign);
}

float divFixupHalf(float quotient, float denominator, float numerator) {
  if (std::optional<float> special = specialQuotient(denominator, numerator))
    return *special;
  return std::copysign(quotient,
                       std::signbit(denominator) != std::signbit(numerator) ? -1.0f : 1.0f);
}

} // namespace

void addDivision(OpTable &t) {
  valuMaskOut<F32, F32, F32, F32>(t, "v_div_scale_f32", [](float v, float d, float n, bool &p) {
    return divScale(v, d, n, p);
  });
  valuMaskOut<F64, F64, F64, F64>(t, "v_div_scale_f64", [](double v, double d, double n, bool &p) {
    return divScale(v, d, n, p);
  });
  valuMaskIn<F32, F32, F32, F32>(
      t, "v_div_fmas_f32", [](float a, float b, float c, bool p) { return divFmas(a, b, c, p); });
  valuMaskIn<F64, F64, F64, F64>(t, "v_div_fmas_f64", [](double a, double b, double c, bool p) {
    return divFmas(a, b, c, p);
  });
  valu<F32, F32, F32, F32>(t, "v_div_fixup_f32",
                           [](float q, float d, float n) { return divFixup(q, d, n); });
  valu<F64, F64, F64, F64>(t, "v_div_fixup_f64",
                           [](double q, double d, double n) { return divFixup(q, d, n); });
  auto half = [](float q, float d, float n) { return divFixupHalf(q, d, n); };
  valu<F16, F16, F16, F16>(t, "v_div_fixup_f16", half, OpKeepsHigh);
  valu<F16, F16, F16, F16>(t, "v_div_fixup_legacy_f16", half);
}

GFX950EMU_EXEC_END
