//===- Vop3IntegerTests.cpp - three-operand and 64-bit integer instructions -===//
#include "tests/emulator/isa/VectorTable.h"

namespace isatest {
namespace {

using std::int64_t;
const std::vector<Type> B1{Type::B32}, BB{Type::B32, Type::B32},
    BBB{Type::B32, Type::B32, Type::B32};

int32_t i24(uint32_t x) { return int32_t(x << 8) >> 8; }
uint32_t u24(uint32_t x) { return x & 0xffffff; }

uint32_t permuteByte(uint64_t data, uint32_t selector) {
  if (selector >= 13)
    return 0xff;
  if (selector == 12)
    return 0;
  if (selector >= 8) // the sign of bytes 1, 3, 5, 7
    return data >> (16 * (selector - 8) + 15) & 1 ? 0xff : 0;
  return data >> 8 * selector & 0xff;
}

uint32_t perm(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t data = uint64_t(a) << 32 | b;
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= permuteByte(data, c >> 8 * i & 0xff) << 8 * i;
  return out;
}

uint32_t sadU8(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 4; ++i)
    c += uint32_t(std::abs(int(a >> 8 * i & 255) - int(b >> 8 * i & 255)));
  return c;
}

uint32_t bfeI32(uint32_t a, uint32_t b, uint32_t c) {
  const unsigned offset = b & 31, width = c & 31;
  if (width == 0)
    return 0;
  const uint32_t field = uint32_t(int32_t(a) >> offset) & ((1u << width) - 1);
  return uint32_t(int32_t(field << (32 - width)) >> (32 - width));
}

/// Bit i of the result is bit {S0[i], S1[i], S2[i]} of the table.
template <typename T> LaneFunction bitop3(uint32_t table) {
  return [table](Lane &l) {
    T out = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i) {
      const unsigned index = (l.a >> i & 1) * 4 + (l.b >> i & 1) * 2 + (l.c >> i & 1);
      out |= T(table >> index & 1) << i;
    }
    return uint64_t(out);
  };
}

template <typename T> T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

const std::vector<Row> Rows32{
    {"v_add3_u32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; })},
    {"v_add_lshl_u32",
     Type::B32,
     {Type::B32, Type::B32, Type::Shift},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); })},
    {"v_lshl_add_u32",
     Type::B32,
     {Type::B32, Type::Shift, Type::B32},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; })},
    {"v_lshl_or_b32",
     Type::B32,
     {Type::B32, Type::Shift, Type::B32},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; })},
    {"v_and_or_b32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; })},
    {"v_or3_b32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; })},
    {"v_xad_u32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; })},
    {"v_bfi_b32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); })},
    {"v_bfe_u32",
     Type::B32,
     {Type::B32, Type::Shift, Type::Shift},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return (a >> (b & 31)) & ((1u << (c & 31)) - 1);
     })},
    {"v_bfe_i32", Type::B32, {Type::B32, Type::Shift, Type::Shift}, Vop3, u32x3(bfeI32)},
    {"v_alignbit_b32",
     Type::B32,
     {Type::B32, Type::B32, Type::Shift},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((uint64_t(a) << 32 | b) >> (c & 31));
     })},
    {"v_alignbyte_b32",
     Type::B32,
     {Type::B32, Type::B32, Type::Shift},
     Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((uint64_t(a) << 32 | b) >> 8 * (c & 3));
     })},
    {"v_perm_b32", Type::B32, BBB, Vop3, u32x3(perm)},
    {"v_sad_u8", Type::B32, BBB, Vop3, u32x3(sadU8)},
    {"v_mad_u32_u24", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return u24(a) * u24(b) + c; })},
    {"v_mad_i32_i24", Type::B32, BBB, Vop3, u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t(int64_t(i24(a)) * i24(b)) + c;
     })},
    {"v_mul_lo_u32", Type::B32, BB, Vop3, u32x2([](uint32_t a, uint32_t b) { return a * b; })},
    {"v_mul_hi_u32", Type::B32, BB, Vop3,
     u32x2([](uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); })},
    {"v_mul_hi_i32", Type::B32, BB, Vop3, u32x2([](uint32_t a, uint32_t b) {
       return uint32_t(int64_t(int32_t(a)) * int32_t(b) >> 32);
     })},
    {"v_add_i32", Type::B32, BB, Vop3, u32x2([](uint32_t a, uint32_t b) { return a + b; })},
    {"v_sub_i32", Type::B32, BB, Vop3, u32x2([](uint32_t a, uint32_t b) { return a - b; })},
    {"v_bcnt_u32_b32", Type::B32, BB, Vop3,
     u32x2([](uint32_t a, uint32_t b) { return uint32_t(std::popcount(a)) + b; })},
    {"v_mbcnt_lo_u32_b32", Type::B32, BB, Vop3,
     [](Lane &l) {
       const uint32_t below = uint32_t((1ull << std::min(l.lane, 32u)) - 1);
       return uint64_t(uint32_t(std::popcount(uint32_t(l.a) & below)) + uint32_t(l.b));
     }},
    {"v_mbcnt_hi_u32_b32", Type::B32, BB, Vop3,
     [](Lane &l) {
       const uint32_t below = l.lane > 32 ? uint32_t((1ull << (l.lane - 32)) - 1) : 0;
       return uint64_t(uint32_t(std::popcount(uint32_t(l.a) & below)) + uint32_t(l.b));
     }},
    {"v_bfm_b32", Type::B32, {Type::Shift, Type::Shift}, Vop3, u32x2([](uint32_t a, uint32_t b) {
       return ((1u << (a & 31)) - 1) << (b & 31);
     })},
    {"v_max3_i32", Type::B32, BBB, Vop3, u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t(std::max({int32_t(a), int32_t(b), int32_t(c)}));
     })},
    {"v_min3_u32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return std::min({a, b, c}); })},
    {"v_med3_i32", Type::B32, BBB, Vop3, u32x3([](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t(median(int32_t(a), int32_t(b), int32_t(c)));
     })},
    {"v_med3_u32", Type::B32, BBB, Vop3,
     u32x3([](uint32_t a, uint32_t b, uint32_t c) { return median(a, b, c); })},
};

const std::vector<Row> BitopRows{
    {"v_bitop3_b32",
     Type::B32,
     BBB,
     E64,
     bitop3<uint32_t>(0xca),
     {},
     "{0}, {1}, {2}, {3} bitop3:0xca"},
    {"v_bitop3_b32",
     Type::B32,
     BBB,
     E64,
     bitop3<uint32_t>(0x01),
     {},
     "{0}, {1}, {2}, {3} bitop3:0x1"},
    {"v_bitop3_b32",
     Type::B32,
     BBB,
     E64,
     bitop3<uint32_t>(0x96),
     {},
     "{0}, {1}, {2}, {3} bitop3:0x96"},
    {"v_bitop3_b32",
     Type::B32,
     BBB,
     E64,
     bitop3<uint32_t>(0xf4),
     {},
     "{0}, {1}, {2}, {3} bitop3:0xf4"},
    {"v_bitop3_b32",
     Type::B32,
     BBB,
     E64,
     bitop3<uint32_t>(0xff),
     {},
     "{0}, {1}, {2}, {3} bitop3:0xff"},
    // Whether the other half of the register survives is not said: only the result is compared.
    {"v_bitop3_b16",
     Type::B16,
     {Type::B16, Type::B16, Type::B16},
     E64,
     bitop3<uint16_t>(0xca),
     {Compare::Low16},
     "{0}, {1}, {2}, {3} bitop3:0xca"},
    {"v_bitop3_b16",
     Type::B16,
     {Type::B16, Type::B16, Type::B16},
     E64,
     bitop3<uint16_t>(0x2d),
     {Compare::Low16},
     "{0}, {1}, {2}, {3} bitop3:0x2d"},
};

const std::vector<Type> WW{Type::B16, Type::B16}, WWW{Type::B16, Type::B16, Type::B16};

const std::vector<Row> Rows16{
    // VOP3-only 16-bit results keep the other half; op_sel picks halves.
    {"v_add_i16", Type::B16, WW, E64 | OPSEL | KEEPHIGH,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(a + b); })},
    {"v_sub_i16", Type::B16, WW, E64 | OPSEL | KEEPHIGH,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(a - b); })},
    {"v_mad_u16", Type::B16, WWW, E64 | OPSEL | KEEPHIGH,
     u16x3([](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); })},
    // The legacy forms clear it.
    {"v_mad_legacy_u16", Type::B16, WWW, E64,
     u16x3([](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); })},
    {"v_pack_b32_f16",
     Type::B32,
     {Type::F16, Type::F16},
     E64 | OPSEL | NEG,
     [](Lane &l) { return (l.b & 0xffff) << 16 | (l.a & 0xffff); }},
};

const std::vector<Row> Rows64{
    {"v_lshlrev_b64",
     Type::B64,
     {Type::Shift, Type::B64},
     Vop3,
     [](Lane &l) { return l.b << (l.a & 63); }},
    {"v_lshrrev_b64",
     Type::B64,
     {Type::Shift, Type::B64},
     Vop3,
     [](Lane &l) { return l.b >> (l.a & 63); }},
    {"v_ashrrev_i64",
     Type::B64,
     {Type::Shift, Type::B64},
     Vop3,
     [](Lane &l) { return uint64_t(int64_t(l.b) >> (l.a & 63)); }},
    {"v_lshl_add_u64",
     Type::B64,
     {Type::B64, Type::Shift, Type::B64},
     Vop3,
     [](Lane &l) {
       l.unspecified = uint32_t(l.b) > 4; // shifts beyond 4 are not allowed
       return (l.a << (l.b & 7)) + l.c;
     }},
    {"v_mad_u64_u32",
     Type::B64,
     {Type::B32, Type::B32, Type::B64},
     E64 | MASKOUT,
     [](Lane &l) {
       const unsigned __int128 sum =
           (unsigned __int128)(uint64_t(uint32_t(l.a)) * uint32_t(l.b)) + l.c;
       l.mask = sum >> 64;
       return uint64_t(sum);
     }},
    {"v_mad_i64_i32",
     Type::B64,
     {Type::B32, Type::B32, Type::B64},
     E64 | MASKOUT,
     [](Lane &l) {
       const __int128 sum = __int128(int64_t(int32_t(l.a)) * int32_t(l.b)) + int64_t(l.c);
       l.mask = sum >> 64 & 1;
       return uint64_t(sum);
     }},
};

template <int Bits, bool Signed> int64_t dot(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (int i = 0; i < 32; i += Bits) {
    const int64_t x = Signed ? int32_t(a << (32 - Bits - i)) >> (32 - Bits)
                             : int64_t(a >> i & ((1u << Bits) - 1));
    const int64_t y = Signed ? int32_t(b << (32 - Bits - i)) >> (32 - Bits)
                             : int64_t(b >> i & ((1u << Bits) - 1));
    sum += x * y;
  }
  return sum;
}

template <int Bits, bool Signed> uint32_t dotAdd(uint32_t a, uint32_t b, uint32_t c) {
  return c + uint32_t(dot<Bits, Signed>(a, b));
}

template <int Bits> uint64_t dotAccumulate(Lane &l) {
  return uint32_t(l.d) + uint32_t(dot<Bits, true>(uint32_t(l.a), uint32_t(l.b)));
}

const std::vector<Row> DotRows{
    {"v_dot4c_i32_i8", Type::B32, BB, E32 | DPP | ADDS, dotAccumulate<8>},
    {"v_dot8c_i32_i4", Type::B32, BB, E32 | DPP | ADDS, dotAccumulate<4>},
    {"v_dot2c_i32_i16", Type::B32, BB, E32 | DPP | ADDS, dotAccumulate<16>},
    {"v_dot4_u32_u8", Type::B32, BBB, E64, u32x3(dotAdd<8, false>)},
    {"v_dot4_i32_i8", Type::B32, BBB, E64, u32x3(dotAdd<8, true>)},
    {"v_dot8_u32_u4", Type::B32, BBB, E64, u32x3(dotAdd<4, false>)},
    {"v_dot8_i32_i4", Type::B32, BBB, E64, u32x3(dotAdd<4, true>)},
};

const SuiteRegistrar registrar("Vop3Integer", [](Suite &suite) {
  for (const auto *rows : {&Rows32, &BitopRows, &Rows16, &Rows64, &DotRows})
    addRows(suite, *rows);
});

} // namespace
} // namespace isatest
