//===- MfmaF8f6f4.cpp - mixed narrow formats with block scales ------------------------------===//
//
// Owns v_mfma_[scale_]f32_*_f8f6f4. Model: the dot product of each block of 32 logical k
// is exact (in f64), is multiplied by both scales and added to the accumulator with one
// rounding to f32, blocks ascending.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Matrix.h"

GFX950EMU_EXEC_BEGIN

namespace {

enum Format : unsigned { FormatFp8, FormatBf8, FormatFp6, FormatBf6, FormatFp4 };
constexpr unsigned blockK = 32;

float decode(unsigned format, uint32_t code) {
  switch (format) {
  case FormatFp8:
    return Fp8::decode(code & 0xff);
  case FormatBf8:
    return Bf8::decode(code & 0xff);
  case FormatFp6:
    return Fp6::decode(code & 0x3f);
  case FormatBf6:
    return Bf6::decode(code & 0x3f);
  default:
    return Fp4::decode(code & 0xf);
  }
}

/// 8-bit formats hold two chunks of 16 consecutive k a lane, the narrower ones 32.
template <unsigned M, unsigned K> unsigned logicalK(bool chunked, unsigned group, unsigned e) {
  if (!chunked)
    return 32 * group + e;
  return (e < 16 ? 0 : K / 2) + 16 * group + e % 16;
}

template <unsigned M, unsigned K>
void unpack(const Wave &wave, Operand op, unsigned format, float (&out)[K][M]) {
  bool chunked = format == FormatFp8 || format == FormatBf8;
  unsigned bits = chunked ? 8 : format == FormatFp4 ? 4 : 6;
  const uint32_t *p = wave.lanes(op);
  float table[256];
  for (unsigned c = 0; c < (1u << bits); ++c)
    table[c] = decode(format, c);
  for (unsigned e = 0; e < 32; ++e) {
    unsigned at = e * bits, shift = at % 32;
    const uint32_t *low = p + at / 32 * waveSize;
    bool straddles = shift + bits > 32;
    for (unsigned l = 0; l < waveSize; ++l) {
      uint32_t code = low[l] >> shift;
      if (straddles)
        code |= low[waveSize + l] << (32 - shift);
      out[logicalK<M, K>(chunked, l / M, e)][l % M] = table[code & ((1u << bits) - 1)];
    }
  }
}

/// Factor of each row (column) and block: E8M0, 255 is NaN.
template <unsigned M, unsigned K>
void loadScales(const Wave &wave, Operand op, unsigned byte, double (&out)[K / blockK][M]) {
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t code = wave.lanes(op)[l] >> (8 * byte) & 0xff;
    out[l / M][l % M] = code == 255 ? std::numeric_limits<double>::quiet_NaN()
                                    : doubleOf(uint64_t(code + 1023 - 127) << 52);
  }
}

template <unsigned M, unsigned K, bool Scaled> const Inst *mfma(Wave &wave, const Inst *in) {
  constexpr unsigned blocks = K / blockK;
  unsigned formatA = in->extra & 7, formatB = in->extra >> 8 & 7;
  alignas(64) float a[K][M], b[K][M], acc[1][M][M];
  unpack<M, K>(wave, in->src[0], formatA, a);
  unpack<M, K>(wave, in->src[1], formatB, b);
  loadAccumulator<M, 1>(wave, in->src[2], acc);
  alignas(64) double scaleA[blocks][M], scaleB[blocks][M];
  if constexpr (Scaled) {
    if (in->sdst.bank > BankAgpr || in->smask.bank > BankAgpr)
      return wave.fail(in, FaultKind::UnknownInstruction, -1,
                       "a scale that is no vector register (the hardware reads other bits of it)");
    loadScales<M, K>(wave, in->sdst, (in->opSel & 1) | (in->opSelHi & 1) << 1, scaleA);
    loadScales<M, K>(wave, in->smask, (in->opSel >> 1 & 1) | (in->opSelHi >> 1 & 1) << 1, scaleB);
  }
  // Products of 4- and 6-bit formats have so few bits that 32 of them sum exactly in f32.
  bool exactInSingle = formatA >= FormatFp6 && formatB >= FormatFp6;
  for (unsigned block = 0; block < blocks; ++block) {
    const float (*ka)[M] = a + block * blockK, (*kb)[M] = b + block * blockK;
    for (unsigned i = 0; i < M; ++i) {
      alignas(64) double sum[M];
      if (exactInSingle) {
        alignas(64) float partial[M] = {};
        for (unsigned k = 0; k < blockK; ++k)
          for (unsigned j = 0; j < M; ++j)
            partial[j] = __builtin_fmaf(ka[k][i], kb[k][j], partial[j]);
        for (unsigned j = 0; j < M; ++j)
          sum[j] = double(partial[j]);
      } else {
        std::fill_n(sum, M, 0.0);
        for (unsigned k = 0; k < blockK; ++k)
          for (unsigned j = 0; j < M; ++j)
            sum[j] += double(ka[k][i]) * double(kb[k][j]);
      }
      for (unsigned j = 0; j < M; ++j) {
        if constexpr (Scaled)
          sum[j] *= scaleA[block][i] * scaleB[block][j];
        acc[0][i][j] = float(double(acc[0][i][j]) + sum[j]);
      }
    }
  }
  storeAccumulator<M, 1>(wave, in->dst, acc);
  return in + 1;
}

void addRow(OpTable &t, const char *name, Handler handler, ValueType accumulator) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Mfma;
  info.handler = handler;
  info.dst = info.src[2] = accumulator;
  info.src[0] = info.src[1] = ValueType::B128; // at least; the decoder sets widths by format
  info.sources = 3;
  info.param = 1;
  t.add(info);
}

} // namespace

void addMfmaF8f6f4(OpTable &t) {
  addRow(t, "v_mfma_f32_16x16x128_f8f6f4", mfma<16, 128, false>, ValueType::B128);
  addRow(t, "v_mfma_f32_32x32x64_f8f6f4", mfma<32, 64, false>, ValueType::B512);
  addRow(t, "v_mfma_scale_f32_16x16x128_f8f6f4", mfma<16, 128, true>, ValueType::B128);
  addRow(t, "v_mfma_scale_f32_32x32x64_f8f6f4", mfma<32, 64, true>, ValueType::B512);
}

GFX950EMU_EXEC_END
