//===- Quantize.cpp - block quantization to fp4 with fp8 scales (device only) -------===//

#include "Device.h"

typedef float Float2 __attribute__((ext_vector_type(2)));

static inline float larger(float a, float b) { return a > b ? a : b; }
#define ACROSS(V, CTRL)                                                                            \
  __builtin_bit_cast(                                                                              \
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, V), CTRL, 0xf, 0xf, true))

/// A lane owns 4 floats, four lanes a block of 16: out has 1 dword of codes a lane (16 bits
/// used) and 1 dword of the block's scale code; then 4 decoded floats.
KERNEL quantizeBlocks(u32 *out, const u32 *in, u32) {
  u32 i = globalId();
  const float *v = (const float *)in + 4 * i;
  float most = larger(larger(__builtin_fabsf(v[0]), __builtin_fabsf(v[1])),
                      larger(__builtin_fabsf(v[2]), __builtin_fabsf(v[3])));
  most = larger(most, ACROSS(most, 0xb1));
  most = larger(most, ACROSS(most, 0x4e));
  u32 scaleCode = __builtin_amdgcn_cvt_pk_fp8_f32(most / 6.0f, 0.0f, 0, false) & 0xff;
  float scale = __builtin_amdgcn_cvt_f32_fp8((int)scaleCode, 0);
  float w[4];
  for (u32 k = 0; k < 4; ++k)
    w[k] = scale > 0 ? v[k] / scale : 0.0f;
  u32 codes = 0;
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, w[0], w[1], 1.0f, 0);
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, w[2], w[3], 1.0f, 1);
  Float2 a = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(codes, 1.0f, 0);
  Float2 b = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(codes, 1.0f, 1);
  u32 *o = out + 6 * i;
  o[0] = codes;
  o[1] = scaleCode;
  o[2] = __builtin_bit_cast(u32, a.x * scale);
  o[3] = __builtin_bit_cast(u32, a.y * scale);
  o[4] = __builtin_bit_cast(u32, b.x * scale);
  o[5] = __builtin_bit_cast(u32, b.y * scale);
}
