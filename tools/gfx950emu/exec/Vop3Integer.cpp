//===- Vop3Integer.cpp - integer operations with three sources or 64 bits -----------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

int32_t signed24(uint32_t v) { return int32_t(v << 8) >> 8; }
uint32_t unsigned24(uint32_t v) { return v & 0xffffff; }

uint32_t bitop3(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 8; ++i) {
    uint32_t match = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    r |= table >> i & 1 ? match : 0;
  }
  return r;
}

/// v_bitop3 keeps its truth table where other VOP3 instructions have neg, abs and omod.
uint32_t truthTable(const Inst *in) {
  return in->neg | uint32_t(in->abs) << 3 | uint32_t(in->omod) << 6;
}

uint32_t permuteByte(uint32_t s0, uint32_t s1, uint32_t select) {
  uint64_t both = uint64_t(s0) << 32 | s1;
  if (select < 8)
    return uint32_t(both >> (8 * select)) & 0xff;
  if (select < 12)
    return (both >> (16 * (select - 8) + 15) & 1) ? 0xff : 0;
  return select == 12 ? 0 : 0xff;
}

uint32_t sumOfDifferences(uint32_t a, uint32_t b, unsigned width) {
  uint32_t sum = 0, field = width == 32 ? ~0u : (1u << width) - 1;
  for (unsigned i = 0; i < 32; i += width) {
    uint32_t x = a >> i & field, y = b >> i & field;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

void addThreeSource(OpTable &t) {
  valu<U32, U32, U32, U32>(t, "v_add3_u32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; });
  valu<U32, U32, U32, U32>(t, "v_lshl_add_u32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; });
  valu<U32, U32, U32, U32>(t, "v_add_lshl_u32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); });
  valu<B32, B32, U32, B32>(t, "v_lshl_or_b32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return a << (b & 31) | c; });
  valu<B32, B32, B32, B32>(t, "v_and_or_b32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; });
  valu<B32, B32, B32, B32>(t, "v_or3_b32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; });
  valu<U32, U32, U32, U32>(t, "v_xad_u32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; });
  valu<U64, U64, U32, U64>(t, "v_lshl_add_u64",
                           [](uint64_t a, uint32_t b, uint64_t c) { return (a << (b & 7)) + c; });
  valu<B32, B32, B32, B32>(t, "v_bfi_b32",
                           [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); });
  valu<U32, U32, U32, U32>(t, "v_bfe_u32", [](uint32_t a, uint32_t b, uint32_t c) {
    return a >> (b & 31) & ((1u << (c & 31)) - 1);
  });
  valu<I32, I32, U32, U32>(t, "v_bfe_i32", [](int32_t a, uint32_t b, uint32_t c) {
    uint32_t width = c & 31, offset = b & 31;
    // A field past bit 31 takes copies of the sign.
    int64_t shifted = int64_t(a) >> offset;
    int64_t field = width ? int64_t(uint64_t(shifted) << (64 - width)) >> (64 - width) : 0;
    return int32_t(field);
  });
  valu<U32, U32, U32>(t, "v_bfm_b32",
                      [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); });
  valu<U32, U32, U32>(t, "v_bcnt_u32_b32",
                      [](uint32_t a, uint32_t b) { return uint32_t(std::popcount(a)) + b; });
  valu<B32, B32, B32, U32>(t, "v_alignbit_b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t((uint64_t(a) << 32 | b) >> (c & 31));
  });
  valu<B32, B32, B32, U32>(t, "v_alignbyte_b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t((uint64_t(a) << 32 | b) >> (8 * (c & 3)));
  });
  valu<B32, B32, B32, B32>(t, "v_perm_b32", [](uint32_t a, uint32_t b, uint32_t c) {
    return permuteByte(a, b, c & 0xff) | permuteByte(a, b, c >> 8 & 0xff) << 8 |
           permuteByte(a, b, c >> 16 & 0xff) << 16 | permuteByte(a, b, c >> 24) << 24;
  });
  valuArgs<B32, B32, B32, B32>(t, "v_bitop3_b32",
                               [](const LaneArgs &args, uint32_t a, uint32_t b, uint32_t c) {
                                 return bitop3(truthTable(args.inst), a, b, c);
                               });
  valuArgs<U16, U16, U16, U16>(
      t, "v_bitop3_b16",
      [](const LaneArgs &args, uint16_t a, uint16_t b, uint16_t c) {
        return uint16_t(bitop3(truthTable(args.inst), a, b, c));
      },
      OpKeepsHigh);
}

template <class T> void addMinMax3(OpTable &t, const std::string &suffix, uint16_t flags = 0) {
  using V = typename T::T;
  valu<T, T, T, T>(
      t, "v_min3_" + suffix, [](V a, V b, V c) { return std::min(std::min(a, b), c); }, flags);
  valu<T, T, T, T>(
      t, "v_max3_" + suffix, [](V a, V b, V c) { return std::max(std::max(a, b), c); }, flags);
  valu<T, T, T, T>(
      t, "v_med3_" + suffix,
      [](V a, V b, V c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }, flags);
}

void addMultiplyAdd(OpTable &t) {
  auto saturate = [](int64_t v) { return int32_t(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); };
  valu<I32, U32, U32, U32>(t, "v_mad_i32_i24", [](uint32_t a, uint32_t b, uint32_t c) {
    return int32_t(uint32_t(signed24(a)) * uint32_t(signed24(b)) + c);
  }).clampLanes = clamped<I32, U32, U32, I32>([](uint32_t a, uint32_t b, int32_t c) {
    return decltype(saturate)()(int64_t(signed24(a)) * signed24(b) + c);
  });
  valu<U32, U32, U32, U32>(t, "v_mad_u32_u24", [](uint32_t a, uint32_t b, uint32_t c) {
    return unsigned24(a) * unsigned24(b) + c;
  }).clampLanes = clamped<U32, U32, U32, U32>([](uint32_t a, uint32_t b, uint32_t c) {
    uint64_t r = uint64_t(unsigned24(a)) * unsigned24(b) + c;
    return uint32_t(std::min<uint64_t>(r, UINT32_MAX));
  });
  valuMaskOut<U64, U32, U32, U64>(t, "v_mad_u64_u32",
                                  [](uint32_t a, uint32_t b, uint64_t c, bool &carry) {
                                    uint64_t product = uint64_t(a) * b, sum = product + c;
                                    carry = sum < product;
                                    return sum;
                                  });
  valuMaskOut<I64, I32, I32, I64>(
      t, "v_mad_i64_i32", [](int32_t a, int32_t b, int64_t c, bool &carry) {
        int64_t product = int64_t(a) * b;
        uint64_t sum = uint64_t(product) + uint64_t(c);
        // The carry is bit 64 of the sign-extended sum.
        carry = ((product < 0) ^ (c < 0) ^ (sum < uint64_t(product))) & 1;
        return int64_t(sum);
      });
  auto mad16 = [](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); };
  valu<U16, U16, U16, U16>(t, "v_mad_u16", mad16, OpKeepsHigh);
  valu<U16, U16, U16, U16>(t, "v_mad_i16", mad16, OpKeepsHigh);
  valu<U16, U16, U16, U16>(t, "v_mad_legacy_u16", mad16);
  valu<U16, U16, U16, U16>(t, "v_mad_legacy_i16", mad16);
  valu<U32, U16, U16, U32>(t, "v_mad_u32_u16",
                           [](uint16_t a, uint16_t b, uint32_t c) { return uint32_t(a) * b + c; });
  valu<I32, I16, I16, I32>(t, "v_mad_i32_i16", [](int16_t a, int16_t b, int32_t c) {
    return int32_t(uint32_t(int32_t(a) * b) + uint32_t(c));
  });
}

void addSums(OpTable &t) {
  valu<U32, U32, U32, U32>(t, "v_sad_u8", [](uint32_t a, uint32_t b, uint32_t c) {
    return sumOfDifferences(a, b, 8) + c;
  });
  valu<U32, U32, U32, U32>(t, "v_sad_hi_u8", [](uint32_t a, uint32_t b, uint32_t c) {
    return (sumOfDifferences(a, b, 8) << 16) + c;
  });
  valu<U32, U32, U32, U32>(t, "v_sad_u16", [](uint32_t a, uint32_t b, uint32_t c) {
    return sumOfDifferences(a, b, 16) + c;
  });
  valu<U32, U32, U32, U32>(t, "v_sad_u32", [](uint32_t a, uint32_t b, uint32_t c) {
    return sumOfDifferences(a, b, 32) + c;
  });
  valu<U32, U32, U32, U32>(t, "v_msad_u8", [](uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8) {
      uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
      c += y == 0 ? 0 : x > y ? x - y : y - x; // a zero reference byte is masked out
    }
    return c;
  });
  valu<B32, B32, B32, B32>(t, "v_lerp_u8", [](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 8)
      r |= (((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 & 0xff) << i;
    return r;
  });
}

} // namespace

void addVop3Integer(OpTable &t) {
  addThreeSource(t);
  addMinMax3<U32>(t, "u32");
  addMinMax3<I32>(t, "i32");
  addMinMax3<U16>(t, "u16", OpKeepsHigh);
  addMinMax3<I16>(t, "i16", OpKeepsHigh);
  addMultiplyAdd(t);
  addSums(t);
}

GFX950EMU_EXEC_END
