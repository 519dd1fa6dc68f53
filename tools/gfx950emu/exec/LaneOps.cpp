//===- LaneOps.cpp - instructions that move data between lanes or register files ----------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

OpInfo row(llvm::StringRef name, Handler handler, ValueType dst, ValueType src0, ValueType src1) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Lane;
  info.handler = handler;
  info.dst = dst;
  info.src[0] = src0;
  info.src[1] = src1;
  info.sources = src1 != ValueType::None ? 2 : src0 != ValueType::None ? 1 : 0;
  return info;
}

uint32_t laneOf(const Wave &wave, Operand op, unsigned lane) {
  return op.bank == BankScalar ? wave.sgpr[op.index] : wave.lanes(op)[lane];
}

/// Source 0 with s_set_gpr_idx applied; false after a fault.
bool indexedSource(Wave &wave, const Inst *in, Operand &source) {
  source = in->src[0];
  if (!(wave.gprIdxMode & GprIdxSrc0) || source.bank != BankVgpr)
    return true;
  source.index = source.index + (wave.sgpr[SgprM0] & 0xff);
  if (source.index < wave.vgprLimit)
    return true;
  wave.fail(in, FaultKind::BadRegister, -1, "indexes v" + std::to_string(source.index));
  return false;
}

const Inst *readFirstLane(Wave &wave, const Inst *in) {
  uint64_t exec = wave.exec();
  Operand source;
  if (!indexedSource(wave, in, source))
    return nullptr;
  wave.sgpr[in->dst.index] = laneOf(wave, source, exec ? unsigned(std::countr_zero(exec)) : 0);
  return in + 1;
}

const Inst *readLane(Wave &wave, const Inst *in) {
  Operand source;
  if (!indexedSource(wave, in, source))
    return nullptr;
  wave.sgpr[in->dst.index] = laneOf(wave, source, wave.read32(in->src[1]) & 63);
  return in + 1;
}

const Inst *writeLane(Wave &wave, const Inst *in) {
  wave.lanes(in->dst)[wave.read32(in->src[1]) & 63] = wave.read32(in->src[0]);
  return in + 1;
}

const Inst *swapRegisters(Wave &wave, const Inst *in) {
  uint32_t *a = wave.lanes(in->dst), *b = wave.lanes(in->sdst);
  for (uint64_t m = wave.exec(); m; m &= m - 1)
    std::swap(a[std::countr_zero(m)], b[std::countr_zero(m)]);
  return in + 1;
}

/// v_permlane32_swap: the upper half of D with the lower half of S; v_permlane16_swap: the same
/// within each half. A pair of lanes is exchanged when both are active.
template <unsigned Half> const Inst *permlaneSwap(Wave &wave, const Inst *in) {
  uint32_t *d = wave.lanes(in->dst), *s = wave.lanes(in->sdst);
  uint64_t exec = wave.exec();
  for (unsigned base = 0; base < waveSize; base += 2 * Half)
    for (unsigned i = 0; i < Half; ++i)
      if ((exec >> (base + i) & 1) && (exec >> (base + Half + i) & 1))
        std::swap(d[base + Half + i], s[base + i]);
  return in + 1;
}

/// Count the bits of source 0 below the lane, plus source 1; `Shift` selects the half of the wave.
template <unsigned Shift> void maskedCount(const LaneArgs &args) {
  for (unsigned l = 0; l < waveSize; ++l) {
    uint64_t below = (uint64_t(1) << l) - 1;
    uint32_t mask = uint32_t(below >> Shift);
    args.out[l] = uint32_t(std::popcount(args.src[0][l] & mask)) + args.src[1][l];
  }
}

} // namespace

void addLaneOps(OpTable &t) {
  t.add(row("v_readfirstlane_b32", readFirstLane, ValueType::B32, ValueType::B32, ValueType::None));
  t.add(row("v_readlane_b32", readLane, ValueType::B32, ValueType::B32, ValueType::B32));
  t.add(row("v_writelane_b32", writeLane, ValueType::B32, ValueType::B32, ValueType::B32));
  t.add(row("v_swap_b32", swapRegisters, ValueType::B32, ValueType::None, ValueType::None));
  t.add(row("v_permlane32_swap_b32", permlaneSwap<32>, ValueType::B32, ValueType::None,
            ValueType::None));
  t.add(row("v_permlane16_swap_b32", permlaneSwap<16>, ValueType::B32, ValueType::None,
            ValueType::None));
  t.add(row(
      "v_nop", [](Wave &, const Inst *in) { return in + 1; }, ValueType::None, ValueType::None,
      ValueType::None));
  auto move = [](uint32_t a) { return a; };
  valu<B32, B32>(t, "v_accvgpr_read_b32", move);
  valu<B32, B32>(t, "v_accvgpr_write_b32", move);
  valu<B32, B32>(t, "v_accvgpr_mov_b32", move);
  t.add(valuRow<U32, U32, U32>("v_mbcnt_lo_u32_b32", maskedCount<0>, 0));
  t.add(valuRow<U32, U32, U32>("v_mbcnt_hi_u32_b32", maskedCount<32>, 0));
}

GFX950EMU_EXEC_END
