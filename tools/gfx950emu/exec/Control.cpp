//===- Control.cpp - branches, barriers, modes (SOPP and the jumps of SOP1, SOPK) --------===//

#include "tools/gfx950emu/core/Decoder.h"
#include "tools/gfx950emu/exec/Scalar.h"

GFX950EMU_EXEC_BEGIN

namespace {

void control(OpTable &t, llvm::StringRef name, Handler handler, uint32_t param = 0) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Control;
  info.handler = handler;
  info.param = param;
  t.add(info);
}

template <class F> void addBranch(OpTable &t, llvm::StringRef name, F) {
  control(
      t, name,
      [](Wave &wave, const Inst *in) -> const Inst * {
        return F()(wave) ? branch(wave, in) : in + 1;
      },
      paramBranch);
}

const Inst *end(Wave &wave, const Inst *in) { return wave.pause(in, Stop::Ended); }

/// Waits, cache controls, priorities, performance counters: memory is coherent and in order here.
const Inst *nothing(Wave &, const Inst *in) { return in + 1; }

void addJumps(OpTable &t) {
  saluHandler<uint64_t>(t, "s_getpc_b64", [](Wave &wave, const Inst *in) {
    wave.setScalar64(in->dst.index, wave.program->address(in) + in->size);
    return in + 1;
  });
  saluHandler<void, uint64_t>(t, "s_setpc_b64", [](Wave &wave, const Inst *in) {
    return jumpTo(wave, in, wave.read64(in->src[0]));
  });
  saluHandler<uint64_t, uint64_t>(t, "s_swappc_b64", [](Wave &wave, const Inst *in) {
    uint64_t target = wave.read64(in->src[0]);
    wave.setScalar64(in->dst.index, wave.program->address(in) + in->size);
    return jumpTo(wave, in, target);
  });
  saluHandler<uint64_t>(t, "s_call_b64", [](Wave &wave, const Inst *in) {
    wave.setScalar64(in->dst.index, wave.program->address(in) + in->size);
    return branch(wave, in);
  }).param = paramBranch;
}

void addGprIndex(OpTable &t) {
  // M0[7:0] = index, M0[15:12] = mode.
  auto on = [](Wave &wave, const Inst *in) {
    uint32_t mode = uint32_t(in->imm) >> 8 & 0xf; // SOPC: the mode takes the place of source 1
    uint32_t index = wave.read32(in->src[0]) & 0xff;
    wave.sgpr[SgprM0] = (wave.sgpr[SgprM0] & 0xffff0f00) | index | mode << 12;
    wave.gprIdxMode = mode;
    wave.setMode(wave.mode | ModeGprIdxEnable);
    return in + 1;
  };
  saluHandler<void, uint32_t>(t, "s_set_gpr_idx_on", on);
  saluHandler<void, uint32_t>(t, "s_set_gpr_idx_idx", [](Wave &wave, const Inst *in) {
    wave.sgpr[SgprM0] = (wave.sgpr[SgprM0] & 0xffffff00) | (wave.read32(in->src[0]) & 0xff);
    return in + 1;
  });
  control(t, "s_set_gpr_idx_mode", [](Wave &wave, const Inst *in) {
    uint32_t mode = uint32_t(in->imm) & 0xf;
    wave.sgpr[SgprM0] = (wave.sgpr[SgprM0] & 0xffff0fff) | mode << 12;
    if (wave.mode & ModeGprIdxEnable)
      wave.gprIdxMode = mode;
    return in + 1;
  });
  control(t, "s_set_gpr_idx_off", [](Wave &wave, const Inst *in) {
    wave.gprIdxMode = 0;
    wave.setMode(wave.mode & ~uint32_t(ModeGprIdxEnable));
    return in + 1;
  });
}

} // namespace

void addControl(OpTable &t) {
  for (const char *name : {"s_nop", "s_waitcnt", "s_setprio", "s_icache_inv", "s_wakeup",
                           "s_incperflevel", "s_decperflevel", "s_ttracedata", "s_sethalt"})
    control(t, name, nothing);
  control(t, "s_endpgm", end);
  control(t, "s_endpgm_saved", end);
  control(t, "s_barrier",
          [](Wave &wave, const Inst *in) { return wave.pause(in + 1, Stop::Barrier); });
  control(t, "s_sleep", [](Wave &wave, const Inst *in) { return wave.pause(in + 1, Stop::Yield); });
  control(t, "s_trap", [](Wave &wave, const Inst *in) {
    return wave.fail(in, FaultKind::Trap, -1,
                     "trap " + std::to_string(in->imm & 0xff) + " (2 is abort or a failed assert)");
  });
  addBranch(t, "s_branch", [](Wave &) { return true; });
  addBranch(t, "s_cbranch_scc0", [](Wave &w) { return !w.scc(); });
  addBranch(t, "s_cbranch_scc1", [](Wave &w) { return w.scc(); });
  addBranch(t, "s_cbranch_vccz", [](Wave &w) { return w.vcc() == 0; });
  addBranch(t, "s_cbranch_vccnz", [](Wave &w) { return w.vcc() != 0; });
  addBranch(t, "s_cbranch_execz", [](Wave &w) { return w.exec() == 0; });
  addBranch(t, "s_cbranch_execnz", [](Wave &w) { return w.exec() != 0; });
  addJumps(t);
  addGprIndex(t);
}

GFX950EMU_EXEC_END
