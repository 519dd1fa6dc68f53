//===- Dot.cpp - dot products inside a lane -------------------------------------------------===//
//
// Owns v_dot*. Float products are exact in f32 and are added one after the other, element
// 0 first (the manual does not state the order); the v_dot2c forms flush denormals and
// ignore MODE. Integer forms wrap, or saturate with clamp.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Sum over the elements of two dwords of `Bits`-wide integers.
template <unsigned Bits, bool Signed> int64_t products(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 32; i += Bits) {
    uint32_t x = a << (32 - Bits - i), y = b << (32 - Bits - i);
    if constexpr (Signed)
      sum += int64_t(int32_t(x) >> (32 - Bits)) * (int32_t(y) >> (32 - Bits));
    else
      sum += int64_t(x >> (32 - Bits)) * int64_t(y >> (32 - Bits));
  }
  return sum;
}

template <unsigned Bits, bool Signed, class P>
void integerDot(OpTable &t, llvm::StringRef name, uint16_t flags = 0) {
  valu<B32, P, P, U32>(
      t, name,
      [](uint32_t a, uint32_t b, uint32_t c) { return uint32_t(products<Bits, Signed>(a, b)) + c; },
      flags)
      .clampLanes = clamped<B32, P, P, U32>([](uint32_t a, uint32_t b, uint32_t c) {
    int64_t addend = Signed ? int64_t(int32_t(c)) : int64_t(c);
    int64_t low = Signed ? INT32_MIN : 0, high = Signed ? INT32_MAX : UINT32_MAX;
    return uint32_t(std::clamp(products<Bits, Signed>(a, b) + addend, low, high));
  });
}

float bf16(uint32_t b) { return bf16ToFloat(b & 0xffff); }

} // namespace

void addDot(OpTable &t) {
  integerDot<16, true, Pk16>(t, "v_dot2_i32_i16");
  integerDot<16, false, Pk16>(t, "v_dot2_u32_u16");
  integerDot<8, true, U32>(t, "v_dot4_i32_i8");
  integerDot<8, false, U32>(t, "v_dot4_u32_u8");
  integerDot<4, true, U32>(t, "v_dot8_i32_i4");
  integerDot<4, false, U32>(t, "v_dot8_u32_u4");
  integerDot<16, true, U32>(t, "v_dot2c_i32_i16", OpAccumulates);
  integerDot<8, true, U32>(t, "v_dot4c_i32_i8", OpAccumulates);
  integerDot<4, true, U32>(t, "v_dot8c_i32_i4", OpAccumulates);

  valu<F32, PkF16, PkF16, F32>(t, "v_dot2_f32_f16", [](uint32_t a, uint32_t b, float c) {
    c = __builtin_fmaf(halfToFloat(a & 0xffff), halfToFloat(b & 0xffff), c);
    return __builtin_fmaf(halfToFloat(a >> 16), halfToFloat(b >> 16), c);
  });
  valu<F32, PkF16, PkF16, F32>(
      t, "v_dot2_f32_bf16",
      [](uint32_t a, uint32_t b, float c) {
        c = __builtin_fmaf(bf16(a), bf16(b), c);
        return __builtin_fmaf(bf16(a >> 16), bf16(b >> 16), c);
      },
      OpKeepsDenormals);
  auto flushedHalf = [](uint32_t h) {
    return (h & 0x7c00) == 0 ? halfToFloat(h & 0x8000) : halfToFloat(h & 0xffff);
  };
  valu<F32, PkF16, PkF16, F32>(
      t, "v_dot2c_f32_f16",
      [](uint32_t a, uint32_t b, float c) {
        decltype(flushedHalf) half;
        c = flushed(__builtin_fmaf(half(a), half(b), flushed(c)));
        return flushed(__builtin_fmaf(half(a >> 16), half(b >> 16), c));
      },
      OpAccumulates | OpKeepsDenormals);
  valu<F32, PkF16, PkF16, F32>(
      t, "v_dot2c_f32_bf16",
      [](uint32_t a, uint32_t b, float c) {
        c = flushed(__builtin_fmaf(flushed(bf16(a)), flushed(bf16(b)), flushed(c)));
        return flushed(__builtin_fmaf(flushed(bf16(a >> 16)), flushed(bf16(b >> 16)), c));
      },
      OpAccumulates | OpKeepsDenormals);
}

GFX950EMU_EXEC_END
