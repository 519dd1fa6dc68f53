//===- Valu.cpp ---------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Valu.h"

#include "tools/gfx950emu/exec/Float.h"

#include <cfenv>

GFX950EMU_EXEC_BEGIN

namespace {

/// The common case: plain operands, default modes.
template <unsigned Sources, bool MaskIn, bool MaskOut, bool Compare>
const Inst *valuFast(Wave &wave, const Inst *in) {
  const OpInfo &op = *in->op;
  if ((in->form & ~FormAliased) | (wave.fpSlow & op.param) | wave.gprIdxMode) [[unlikely]]
    return valuSlow(wave, in);
  alignas(64) uint32_t space[Sources ? Sources : 1][2 * waveSize];
  alignas(64) uint32_t maskIn[MaskIn ? waveSize : 1], maskOut[MaskOut ? waveSize : 1];
  LaneArgs args;
  args.inst = in;
  args.mode = wave.mode;
  for (unsigned i = 0; i < Sources; ++i)
    args.src[i] = fetchLanes(wave, in->src[i], space[i]);
  if constexpr (MaskIn) {
    expandMask(wave.scalar64(in->smask.index), maskIn);
    args.maskIn = maskIn;
  }
  if constexpr (MaskOut)
    args.maskOut = maskOut;
  uint64_t exec = wave.exec();
  if constexpr (!Compare) {
    uint32_t *dst = wave.lanes(in->dst);
    args.old = dst;
    if (exec == ~uint64_t(0) && !(in->form & FormAliased)) {
      args.out = dst;
      op.lanes(args);
    } else {
      alignas(64) uint32_t out[2 * waveSize];
      args.out = out;
      op.lanes(args);
      mergeLanes(dst, out, exec, in->dst.dwords);
    }
  } else {
    op.lanes(args);
  }
  if constexpr (MaskOut) {
    uint64_t mask = packMask(maskOut) & exec;
    wave.setScalar64(in->sdst.index, mask);
    if constexpr (Compare)
      if (op.flags & OpWritesExec)
        wave.setExec(mask);
  }
  return in + 1;
}

template <unsigned Sources> Handler pick(uint16_t flags) {
  if (flags & OpCompare)
    return valuFast<Sources, false, true, true>;
  switch (flags & (OpReadsMask | OpWritesMask)) {
  case OpReadsMask:
    return valuFast<Sources, true, false, false>;
  case OpWritesMask:
    return valuFast<Sources, false, true, false>;
  case OpReadsMask | OpWritesMask:
    return valuFast<Sources, true, true, false>;
  default:
    return valuFast<Sources, false, false, false>;
  }
}

bool isShort(ValueType t) {
  return t == ValueType::F16 || t == ValueType::I16 || t == ValueType::U16;
}
bool isPacked16(ValueType t) { return t == ValueType::Pk16 || t == ValueType::PkF16; }

/// The sign bit of each dword of a type that source modifiers act on; 0 where they do not.
uint32_t signBits(ValueType t) {
  switch (t) {
  case ValueType::F32:
    return 0x80000000;
  case ValueType::F16:
    return 0x8000;
  default:
    return 0;
  }
}

void selectSdwa(uint32_t *v, unsigned select, bool signExtend) {
  if (select >= 6)
    return;
  unsigned width = select < 4 ? 8 : 16, shift = select < 4 ? 8 * select : 16 * (select - 4);
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t x = v[l] >> shift << (32 - width);
    v[l] = signExtend ? uint32_t(int32_t(x) >> (32 - width)) : x >> (32 - width);
  }
}

void flushF32(uint32_t *v) {
  for (unsigned l = 0; l < waveSize; ++l)
    v[l] = (v[l] & 0x7f800000) == 0 ? v[l] & 0x80000000 : v[l];
}
void flushHalves(uint32_t *v) {
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t low = (v[l] & 0x7c00) == 0 ? v[l] & 0x8000 : v[l] & 0xffff;
    uint32_t high = (v[l] & 0x7c000000) == 0 ? v[l] & 0x80000000 : v[l] & 0xffff0000;
    v[l] = low | high;
  }
}
void flushF64(uint32_t *v) {
  for (unsigned l = 0; l < waveSize; ++l)
    if ((v[waveSize + l] & 0x7ff00000) == 0) {
      v[l] = 0;
      v[waveSize + l] &= 0x80000000;
    }
}

void flushDenormals(uint32_t *v, ValueType type) {
  switch (type) {
  case ValueType::F32:
  case ValueType::Mix:
    return flushF32(v);
  case ValueType::PkF32:
    flushF32(v);
    return flushF32(v + waveSize);
  case ValueType::F16:
  case ValueType::PkF16:
    return flushHalves(v);
  case ValueType::F64:
    return flushF64(v);
  default:
    return;
  }
}

/// MODE's denorm field for a type: bit 0 = sources keep denormals, bit 1 = results do.
unsigned denormField(uint32_t mode, ValueType type) {
  bool single = type == ValueType::F32 || type == ValueType::PkF32 || type == ValueType::Mix;
  return mode >> (single ? ModeDenorm32Shift : ModeDenorm64Shift) & 3;
}

/// v_fma_mix: each source is an f32, or the half that op_sel names, as f32.
void prepareMix(const Inst *in, unsigned i, uint32_t *v) {
  bool half = in->opSelHi >> i & 1, high = in->opSel >> i & 1;
  bool negate = in->neg >> i & 1, absolute = in->abs >> i & 1;
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t x = half ? bitsOf(halfToFloat((high ? v[l] >> 16 : v[l]) & 0xffff)) : v[l];
    x = absolute ? x & 0x7fffffff : x;
    v[l] = negate ? x ^ 0x80000000 : x;
  }
}

void applySourceModifiers(const Inst *in, unsigned i, uint32_t *v) {
  const OpInfo &op = *in->op;
  ValueType type = op.src[i];
  bool negate = in->neg >> i & 1, absolute = in->abs >> i & 1;
  bool select = in->opSel >> i & 1, selectHigh = in->opSelHi >> i & 1;
  if (op.flags & OpRawOpSel)
    select = false;
  if (type == ValueType::Mix)
    return prepareMix(in, i, v);
  if (isPacked16(type)) {
    uint32_t flip = (negate ? 0x8000u : 0) | (absolute ? 0x80000000u : 0); // neg_lo, neg_hi
    for (unsigned l = 0; l < waveSize; ++l) {
      uint32_t low = select ? v[l] >> 16 : v[l] & 0xffff;
      uint32_t high = selectHigh ? v[l] & 0xffff0000 : v[l] << 16;
      v[l] = (low | high) ^ flip;
    }
    return;
  }
  if (type == ValueType::PkF32) {
    for (unsigned l = 0; l < waveSize; ++l) {
      uint32_t low = v[select ? waveSize + l : l], high = v[selectHigh ? waveSize + l : l];
      v[l] = negate ? low ^ 0x80000000 : low;
      v[waveSize + l] = absolute ? high ^ 0x80000000 : high;
    }
    return;
  }
  if (select && isShort(type))
    for (unsigned l = 0; l < waveSize; ++l)
      v[l] >>= 16;
  uint32_t *signWord = type == ValueType::F64 ? v + waveSize : v;
  uint32_t sign = type == ValueType::F64 ? 0x80000000 : signBits(type);
  if (absolute)
    for (unsigned l = 0; l < waveSize; ++l)
      signWord[l] &= ~sign;
  if (negate)
    for (unsigned l = 0; l < waveSize; ++l)
      signWord[l] ^= sign;
}

float clampToOne(float f, bool nanToZero) {
  if (f != f)
    return nanToZero ? 0.0f : f;
  return f > 0 ? std::min(f, 1.0f) : 0.0f;
}

uint32_t clampHalf(uint32_t h, bool nanToZero) {
  h &= 0xffff;
  if ((h & 0x7fff) > 0x7c00)
    return nanToZero ? 0 : h;
  return h & 0x8000 ? 0 : std::min<uint32_t>(h, 0x3c00);
}

/// omod and clamp of a float result.
void applyResultModifiers(const Inst *in, uint32_t mode, uint32_t *v) {
  ValueType type = in->op->dst;
  bool nanToZero = mode & ModeDx10Clamp;
  // The hardware ignores omod when IEEE is set or result denormals are kept.
  bool scale = in->omod && !(mode & ModeIeee) && !(denormField(mode, type) & 2);
  float factor = in->omod == 1 ? 2.0f : in->omod == 2 ? 4.0f : 0.5f;
  unsigned words = type == ValueType::PkF32 ? 2 : 1;
  switch (type) {
  case ValueType::F32:
  case ValueType::PkF32:
    for (unsigned i = 0; i < words * waveSize; ++i) {
      float f = floatOf(v[i]);
      f = scale ? flushed(f * factor) : f;
      v[i] = bitsOf(in->clamp ? clampToOne(f, nanToZero) : f);
    }
    break;
  case ValueType::F16:
  case ValueType::PkF16:
    for (unsigned l = 0; l < waveSize; ++l) {
      uint32_t x = v[l];
      if (scale)
        x = floatToHalf(halfToFloat(x & 0xffff) * factor);
      if (in->clamp)
        x = clampHalf(x, nanToZero) |
            (type == ValueType::PkF16 ? clampHalf(x >> 16, nanToZero) << 16 : 0);
      v[l] = x;
    }
    break;
  case ValueType::F64:
    for (unsigned l = 0; l < waveSize; ++l) {
      double d = doubleOf(v[l] | uint64_t(v[waveSize + l]) << 32);
      d = scale ? d * double(factor) : d;
      if (in->clamp)
        d = d != d ? (nanToZero ? 0.0 : d) : d > 0 ? std::min(d, 1.0) : 0.0;
      v[l] = uint32_t(bitsOf(d));
      v[waveSize + l] = uint32_t(bitsOf(d) >> 32);
    }
    break;
  default:
    break;
  }
}

/// Place a result by SDWA's dst_sel and dst_unused.
void placeSdwa(uint32_t *v, const uint32_t *old, uint32_t sdwa) {
  unsigned select = sdwa >> 8 & 7, unused = sdwa >> 11 & 3;
  if (select >= 6)
    return;
  unsigned width = select < 4 ? 8 : 16, shift = select < 4 ? 8 * select : 16 * (select - 4);
  uint32_t field = width == 8 ? 0xff : 0xffff;
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t x = (v[l] & field) << shift, keep = 0;
    if (unused == 1) { // sign-extend above, zero below
      uint32_t sign = uint32_t(int32_t(v[l] << (32 - width)) >> (32 - width));
      x = sign << shift;
    } else if (unused == 2) {
      keep = old[l] & ~(field << shift);
    }
    v[l] = x | keep;
  }
}

/// Set the host's rounding direction from a MODE round field while alive.
class HostRounding {
public:
  explicit HostRounding(unsigned field) : active(field != 0) {
    static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (active)
      std::fesetround(modes[field & 3]);
  }
  ~HostRounding() {
    if (active)
      std::fesetround(FE_TONEAREST);
  }

private:
  bool active;
};

} // namespace

Handler valuHandler(unsigned sources, uint16_t flags) {
  switch (sources) {
  case 0:
    return pick<0>(flags);
  case 1:
    return pick<1>(flags);
  case 2:
    return pick<2>(flags);
  default:
    return pick<3>(flags);
  }
}

void dppSources(uint32_t control, int8_t *source) {
  for (int l = 0; l < int(waveSize); ++l) {
    int row = l & ~15, in = l & 15, s = -1;
    unsigned n = control & 15;
    if (control <= 0xff) {
      s = (l & ~3) | (control >> (2 * (l & 3)) & 3);
    } else if (control >= 0x101 && control <= 0x10f) { // row_shl
      s = in + int(n) <= 15 ? l + int(n) : -1;
    } else if (control >= 0x111 && control <= 0x11f) { // row_shr
      s = in - int(n) >= 0 ? l - int(n) : -1;
    } else if (control >= 0x121 && control <= 0x12f) { // row_ror
      s = row | ((in - int(n)) & 15);
    } else if (control == 0x130) { // wave_shl
      s = l + 1 < int(waveSize) ? l + 1 : -1;
    } else if (control == 0x134) { // wave_rol
      s = (l + 1) & 63;
    } else if (control == 0x138) { // wave_shr
      s = l - 1;
    } else if (control == 0x13c) { // wave_ror
      s = (l - 1) & 63;
    } else if (control == 0x140) { // row_mirror
      s = row | (15 - in);
    } else if (control == 0x141) { // row_half_mirror
      s = (l & ~7) | (7 - (l & 7));
    } else if (control == 0x142) { // row_bcast15
      s = row >= 16 ? row - 1 : -1;
    } else if (control == 0x143) { // row_bcast31
      s = l >= 32 ? 31 : -1;
    } else if (control >= 0x150 && control <= 0x15f) { // row_newbcast
      s = row | int(n);
    }
    source[l] = int8_t(s);
  }
}

const Inst *valuSlow(Wave &wave, const Inst *in) {
  const OpInfo &op = *in->op;
  bool compare = op.flags & OpCompare, keepsDenormals = op.flags & OpKeepsDenormals;
  uint64_t exec = wave.exec(), writeMask = exec;
  alignas(64) uint32_t src[3][2 * waveSize], out[2 * waveSize];
  alignas(64) LaneVector maskIn, maskOut;

  auto indexed = [&](Operand o, uint32_t bit) {
    if ((wave.gprIdxMode & bit) && o.bank == BankVgpr)
      o.index = o.index + (wave.sgpr[SgprM0] & 0xff);
    return o;
  };
  Operand dst = indexed(in->dst, GprIdxDst), sources[3];
  for (unsigned i = 0; i < op.sources; ++i) {
    bool accumulator = (op.flags & OpAccumulates) && i + 1 == op.sources;
    sources[i] = accumulator ? dst : indexed(in->src[i], GprIdxSrc0 << i);
  }
  if (wave.gprIdxMode)
    for (Operand o : {dst, sources[0], sources[1], sources[2]})
      if (o.bank == BankVgpr && o.index + o.dwords > wave.vgprLimit)
        return wave.fail(in, FaultKind::BadRegister, -1,
                         "indexes v" + std::to_string(o.index) + ", the descriptor allocates " +
                             std::to_string(wave.vgprLimit) + " VGPRs");

  LaneArgs args;
  args.inst = in;
  args.mode = wave.mode;
  args.out = out;
  args.maskIn = maskIn;
  args.maskOut = maskOut;
  args.old = compare ? nullptr : wave.lanes(dst);

  for (unsigned i = 0; i < op.sources; ++i) {
    alignas(64) uint32_t space[2 * waveSize];
    memcpy(src[i], fetchLanes(wave, sources[i], space), sources[i].dwords * sizeof(LaneVector));
    if (i == 0 && (in->form & FormDpp)) {
      int8_t from[waveSize];
      dppSources(in->extra >> 8 & 0x1ff, from);
      bool zeroFill = in->extra >> 19 & 1;
      uint32_t banks = in->extra >> 24 & 15, rows = in->extra >> 28 & 15;
      memcpy(space, src[0], sizeof space);
      for (unsigned l = 0; l < waveSize; ++l) {
        bool valid = from[l] >= 0 && (exec >> from[l] & 1);
        bool enabled = (rows >> (l / 16) & 1) && (banks >> (l % 16 / 4) & 1);
        if (!enabled || (!valid && !zeroFill))
          writeMask &= ~(uint64_t(1) << l);
        for (unsigned d = 0; d < sources[0].dwords; ++d)
          src[0][d * waveSize + l] = valid ? space[d * waveSize + unsigned(from[l])] : 0;
      }
    }
    if ((in->form & FormSdwa) && i < 2)
      selectSdwa(src[i], in->extra >> (i ? 24 : 16) & 7, in->extra >> (i ? 27 : 19) & 1);
    if (in->form)
      applySourceModifiers(in, i, src[i]);
    if (!keepsDenormals && !(denormField(wave.mode, op.src[i]) & 1))
      flushDenormals(src[i], op.src[i]);
    args.src[i] = src[i];
  }
  if (op.flags & OpReadsMask)
    expandMask(wave.scalar64(in->smask.index), maskIn);

  bool floatResult = floatClass(op.dst) != 0;
  LaneFn lanes = op.lanes;
  if (in->clamp && !floatResult && !compare) {
    lanes = op.clampLanes;
    if (!lanes)
      return wave.fail(in, FaultKind::UnknownInstruction, -1, "clamp has no meaning here");
  }
  bool halfResult = op.dst == ValueType::F16 || op.dst == ValueType::PkF16;
  unsigned round = 0;
  if (op.param & wave.fpSlow && !(op.flags & OpNearestEven))
    round = wave.mode >>
                (halfResult || op.dst == ValueType::F64 ? ModeRound64Shift : ModeRound32Shift) &
            3;
  if (round && halfResult && !op.wideLanes)
    return wave.fail(in, FaultKind::UnknownInstruction, -1,
                     "a rounding mode other than nearest-even is not modelled here");
  {
    HostRounding rounding(round);
    (round && halfResult ? op.wideLanes : lanes)(args);
  }
  if (round && halfResult)
    for (uint32_t &v : llvm::MutableArrayRef(out, waveSize))
      v = floatToHalfDirected(floatOf(v), round);
  if (!compare) {
    if (in->omod || (in->clamp && floatResult))
      applyResultModifiers(in, wave.mode, out);
    if (!keepsDenormals && !(denormField(wave.mode, op.dst) & 2))
      flushDenormals(out, op.dst);
    uint32_t *old = wave.lanes(dst);
    if (in->form & FormSdwa) {
      placeSdwa(out, old, in->extra);
    } else if (op.flags & OpKeepsHigh) {
      bool high = op.flags & OpWritesHigh || (in->opSel & 8);
      for (unsigned l = 0; l < waveSize; ++l)
        out[l] =
            high ? (old[l] & 0xffff) | out[l] << 16 : (old[l] & 0xffff0000) | (out[l] & 0xffff);
    }
    mergeLanes(old, out, writeMask, dst.dwords);
  }
  if (op.flags & OpWritesMask) {
    uint64_t mask = packMask(maskOut) & writeMask;
    wave.setScalar64(in->sdst.index, mask);
    if (op.flags & OpWritesExec)
      wave.setExec(mask);
  }
  return in + 1;
}

GFX950EMU_EXEC_END
