//===- Vop3p.cpp - packed arithmetic ------------------------------------------------------===//
//
// Owns v_pk_*. Halves are already selected and negated when a lane function runs.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"
#include "tools/gfx950emu/exec/MinMax.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Apply a 16-bit lambda to both halves.
template <class D, class... S, class F, class... U> uint32_t bothHalves(F f, U... u) {
  uint32_t low = D::toBits(f(S::fromBits(u & 0xffff)...));
  uint32_t high = D::toBits(f(S::fromBits(u >> 16)...));
  return low | high << 16;
}

template <class T, class F> void packed2(OpTable &t, llvm::StringRef name, F) {
  using P = std::conditional_t<std::is_same_v<T, F16> || std::is_same_v<T, H16>, PkF16, Pk16>;
  valu<P, P, P>(t, name, [](uint32_t a, uint32_t b) { return bothHalves<T, T, T>(F(), a, b); });
}

/// With the saturating variant of an integer operation.
template <class T, class F, class C> void packedClamped2(OpTable &t, llvm::StringRef name, F, C) {
  auto plain = [](uint32_t a, uint32_t b) { return bothHalves<T, T, T>(F(), a, b); };
  valu<Pk16, Pk16, Pk16>(t, name, plain).clampLanes = clamped<Pk16, Pk16, Pk16>(
      [](uint32_t a, uint32_t b) { return bothHalves<T, T, T>(C(), a, b); });
}

uint16_t saturateU16(int v) { return uint16_t(std::clamp(v, 0, 65535)); }
int16_t saturateI16(int v) { return int16_t(std::clamp(v, -32768, 32767)); }

void addIntegers(OpTable &t) {
  packedClamped2<U16>(
      t, "v_pk_add_u16", [](uint16_t a, uint16_t b) { return uint16_t(a + b); },
      [](uint16_t a, uint16_t b) { return saturateU16(a + b); });
  packedClamped2<U16>(
      t, "v_pk_sub_u16", [](uint16_t a, uint16_t b) { return uint16_t(a - b); },
      [](uint16_t a, uint16_t b) { return saturateU16(a - b); });
  packedClamped2<I16>(
      t, "v_pk_add_i16", [](int16_t a, int16_t b) { return int16_t(a + b); },
      [](int16_t a, int16_t b) { return saturateI16(a + b); });
  packedClamped2<I16>(
      t, "v_pk_sub_i16", [](int16_t a, int16_t b) { return int16_t(a - b); },
      [](int16_t a, int16_t b) { return saturateI16(a - b); });
  packed2<U16>(t, "v_pk_mul_lo_u16",
               [](uint16_t a, uint16_t b) { return uint16_t(uint32_t(a) * b); });
  packed2<U16>(t, "v_pk_lshlrev_b16",
               [](uint16_t a, uint16_t b) { return uint16_t(b << (a & 15)); });
  packed2<U16>(t, "v_pk_lshrrev_b16",
               [](uint16_t a, uint16_t b) { return uint16_t(b >> (a & 15)); });
  packed2<I16>(t, "v_pk_ashrrev_i16", [](int16_t a, int16_t b) { return int16_t(b >> (a & 15)); });
  packed2<U16>(t, "v_pk_max_u16", [](uint16_t a, uint16_t b) { return std::max(a, b); });
  packed2<U16>(t, "v_pk_min_u16", [](uint16_t a, uint16_t b) { return std::min(a, b); });
  packed2<I16>(t, "v_pk_max_i16", [](int16_t a, int16_t b) { return std::max(a, b); });
  packed2<I16>(t, "v_pk_min_i16", [](int16_t a, int16_t b) { return std::min(a, b); });
  auto mad = [](uint32_t a, uint32_t b, uint32_t c) {
    return bothHalves<U16, U16, U16, U16>(
        [](uint16_t x, uint16_t y, uint16_t z) { return uint16_t(uint32_t(x) * y + z); }, a, b, c);
  };
  valu<Pk16, Pk16, Pk16, Pk16>(t, "v_pk_mad_u16", mad).clampLanes =
      clamped<Pk16, Pk16, Pk16, Pk16>([](uint32_t a, uint32_t b, uint32_t c) {
        return bothHalves<U16, U16, U16, U16>(
            [](uint16_t x, uint16_t y, uint16_t z) {
              return uint16_t(std::min<uint64_t>(uint64_t(x) * y + z, 65535));
            },
            a, b, c);
      });
  valu<Pk16, Pk16, Pk16, Pk16>(t, "v_pk_mad_i16", mad).clampLanes =
      clamped<Pk16, Pk16, Pk16, Pk16>([](uint32_t a, uint32_t b, uint32_t c) {
        return bothHalves<I16, I16, I16, I16>(
            [](int16_t x, int16_t y, int16_t z) {
              return int16_t(std::clamp<int64_t>(int64_t(x) * y + z, -32768, 32767));
            },
            a, b, c);
      });
}

void addHalves(OpTable &t) {
  packed2<F16>(t, "v_pk_add_f16", [](float a, float b) { return a + b; });
  packed2<F16>(t, "v_pk_mul_f16", [](float a, float b) { return a * b; });
  valuArgs<PkF16, PkF16, PkF16>(
      t, "v_pk_max_f16", [](const LaneArgs &args, uint32_t a, uint32_t b) {
        bool ieee = args.mode & ModeIeee;
        return bothHalves<F16, F16, F16>([ieee](float x, float y) { return maxNumber(x, y, ieee); },
                                         a, b);
      });
  valuArgs<PkF16, PkF16, PkF16>(
      t, "v_pk_min_f16", [](const LaneArgs &args, uint32_t a, uint32_t b) {
        bool ieee = args.mode & ModeIeee;
        return bothHalves<F16, F16, F16>([ieee](float x, float y) { return minNumber(x, y, ieee); },
                                         a, b);
      });
  auto fma = [](uint32_t a, uint32_t b, uint32_t c) {
    return bothHalves<H16, F16, F16, F16>(
        [](float x, float y, float z) { return fmaHalf(x, y, z); }, a, b, c);
  };
  valu<PkF16, PkF16, PkF16, PkF16>(t, "v_pk_fma_f16", fma);
  valu<PkF16, PkF16, PkF16, PkF16>(t, "v_pk_fmac_f16", fma, OpAccumulates);
  valu<PkF16, PkF16, PkF16, PkF16>(t, "v_pk_maximum3_f16", [](uint32_t a, uint32_t b, uint32_t c) {
    return bothHalves<F16, F16, F16, F16>(
        [](float x, float y, float z) { return maximum(maximum(x, y), z); }, a, b, c);
  });
  valu<PkF16, PkF16, PkF16, PkF16>(t, "v_pk_minimum3_f16", [](uint32_t a, uint32_t b, uint32_t c) {
    return bothHalves<F16, F16, F16, F16>(
        [](float x, float y, float z) { return minimum(minimum(x, y), z); }, a, b, c);
  });
}

/// f32 pairs: low and high registers are consecutive arrays, so a pair is 128 lanes.
template <class F> struct PairLoop {
  static void body(uint32_t *__restrict out, const uint32_t *a, const uint32_t *b,
                   const uint32_t *c) {
    F f;
    for (unsigned i = 0; i < 2 * waveSize; ++i)
      out[i] = bitsOf(f(floatOf(a[i]), floatOf(b[i]), c ? floatOf(c[i]) : 0.0f));
  }
  static void run(const LaneArgs &args) { body(args.out, args.src[0], args.src[1], args.src[2]); }
};
struct PairF32 {
  static constexpr ValueType type = ValueType::PkF32;
};

template <class F> void pair2(OpTable &t, llvm::StringRef name, F) {
  t.add(valuRow<PairF32, PairF32, PairF32>(name, PairLoop<F>::run, 0));
}

/// D.low = the half of S0 that op_sel[0] names, D.high = the half of S1 that op_sel[1] names.
void movePair(const LaneArgs &args) {
  const uint32_t *low = args.src[0] + (args.inst->opSel & 1 ? waveSize : 0);
  const uint32_t *high = args.src[1] + (args.inst->opSel & 2 ? waveSize : 0);
  memmove(args.out, low, sizeof(LaneVector));
  memmove(args.out + waveSize, high, sizeof(LaneVector));
}

} // namespace

void addVop3p(OpTable &t) {
  addIntegers(t);
  addHalves(t);
  pair2(t, "v_pk_add_f32", [](float a, float b, float) { return a + b; });
  pair2(t, "v_pk_mul_f32", [](float a, float b, float) { return a * b; });
  auto fma = [](float a, float b, float c) { return __builtin_fmaf(a, b, c); };
  t.add(
      valuRow<PairF32, PairF32, PairF32, PairF32>("v_pk_fma_f32", PairLoop<decltype(fma)>::run, 0));
  t.add(valuRow<B64, B64, B64>("v_pk_mov_b32", movePair, OpRawOpSel));
}

GFX950EMU_EXEC_END
