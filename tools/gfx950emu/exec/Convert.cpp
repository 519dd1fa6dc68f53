//===- Convert.cpp - conversions between numbers ------------------------------------------===//
//
// Owns v_cvt_* without a block scale: integers, f16, bf16, f64, OCP fp8 and the packing
// forms. Conversions to integers truncate, saturate and turn NaN into 0.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

template <class To, class From> To toInteger(From v, double low, double high) {
  // The limits are exact in double; the cast is then in range.
  double d = double(v);
  d = d != d ? 0.0 : std::clamp(d, low, high);
  return To(int64_t(d));
}
template <class From> int32_t toI32(From v) {
  return toInteger<int32_t>(v, -2147483648.0, 2147483647.0);
}
template <class From> uint32_t toU32(From v) { return toInteger<uint32_t>(v, 0.0, 4294967295.0); }
template <class From> int16_t toI16(From v) { return toInteger<int16_t>(v, -32768.0, 32767.0); }
template <class From> uint16_t toU16(From v) { return toInteger<uint16_t>(v, 0.0, 65535.0); }

uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

/// [-1, 1] to a signed 16-bit fraction, round to nearest even.
uint32_t signedNorm(float v) {
  float c = v != v ? 0.0f : std::clamp(v, -1.0f, 1.0f);
  return uint16_t(int16_t(std::nearbyint(c * 32767.0f)));
}
uint32_t unsignedNorm(float v) {
  float c = v != v ? 0.0f : std::clamp(v, 0.0f, 1.0f);
  return uint16_t(std::nearbyint(c * 65535.0f));
}

void addIntegers(OpTable &t) {
  valu<F32, I32>(t, "v_cvt_f32_i32", [](int32_t a) { return float(a); });
  valu<F32, U32>(t, "v_cvt_f32_u32", [](uint32_t a) { return float(a); });
  valu<F64, I32>(t, "v_cvt_f64_i32", [](int32_t a) { return double(a); });
  valu<F64, U32>(t, "v_cvt_f64_u32", [](uint32_t a) { return double(a); });
  valu<F16, I16>(t, "v_cvt_f16_i16", [](int16_t a) { return float(a); });
  valu<F16, U16>(t, "v_cvt_f16_u16", [](uint16_t a) { return float(a); });
  valu<I32, F32>(t, "v_cvt_i32_f32", [](float a) { return toI32(a); });
  valu<U32, F32>(t, "v_cvt_u32_f32", [](float a) { return toU32(a); });
  valu<I32, F64>(t, "v_cvt_i32_f64", [](double a) { return toI32(a); });
  valu<U32, F64>(t, "v_cvt_u32_f64", [](double a) { return toU32(a); });
  valu<I16, F16>(t, "v_cvt_i16_f16", [](float a) { return toI16(a); });
  valu<U16, F16>(t, "v_cvt_u16_f16", [](float a) { return toU16(a); });
  valu<I32, F32>(t, "v_cvt_rpi_i32_f32",
                 [](float a) { return toI32(std::floor(double(a) + 0.5)); });
  valu<I32, F32>(t, "v_cvt_flr_i32_f32", [](float a) { return toI32(std::floor(a)); });
  valu<F32, U32>(t, "v_cvt_f32_ubyte0", [](uint32_t a) { return float(a & 0xff); });
  valu<F32, U32>(t, "v_cvt_f32_ubyte1", [](uint32_t a) { return float(a >> 8 & 0xff); });
  valu<F32, U32>(t, "v_cvt_f32_ubyte2", [](uint32_t a) { return float(a >> 16 & 0xff); });
  valu<F32, U32>(t, "v_cvt_f32_ubyte3", [](uint32_t a) { return float(a >> 24); });
  // A signed nibble as sixteenths.
  valu<F32, U32>(t, "v_cvt_off_f32_i4",
                 [](uint32_t a) { return float(int32_t(a << 28) >> 28) * 0.0625f; });
  valu<B32, F32, U32, B32>(t, "v_cvt_pk_u8_f32", [](float a, uint32_t byte, uint32_t c) {
    unsigned shift = 8 * (byte & 3);
    return (c & ~(0xffu << shift)) | toInteger<uint32_t>(a, 0.0, 255.0) << shift;
  });
  valu<B32, U32, U32>(t, "v_cvt_pk_u16_u32", [](uint32_t a, uint32_t b) {
    return pack(std::min<uint32_t>(a, 0xffff), std::min<uint32_t>(b, 0xffff));
  });
  valu<B32, I32, I32>(t, "v_cvt_pk_i16_i32", [](int32_t a, int32_t b) {
    return pack(uint32_t(std::clamp(a, -32768, 32767)), uint32_t(std::clamp(b, -32768, 32767)));
  });
  // Shift right, saturate to 8 bits, two results into the half that op_sel[3] names.
  auto place = [](const LaneArgs &args, uint32_t value, uint32_t old) {
    return args.inst->opSel & 8 ? (old & 0xffff) | value << 16 : (old & 0xffff0000) | value;
  };
  valuOld<B32, I32, I32, U32>(
      t, "v_ashr_pk_i8_i32",
      [](const LaneArgs &args, int32_t a, int32_t b, uint32_t s, uint32_t old) {
        auto one = [&](int32_t v) { return uint32_t(std::clamp(v >> (s & 31), -128, 127)) & 0xff; };
        return decltype(place)()(args, one(a) | one(b) << 8, old);
      },
      OpRawOpSel);
  valuOld<B32, I32, I32, U32>(
      t, "v_ashr_pk_u8_i32",
      [](const LaneArgs &args, int32_t a, int32_t b, uint32_t s, uint32_t old) {
        auto one = [&](int32_t v) { return uint32_t(std::clamp(v >> (s & 31), 0, 255)); };
        return decltype(place)()(args, one(a) | one(b) << 8, old);
      },
      OpRawOpSel);
}

void addFloats(OpTable &t) {
  valu<F32, F16>(t, "v_cvt_f32_f16", [](float a) { return a; });
  valu<F16, F32>(t, "v_cvt_f16_f32", [](float a) { return a; });
  valu<F32, F64>(t, "v_cvt_f32_f64", [](double a) { return float(a); });
  valu<F64, F32>(t, "v_cvt_f64_f32", [](float a) { return double(a); });
  valu<F32, U32>(t, "v_cvt_f32_bf16", [](uint32_t a) { return bf16ToFloat(a & 0xffff); });
  valu<B32, F32, F32>(t, "v_cvt_pkrtz_f16_f32", [](float a, float b) {
    return floatToHalfTowardZero(a) | floatToHalfTowardZero(b) << 16;
  });
  valu<PkF16, F32, F32>(
      t, "v_cvt_pk_f16_f32", [](float a, float b) { return floatToHalf(a) | floatToHalf(b) << 16; },
      OpNearestEven);
  valu<B32, F32, F32>(t, "v_cvt_pk_bf16_f32",
                      [](float a, float b) { return floatToBf16(a) | floatToBf16(b) << 16; });
  valu<B32, F32, F32>(t, "v_cvt_pknorm_i16_f32",
                      [](float a, float b) { return pack(signedNorm(a), signedNorm(b)); });
  valu<B32, F32, F32>(t, "v_cvt_pknorm_u16_f32",
                      [](float a, float b) { return pack(unsignedNorm(a), unsignedNorm(b)); });
  valu<B32, F16, F16>(t, "v_cvt_pknorm_i16_f16",
                      [](float a, float b) { return pack(signedNorm(a), signedNorm(b)); });
  valu<B32, F16, F16>(t, "v_cvt_pknorm_u16_f16",
                      [](float a, float b) { return pack(unsignedNorm(a), unsignedNorm(b)); });
  valu<U16, F16>(t, "v_cvt_norm_i16_f16", [](float a) { return uint16_t(signedNorm(a)); });
  valu<U16, F16>(t, "v_cvt_norm_u16_f16", [](float a) { return uint16_t(unsignedNorm(a)); });
  // Stochastic: the random bits are added below the last place, then the value is truncated.
  auto place = [](const LaneArgs &args, uint32_t value, uint32_t old) {
    return args.inst->opSel & 8 ? (old & 0xffff) | value << 16 : (old & 0xffff0000) | value;
  };
  valuOld<B32, F32, U32>(
      t, "v_cvt_sr_bf16_f32",
      [](const LaneArgs &args, float a, uint32_t random, uint32_t old) {
        uint32_t bits = bitsOf(a);
        bool finite = (bits & 0x7f800000) != 0x7f800000;
        uint32_t value = isNan(a) ? floatToBf16(a) : (finite ? bits + (random >> 16) : bits) >> 16;
        return decltype(place)()(args, value, old);
      },
      OpRawOpSel);
  valuOld<B32, F32, U32>(
      t, "v_cvt_sr_f16_f32",
      [](const LaneArgs &args, float a, uint32_t random, uint32_t old) {
        uint32_t bits = bitsOf(a);
        bool finite = (bits & 0x7f800000) != 0x7f800000;
        float noisy = finite ? floatOf(bits + (random >> 19)) : a;
        uint32_t value = isNan(a) ? floatToHalf(a) : floatToHalfTowardZero(noisy);
        return decltype(place)()(args, value, old);
      },
      OpRawOpSel);
}

bool saturates(const LaneArgs &args) { return args.mode & ModeFp16Ovfl; }

template <class Format> void addFp8(OpTable &t, const std::string &name) {
  valu<F32, U32>(
      t, "v_cvt_f32_" + name, [](uint32_t a) { return Format::decode(a & 0xff); },
      OpKeepsDenormals);
  valu<U64, U32>(t, "v_cvt_pk_f32_" + name, [](uint32_t a) {
    return bitsOf(Format::decode(a & 0xff)) | uint64_t(bitsOf(Format::decode(a >> 8 & 0xff))) << 32;
  });
  // Two results into the word that op_sel[3] names.
  valuOld<B32, F32, F32>(
      t, "v_cvt_pk_" + name + "_f32",
      [](const LaneArgs &args, float a, float b, uint32_t old) {
        uint32_t word = Format::encode(double(a), saturates(args)) |
                        Format::encode(double(b), saturates(args)) << 8;
        return args.inst->opSel & 8 ? (old & 0xffff) | word << 16 : (old & 0xffff0000) | word;
      },
      OpRawOpSel);
  // S1[31:12] is added to the mantissa, then the value is truncated; byte op_sel[3:2].
  valuOld<B32, F32, U32>(
      t, "v_cvt_sr_" + name + "_f32",
      [](const LaneArgs &args, float a, uint32_t random, uint32_t old) {
        uint32_t byte = Format::encodeStochastic(double(a), random & 0xfffff000, saturates(args));
        unsigned shift = 8 * (args.inst->opSel >> 2);
        return (old & ~(0xffu << shift)) | byte << shift;
      },
      OpRawOpSel);
}

} // namespace

void addConvert(OpTable &t) {
  addIntegers(t);
  addFloats(t);
  addFp8<Fp8>(t, "fp8");
  addFp8<Bf8>(t, "bf8");
}

GFX950EMU_EXEC_END
