//===- Division.cpp - v_div_scale, v_div_fmas, v_div_fixup ------------------------------===//
//
// Owns the primitives from which compilers build correctly rounded division. Source
// order: scale (value, denominator, numerator), fixup (quotient, denominator, numerator).
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Constants of the two formats.
template <class V> struct Format;
template <> struct Format<float> {
  static constexpr int farApart = 96, scale = 64, tiny = 23, underflow = -150;
  static int exponent(float v) { return int(bitsOf(v) >> 23 & 0xff); }
  static float scaled(float v, int n) { return float(std::ldexp(double(v), n)); }
};
template <> struct Format<double> {
  static constexpr int farApart = 768, scale = 128, tiny = 53, underflow = -1075;
  static int exponent(double v) { return int(bitsOf(v) >> 52 & 0x7ff); }
  static double scaled(double v, int n) { return std::ldexp(v, n); }
};

template <class V> bool isDenormal(V v) { return v != 0 && Format<V>::exponent(v) == 0; }

/// Scale one of numerator and denominator so that the Newton steps neither overflow nor lose bits;
/// the mask tells v_div_fmas to undo it.
template <class V> V divScale(V value, V denominator, V numerator, bool &postScale) {
  using F = Format<V>;
  postScale = false;
  V reciprocal = V(1) / denominator, quotient = numerator / denominator;
  if (numerator == 0 || denominator == 0)
    return std::numeric_limits<V>::quiet_NaN();
  if (F::exponent(numerator) - F::exponent(denominator) >= F::farApart) {
    postScale = true;
    return value == denominator ? F::scaled(value, F::scale) : value;
  }
  if (isDenormal(denominator))
    return F::scaled(value, F::scale);
  if (isDenormal(reciprocal) && isDenormal(quotient)) {
    // The denominator is huge: it is scaled down, which scales the quotient up, as below.
    postScale = true;
    return value == denominator ? F::scaled(value, -F::scale) : value;
  }
  if (isDenormal(reciprocal))
    return F::scaled(value, -F::scale);
  if (isDenormal(quotient)) {
    postScale = true;
    return value == numerator ? F::scaled(value, F::scale) : value;
  }
  if (F::exponent(numerator) <= F::tiny)
    return F::scaled(value, F::scale);
  return value;
}

/// a * b + c, scaled by a power of two with one rounding: up when the quotient estimate c is large
/// (the denominator had been scaled up), else down.
float divFmas(float a, float b, float c, bool postScale) {
  if (!postScale)
    return __builtin_fmaf(a, b, c);
  double product = double(a) * double(b), addend = double(c), sum = product + addend;
  // Round the sum to odd, so that the final rounding to f32 is the only one.
  double t = sum - product, error = (product - (sum - t)) + (addend - t);
  if (error != 0 && std::isfinite(sum)) {
    uint64_t bits = bitsOf(sum);
    sum = doubleOf(((error > 0) != (sum > 0) ? bits - 1 : bits) | 1);
  }
  return float(std::ldexp(sum, Format<float>::exponent(c) > 127 ? 64 : -64));
}
double divFmas(double a, double b, double c, bool postScale) {
  if (!postScale)
    return __builtin_fma(a, b, c);
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
    return __builtin_fma(a, b, c);
  // The product is exact in 113 bits.
  using Quad = __float128;
  Quad sum = Quad(a) * Quad(b) + Quad(c);
  Quad factor = Format<double>::exponent(c) > 1023 ? Quad(0x1p128) : Quad(0x1p-128);
  return double(sum * factor);
}

/// The special cases of division, and the sign of the quotient.
template <class V> V divFixup(V quotient, V denominator, V numerator) {
  using L = std::numeric_limits<V>;
  using F = Format<V>;
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  auto withSign = [&](V v) { return negative ? -v : v; };
  if (numerator != numerator)
    return quiet(numerator);
  if (denominator != denominator)
    return quiet(denominator);
  bool infN = std::isinf(numerator), infD = std::isinf(denominator);
  if ((denominator == 0 && numerator == 0) || (infD && infN))
    return -L::quiet_NaN();
  if (denominator == 0 || infN)
    return withSign(L::infinity());
  if (infD || numerator == 0)
    return withSign(V(0));
  if (F::exponent(numerator) - F::exponent(denominator) < F::underflow)
    return withSign(V(0));
  // A quotient so large that the Newton steps overflowed arrives as NaN.
  bool overflowed =
      quotient != quotient && std::isinf(F::scaled(numerator, -F::scale) / denominator);
  return withSign(overflowed ? L::infinity() : std::fabs(quotient));
}

float divFixupHalf(float quotient, float denominator, float numerator) {
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  auto withSign = [&](float v) { return negative ? -v : v; };
  if (numerator != numerator)
    return quiet(numerator);
  if (denominator != denominator)
    return quiet(denominator);
  bool infN = std::isinf(numerator), infD = std::isinf(denominator);
  if ((denominator == 0 && numerator == 0) || (infD && infN))
    return -std::numeric_limits<float>::quiet_NaN();
  if (denominator == 0 || infN)
    return withSign(std::numeric_limits<float>::infinity());
  if (infD || numerator == 0)
    return withSign(0.0f);
  return withSign(std::fabs(quotient));
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
