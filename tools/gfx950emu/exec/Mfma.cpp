//===- Mfma.cpp - matrix multiply-accumulate ----------------------------------------------===//
//
// Owns the v_mfma_* of f32, f16, bf16, fp8, i8 and f64. Model: an f32 (f64) fused
// multiply-add per k, ascending, starting from C; integers wrap. The order inside the
// hardware is not published; no result may depend on more than exact sums.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Matrix.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Element formats of A and B.
struct ElementF32 {
  static constexpr unsigned bits = 32;
  static float decode(uint32_t u) { return floatOf(u); }
};
struct ElementF16 {
  static constexpr unsigned bits = 16;
  static float decode(uint32_t u) { return halfToFloat(u & 0xffff); }
};
struct ElementBf16 {
  static constexpr unsigned bits = 16;
  static float decode(uint32_t u) { return bf16ToFloat(u & 0xffff); }
};
template <class Format> struct ElementFp8 {
  static constexpr unsigned bits = 8;
  static float decode(uint32_t u) { return Format::decode(u & 0xff); }
};
struct ElementI8 {
  static constexpr unsigned bits = 8;
  static int32_t decode(uint32_t u) { return int8_t(u); }
};

/// Lane that B is read from, by blgp.
unsigned permutedLane(unsigned blgp, unsigned lane) {
  switch (blgp) {
  case 1:
    return lane & 31;
  case 2:
    return 32 | (lane & 31);
  case 3:
    return (lane + 16) & 63;
  case 4:
  case 5:
  case 6:
  case 7:
    return (blgp - 4) * 16 + (lane & 15);
  default:
    return lane;
  }
}

struct Modifiers {
  unsigned cbsz, abid, blgp;
  explicit Modifiers(const Inst *in)
      : cbsz(in->extra & 7), abid(in->extra >> 4 & 15), blgp(in->extra >> 8 & 7) {}
};

/// Registers of one operand to out[block][k][row].
template <class E, unsigned M, unsigned K, unsigned Blocks, class T>
void unpack(const Wave &wave, Operand op, unsigned blgp, T (&out)[Blocks][K][M]) {
  constexpr unsigned groups = waveSize / (M * Blocks), perLane = K / groups;
  constexpr unsigned perRegister = 32 / E::bits;
  const uint32_t *p = wave.lanes(op);
  alignas(64) uint32_t permuted[waveSize];
  for (unsigned e = 0; e < perLane; ++e) {
    const uint32_t *reg = p + e / perRegister * waveSize;
    unsigned shift = e % perRegister * E::bits % 32;
    if (blgp) {
      for (unsigned l = 0; l < waveSize; ++l)
        permuted[l] = reg[permutedLane(blgp, l)];
      reg = permuted;
    }
    for (unsigned first = 0; first < waveSize; first += M) {
      unsigned part = first / M;
      T *row = Blocks == 1 ? out[0][part * perLane + e] : out[part][e];
      for (unsigned i = 0; i < M; ++i)
        row[i] = E::decode(reg[first + i] >> shift);
    }
  }
}

/// The block of A that block b uses: abid within its group of 2^cbsz when broadcast.
unsigned blockOfA(const Modifiers &m, unsigned b) {
  unsigned group = 1u << m.cbsz;
  return m.cbsz ? (b & ~(group - 1)) | (m.abid & (group - 1)) : b;
}

template <class EA, class EB, unsigned M, unsigned K, unsigned Blocks>
const Inst *mfmaFloat(Wave &wave, const Inst *in) {
  Modifiers m(in);
  alignas(64) float a[Blocks][K][M], b[Blocks][K][M], acc[Blocks][M][M];
  unpack<EA, M, K, Blocks>(wave, in->src[0], 0, a);
  unpack<EB, M, K, Blocks>(wave, in->src[1], m.blgp, b);
  if constexpr (EA::bits == 32)
    if (!(wave.mode >> ModeDenorm32Shift & 1))
      for (float *p : {&a[0][0][0], &b[0][0][0]})
        for (unsigned i = 0; i < Blocks * K * M; ++i)
          p[i] = flushed(p[i]);
  loadAccumulator<M, Blocks>(wave, in->src[2], acc);
  for (unsigned block = 0; block < Blocks; ++block)
    multiply<M, K>(a[blockOfA(m, block) % Blocks], b[block], acc[block]);
  storeAccumulator<M, Blocks>(wave, in->dst, acc);
  return in + 1;
}

template <unsigned M, unsigned K, unsigned Blocks>
const Inst *mfmaInteger(Wave &wave, const Inst *in) {
  Modifiers m(in);
  alignas(64) int32_t a[Blocks][K][M], b[Blocks][K][M];
  alignas(64) uint32_t acc[Blocks][M][M];
  unpack<ElementI8, M, K, Blocks>(wave, in->src[0], 0, a);
  unpack<ElementI8, M, K, Blocks>(wave, in->src[1], m.blgp, b);
  loadAccumulator<M, Blocks>(wave, in->src[2], acc);
  for (unsigned block = 0; block < Blocks; ++block) {
    const auto &left = a[blockOfA(m, block) % Blocks];
    for (unsigned i = 0; i < M; ++i)
      for (unsigned k = 0; k < K; ++k)
        for (unsigned j = 0; j < M; ++j)
          acc[block][i][j] += uint32_t(left[k][i] * b[block][k][j]);
  }
  storeAccumulator<M, Blocks>(wave, in->dst, acc);
  return in + 1;
}

double pairAt(const Wave &wave, Operand op, unsigned pair, unsigned lane) {
  if (op.bank == BankConstant || op.bank == BankScalar)
    return doubleOf(wave.read64(op));
  const uint32_t *p = wave.lanes(op) + 2 * pair * waveSize;
  return doubleOf(p[lane] | uint64_t(p[waveSize + lane]) << 32);
}
void setPair(const Wave &wave, Operand op, unsigned pair, unsigned lane, double value) {
  uint32_t *p = wave.lanes(op) + 2 * pair * waveSize;
  p[lane] = uint32_t(bitsOf(value));
  p[waveSize + lane] = uint32_t(bitsOf(value) >> 32);
}

/// f64: blgp negates A, B, C instead of permuting.
const Inst *mfmaDouble16(Wave &wave, const Inst *in) {
  Modifiers m(in);
  double signA = m.blgp & 1 ? -1 : 1, signB = m.blgp & 2 ? -1 : 1, signC = m.blgp & 4 ? -1 : 1;
  double acc[4][waveSize];
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned l = 0; l < waveSize; ++l) {
      unsigned row = 4 * r + l / 16, column = l % 16;
      double sum = signC * pairAt(wave, in->src[2], r, l);
      for (unsigned k = 0; k < 4; ++k)
        sum = __builtin_fma(signA * pairAt(wave, in->src[0], 0, 16 * k + row),
                            signB * pairAt(wave, in->src[1], 0, 16 * k + column), sum);
      acc[r][l] = sum;
    }
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned l = 0; l < waveSize; ++l)
      setPair(wave, in->dst, r, l, acc[r][l]);
  return in + 1;
}

/// Four blocks: A and B have lane 16 * k + 4 * block + index, the result 16 * row + 4 * block +
/// column.
const Inst *mfmaDouble4(Wave &wave, const Inst *in) {
  Modifiers m(in);
  double signA = m.blgp & 1 ? -1 : 1, signB = m.blgp & 2 ? -1 : 1, signC = m.blgp & 4 ? -1 : 1;
  double acc[waveSize];
  for (unsigned l = 0; l < waveSize; ++l) {
    unsigned row = l / 16, block = l / 4 % 4, column = l % 4;
    unsigned left = blockOfA(m, block) % 4;
    double sum = signC * pairAt(wave, in->src[2], 0, l);
    for (unsigned k = 0; k < 4; ++k)
      sum = __builtin_fma(signA * pairAt(wave, in->src[0], 0, 16 * k + 4 * left + row),
                          signB * pairAt(wave, in->src[1], 0, 16 * k + 4 * block + column), sum);
    acc[l] = sum;
  }
  for (unsigned l = 0; l < waveSize; ++l)
    setPair(wave, in->dst, 0, l, acc[l]);
  return in + 1;
}

constexpr ValueType typeOf(unsigned dwords) {
  switch (dwords) {
  case 1:
    return ValueType::B32;
  case 2:
    return ValueType::B64;
  case 4:
    return ValueType::B128;
  case 8:
    return ValueType::B256;
  case 16:
    return ValueType::B512;
  default:
    return ValueType::B1024;
  }
}

void addRow(OpTable &t, const std::string &name, Handler handler, unsigned inDwords,
            unsigned accDwords) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Mfma;
  info.handler = handler;
  info.dst = info.src[2] = typeOf(accDwords);
  info.src[0] = info.src[1] = typeOf(inDwords);
  info.sources = 3;
  t.add(info);
}

template <class EA, class EB, unsigned M, unsigned K, unsigned Blocks>
void addFloat(OpTable &t, const char *name) {
  unsigned inDwords = M * K * Blocks * EA::bits / 32 / waveSize;
  addRow(t, std::string("v_mfma_f32_") + name, mfmaFloat<EA, EB, M, K, Blocks>, inDwords,
         accumulatorRegisters<M>(Blocks));
}
template <unsigned M, unsigned K, unsigned Blocks> void addInteger(OpTable &t, const char *name) {
  addRow(t, std::string("v_mfma_i32_") + name, mfmaInteger<M, K, Blocks>,
         M * K * Blocks / 4 / waveSize, accumulatorRegisters<M>(Blocks));
}

template <class E> void addShort(OpTable &t, const std::string &suffix) {
  auto name = [&](const char *shape) { return std::string(shape) + suffix; };
  addFloat<E, E, 16, 32, 1>(t, name("16x16x32_").c_str());
  addFloat<E, E, 32, 16, 1>(t, name("32x32x16_").c_str());
  addFloat<E, E, 16, 16, 1>(t, name("16x16x16_").c_str());
  addFloat<E, E, 32, 8, 1>(t, name("32x32x8_").c_str());
  addFloat<E, E, 32, 4, 2>(t, name("32x32x4_2b_").c_str());
  addFloat<E, E, 16, 4, 4>(t, name("16x16x4_4b_").c_str());
  addFloat<E, E, 4, 4, 16>(t, name("4x4x4_16b_").c_str());
}

template <class EA, class EB> void addFp8(OpTable &t, const std::string &suffix) {
  addFloat<EA, EB, 16, 32, 1>(t, ("16x16x32_" + suffix).c_str());
  addFloat<EA, EB, 32, 16, 1>(t, ("32x32x16_" + suffix).c_str());
}

} // namespace

void addMfma(OpTable &t) {
  addShort<ElementF16>(t, "f16");
  addShort<ElementBf16>(t, "bf16");
  addFp8<ElementFp8<Fp8>, ElementFp8<Fp8>>(t, "fp8_fp8");
  addFp8<ElementFp8<Fp8>, ElementFp8<Bf8>>(t, "fp8_bf8");
  addFp8<ElementFp8<Bf8>, ElementFp8<Fp8>>(t, "bf8_fp8");
  addFp8<ElementFp8<Bf8>, ElementFp8<Bf8>>(t, "bf8_bf8");
  using F = ElementF32;
  addFloat<F, F, 16, 4, 1>(t, "16x16x4_f32");
  addFloat<F, F, 32, 2, 1>(t, "32x32x2_f32");
  addFloat<F, F, 32, 1, 2>(t, "32x32x1_2b_f32");
  addFloat<F, F, 16, 1, 4>(t, "16x16x1_4b_f32");
  addFloat<F, F, 4, 1, 16>(t, "4x4x1_16b_f32");
  addInteger<16, 32, 1>(t, "16x16x32_i8");
  addInteger<32, 16, 1>(t, "32x32x16_i8");
  addInteger<16, 64, 1>(t, "16x16x64_i8");
  addInteger<32, 32, 1>(t, "32x32x32_i8");
  addInteger<32, 4, 2>(t, "32x32x4_2b_i8");
  addInteger<16, 4, 4>(t, "16x16x4_4b_i8");
  addInteger<4, 4, 16>(t, "4x4x4_16b_i8");
  addRow(t, "v_mfma_f64_16x16x4_f64", mfmaDouble16, 2, 8);
  addRow(t, "v_mfma_f64_4x4x4_4b_f64", mfmaDouble4, 2, 2);
}

GFX950EMU_EXEC_END
