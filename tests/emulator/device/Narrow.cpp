//===- Narrow.cpp - narrow float conversions by builtins (device only) --------------===//

#include "Device.h"

typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef float Float2 __attribute__((ext_vector_type(2)));

/// 8 floats a work-item to 4 bytes of fp4, 8 bytes of fp8, and back.
KERNEL narrow(u32 *fp4, u32 *fp8, float *back, const float *in, float scale) {
  u32 i = globalId();
  const float *p = in + 8 * i;
  u32 four = 0;
  four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(four, p[0], p[1], scale, 0);
  four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(four, p[2], p[3], scale, 1);
  four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(four, p[4], p[5], scale, 2);
  four = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(four, p[6], p[7], scale, 3);
  fp4[i] = four;
  u32 low = 0, high = 0;
  low = __builtin_amdgcn_cvt_pk_fp8_f32(p[0], p[1], low, false);
  low = __builtin_amdgcn_cvt_pk_fp8_f32(p[2], p[3], low, true);
  high = __builtin_amdgcn_cvt_pk_fp8_f32(p[4], p[5], high, false);
  high = __builtin_amdgcn_cvt_pk_fp8_f32(p[6], p[7], high, true);
  fp8[2 * i] = low;
  fp8[2 * i + 1] = high;
  Half2 a = __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(four, scale, 0);
  Half2 b = __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(four, scale, 1);
  Half2 c = __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(four, scale, 2);
  Half2 d = __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(four, scale, 3);
  Float2 e = __builtin_amdgcn_cvt_pk_f32_fp8(low, false);
  Float2 f = __builtin_amdgcn_cvt_pk_f32_fp8(high, true);
  float *o = back + 12 * i;
  o[0] = (float)a.x, o[1] = (float)a.y, o[2] = (float)b.x, o[3] = (float)b.y;
  o[4] = (float)c.x, o[5] = (float)c.y, o[6] = (float)d.x, o[7] = (float)d.y;
  o[8] = e.x, o[9] = e.y, o[10] = f.x, o[11] = f.y;
}
