//===- Vop3Float.cpp - float operations with three sources --------------------------===//

#include "tools/gfx950emu/exec/Lane.h"
#include "tools/gfx950emu/exec/MinMax.h"

GFX950EMU_EXEC_BEGIN

namespace {

template <class T> void addMinMax3(OpTable &t, const std::string &suffix, uint16_t flags = 0) {
  using V = typename T::T;
  valuArgs<T, T, T, T>(
      t, "v_min3_" + suffix,
      [](const LaneArgs &a, V x, V y, V z) { return min3(x, y, z, a.mode & ModeIeee); }, flags);
  valuArgs<T, T, T, T>(
      t, "v_max3_" + suffix,
      [](const LaneArgs &a, V x, V y, V z) { return max3(x, y, z, a.mode & ModeIeee); }, flags);
  valuArgs<T, T, T, T>(
      t, "v_med3_" + suffix,
      [](const LaneArgs &a, V x, V y, V z) { return med3(x, y, z, a.mode & ModeIeee); }, flags);
}

/// Scale by 2^e with one rounding at the end, also into the denormals.
double scaled(double a, int e) { return std::ldexp(a, std::clamp(e, -2200, 2200)); }

} // namespace

void addVop3Float(OpTable &t) {
  addMinMax3<F32>(t, "f32");
  addMinMax3<F16>(t, "f16", OpKeepsHigh);
  valu<F32, F32, F32, F32>(t, "v_maximum3_f32",
                           [](float a, float b, float c) { return maximum(maximum(a, b), c); });
  valu<F32, F32, F32, F32>(t, "v_minimum3_f32",
                           [](float a, float b, float c) { return minimum(minimum(a, b), c); });
  valu<F32, F32, F32, F32>(t, "v_fma_f32",
                           [](float a, float b, float c) { return __builtin_fmaf(a, b, c); });
  valu<F64, F64, F64, F64>(t, "v_fma_f64",
                           [](double a, double b, double c) { return __builtin_fma(a, b, c); });
  valu<H16, F16, F16, F16>(
      t, "v_fma_f16", [](float a, float b, float c) { return fmaHalf(a, b, c); }, OpKeepsHigh);
  valu<F32, F32, I32>(t, "v_ldexp_f32",
                      [](float a, int32_t e) { return float(scaled(double(a), e)); });
  valu<F64, F64, I32>(t, "v_ldexp_f64", [](double a, int32_t e) { return scaled(a, e); });

  valuArgs<B32, H16, H16>(
      t, "v_pack_b32_f16", [](const LaneArgs &, uint32_t a, uint32_t b) { return a | b << 16; },
      OpKeepsDenormals);

  // v_fma_mix: sources are f32 or a half as f32 (see Valu.cpp); the result is f32 or one half.
  valu<F32, Mix, Mix, Mix>(t, "v_fma_mix_f32",
                           [](float a, float b, float c) { return __builtin_fmaf(a, b, c); });
  auto mixHalf = [](float a, float b, float c) { return floatToHalf(__builtin_fmaf(a, b, c)); };
  valu<H16, Mix, Mix, Mix>(t, "v_fma_mixlo_f16", mixHalf, OpKeepsHigh);
  valu<H16, Mix, Mix, Mix>(t, "v_fma_mixhi_f16", mixHalf, OpKeepsHigh | OpWritesHigh);
}

GFX950EMU_EXEC_END
