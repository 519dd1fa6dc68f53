//===- Vop2.cpp - two-source vector arithmetic --------------------------------------===//
//
// Owns the VOP2 opcodes (and those VOP3-only ones that are the same operation on
// another width).
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"
#include "tools/gfx950emu/exec/MinMax.h"

GFX950EMU_EXEC_BEGIN

namespace {

int32_t signed24(uint32_t v) { return int32_t(v << 8) >> 8; }
uint32_t unsigned24(uint32_t v) { return v & 0xffffff; }

void addInteger(OpTable &t) {
  auto add = [](uint32_t a, uint32_t b) { return a + b; };
  auto sub = [](uint32_t a, uint32_t b) { return a - b; };
  auto subrev = [](uint32_t a, uint32_t b) { return b - a; };
  valu<U32, U32, U32>(t, "v_add_u32", add).clampLanes =
      clamped<U32, U32, U32>([](uint32_t a, uint32_t b) { return a + b < a ? ~0u : a + b; });
  valu<U32, U32, U32>(t, "v_sub_u32", sub).clampLanes =
      clamped<U32, U32, U32>([](uint32_t a, uint32_t b) { return a < b ? 0 : a - b; });
  valu<U32, U32, U32>(t, "v_subrev_u32", subrev).clampLanes =
      clamped<U32, U32, U32>([](uint32_t a, uint32_t b) { return b < a ? 0 : b - a; });
  auto saturate = [](int64_t v) { return int32_t(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); };
  valu<I32, U32, U32>(t, "v_add_i32", [](uint32_t a, uint32_t b) {
    return int32_t(a + b);
  }).clampLanes = clamped<I32, I32, I32>([](int32_t a, int32_t b) {
    return decltype(saturate)()(int64_t(a) + b);
  });
  valu<I32, U32, U32>(t, "v_sub_i32", [](uint32_t a, uint32_t b) {
    return int32_t(a - b);
  }).clampLanes = clamped<I32, I32, I32>([](int32_t a, int32_t b) {
    return decltype(saturate)()(int64_t(a) - b);
  });

  valuMaskOut<U32, U32, U32>(t, "v_add_co_u32", [](uint32_t a, uint32_t b, bool &c) {
    c = a + b < a;
    return a + b;
  });
  valuMaskOut<U32, U32, U32>(t, "v_sub_co_u32", [](uint32_t a, uint32_t b, bool &c) {
    c = a < b;
    return a - b;
  });
  valuMaskOut<U32, U32, U32>(t, "v_subrev_co_u32", [](uint32_t a, uint32_t b, bool &c) {
    c = b < a;
    return b - a;
  });
  valuMaskInOut<U32, U32, U32>(t, "v_addc_co_u32", [](uint32_t a, uint32_t b, bool i, bool &c) {
    uint32_t s = a + b, r = s + i;
    c = (s < a) | (r < s);
    return r;
  });
  valuMaskInOut<U32, U32, U32>(t, "v_subb_co_u32", [](uint32_t a, uint32_t b, bool i, bool &c) {
    c = (a < b) | ((a == b) & i);
    return a - b - i;
  });
  valuMaskInOut<U32, U32, U32>(t, "v_subbrev_co_u32", [](uint32_t a, uint32_t b, bool i, bool &c) {
    c = (b < a) | ((a == b) & i);
    return b - a - i;
  });

  valu<I32, I32, I32>(t, "v_min_i32", [](int32_t a, int32_t b) { return std::min(a, b); });
  valu<I32, I32, I32>(t, "v_max_i32", [](int32_t a, int32_t b) { return std::max(a, b); });
  valu<U32, U32, U32>(t, "v_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); });
  valu<U32, U32, U32>(t, "v_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  valu<B32, B32, B32>(t, "v_and_b32", [](uint32_t a, uint32_t b) { return a & b; });
  valu<B32, B32, B32>(t, "v_or_b32", [](uint32_t a, uint32_t b) { return a | b; });
  valu<B32, B32, B32>(t, "v_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; });
  valu<B32, B32, B32>(t, "v_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); });
  valu<B32, U32, B32>(t, "v_lshlrev_b32", [](uint32_t a, uint32_t b) { return b << (a & 31); });
  valu<B32, U32, B32>(t, "v_lshrrev_b32", [](uint32_t a, uint32_t b) { return b >> (a & 31); });
  valu<I32, U32, I32>(t, "v_ashrrev_i32", [](uint32_t a, int32_t b) { return b >> (a & 31); });
  valu<B64, U32, B64>(t, "v_lshlrev_b64", [](uint32_t a, uint64_t b) { return b << (a & 63); });
  valu<B64, U32, B64>(t, "v_lshrrev_b64", [](uint32_t a, uint64_t b) { return b >> (a & 63); });
  valu<I64, U32, I64>(t, "v_ashrrev_i64", [](uint32_t a, int64_t b) { return b >> (a & 63); });

  valu<I32, U32, U32>(t, "v_mul_i32_i24", [](uint32_t a, uint32_t b) {
    return int32_t(uint32_t(signed24(a)) * uint32_t(signed24(b)));
  });
  valu<I32, U32, U32>(t, "v_mul_hi_i32_i24", [](uint32_t a, uint32_t b) {
    return int32_t((int64_t(signed24(a)) * signed24(b)) >> 32);
  });
  valu<U32, U32, U32>(t, "v_mul_u32_u24",
                      [](uint32_t a, uint32_t b) { return unsigned24(a) * unsigned24(b); });
  valu<U32, U32, U32>(t, "v_mul_hi_u32_u24", [](uint32_t a, uint32_t b) {
    return uint32_t((uint64_t(unsigned24(a)) * unsigned24(b)) >> 32);
  });
  valu<U32, U32, U32>(t, "v_mul_lo_u32", [](uint32_t a, uint32_t b) { return a * b; });
  valu<U32, U32, U32>(t, "v_mul_hi_u32",
                      [](uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) * b) >> 32); });
  valu<I32, I32, I32>(t, "v_mul_hi_i32",
                      [](int32_t a, int32_t b) { return int32_t((int64_t(a) * b) >> 32); });
}

void addShort(OpTable &t) {
  auto saturateU = [](uint32_t v) { return uint16_t(std::min<uint32_t>(v, 0xffff)); };
  valu<U16, U16, U16>(t, "v_add_u16", [](uint16_t a, uint16_t b) {
    return uint16_t(a + b);
  }).clampLanes = clamped<U16, U16, U16>([](uint16_t a, uint16_t b) {
    return decltype(saturateU)()(uint32_t(a) + b);
  });
  valu<U16, U16, U16>(t, "v_sub_u16", [](uint16_t a, uint16_t b) {
    return uint16_t(a - b);
  }).clampLanes = clamped<U16, U16, U16>([](uint16_t a, uint16_t b) {
    return uint16_t(a < b ? 0 : a - b);
  });
  valu<U16, U16, U16>(t, "v_subrev_u16", [](uint16_t a, uint16_t b) {
    return uint16_t(b - a);
  }).clampLanes = clamped<U16, U16, U16>([](uint16_t a, uint16_t b) {
    return uint16_t(b < a ? 0 : b - a);
  });
  auto saturateI = [](int v) { return int16_t(std::clamp(v, -32768, 32767)); };
  valu<I16, I16, I16>(
      t, "v_add_i16", [](int16_t a, int16_t b) { return int16_t(a + b); }, OpKeepsHigh)
      .clampLanes =
      clamped<I16, I16, I16>([](int16_t a, int16_t b) { return decltype(saturateI)()(a + b); });
  valu<I16, I16, I16>(
      t, "v_sub_i16", [](int16_t a, int16_t b) { return int16_t(a - b); }, OpKeepsHigh)
      .clampLanes =
      clamped<I16, I16, I16>([](int16_t a, int16_t b) { return decltype(saturateI)()(a - b); });
  valu<U16, U16, U16>(t, "v_mul_lo_u16",
                      [](uint16_t a, uint16_t b) { return uint16_t(uint32_t(a) * b); });
  valu<U16, U16, U16>(t, "v_lshlrev_b16",
                      [](uint16_t a, uint16_t b) { return uint16_t(b << (a & 15)); });
  valu<U16, U16, U16>(t, "v_lshrrev_b16",
                      [](uint16_t a, uint16_t b) { return uint16_t(b >> (a & 15)); });
  valu<I16, U16, I16>(t, "v_ashrrev_i16",
                      [](uint16_t a, int16_t b) { return int16_t(b >> (a & 15)); });
  valu<U16, U16, U16>(t, "v_max_u16", [](uint16_t a, uint16_t b) { return std::max(a, b); });
  valu<U16, U16, U16>(t, "v_min_u16", [](uint16_t a, uint16_t b) { return std::min(a, b); });
  valu<I16, I16, I16>(t, "v_max_i16", [](int16_t a, int16_t b) { return std::max(a, b); });
  valu<I16, I16, I16>(t, "v_min_i16", [](int16_t a, int16_t b) { return std::min(a, b); });
}

template <class T> void addArithmetic(OpTable &t, const std::string &suffix) {
  using V = typename T::T;
  valu<T, T, T>(t, "v_add_" + suffix, [](V a, V b) { return a + b; });
  valu<T, T, T>(t, "v_sub_" + suffix, [](V a, V b) { return a - b; });
  valu<T, T, T>(t, "v_subrev_" + suffix, [](V a, V b) { return b - a; });
  valu<T, T, T>(t, "v_mul_" + suffix, [](V a, V b) { return a * b; });
  valuArgs<T, T, T>(t, "v_max_" + suffix,
                    [](const LaneArgs &a, V x, V y) { return maxNumber(x, y, a.mode & ModeIeee); });
  valuArgs<T, T, T>(t, "v_min_" + suffix,
                    [](const LaneArgs &a, V x, V y) { return minNumber(x, y, a.mode & ModeIeee); });
}

void addFloat(OpTable &t) {
  addArithmetic<F32>(t, "f32");
  addArithmetic<F64>(t, "f64");
  addArithmetic<F16>(t, "f16");
  // A zero factor gives zero, whatever the other.
  valu<F32, F32, F32>(t, "v_mul_legacy_f32",
                      [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; });
  auto fma32 = [](float a, float b, float c) { return __builtin_fmaf(a, b, c); };
  valu<F32, F32, F32, F32>(t, "v_fmac_f32", fma32, OpAccumulates);
  valu<F32, F32, F32, F32>(t, "v_fmaak_f32", fma32);
  valu<F32, F32, F32, F32>(t, "v_fmamk_f32",
                           [](float a, float k, float b) { return __builtin_fmaf(a, k, b); });
  valu<F64, F64, F64, F64>(
      t, "v_fmac_f64", [](double a, double b, double c) { return __builtin_fma(a, b, c); },
      OpAccumulates);
  valu<F16, F16, I16>(t, "v_ldexp_f16", [](float a, int16_t e) {
    // Two steps keep each factor a normal f32; f16 results need no more than +-40.
    int n = std::clamp<int>(e, -60, 60);
    return a * floatOf(uint32_t(127 + n) << 23);
  });
  valuMaskIn<B32, F32, F32>(
      t, "v_cndmask_b32", [](float a, float b, bool m) { return bitsOf(m ? b : a); },
      OpKeepsDenormals);
}

} // namespace

void addVop2(OpTable &t) {
  addInteger(t);
  addShort(t);
  addFloat(t);
}

GFX950EMU_EXEC_END
