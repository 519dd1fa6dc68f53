//===- ConvertScaled.cpp - v_cvt_scalef32_* -------------------------------------------------===//
//
// Owns the conversions with a block scale. The scale is 2^(e - 127) with e the exponent
// field of an f32 (sign and mantissa ignored): narrow to wide multiplies, wide to narrow
// divides, with one rounding.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

double scaleOf(float scale) {
  return doubleOf(uint64_t((bitsOf(scale) >> 23 & 0xff) + 1023 - 127) << 52);
}
double inverseScaleOf(float scale) {
  return doubleOf(uint64_t(1023 + 127 - (bitsOf(scale) >> 23 & 0xff)) << 52);
}

bool saturates(const LaneArgs &args) { return args.mode & ModeFp16Ovfl; }

/// Wide formats: decode to double, encode from double.
struct WideF32 {
  static constexpr unsigned bits = 32;
  static double decode(uint32_t u) { return double(floatOf(u)); }
  static uint32_t encode(double d) { return bitsOf(float(d)); }
};
struct WideF16 {
  static constexpr unsigned bits = 16;
  static double decode(uint32_t u) { return double(halfToFloat(u & 0xffff)); }
  static uint32_t encode(double d) { return doubleToHalf(d); }
};
struct WideBf16 {
  static constexpr unsigned bits = 16;
  static double decode(uint32_t u) { return double(bf16ToFloat(u & 0xffff)); }
  static uint32_t encode(double d) { return floatToBf16(float(d)); }
};

/// Flags of rows here: op_sel has its own meaning and the scale is no arithmetic operand.
constexpr uint16_t rawFlags = OpRawOpSel | OpKeepsDenormals;

uint32_t placeByte(const LaneArgs &args, uint32_t value, uint32_t old) {
  unsigned shift = 8 * (args.inst->opSel >> 2);
  return (old & ~(0xffu << shift)) | value << shift;
}
uint32_t placeWord(const LaneArgs &args, uint32_t value, uint32_t old) {
  return args.inst->opSel & 8 ? (old & 0xffff) | value << 16 : (old & 0xffff0000) | value;
}
uint32_t nextRandom(uint32_t r) { return r << 1 ^ (r >> 31 ? 197u : 0u); }

/// fp4 (a byte of two, chosen by op_sel[1:0]) or fp8 (a word of two, op_sel[0]) to a pair.
template <class N, class W> void addUnpack(OpTable &t, const std::string &name) {
  constexpr unsigned width = std::is_same_v<N, Fp4> ? 4 : 8;
  auto select = [](const LaneArgs &args, uint32_t s) {
    unsigned sel = args.inst->opSel & (width == 4 ? 3 : 1);
    return s >> (sel * 2 * width);
  };
  using Select = decltype(select);
  if constexpr (W::bits == 32)
    valuArgs<U64, U32, F32>(
        t, name,
        [](const LaneArgs &args, uint32_t s, float scale) {
          uint32_t x = Select()(args, s), mask = (1u << width) - 1;
          double f = scaleOf(scale);
          return uint64_t(W::encode(double(N::decode(x & mask)) * f)) |
                 uint64_t(W::encode(double(N::decode(x >> width & mask)) * f)) << 32;
        },
        rawFlags);
  else
    valuArgs<B32, U32, F32>(
        t, name,
        [](const LaneArgs &args, uint32_t s, float scale) {
          uint32_t x = Select()(args, s), mask = (1u << width) - 1;
          double f = scaleOf(scale);
          return W::encode(double(N::decode(x & mask)) * f) |
                 W::encode(double(N::decode(x >> width & mask)) * f) << 16;
        },
        rawFlags);
}

/// Two wide values into a byte (fp4, op_sel[3:2]) or a word (fp8, op_sel[3]).
template <class N>
uint32_t packTwo(const LaneArgs &args, double a, double b, float scale, uint32_t old) {
  double f = inverseScaleOf(scale);
  bool saturate = saturates(args);
  if constexpr (std::is_same_v<N, Fp4>)
    return placeByte(args, N::encode(a * f, saturate) | N::encode(b * f, saturate) << 4, old);
  else
    return placeWord(args, N::encode(a * f, saturate) | N::encode(b * f, saturate) << 8, old);
}

template <class N> void addPack(OpTable &t, const std::string &name) {
  valuOld<B32, F32, F32, F32>(
      t, "v_cvt_scalef32_pk_" + name + "_f32",
      [](const LaneArgs &args, float a, float b, float scale, uint32_t old) {
        return packTwo<N>(args, double(a), double(b), scale, old);
      },
      rawFlags);
  valuOld<B32, U32, F32>(
      t, "v_cvt_scalef32_pk_" + name + "_f16",
      [](const LaneArgs &args, uint32_t s, float scale, uint32_t old) {
        return packTwo<N>(args, WideF16::decode(s), WideF16::decode(s >> 16), scale, old);
      },
      rawFlags);
  valuOld<B32, U32, F32>(
      t, "v_cvt_scalef32_pk_" + name + "_bf16",
      [](const LaneArgs &args, uint32_t s, float scale, uint32_t old) {
        return packTwo<N>(args, WideBf16::decode(s), WideBf16::decode(s >> 16), scale, old);
      },
      rawFlags);
}

uint32_t packTwoStochastic(const LaneArgs &args, double a, double b, uint32_t random, float scale,
                           uint32_t old) {
  double f = inverseScaleOf(scale);
  return placeByte(args,
                   Fp4::encodeStochastic(a * f, random, true) |
                       Fp4::encodeStochastic(b * f, nextRandom(random), true) << 4,
                   old);
}

void addStochasticFp4(OpTable &t) {
  valuOld<B32, U64, U32, F32>(
      t, "v_cvt_scalef32_sr_pk_fp4_f32",
      [](const LaneArgs &args, uint64_t s, uint32_t random, float scale, uint32_t old) {
        return packTwoStochastic(args, WideF32::decode(uint32_t(s)),
                                 WideF32::decode(uint32_t(s >> 32)), random, scale, old);
      },
      rawFlags);
  valuOld<B32, U32, U32, F32>(
      t, "v_cvt_scalef32_sr_pk_fp4_f16",
      [](const LaneArgs &args, uint32_t s, uint32_t random, float scale, uint32_t old) {
        return packTwoStochastic(args, WideF16::decode(s), WideF16::decode(s >> 16), random, scale,
                                 old);
      },
      rawFlags);
  valuOld<B32, U32, U32, F32>(
      t, "v_cvt_scalef32_sr_pk_fp4_bf16",
      [](const LaneArgs &args, uint32_t s, uint32_t random, float scale, uint32_t old) {
        return packTwoStochastic(args, WideBf16::decode(s), WideBf16::decode(s >> 16), random,
                                 scale, old);
      },
      rawFlags);
}

template <class N, class W> void addStochasticByte(OpTable &t, const std::string &name) {
  valuOld<B32, U32, U32, F32>(
      t, name,
      [](const LaneArgs &args, uint32_t s, uint32_t random, float scale, uint32_t old) {
        double v = W::decode(s) * inverseScaleOf(scale);
        return placeByte(args, N::encodeStochastic(v, random, saturates(args)), old);
      },
      rawFlags);
}

/// One fp8 byte (op_sel[1:0]) to f32, or to the half of the destination that op_sel[3] names.
template <class N> void addSingle(OpTable &t, const std::string &name) {
  auto value = [](const LaneArgs &args, uint32_t s, float scale) {
    return double(N::decode(s >> (8 * (args.inst->opSel & 3)) & 0xff)) * scaleOf(scale);
  };
  using Value = decltype(value);
  valuArgs<F32, U32, F32>(
      t, "v_cvt_scalef32_f32_" + name,
      [](const LaneArgs &args, uint32_t s, float scale) { return float(Value()(args, s, scale)); },
      rawFlags);
  valuOld<B32, U32, F32>(
      t, "v_cvt_scalef32_f16_" + name,
      [](const LaneArgs &args, uint32_t s, float scale, uint32_t old) {
        return placeWord(args, doubleToHalf(Value()(args, s, scale)), old);
      },
      rawFlags);
}

template <class N> void addFp8(OpTable &t, const std::string &name) {
  addUnpack<N, WideF32>(t, "v_cvt_scalef32_pk_f32_" + name);
  addUnpack<N, WideF16>(t, "v_cvt_scalef32_pk_f16_" + name);
  addUnpack<N, WideBf16>(t, "v_cvt_scalef32_pk_bf16_" + name);
  addPack<N>(t, name);
  addSingle<N>(t, name);
  addStochasticByte<N, WideF32>(t, "v_cvt_scalef32_sr_" + name + "_f32");
  addStochasticByte<N, WideF16>(t, "v_cvt_scalef32_sr_" + name + "_f16");
  addStochasticByte<N, WideBf16>(t, "v_cvt_scalef32_sr_" + name + "_bf16");
}

//===- 32 elements at once: fp6 and bf6 ------------------------------------------------------===//

/// Element i of a lane's packed registers.
uint32_t getBits(const uint32_t *regs, unsigned bits, unsigned i) {
  unsigned at = i * bits;
  uint64_t pair = regs[at / 32] | (at / 32 + 1 < 32 ? uint64_t(regs[at / 32 + 1]) << 32 : 0);
  return uint32_t(pair >> (at % 32)) & uint32_t((uint64_t(1) << bits) - 1);
}
void putBits(uint32_t *regs, unsigned bits, unsigned i, uint32_t value) {
  unsigned at = i * bits, shift = at % 32;
  regs[at / 32] |= value << shift;
  if (shift + bits > 32)
    regs[at / 32 + 1] |= value >> (32 - shift);
}

void loadRegisters(const Wave &wave, Operand op, unsigned lane, uint32_t *out) {
  const uint32_t *p = wave.lanes(op);
  for (unsigned d = 0; d < op.dwords; ++d)
    out[d] = p[d * waveSize + lane];
}
void storeRegisters(const Wave &wave, Operand op, unsigned lane, const uint32_t *in) {
  uint32_t *p = wave.lanes(op);
  for (unsigned d = 0; d < op.dwords; ++d)
    p[d * waveSize + lane] = in[d];
}
float scaleLane(const Wave &wave, Operand op, unsigned lane) {
  return floatOf(op.bank == BankScalar ? wave.sgpr[op.index] : wave.lanes(op)[lane]);
}

template <class N, class W> const Inst *unpack32(Wave &wave, const Inst *in) {
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t source[33] = {}, result[33] = {};
    loadRegisters(wave, in->src[0], l, source);
    double f = scaleOf(scaleLane(wave, in->src[1], l));
    for (unsigned i = 0; i < 32; ++i)
      putBits(result, W::bits, i, W::encode(double(N::decode(getBits(source, 6, i))) * f));
    storeRegisters(wave, in->dst, l, result);
  }
  return in + 1;
}

template <class N, class W, bool Stochastic> const Inst *pack32(Wave &wave, const Inst *in) {
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t source[33] = {}, result[7] = {};
    loadRegisters(wave, in->src[0], l, source);
    double f = inverseScaleOf(scaleLane(wave, in->src[Stochastic ? 2 : 1], l));
    uint32_t random = Stochastic ? bitsOf(scaleLane(wave, in->src[1], l)) : 0;
    for (unsigned i = 0; i < 32; ++i) {
      double v = W::decode(getBits(source, W::bits, i)) * f;
      putBits(result, 6, i, Stochastic ? N::encodeStochastic(v, random, true) : N::encode(v, true));
      random = nextRandom(random);
    }
    storeRegisters(wave, in->dst, l, result);
  }
  return in + 1;
}

/// Two sources of 16 f32: the elements alternate.
template <class N> const Inst *packTwice16(Wave &wave, const Inst *in) {
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t first[16], second[16], result[7] = {};
    loadRegisters(wave, in->src[0], l, first);
    loadRegisters(wave, in->src[1], l, second);
    double f = inverseScaleOf(scaleLane(wave, in->src[2], l));
    for (unsigned i = 0; i < 16; ++i) {
      putBits(result, 6, 2 * i, N::encode(WideF32::decode(first[i]) * f, true));
      putBits(result, 6, 2 * i + 1, N::encode(WideF32::decode(second[i]) * f, true));
    }
    storeRegisters(wave, in->dst, l, result);
  }
  return in + 1;
}

void addRow(OpTable &t, const std::string &name, Handler handler, ValueType dst,
            std::initializer_list<ValueType> sources) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Lane;
  info.handler = handler;
  info.dst = dst;
  info.flags = rawFlags;
  for (ValueType s : sources)
    info.src[info.sources++] = s;
  t.add(info);
}

template <class N> void addSixBit(OpTable &t, const std::string &name) {
  using V = ValueType;
  std::string prefix = "v_cvt_scalef32_";
  addRow(t, prefix + "pk32_f32_" + name, unpack32<N, WideF32>, V::B1024, {V::B192, V::B32});
  addRow(t, prefix + "pk32_f16_" + name, unpack32<N, WideF16>, V::B512, {V::B192, V::B32});
  addRow(t, prefix + "pk32_bf16_" + name, unpack32<N, WideBf16>, V::B512, {V::B192, V::B32});
  addRow(t, prefix + "pk32_" + name + "_f16", pack32<N, WideF16, false>, V::B192,
         {V::B512, V::B32});
  addRow(t, prefix + "pk32_" + name + "_bf16", pack32<N, WideBf16, false>, V::B192,
         {V::B512, V::B32});
  addRow(t, prefix + "2xpk16_" + name + "_f32", packTwice16<N>, V::B192,
         {V::B512, V::B512, V::B32});
  addRow(t, prefix + "sr_pk32_" + name + "_f32", pack32<N, WideF32, true>, V::B192,
         {V::B1024, V::B32, V::B32});
  addRow(t, prefix + "sr_pk32_" + name + "_f16", pack32<N, WideF16, true>, V::B192,
         {V::B512, V::B32, V::B32});
  addRow(t, prefix + "sr_pk32_" + name + "_bf16", pack32<N, WideBf16, true>, V::B192,
         {V::B512, V::B32, V::B32});
}

} // namespace

void addConvertScaled(OpTable &t) {
  addUnpack<Fp4, WideF32>(t, "v_cvt_scalef32_pk_f32_fp4");
  addUnpack<Fp4, WideF16>(t, "v_cvt_scalef32_pk_f16_fp4");
  addUnpack<Fp4, WideBf16>(t, "v_cvt_scalef32_pk_bf16_fp4");
  addPack<Fp4>(t, "fp4");
  addStochasticFp4(t);
  addFp8<Fp8>(t, "fp8");
  addFp8<Bf8>(t, "bf8");
  addSixBit<Fp6>(t, "fp6");
  addSixBit<Bf6>(t, "bf6");
}

GFX950EMU_EXEC_END
