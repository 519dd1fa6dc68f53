//===- Math.cpp - arithmetic of independent work-items, on device and host ---------===//
//
// Signature of each: (out, in, n); 4 dwords in and 8 dwords out a work-item.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef short Short2 __attribute__((ext_vector_type(2)));

static inline u32 bits(float f) { return __builtin_bit_cast(u32, f); }
static inline float asFloat(u32 u) { return __builtin_bit_cast(float, u); }
/// NaNs have no fixed payload.
static inline u32 canonical(float f) { return f != f ? 0x7fc00000 : bits(f); }
static inline u64 canonical(double d) {
  return d != d ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, d);
}
static inline void put(u32 *o, u64 v) {
  o[0] = (u32)v;
  o[1] = (u32)(v >> 32);
}

#ifdef __AMDGCN__
/// The device flushes by its mode.
static inline float flushed(float x) { return x; }
#else
/// The host states what a device compiled with preserve-sign does.
bool hostFlush;
static inline float flushed(float x) {
  return hostFlush && __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x;
}
#endif

KERNEL integer64(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u64 x = (u64)p[1] << 32 | p[0], y = ((u64)p[3] << 32 | p[2]) >> (p[0] & 63) | 1;
  i64 sx = (i64)x, sy = (i64)(((u64)p[3] << 32 | p[2]) | 2) >> (p[1] & 31);
  sy = sy == 0 || sy == -1 ? 3 : sy;
  u32 *o = out + 8 * (u64)i;
  put(o, x * y);
  put(o + 2, x / y ^ x % y << 1);
  put(o + 4, (u64)(sx / sy) + (u64)(sx % sy));
  put(o + 6, (x >> 32) * (y >> 32) + ((x & 0xffffffff) * (y >> 32) >> 32) ^
                 (u64)(sx >> (p[3] & 63)) ^ (x << (p[2] & 63)));
}

KERNEL math32(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  float x = asFloat(p[0]), y = asFloat(p[1]), z = asFloat(p[2]);
  u32 *o = out + 8 * (u64)i;
  o[0] = canonical(x / y);
  o[1] = canonical(1.0f / z);
  o[2] = canonical(__builtin_sqrtf(__builtin_fabsf(y)));
  float t = __builtin_fmaf(0.125f, x, 0.5f);
  t = __builtin_fmaf(t, x, -0.75f);
  t = __builtin_fmaf(t, y, z);
  o[3] = canonical(t);
  o[4] = canonical(__builtin_copysignf(x, y) - __builtin_fabsf(z));
  o[5] = canonical(__builtin_rintf(x * 0x1p-3f) + __builtin_truncf(y));
  float a = x != x ? 1 : x, b = y != y ? 2 : y, c = z != z ? 3 : z;
  float least = a < b ? a : b, most = a < b ? b : a; // the median as clamps
  o[6] = canonical(c < least ? least : c > most ? most : c) & 0x7fffffff;
  o[7] = canonical((float)(i32)p[3] * 0x1p-16f + (float)p[3]);
}

KERNEL math64(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  double x = __builtin_bit_cast(double, (u64)p[1] << 32 | p[0]);
  double y = __builtin_bit_cast(double, (u64)p[3] << 32 | p[2]);
  u32 *o = out + 8 * (u64)i;
  put(o, canonical(x / y));
  put(o + 2, canonical(__builtin_sqrt(__builtin_fabs(y))));
  double t = __builtin_fma(x, 0.3, -1.7);
  t = __builtin_fma(t, y, __builtin_floor(x) - __builtin_rint(y));
  put(o + 4, canonical(t));
  double small = x > -9e18 && x < 9e18 ? x : 12345.678;
  u64 whole = (u64)(i64)small;
  put(o + 6, canonical((double)(i64)((u64)p[3] << 32 | p[0]) + (double)p[2]) ^ whole);
}

/// Multiply, add and fused multiply-add, with denormals kept or flushed.
KERNEL denormals(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  float x = flushed(asFloat(p[0])), y = flushed(asFloat(p[1])), z = flushed(asFloat(p[2]));
  u32 *o = out + 8 * (u64)i;
  o[0] = canonical(flushed(x * y));
  o[1] = canonical(flushed(x + y));
  o[2] = canonical(flushed(x - z));
  o[3] = canonical(flushed(__builtin_fmaf(x, y, z)));
  o[4] = canonical(flushed(flushed(x * 0x1p-20f) + z));
  o[5] = canonical(flushed(flushed(y + z) * 0.5f));
  o[6] = (x == y) | (x < z) << 1 | (y > 0) << 2;
  o[7] = canonical(flushed(flushed(z * 4.0f) - y));
}

/// Two halves at a time.
KERNEL packedHalf(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  const u32 *p = in + 4 * (u64)i;
  u32 *o = out + 8 * (u64)i;
  Short2 sa = __builtin_bit_cast(Short2, p[0]), sb = __builtin_bit_cast(Short2, p[1]);
  // Values of 11 bits between 2^-5 and 2^10.
  Half2 a, b, c;
  for (int k = 0; k < 2; ++k) {
    a[k] = (_Float16)((float)(sa[k] >> 5) * 0.03125f);
    b[k] = (_Float16)((float)(sb[k] >> 6) * 0.125f);
    c[k] = (_Float16)((float)((i32)(p[2] >> (16 * k) & 0x7ff) - 1024) * 0.5f);
  }
#ifdef __AMDGCN__
  Half2 sum = a + b, product = a * b, fused = __builtin_elementwise_fma(a, b, c);
  Half2 low = __builtin_elementwise_min(a, b), high = __builtin_elementwise_max(b, c);
  Half2 minus = c - a;
  Short2 total = sa + sb, times = sa * sb, shifted = sa >> (sb & (short)15);
#else
  Half2 sum, product, fused, low, high, minus;
  Short2 total, times, shifted;
  for (int k = 0; k < 2; ++k) { // each exact in double, then rounded once
    double x = a[k], y = b[k], z = c[k];
    sum[k] = (_Float16)(x + y);
    product[k] = (_Float16)(x * y);
    fused[k] = (_Float16)(x * y + z);
    minus[k] = (_Float16)(z - x);
    low[k] = x < y ? a[k] : b[k];
    high[k] = y > z ? b[k] : c[k];
    total[k] = (short)(sa[k] + sb[k]);
    times[k] = (short)((u32)(i32)sa[k] * (u32)(i32)sb[k]);
    shifted[k] = (short)(sa[k] >> (sb[k] & 15));
  }
#endif
  o[0] = __builtin_bit_cast(u32, sum);
  o[1] = __builtin_bit_cast(u32, product);
  o[2] = __builtin_bit_cast(u32, fused);
  o[3] = __builtin_bit_cast(u32, low);
  o[4] = __builtin_bit_cast(u32, high);
  o[5] = __builtin_bit_cast(u32, minus);
  o[6] = __builtin_bit_cast(u32, total) ^ __builtin_bit_cast(u32, times);
  o[7] = __builtin_bit_cast(u32, shifted);
}
