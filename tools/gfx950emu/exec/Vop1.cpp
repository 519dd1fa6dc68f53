//===- Vop1.cpp - one-source vector arithmetic --------------------------------------===//
//
// Owns moves, bit operations, rounding and the transcendental approximations. The
// latter are modelled as correctly rounded results (the bits of the hardware's tables are
// not public): computed in f64, f32 denormals flushed on both sides.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

uint32_t reverseBits(uint32_t v) { return __builtin_bitreverse32(v); }

void addBits(OpTable &t) {
  valu<B32, B32>(t, "v_mov_b32", [](uint32_t a) { return a; });
  valu<B64, B64>(t, "v_mov_b64", [](uint64_t a) { return a; });
  valu<B32, B32>(t, "v_not_b32", [](uint32_t a) { return ~a; });
  valu<B32, B32>(t, "v_bfrev_b32", [](uint32_t a) { return reverseBits(a); });
  valu<U32, U32>(t, "v_ffbh_u32",
                 [](uint32_t a) { return a ? uint32_t(std::countl_zero(a)) : ~0u; });
  valu<U32, U32>(t, "v_ffbl_b32",
                 [](uint32_t a) { return a ? uint32_t(std::countr_zero(a)) : ~0u; });
  valu<U32, I32>(t, "v_ffbh_i32", [](int32_t a) {
    // Position of the first bit that differs from the sign.
    uint32_t v = uint32_t(a < 0 ? ~a : a);
    return v ? uint32_t(std::countl_zero(v)) : ~0u;
  });
  valu<U32, U32>(t, "v_prng_b32", [](uint32_t a) { return a << 1 ^ (a >> 31 ? 197u : 0u); });
  valu<B32, B32>(t, "v_sat_pk_u8_i16", [](uint32_t a) {
    auto saturate = [](int v) { return uint32_t(std::clamp(v, 0, 255)); };
    return saturate(int16_t(a)) | saturate(int16_t(a >> 16)) << 8;
  });
}

/// Rounding operations that have the same definition at each width. F16 works in f32, where all of
/// them are exact.
template <class T> void addRounding(OpTable &t, const std::string &suffix) {
  using V = typename T::T;
  valu<T, T>(t, "v_floor_" + suffix, [](V a) { return std::floor(a); });
  valu<T, T>(t, "v_ceil_" + suffix, [](V a) { return std::ceil(a); });
  valu<T, T>(t, "v_trunc_" + suffix, [](V a) { return std::trunc(a); });
  valu<T, T>(t, "v_rndne_" + suffix, [](V a) { return std::nearbyint(a); });
}

/// exponent of a finite non-zero value as in frexp (mantissa in [0.5, 1)), else 0.
int frexpExponent(double a) {
  if (a == 0 || !std::isfinite(a))
    return 0;
  int e;
  std::frexp(a, &e);
  return e;
}
double frexpMantissa(double a) {
  if (!std::isfinite(a))
    return a;
  int e;
  return std::frexp(a, &e);
}

void addFloatParts(OpTable &t) {
  valu<I32, F32>(t, "v_frexp_exp_i32_f32", [](float a) { return frexpExponent(double(a)); });
  valu<F32, F32>(t, "v_frexp_mant_f32", [](float a) { return float(frexpMantissa(double(a))); });
  valu<I32, F64>(t, "v_frexp_exp_i32_f64", [](double a) { return frexpExponent(a); });
  valu<F64, F64>(t, "v_frexp_mant_f64", [](double a) { return frexpMantissa(a); });
  valu<I16, F16>(t, "v_frexp_exp_i16_f16",
                 [](float a) { return int16_t(frexpExponent(double(a))); });
  valu<F16, F16>(t, "v_frexp_mant_f16", [](float a) { return float(frexpMantissa(double(a))); });
  // The result stays below 1 even where x - floor(x) rounds up.
  valu<F32, F32>(t, "v_fract_f32", [](float a) {
    float r = a - std::floor(a);
    return r >= 1.0f ? 0x1.fffffep-1f : r;
  });
  valu<F64, F64>(t, "v_fract_f64", [](double a) {
    double r = a - std::floor(a);
    return r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
  });
  valu<F16, F16>(t, "v_fract_f16", [](float a) {
    float r = a - std::floor(a);
    return r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r;
  });
}

/// sin(2 pi (turns + quarters / 4)), exact at multiples of a quarter turn.
double sinTurns(double turns, int quarters) {
  double quarter = std::nearbyint(turns * 4),
         rest = (turns - quarter / 4) * 6.283185307179586476925;
  switch ((int(std::fmod(quarter, 4)) + 4 + quarters) % 4) {
  case 0:
    return std::sin(rest);
  case 1:
    return std::cos(rest);
  case 2:
    return -std::sin(rest);
  default:
    return -std::cos(rest);
  }
}
/// Sine (quarters 0) and cosine (1) of an f32 in turns; infinities give NaN. A zero sine has the
/// sign of its argument, a zero cosine is positive.
float sine(float turns, int quarters) {
  if (!std::isfinite(turns))
    return isNan(turns) ? quiet(turns) : defaultNan<float>;
  float result = float(sinTurns(double(turns), quarters));
  return result != 0 ? result : quarters ? 0.0f : std::copysign(0.0f, turns);
}
/// Finite arguments beyond the valid range of 256 turns give sin = 0, cos = 1.
bool outOfRange(float turns) { return std::fabs(turns) > 256 && std::isfinite(turns); }

// The NaN of a negative operand is not left to the host.
template <class V> V squareRoot(V a) { return a < 0 ? defaultNan<V> : std::sqrt(a); }
template <class V> V reciprocalRoot(V a) { return a < 0 ? defaultNan<V> : 1 / std::sqrt(a); }
double logarithm2(double a) { return a < 0 ? defaultNan<double> : std::log2(a); }

void addTranscendentals(OpTable &t) {
  auto rcp = [](float a) { return flushed(1.0f / flushed(a)); };
  valu<F32, F32>(t, "v_rcp_f32", rcp);
  valu<F32, F32>(t, "v_rcp_iflag_f32", rcp);
  valu<F32, F32>(t, "v_rsq_f32", [](float a) { return float(reciprocalRoot(double(flushed(a)))); });
  valu<F32, F32>(t, "v_sqrt_f32", [](float a) { return squareRoot(flushed(a)); });
  valu<F32, F32>(t, "v_exp_f32",
                 [](float a) { return flushed(float(std::exp2(double(flushed(a))))); });
  valu<F32, F32>(t, "v_log_f32", [](float a) { return float(logarithm2(double(flushed(a)))); });
  valu<F32, F32>(t, "v_sin_f32",
                 [](float a) { return outOfRange(a) ? 0.0f : flushed(sine(flushed(a), 0)); });
  valu<F32, F32>(t, "v_cos_f32",
                 [](float a) { return outOfRange(a) ? 1.0f : flushed(sine(flushed(a), 1)); });
  valu<F16, F16>(t, "v_rcp_f16", [](float a) { return 1.0f / a; });
  valu<F16, F16>(t, "v_rsq_f16", [](float a) { return float(reciprocalRoot(double(a))); });
  valu<F16, F16>(t, "v_sqrt_f16", [](float a) { return squareRoot(a); });
  valu<F16, F16>(t, "v_exp_f16", [](float a) { return float(std::exp2(double(a))); });
  valu<F16, F16>(t, "v_log_f16", [](float a) { return float(logarithm2(double(a))); });
  valu<F16, F16>(t, "v_sin_f16", [](float a) { return outOfRange(a) ? 0.0f : sine(a, 0); });
  valu<F16, F16>(t, "v_cos_f16", [](float a) { return outOfRange(a) ? 1.0f : sine(a, 1); });
  valu<F64, F64>(t, "v_rcp_f64", [](double a) { return 1.0 / a; });
  valu<F64, F64>(t, "v_rsq_f64", [](double a) { return reciprocalRoot(a); });
  valu<F64, F64>(t, "v_sqrt_f64", [](double a) { return squareRoot(a); });
}

} // namespace

void addVop1(OpTable &t) {
  addBits(t);
  addRounding<F32>(t, "f32");
  addRounding<F64>(t, "f64");
  addRounding<F16>(t, "f16");
  addFloatParts(t);
  addTranscendentals(t);
}

GFX950EMU_EXEC_END
