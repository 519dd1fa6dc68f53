//===- Vop2Tests.cpp - two-operand vector instructions ---------------------===//
#include "tests/emulator/isa/VectorTable.h"

namespace isatest {
namespace {

int32_t i24(uint32_t x) { return int32_t(x << 8) >> 8; }
uint32_t u24(uint32_t x) { return x & 0xffffff; }

const std::vector<Type> FF{Type::F32, Type::F32}, HH{Type::F16, Type::F16};
const std::vector<Type> BB{Type::B32, Type::B32}, WW{Type::B16, Type::B16};
constexpr unsigned Float2 = Vop2 | FloatMods | FTZ | ROUNDS;

const std::vector<Row> F32Rows{
    {"v_add_f32", Type::F32, FF, Float2, f32x2([](float a, float b) { return a + b; })},
    {"v_sub_f32", Type::F32, FF, Float2, f32x2([](float a, float b) { return a - b; })},
    {"v_subrev_f32", Type::F32, FF, Float2, f32x2([](float a, float b) { return b - a; })},
    {"v_mul_f32", Type::F32, FF, Float2, f32x2([](float a, float b) { return a * b; })},
    {"v_max_f32", Type::F32, FF, Vop2 | FloatMods | FTZ | NOIEEE,
     [](Lane &l) {
       return minMax(F32Format, in32(l, l.a), in32(l, l.b), /*max=*/true, l.mode.ieee);
     }},
    {"v_min_f32", Type::F32, FF, Vop2 | FloatMods | FTZ | NOIEEE,
     [](Lane &l) {
       return minMax(F32Format, in32(l, l.a), in32(l, l.b), /*max=*/false, l.mode.ieee);
     }},
    {"v_fmac_f32",
     Type::F32,
     FF,
     E32 | E64 | DPP | FloatMods | FTZ | ROUNDS | ADDS,
     [](Lane &l) {
       HostRounding rounding(l.mode.round32);
       return in32(l,
                   bitsOf(std::fma(asF32(in32(l, l.a)), asF32(in32(l, l.b)), asF32(in32(l, l.d)))));
     },
     {},
     nullptr,
     Type::F32},
    // The literal is the multiplier of fmamk and the addend of fmaak.
    {"v_fmamk_f32",
     Type::F32,
     FF,
     E32 | NOCONST | FTZ,
     f32x2([](float a, float b) { return std::fma(a, 3.14159274f, b); }),
     {},
     "{0}, {1}, 0x40490fdb, {2}"},
    {"v_fmaak_f32",
     Type::F32,
     FF,
     E32 | NOCONST | FTZ,
     f32x2([](float a, float b) { return std::fma(a, b, 3.14159274f); }),
     {},
     "{0}, {1}, {2}, 0x40490fdb"},
};

const std::vector<Row> F16Rows{
    {"v_add_f16", Type::F16, HH, Float2, f16x2([](Wide a, Wide b) { return a + b; })},
    {"v_sub_f16", Type::F16, HH, Float2, f16x2([](Wide a, Wide b) { return a - b; })},
    {"v_subrev_f16", Type::F16, HH, Float2, f16x2([](Wide a, Wide b) { return b - a; })},
    {"v_mul_f16", Type::F16, HH, Float2, f16x2([](Wide a, Wide b) { return a * b; })},
    {"v_max_f16", Type::F16, HH, Vop2 | FloatMods | NOIEEE,
     [](Lane &l) { return minMax(F16Format, l.a, l.b, /*max=*/true, l.mode.ieee); }},
    {"v_min_f16", Type::F16, HH, Vop2 | FloatMods | NOIEEE,
     [](Lane &l) { return minMax(F16Format, l.a, l.b, /*max=*/false, l.mode.ieee); }},
};

const std::vector<Row> F64Rows{
    {"v_fmac_f64",
     Type::F64,
     {Type::F64, Type::F64},
     E32 | E64 | NEG | CLAMP | FTZ | ADDS,
     [](Lane &l) {
       return in64(l,
                   bitsOf(std::fma(asF64(in64(l, l.a)), asF64(in64(l, l.b)), asF64(in64(l, l.d)))));
     },
     {},
     nullptr,
     Type::F64},
};

const std::vector<Row> IntegerRows{
    {"v_add_u32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a + b; })},
    {"v_sub_u32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a - b; })},
    {"v_subrev_u32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return b - a; })},
    {"v_and_b32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a & b; })},
    {"v_or_b32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a | b; })},
    {"v_xor_b32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a ^ b; })},
    {"v_xnor_b32", Type::B32, BB, E32 | E64 | DPP,
     u32x2([](uint32_t a, uint32_t b) { return ~(a ^ b); })},
    {"v_min_i32", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b) ? a : b; })},
    {"v_max_i32", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return int32_t(a) >= int32_t(b) ? a : b; })},
    {"v_min_u32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a < b ? a : b; })},
    {"v_max_u32", Type::B32, BB, Vop2, u32x2([](uint32_t a, uint32_t b) { return a > b ? a : b; })},
    {"v_lshlrev_b32", Type::B32, {Type::Shift, Type::B32}, Vop2, u32x2([](uint32_t a, uint32_t b) {
       return b << (a & 31);
     })},
    {"v_lshrrev_b32", Type::B32, {Type::Shift, Type::B32}, Vop2, u32x2([](uint32_t a, uint32_t b) {
       return b >> (a & 31);
     })},
    {"v_ashrrev_i32", Type::B32, {Type::Shift, Type::B32}, Vop2, u32x2([](uint32_t a, uint32_t b) {
       return uint32_t(int32_t(b) >> (a & 31));
     })},
    {"v_mul_u32_u24", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return u24(a) * u24(b); })},
    {"v_mul_i32_i24", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return uint32_t(int64_t(i24(a)) * i24(b)); })},
    {"v_mul_hi_u32_u24", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return uint32_t(uint64_t(u24(a)) * u24(b) >> 32); })},
    {"v_mul_hi_i32_i24", Type::B32, BB, Vop2,
     u32x2([](uint32_t a, uint32_t b) { return uint32_t(int64_t(i24(a)) * i24(b) >> 32); })},
};

const std::vector<Row> CarryRows{
    {"v_add_co_u32", Type::B32, BB, E32 | E64 | MASKOUT,
     [](Lane &l) {
       const uint64_t sum = uint64_t(uint32_t(l.a)) + uint32_t(l.b);
       l.mask = sum >> 32;
       return uint64_t(uint32_t(sum));
     }},
    {"v_sub_co_u32", Type::B32, BB, E32 | E64 | MASKOUT,
     [](Lane &l) {
       l.mask = uint32_t(l.b) > uint32_t(l.a);
       return uint64_t(uint32_t(l.a) - uint32_t(l.b));
     }},
    {"v_subrev_co_u32", Type::B32, BB, E32 | E64 | MASKOUT,
     [](Lane &l) {
       l.mask = uint32_t(l.a) > uint32_t(l.b);
       return uint64_t(uint32_t(l.b) - uint32_t(l.a));
     }},
    {"v_addc_co_u32", Type::B32, BB, E32 | E64 | MASKOUT | MASKIN,
     [](Lane &l) {
       const uint64_t sum = uint64_t(uint32_t(l.a)) + uint32_t(l.b) + l.mask;
       l.mask = sum >> 32;
       return uint64_t(uint32_t(sum));
     }},
    {"v_subb_co_u32", Type::B32, BB, E32 | E64 | MASKOUT | MASKIN,
     [](Lane &l) {
       const uint32_t a = uint32_t(l.a), b = uint32_t(l.b), difference = a - b - l.mask;
       l.mask = uint64_t(b) + l.mask > a;
       return uint64_t(difference);
     }},
    {"v_subbrev_co_u32", Type::B32, BB, E32 | E64 | MASKOUT | MASKIN,
     [](Lane &l) {
       const uint32_t a = uint32_t(l.a), b = uint32_t(l.b), difference = b - a - l.mask;
       l.mask = uint64_t(a) + l.mask > b;
       return uint64_t(difference);
     }},
    {"v_cndmask_b32", Type::B32, BB, E32 | E64 | MASKIN | SDWA | NOSEXT,
     [](Lane &l) { return l.mask ? l.b : l.a; }},
    {"v_cndmask_b32", Type::B32, FF, E64 | MASKIN | NEG | NOCONST,
     [](Lane &l) { return l.mask ? l.b : l.a; }},
};

uint64_t clampTo32(bool isSigned, int64_t x) {
  const int64_t low = isSigned ? INT32_MIN : 0, high = isSigned ? INT32_MAX : UINT32_MAX;
  return uint32_t(x < low ? low : x > high ? high : x);
}

// Integer clamp saturates.
const std::vector<Row> ClampRows{
    {"v_add_u32",
     Type::B32,
     BB,
     E64 | NOCONST,
     [](Lane &l) { return clampTo32(false, int64_t(uint32_t(l.a)) + uint32_t(l.b)); },
     {},
     "{0}, {1}, {2} clamp"},
    {"v_sub_u32",
     Type::B32,
     BB,
     E64 | NOCONST,
     [](Lane &l) { return clampTo32(false, int64_t(uint32_t(l.a)) - uint32_t(l.b)); },
     {},
     "{0}, {1}, {2} clamp"},
    {"v_add_i32",
     Type::B32,
     BB,
     E64 | NOCONST,
     [](Lane &l) { return clampTo32(true, int64_t(int32_t(l.a)) + int32_t(l.b)); },
     {},
     "{0}, {1}, {2} clamp"},
    {"v_sub_i32",
     Type::B32,
     BB,
     E64 | NOCONST,
     [](Lane &l) { return clampTo32(true, int64_t(int32_t(l.a)) - int32_t(l.b)); },
     {},
     "{0}, {1}, {2} clamp"},
};

// 16-bit results clear the other half of the register.
const std::vector<Row> Integer16Rows{
    {"v_add_u16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(a + b); })},
    {"v_sub_u16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(a - b); })},
    {"v_subrev_u16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(b - a); })},
    {"v_mul_lo_u16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(uint32_t(a) * b); })},
    {"v_lshlrev_b16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(b << (a & 15)); })},
    {"v_lshrrev_b16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(b >> (a & 15)); })},
    {"v_ashrrev_i16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return uint16_t(int16_t(b) >> (a & 15)); })},
    {"v_max_u16", Type::B16, WW, Vop2, u16x2([](uint16_t a, uint16_t b) { return a > b ? a : b; })},
    {"v_min_u16", Type::B16, WW, Vop2, u16x2([](uint16_t a, uint16_t b) { return a < b ? a : b; })},
    {"v_max_i16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return int16_t(a) > int16_t(b) ? a : b; })},
    {"v_min_i16", Type::B16, WW, Vop2,
     u16x2([](uint16_t a, uint16_t b) { return int16_t(a) < int16_t(b) ? a : b; })},
};

const SuiteRegistrar registrar("Vop2", [](Suite &suite) {
  for (const auto *rows :
       {&F32Rows, &F16Rows, &F64Rows, &IntegerRows, &CarryRows, &ClampRows, &Integer16Rows})
    addRows(suite, *rows);
});

} // namespace
} // namespace isatest
