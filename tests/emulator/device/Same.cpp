//===- Same.cpp - kernels whose work-items are independent ------------------------===//
//
// Signature of each: (out, a, b, n); out has 8 dwords a work-item.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

static inline u32 rotate(u32 v, u32 n) { return v << (n & 31) | v >> (-n & 31); }

KERNEL sameInteger(u32 *out, const u32 *a, const u32 *b, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  u32 x = a[i], y = b[i];
  i32 sx = (i32)x, sy = (i32)(y | 1);
  u64 wide = (u64)x << 32 | y;
  u32 *o = out + 8 * (u64)i;
  o[0] = x / (y | 1) + x % (y | 1);
  o[1] = sy == -1 ? x : (u32)(sx / sy) ^ (u32)(sx % sy);
  o[2] = (u32)(wide * 0x9e3779b97f4a7c15ull >> 32);
  u64 q = wide / (u64)((y >> 7) | 1);
  o[3] = (u32)q ^ (u32)(q >> 32);
  o[4] =
      rotate(x, y) + __builtin_popcount(x) + __builtin_clz(y | 1) + __builtin_ctz(x | 0x80000000);
  o[5] = __builtin_bswap32(x) ^ __builtin_bitreverse32(y);
  o[6] = (u32)((i64)wide >> (y & 63)) + (sx < sy ? 3 : 5) + (u32)(u16)(x * y) + (u32)(i32)(short)y;
  u32 h = x;
  for (u32 k = 0; k < (y & 31); ++k) // lanes leave the loop at different times
    h = (h ^ k) * 0x01000193 + (h & 1 ? x : rotate(y, k));
  o[7] = h;
}

static inline u32 bits(float f) { return __builtin_bit_cast(u32, f); }
static inline float asFloat(u32 u) { return __builtin_bit_cast(float, u); }
/// NaNs have no fixed payload.
static inline u32 canonical(float f) { return f != f ? 0x7fc00000 : bits(f); }

KERNEL sameFloat(u32 *out, const u32 *a, const u32 *b, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  float x = asFloat(a[i]), y = asFloat(b[i]);
  u32 *o = out + 8 * (u64)i;
  o[0] = canonical(x / y);
  o[1] = canonical(__builtin_sqrtf(x));
  o[2] = canonical(__builtin_fmaf(x, y, x - y));
  o[3] = canonical(x * y + 1.5f);
  o[4] = canonical(__builtin_floorf(x) + __builtin_truncf(y) - __builtin_ceilf(y));
  o[5] = canonical(__builtin_rintf(x));
  o[6] = (x < y ? 1u : 0u) | (x == y ? 2u : 0u) | (x != x ? 4u : 0u) | (x >= y ? 8u : 0u);
  o[7] = x > -2e9f && x < 2e9f ? (u32)(i32)x ^ bits((float)a[i]) ^ bits((float)(i32)b[i]) : 0;
}

KERNEL sameDouble(u32 *out, const u32 *a, const u32 *b, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  double x = __builtin_bit_cast(double, (u64)a[i] << 32 | b[i]);
  double y = __builtin_bit_cast(double, (u64)b[i] << 32 | a[i]);
  double r[4] = {x / y, x * y, __builtin_fma(x, y, x), x + (double)(float)y};
  u32 *o = out + 8 * (u64)i;
  for (int k = 0; k < 4; ++k) {
    u64 v = r[k] != r[k] ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, r[k]);
    o[2 * k] = (u32)v;
    o[2 * k + 1] = (u32)(v >> 32);
  }
}

KERNEL sameHalf(u32 *out, const u32 *a, const u32 *b, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  _Float16 x = __builtin_bit_cast(_Float16, (u16)a[i]), y = __builtin_bit_cast(_Float16, (u16)b[i]);
  _Float16 r[7] = {(_Float16)(x + y),          (_Float16)(x - y),       (_Float16)(x * y),
                   (_Float16)(x / y),          (_Float16)asFloat(a[i]), (_Float16)(i32)(short)b[i],
                   (_Float16)((float)x * 0.5f)};
  u32 *o = out + 8 * (u64)i;
  for (int k = 0; k < 7; ++k)
    o[k] = r[k] != r[k] ? 0x7e00 : (u32) __builtin_bit_cast(u16, r[k]);
  o[7] = 0;
}

/// A call that the compiler cannot flatten, on a stack in scratch.
__attribute__((noinline)) static u32 walk(u32 depth, u32 seed) {
  u32 local[4];
  for (u32 k = 0; k < 4; ++k)
    local[k] = seed * (k + 3);
  u32 r = local[seed & 3];
  return depth == 0 ? r : r ^ walk(depth - 1, seed * 1664525 + 1013904223 + local[depth & 3]);
}

KERNEL sameRecursion(u32 *out, const u32 *a, const u32 *b, u32 n) {
  u32 i = globalId();
  if (i >= n)
    return;
  u32 *o = out + 8 * (u64)i;
  u32 table[16];
  for (u32 k = 0; k < 16; ++k)
    table[k] = a[i] >> k;
  for (u32 k = 0; k < 16; ++k) { // data-dependent subscripts
    u32 j = b[i] >> (k & 7) & 15;
    u32 t = table[j];
    table[j] = table[k] + 1;
    table[k] = t;
  }
  o[0] = walk(a[i] & 7, b[i]);
  for (u32 k = 1; k < 8; ++k)
    o[k] = table[k] ^ table[(b[i] + k) & 15];
}
