//===- Mfma.cpp - every MFMA shape on small integers (device only) ------------------===//
//
// Signature of each: (out, in, n), one wave. in: A (blocks x M x K), B (blocks x K x M),
// C (blocks x M x M), one int32 an element; out: D as float or int32 dwords. Layouts of
// operands by the closed forms of the gfx950 facts, section 3.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

typedef float F32x4 __attribute__((ext_vector_type(4)));
typedef float F32x16 __attribute__((ext_vector_type(16)));
typedef i32 I32x2 __attribute__((ext_vector_type(2)));
typedef i32 I32x4 __attribute__((ext_vector_type(4)));
typedef i32 I32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 F16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 F16x8 __attribute__((ext_vector_type(8)));
typedef __bf16 B16x8 __attribute__((ext_vector_type(8)));
typedef short S16x4 __attribute__((ext_vector_type(4)));
typedef short S16x8 __attribute__((ext_vector_type(8)));

static inline u32 laneId() { return __builtin_amdgcn_workitem_id_x(); }

/// The code of an integer in [-3, 3] in a format of E exponent and M mantissa bits.
template <u32 E, u32 M> static inline u32 narrowCode(i32 v) {
  u32 bias = (1u << (E - 1)) - 1, size = (u32)(v < 0 ? -v : v);
  u32 code = size == 0   ? 0
             : size == 1 ? bias << M
             : size == 2 ? (bias + 1) << M
                         : (bias + 1) << M | 1u << (M - 1);
  return code | (v < 0 ? 1u << (E + M) : 0);
}

/// Matrices of a launch.
template <u32 M, u32 K, u32 Blocks> struct Product {
  const i32 *a, *b, *c;
  u32 *out;
  Product(u32 *out, const u32 *in)
      : a((const i32 *)in), b(a + Blocks * M * K), c(b + Blocks * M * K), out(out) {}

  static u32 block() { return Blocks == 1 ? 0 : laneId() / 4; }
  static u32 line() { return laneId() % M; }
  static constexpr u32 perLane = Blocks * M * K / 64;
  static u32 k(u32 e) { return Blocks == 1 ? perLane * (laneId() / M) + e : e; }
  i32 left(u32 k) const { return a[(block() * M + line()) * K + k]; }
  i32 right(u32 k) const { return b[(block() * K + k) * M + line()]; }
  static u32 row(u32 r) {
    return M == 4    ? r
           : M == 16 ? 4 * (laneId() / 16) + r
                     : 8 * (r / 4) + 4 * (laneId() / 32) + r % 4;
  }
  u32 cell(u32 r) const { return (block() * M + row(r)) * M + line(); }
  template <class V> V start() const {
    V v;
    for (u32 r = 0; r < sizeof(V) / 4; ++r)
      v[r] = c[cell(r)];
    return v;
  }
  template <class V> void finish(V d) const {
    for (u32 r = 0; r < sizeof(V) / 4; ++r) {
      auto value = d[r];
      out[cell(r)] = __builtin_bit_cast(u32, value);
    }
  }
};

/// Elements whose type converts from an integer.
#define DENSE(NAME, BUILTIN, M, K, BLOCKS, AB, T, CD)                                              \
  KERNEL NAME(u32 *out, const u32 *in, u32) {                                                      \
    Product<M, K, BLOCKS> p(out, in);                                                              \
    AB a, b;                                                                                       \
    for (u32 e = 0; e < p.perLane; ++e) {                                                          \
      a[e] = (T)(float)p.left(p.k(e));                                                             \
      b[e] = (T)(float)p.right(p.k(e));                                                            \
    }                                                                                              \
    p.finish<CD>(BUILTIN(a, b, p.start<CD>(), 0, 0, 0));                                           \
  }
DENSE(f16_16x16x16, __builtin_amdgcn_mfma_f32_16x16x16f16, 16, 16, 1, F16x4, _Float16, F32x4)
DENSE(f16_16x16x32, __builtin_amdgcn_mfma_f32_16x16x32_f16, 16, 32, 1, F16x8, _Float16, F32x4)
DENSE(f16_32x32x16, __builtin_amdgcn_mfma_f32_32x32x16_f16, 32, 16, 1, F16x8, _Float16, F32x16)
DENSE(f16_4x4x4, __builtin_amdgcn_mfma_f32_4x4x4f16, 4, 4, 16, F16x4, _Float16, F32x4)

/// bfloat16 is the upper half of a float; its conversion is one that GlobalISel lacks.
struct Upper {
  u16 bits;
  explicit Upper(float f) : bits((u16)(__builtin_bit_cast(u32, f) >> 16)) {}
  operator short() const { return (short)bits; }
};
#define BF16(BUILTIN, AB)                                                                          \
  [](auto a, auto b, auto c, int, int, int) {                                                      \
    return BUILTIN(__builtin_bit_cast(AB, a), __builtin_bit_cast(AB, b), c, 0, 0, 0);              \
  }
DENSE(bf16_16x16x16, BF16(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k, S16x4), 16, 16, 1, S16x4,
      Upper, F32x4)
#ifndef GLOBAL_ISEL // which does not know bfloat16 of this width in LLVM 22
DENSE(bf16_16x16x32, BF16(__builtin_amdgcn_mfma_f32_16x16x32_bf16, B16x8), 16, 32, 1, S16x8, Upper,
      F32x4)
DENSE(bf16_32x32x16, BF16(__builtin_amdgcn_mfma_f32_32x32x16_bf16, B16x8), 32, 16, 1, S16x8, Upper,
      F32x16)
#endif

KERNEL f32_16x16x4(u32 *out, const u32 *in, u32) {
  Product<16, 4, 1> p(out, in);
  p.finish<F32x4>(__builtin_amdgcn_mfma_f32_16x16x4f32(
      (float)p.left(p.k(0)), (float)p.right(p.k(0)), p.start<F32x4>(), 0, 0, 0));
}

/// Codes of `Bits` bits one after the other, in words.
template <u32 Bits, u32 Count, class V> static inline void pack(V &words, u32 e, u32 code) {
  u32 at = Bits * e;
  words[at / 32] |= (i32)(code << at % 32);
  if (at % 32 + Bits > 32)
    words[at / 32 + 1] |= (i32)(code >> (32 - at % 32));
}

template <class P, class V, class Code>
static inline void bytes(const P &p, V &a, V &b, Code code) {
  for (u32 e = 0; e < p.perLane; ++e) {
    pack<8, P::perLane>(a, e, code(p.left(p.k(e))));
    pack<8, P::perLane>(b, e, code(p.right(p.k(e))));
  }
}

KERNEL i8_16x16x32(u32 *out, const u32 *in, u32) {
  Product<16, 32, 1> p(out, in);
  I32x2 a = 0, b = 0;
  bytes(p, a, b, [](i32 v) { return (u32)v & 0xff; });
  p.finish<I32x4>(__builtin_amdgcn_mfma_i32_16x16x32_i8(
      __builtin_bit_cast(i64, a), __builtin_bit_cast(i64, b), p.start<I32x4>(), 0, 0, 0));
}
KERNEL i8_16x16x64(u32 *out, const u32 *in, u32) {
  Product<16, 64, 1> p(out, in);
  I32x4 a = 0, b = 0;
  bytes(p, a, b, [](i32 v) { return (u32)v & 0xff; });
  p.finish<I32x4>(__builtin_amdgcn_mfma_i32_16x16x64_i8(a, b, p.start<I32x4>(), 0, 0, 0));
}
KERNEL fp8_16x16x32(u32 *out, const u32 *in, u32) {
  Product<16, 32, 1> p(out, in);
  I32x2 a = 0, b = 0;
  bytes(p, a, b, narrowCode<4, 3>);
  p.finish<F32x4>(__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
      __builtin_bit_cast(i64, a), __builtin_bit_cast(i64, b), p.start<F32x4>(), 0, 0, 0));
}

//===- f8f6f4: five formats on either side ------------------------------------------===//

/// 32 elements of a lane in the format that the instruction calls `Format`.
template <u32 Format, class Get> static inline I32x8 operand(u32 group, u32 groups, Get get) {
  constexpr u32 exponent[] = {4, 5, 2, 3, 2}, mantissa[] = {3, 2, 3, 2, 1};
  constexpr u32 E = exponent[Format], M = mantissa[Format], bits = 1 + E + M;
  I32x8 v = 0;
  for (u32 e = 0; e < 32; ++e) {
    // Bytes come in two chunks of 16, each from its half of K.
    u32 k = bits < 8 ? 32 * group + e : e / 16 * 16 * groups + 16 * group + e % 16;
    pack<bits, 32>(v, e, narrowCode<E, M>(get(k)));
  }
  return v;
}

template <u32 M, bool Scaled, u32 A, u32 B> static inline void f8f6f4(u32 *out, const u32 *in) {
  constexpr u32 K = M == 16 ? 128 : 64, groups = 64 / M;
  Product<M, K, 1> p(out + (A * 5 + B) * M * M, in);
  I32x8 a = operand<A>(laneId() / M, groups, [&](u32 k) { return p.left(k); });
  I32x8 b = operand<B>(laneId() / M, groups, [&](u32 k) { return p.right(k); });
  i32 sa = 0, sb = 0;
  if (Scaled) { // after C: scales of A (row, block of 32) and of B; the other bytes are noise
    const i32 *scales = p.c + M * M;
    u32 at = p.line() * groups + laneId() / M;
    sa = (i32)(0x11ff2233u & ~0xff00u) | scales[at] << 8;
    sb = (i32)(0x44556677u & ~0xff0000u) | scales[M * groups + at] << 16;
  }
  // Scales that are constant 0 select the instruction without scales.
  if constexpr (M == 16)
    p.template finish<F32x4>(__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        a, b, p.template start<F32x4>(), A, B, Scaled ? 1 : 0, sa, Scaled ? 2 : 0, sb));
  else
    p.template finish<F32x16>(__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
        a, b, p.template start<F32x16>(), A, B, Scaled ? 1 : 0, sa, Scaled ? 2 : 0, sb));
}
template <u32 M, bool Scaled, u32 A> static inline void allRight(u32 *out, const u32 *in) {
  f8f6f4<M, Scaled, A, 0>(out, in);
  f8f6f4<M, Scaled, A, 1>(out, in);
  f8f6f4<M, Scaled, A, 2>(out, in);
  f8f6f4<M, Scaled, A, 3>(out, in);
  f8f6f4<M, Scaled, A, 4>(out, in);
}
template <u32 M, bool Scaled> static inline void allFormats(u32 *out, const u32 *in) {
  allRight<M, Scaled, 0>(out, in);
  allRight<M, Scaled, 1>(out, in);
  allRight<M, Scaled, 2>(out, in);
  allRight<M, Scaled, 3>(out, in);
  allRight<M, Scaled, 4>(out, in);
}
KERNEL f8f6f4_16x16x128(u32 *out, const u32 *in, u32) { allFormats<16, false>(out, in); }
KERNEL f8f6f4_32x32x64(u32 *out, const u32 *in, u32) { allFormats<32, false>(out, in); }
KERNEL scaled_16x16x128(u32 *out, const u32 *in, u32) { allFormats<16, true>(out, in); }
KERNEL scaled_32x32x64(u32 *out, const u32 *in, u32) { allFormats<32, true>(out, in); }
