//===- ConvertTests.cpp - conversions between number formats ---------------===//
#include "tests/emulator/isa/DppSdwa.h"
#include "tests/emulator/isa/VectorTable.h"

#include <limits>

namespace isatest {
namespace {

const std::vector<Type> F{Type::F32}, H{Type::F16}, D{Type::F64}, B{Type::B32},
    FF{Type::F32, Type::F32};

template <unsigned N> uint64_t ubyte(Lane &l) { return bitsOf(float(l.a >> 8 * N & 0xff)); }

/// 16-bit integers saturate like the wider ones.
template <typename To> uint64_t toInteger16(Lane &l) {
  return uint16_t(saturate<To>(std::trunc(double(f16(l.a)))));
}

const std::vector<Row> IntegerRows{
    {"v_cvt_i32_f32", Type::B32, F, Vop1 | NEG,
     [](Lane &l) { return uint64_t(uint32_t(saturate<int32_t>(asF32(l.a)))); }},
    {"v_cvt_u32_f32", Type::B32, F, Vop1 | NEG,
     [](Lane &l) { return uint64_t(saturate<uint32_t>(asF32(l.a))); }},
    {"v_cvt_i32_f64", Type::B32, D, E32 | E64 | NEG,
     [](Lane &l) { return uint64_t(uint32_t(saturate<int32_t>(asF64(l.a)))); }},
    {"v_cvt_u32_f64", Type::B32, D, E32 | E64 | NEG,
     [](Lane &l) { return uint64_t(saturate<uint32_t>(asF64(l.a))); }},
    {"v_cvt_f32_i32", Type::F32, B, Vop1 | CLAMP | OMOD,
     [](Lane &l) { return bitsOf(float(int32_t(l.a))); }},
    {"v_cvt_f32_u32", Type::F32, B, Vop1 | CLAMP | OMOD,
     [](Lane &l) { return bitsOf(float(uint32_t(l.a))); }},
    {"v_cvt_f64_i32", Type::F64, B, E32 | E64,
     [](Lane &l) { return bitsOf(double(int32_t(l.a))); }},
    {"v_cvt_f64_u32", Type::F64, B, E32 | E64,
     [](Lane &l) { return bitsOf(double(uint32_t(l.a))); }},
    {"v_cvt_f32_ubyte0", Type::F32, B, Vop1 | SDWA, ubyte<0>},
    {"v_cvt_f32_ubyte1", Type::F32, B, Vop1, ubyte<1>},
    {"v_cvt_f32_ubyte2", Type::F32, B, Vop1, ubyte<2>},
    {"v_cvt_f32_ubyte3", Type::F32, B, Vop1, ubyte<3>},
    {"v_cvt_u16_f16", Type::B16, H, Vop1 | NEG, toInteger16<uint16_t>},
    {"v_cvt_i16_f16", Type::B16, H, Vop1 | NEG, toInteger16<int16_t>},
    {"v_cvt_f16_u16",
     Type::F16,
     {Type::B16},
     Vop1,
     [](Lane &l) { return toF16(l, Wide(uint16_t(l.a))); }},
    {"v_cvt_f16_i16",
     Type::F16,
     {Type::B16},
     Vop1,
     [](Lane &l) { return toF16(l, Wide(int16_t(l.a))); }},
};

const std::vector<Row> FloatRows{
    {"v_cvt_f16_f32", Type::F16, F, Vop1 | FloatMods | ROUNDS,
     [](Lane &l) { return toF16(l, Wide(asF32(l.a))); }},
    {"v_cvt_f32_f16", Type::F32, H, Vop1 | NEG | CLAMP,
     [](Lane &l) { return bitsOf(float(f16(l.a))); }},
    {"v_cvt_f32_f64", Type::F32, D, E32 | E64 | NEG | CLAMP,
     [](Lane &l) { return bitsOf(float(asF64(l.a))); }},
    {"v_cvt_f64_f32", Type::F64, F, E32 | E64 | NEG | CLAMP,
     [](Lane &l) { return bitsOf(double(asF32(l.a))); }},
    {"v_cvt_f32_bf16",
     Type::F32,
     {Type::B16},
     E32 | SDWA | NOSEXT,
     [](Lane &l) { return (l.a & 0xffff) << 16; }},
};

uint64_t pack(uint32_t low, uint32_t high) { return low | uint64_t(high) << 16; }

const std::vector<Row> PackRows{
    // Nearest even, whatever MODE says.
    {"v_cvt_pk_f16_f32", Type::F16x2, FF, E64 | NEG | ROUNDS,
     [](Lane &l) { return pack(encode(F16Format, asF32(l.a)), encode(F16Format, asF32(l.b))); }},
    {"v_cvt_pk_bf16_f32", Type::BF16x2, FF, E64 | NEG | ROUNDS,
     [](Lane &l) { return pack(encode(BF16Format, asF32(l.a)), encode(BF16Format, asF32(l.b))); }},
    {"v_cvt_pkrtz_f16_f32", Type::F16x2, FF, E64 | NEG,
     [](Lane &l) {
       return pack(encode(F16Format, asF32(l.a), Round::Zero),
                   encode(F16Format, asF32(l.b), Round::Zero));
     }},
    {"v_cvt_pk_u16_u32",
     Type::B32,
     {Type::B32, Type::B32},
     E64,
     [](Lane &l) {
       auto clamp = [](uint64_t x) { return std::min<uint64_t>(uint32_t(x), 0xffff); };
       return clamp(l.a) | clamp(l.b) << 16;
     }},
    {"v_cvt_pk_i16_i32",
     Type::B32,
     {Type::B32, Type::B32},
     E64,
     [](Lane &l) {
       auto clamp = [](uint64_t x) {
         return uint64_t(uint16_t(std::max(-32768, std::min(32767, int32_t(x)))));
       };
       return clamp(l.a) | clamp(l.b) << 16;
     }},
};

//===--- OCP fp8 and bf8 -------------------------------------------------------===//

template <const Format &Narrow> uint64_t widen(uint64_t code) {
  return bitsOf(float(decode(Narrow, code & 0xff)));
}
template <const Format &Narrow> uint64_t widenPair(Lane &l) {
  return widen<Narrow>(l.a) | widen<Narrow>(l.a >> 8) << 32;
}

/// Code of `x`, or nothing where the text is silent: e4m3 values between the largest finite one
/// and the halfway point to the next.
template <const Format &Narrow> uint32_t narrow(Lane &l, float x) {
  if (!Narrow.infinity && std::fabs(x) > 448 && std::fabs(x) <= 464)
    l.unspecified = true;
  const bool saturates = l.mode.fp16Overflow && !std::isnan(x);
  // What an infinity becomes when overflow saturates is not said.
  if (saturates && std::isinf(x))
    l.unspecified = true;
  return encode(Narrow, x, Round::NearestEven, saturates);
}

/// A NaN has no specified payload; its code is made the one of the format.
template <const Format &Narrow, unsigned Word> uint64_t narrowPair(Lane &l) {
  const float a = asF32(l.a), b = asF32(l.b);
  if (std::isnan(a) || std::isnan(b))
    l.unspecified = true;
  const uint64_t word = narrow<Narrow>(l, a) | narrow<Narrow>(l, b) << 8;
  const uint64_t mask = 0xffffull << 16 * Word;
  return (l.d & ~mask) | word << 16 * Word;
}

/// The random word's high bits are added to the mantissa, then the sum is converted. The text says
/// to nearest even, a stochastic rounding would truncate, and the text lets the mantissa wrap where
/// a carry is due: only lanes where the readings agree are compared.
template <const Format &Narrow, unsigned Shift, unsigned Byte> uint64_t stochastic(Lane &l) {
  const uint32_t bits = uint32_t(l.a), mantissa = (bits & 0x7fffff) + uint32_t(l.b >> Shift);
  const float sum = asF32((bits & 0xff800000) + mantissa);
  const uint64_t code = narrow<Narrow>(l, sum);
  if (!std::isfinite(asF32(bits)) || mantissa > 0x7fffff ||
      code != encode(Narrow, sum, Round::Zero))
    l.unspecified = true;
  return (l.d & ~(0xffull << 8 * Byte)) | code << 8 * Byte;
}

constexpr unsigned Fp8Modes = E64 | NOCONST | ADDS;

const std::vector<Row> Fp8Rows{
    {"v_cvt_f32_fp8", Type::F32, B, E32 | E64 | NOCONST,
     [](Lane &l) { return widen<FP8Format>(l.a); }},
    {"v_cvt_f32_bf8", Type::F32, B, E32 | E64 | NOCONST,
     [](Lane &l) { return widen<BF8Format>(l.a); }},
    {"v_cvt_pk_f32_fp8", Type::F32x2, {Type::B16}, E32 | E64 | NOCONST, widenPair<FP8Format>},
    {"v_cvt_pk_f32_bf8", Type::F32x2, {Type::B16}, E32 | E64 | NOCONST, widenPair<BF8Format>},
    {"v_cvt_pk_f32_fp8",
     Type::F32x2,
     B,
     E32 | NOCONST,
     [](Lane &l) {
       l.a >>= 16;
       return widenPair<FP8Format>(l);
     },
     {},
     "sdwa {0}, {1} src0_sel:WORD_1"},
    {"v_cvt_pk_f32_bf8",
     Type::F32x2,
     B,
     E32 | NOCONST,
     [](Lane &l) {
       l.a >>= 16;
       return widenPair<BF8Format>(l);
     },
     {},
     "sdwa {0}, {1} src0_sel:WORD_1"},
    {"v_cvt_pk_fp8_f32", Type::B32, FF, Fp8Modes | NEG, narrowPair<FP8Format, 0>},
    {"v_cvt_pk_fp8_f32",
     Type::B32,
     FF,
     Fp8Modes,
     narrowPair<FP8Format, 1>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,1]"},
    {"v_cvt_pk_bf8_f32", Type::B32, FF, Fp8Modes | NEG, narrowPair<BF8Format, 0>},
    {"v_cvt_pk_bf8_f32",
     Type::B32,
     FF,
     Fp8Modes,
     narrowPair<BF8Format, 1>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,1]"},
};

const std::vector<Type> FB{Type::F32, Type::B32};

const std::vector<Row> StochasticRows{
    {"v_cvt_sr_fp8_f32", Type::B32, FB, Fp8Modes, stochastic<FP8Format, 12, 0>},
    {"v_cvt_sr_fp8_f32",
     Type::B32,
     FB,
     Fp8Modes,
     stochastic<FP8Format, 12, 1>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,1,0]"},
    {"v_cvt_sr_fp8_f32",
     Type::B32,
     FB,
     Fp8Modes,
     stochastic<FP8Format, 12, 2>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,0,1]"},
    {"v_cvt_sr_fp8_f32",
     Type::B32,
     FB,
     Fp8Modes,
     stochastic<FP8Format, 12, 3>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,1,1]"},
    {"v_cvt_sr_bf8_f32", Type::B32, FB, Fp8Modes, stochastic<BF8Format, 11, 0>},
    {"v_cvt_sr_bf8_f32",
     Type::B32,
     FB,
     Fp8Modes,
     stochastic<BF8Format, 11, 2>,
     {},
     "{0}, {1}, {2} op_sel:[0,0,0,1]"},
};

/// Every code of a byte, in each byte of the source.
void addEveryCode(Suite &suite, const char *mnemonic, const Format &format) {
  constexpr Sel Sels[] = {Sel::Byte0, Sel::Byte1, Sel::Byte2, Sel::Byte3};
  for (Sel sel : Sels) {
    Case c;
    c.mnemonic = mnemonic;
    c.waves = 4;
    c.text = std::string(mnemonic) + "_sdwa v14, v8 src0_sel:" + selName(sel);
    c.fill = [sel](Wave &w, Rng &) {
      w.exec = ~0ull;
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const unsigned shift = 8 * unsigned(sel);
        w.v(8, lane) = (w.v(8, lane) & ~(0xffu << shift)) | (w.index * Lanes + lane) << shift;
      }
    };
    const Format f = format;
    c.expect = [f, sel](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane)
        w.v(14, lane) = uint32_t(bitsOf(float(decode(f, selectSource(w.v(8, lane), sel, false)))));
    };
    c.compare[14] = {Compare::F32};
    suite.add(std::move(c));
  }
}

/// Values at, just above and just below every halfway point of the narrow format, MODE's overflow
/// bit off and on.
void addHalfwayPoints(Suite &suite, const char *mnemonic, const Format &format) {
  for (bool overflow : {false, true}) {
    Case c;
    c.mnemonic = mnemonic;
    c.waves = 8;
    c.mode.fp16Overflow = overflow;
    c.text = std::string(mnemonic) + " v14, v8, v10";
    const Format f = format;
    c.fill = [f](Wave &w, Rng &) {
      w.exec = ~0ull;
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const uint32_t code = (w.index * Lanes + lane) % f.largest;
        const float low = float(decode(f, code)), high = float(decode(f, code + 1));
        const float middle = low + (high - low) / 2;
        const float choices[] = {middle, std::nextafter(middle, high), std::nextafter(middle, low),
                                 -middle};
        w.v(8, lane) = uint32_t(bitsOf(choices[w.index & 3]));
        w.v(10, lane) = uint32_t(bitsOf(lane & 1 ? float(decode(f, f.largest)) * 2 : -low));
      }
    };
    c.expect = [f, overflow](Wave &w) {
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const uint32_t a = encode(f, asF32(w.v(8, lane)), Round::NearestEven, overflow);
        const uint32_t b = encode(f, asF32(w.v(10, lane)), Round::NearestEven, overflow);
        w.v(14, lane) = (w.v(14, lane) & 0xffff0000) | a | b << 8;
      }
    };
    suite.add(std::move(c));
  }
}

const SuiteRegistrar registrar("Convert", [](Suite &suite) {
  for (const auto *rows : {&IntegerRows, &FloatRows, &PackRows, &Fp8Rows, &StochasticRows})
    addRows(suite, *rows);
  addEveryCode(suite, "v_cvt_f32_fp8", FP8Format);
  addEveryCode(suite, "v_cvt_f32_bf8", BF8Format);
  addHalfwayPoints(suite, "v_cvt_pk_fp8_f32", FP8Format);
  addHalfwayPoints(suite, "v_cvt_pk_bf8_f32", BF8Format);
});

} // namespace
} // namespace isatest
