//===- Hazard.cpp - wait states that the hardware does not insert -------------------===//
//
// Owns the rules for gfx950, with distances in wait states: every instruction between
// two others is one, s_nop N is N + 1. MFMA rules are those of the CDNA3/CDNA4 ISA's
// "manually inserted wait states" table as LLVM applies it, with one state more on
// gfx950 for 4 passes and above, plus mixed opcodes on one accumulator.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/check/Checks.h"
#include "tools/gfx950emu/check/Operands.h"

#include <algorithm>
#include <array>
#include <unordered_map>

using namespace llvm;

namespace gfx950emu::check {

namespace {

/// What an instruction is to these rules.
struct Traits {
  bool valu = false; ///< vector ALU but MFMA
  bool mfma = false;
  bool xdl = false; ///< an MFMA on the matrix core: neither f32 nor f64 sources
  bool f64 = false; ///< an f64 MFMA
  unsigned passes = 0;
  bool transcendental = false;
  bool dot = false;
  bool partial = false; ///< writes part of its destination register
  bool memory = false;  ///< VMEM, FLAT or DS
  bool vmem = false;
  unsigned wideStoreDwords = 0; ///< a vector memory store of more than 64 bits
  bool laneAccess = false;      ///< v_readlane, v_readfirstlane, v_writelane
  bool laneSwap = false;        ///< v_permlane16_swap, v_permlane32_swap
  bool dpp = false;
  bool scalarMove = false; ///< s_movrel: m0 names a register
  bool setReg = false, getReg = false;
  unsigned hardwareRegister = 0; ///< of those two
  unsigned states = 1;
};

/// SDWA with a destination narrower than the register, op_sel[3], and conversions whose op_sel
/// names a byte; those of fp4 that round by random bits count always.
bool writesPart(const Inst &in) {
  StringRef name = in.op->mnemonic;
  if (in.form & FormSdwa)
    return (in.extra >> 8 & 7) != 6 && !(in.op->flags & OpCompare);
  if (in.form & FormDpp)
    return false;
  if (name.starts_with("v_cvt_scalef32_sr_pk_fp4_"))
    return true;
  bool byteOfFour = name.starts_with("v_cvt_scalef32_pk_fp4_") || name.starts_with("v_cvt_sr_") ||
                    name.starts_with("v_cvt_scalef32_sr_");
  return in.opSel & (byteOfFour ? 12 : 8);
}

unsigned mfmaPasses(const Inst &in) {
  StringRef name = in.op->mnemonic;
  name.consume_front("v_mfma_");
  name.consume_front("scale_");
  if (name.consume_front("f64_"))
    return name.starts_with("16x16") ? 16 : 4;
  bool single = name.ends_with("_f32") || name.ends_with("xf32");
  name = name.drop_front(name.find('_') + 1); // result type
  if (name.contains("f8f6f4")) {
    // Twice as long when a source has 8-bit elements (formats 0 and 1).
    bool wide = (in.extra & 7) < 2 || (in.extra >> 8 & 7) < 2;
    return (name.starts_with("32x32") ? 8 : 4) * (wide ? 2 : 1);
  }
  if (name.starts_with("4x4"))
    return 2;
  bool blocks = name.contains("b_") && (name.contains("_2b_") || name.contains("_4b_"));
  if (name.starts_with("32x32"))
    return single || blocks ? 16 : 8;
  return single || blocks ? 8 : 4;
}

Traits traitsOf(const Inst &in) {
  Traits t;
  if (!in.op)
    return t;
  const OpInfo &op = *in.op;
  StringRef name = op.mnemonic;
  switch (op.family) {
  case Family::Mfma:
    t.mfma = true;
    t.f64 = name.starts_with("v_mfma_f64");
    t.xdl = !t.f64 && !name.ends_with("_f32");
    t.passes = mfmaPasses(in);
    break;
  case Family::Valu:
  case Family::Lane:
    t.valu = name != "v_nop";
    for (StringRef prefix : {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"})
      t.transcendental |= name.starts_with(prefix);
    t.dot = name.starts_with("v_dot");
    t.partial = writesPart(in);
    t.laneAccess = name.starts_with("v_readlane") || name.starts_with("v_readfirstlane") ||
                   name.starts_with("v_writelane");
    t.laneSwap = name.starts_with("v_permlane");
    t.dpp = in.form & FormDpp;
    break;
  case Family::Flat:
  case Family::Mubuf:
    t.vmem = t.memory = true;
    if (in.src[1].present() && !isAtomic(in) && in.src[1].dwords > 2 &&
        !(op.family == Family::Mubuf && in.smask.bank == BankScalar))
      t.wideStoreDwords = in.src[1].dwords;
    break;
  case Family::Ds:
    t.memory = true;
    break;
  case Family::Control:
    if (name == "s_nop")
      t.states = (unsigned(in.imm) & 15) + 1;
    break;
  case Family::Salu:
    t.scalarMove = name.starts_with("s_movrel");
    t.setReg = name.starts_with("s_setreg");
    t.getReg = name.starts_with("s_getreg");
    t.hardwareRegister = unsigned(in.imm) & 63;
    break;
  default:
    break;
  }
  return t;
}

/// The last instruction that did something to a register, and when.
struct Event {
  const Inst *in = nullptr;
  uint64_t time = 0;
};

struct VectorRegister {
  Event mfmaWrite, mfmaReadC, valuWrite, transWrite, dotWrite, partialWrite, storeRead;
};
struct ScalarRegister {
  Event valuWrite, saluWrite;
};

struct WaveState {
  uint64_t time = 1;
  std::array<VectorRegister, 2 * vgprFile> vector;
  std::array<ScalarRegister, SgprFileSize> scalar;
  Event f64Mfma;
  std::array<Event, 64> setReg; ///< by hardware register
};

class HazardCheck : public WorkgroupObserver {
public:
  explicit HazardCheck(const CheckContext &context)
      : context(context), waves(context.group.waves) {}

  void waveBegin(Wave &wave) override { waves[wave.indexInGroup] = std::make_unique<WaveState>(); }

  bool before(Wave &wave, const Inst *in) override {
    now = {&wave, in, &traits(in), waves[wave.indexInGroup].get()};
    Uses uses = usesOf(wave, *in);
    for (const Use &use : uses.reads)
      for (unsigned d = 0; d < use.reg.dwords; ++d)
        checkRead(use, d);
    for (const Use &use : uses.writes)
      for (unsigned d = 0; d < use.reg.dwords; ++d)
        checkWrite(use, d);
    checkExec();
    if (in->op && in->op->mnemonic.starts_with("v_fma") && in->op->mnemonic.ends_with("_f64"))
      require(2, now.state->f64Mfma, "an f64 fma follows an f64 MFMA");
    checkScalarUnit();
    record(uses);
    return true;
  }

private:
  struct Current {
    Wave *wave;
    const Inst *in;
    const Traits *traits;
    WaveState *state;
  };

  const Traits &traits(const Inst *in) {
    auto [it, fresh] = known.try_emplace(in);
    if (fresh)
      it->second = traitsOf(*in);
    return it->second;
  }
  static bool isVector(Operand o) { return o.bank == BankVgpr || o.bank == BankAgpr; }
  VectorRegister &vectorRegister(Operand o, unsigned d) {
    return now.state->vector[(o.bank * vgprFile + o.index + d) % (2 * vgprFile)];
  }
  ScalarRegister &scalarRegister(Operand o, unsigned d) {
    return now.state->scalar[(o.index + d) % SgprFileSize];
  }

  /// `needed` wait states must lie between `event` and the current instruction.
  void require(unsigned needed, const Event &event, StringRef what, Operand reg = {},
               unsigned d = 0) {
    if (!event.in || needed == 0)
      return;
    uint64_t found = now.state->time - event.time - 1;
    if (found >= needed)
      return;
    context.report(CheckKind::Hazard, *now.wave, now.in, -1, [&] {
      reg.index = reg.index + d;
      reg.dwords = 1;
      return what.str() + (reg.present() ? " (" + registerName(reg) + ")" : "") + ", after " +
             describe(*now.wave->program, event.in) + ": expected " + std::to_string(needed) +
             " wait states between them, found " + std::to_string(found);
    });
  }

  /// States from an MFMA's result to its use as anything but the accumulator.
  static unsigned afterMfma(const Traits &mfma, unsigned double4, unsigned double16) {
    if (mfma.f64)
      return mfma.passes == 4 ? double4 : double16;
    return mfma.passes + (mfma.xdl ? 3 : 2) + (mfma.xdl && mfma.passes != 2 ? 1 : 0);
  }

  void checkMfmaRead(const Use &use, unsigned d, VectorRegister &r) {
    const Traits &t = *now.traits;
    require(2, r.valuWrite, "an MFMA reads what a VALU instruction wrote", use.reg, d);
    if (!r.mfmaWrite.in)
      return;
    const Traits &writer = traits(r.mfmaWrite.in);
    if (use.role != Role::Source2) {
      require(afterMfma(writer, 6, 19), r.mfmaWrite,
              "an MFMA reads as A, B or scale what an MFMA wrote", use.reg, d);
      return;
    }
    bool same = overlapsExactly(r.mfmaWrite.in->dst, use.reg);
    if (same && writer.f64 && t.f64 && writer.passes == 4)
      require(4, r.mfmaWrite, "an f64 MFMA accumulates on another's result", use.reg, d);
    else if (same && r.mfmaWrite.in->op != now.in->op)
      require(writer.xdl || t.xdl ? 5 : 2, r.mfmaWrite,
              "an MFMA accumulates on the result of one with another opcode", use.reg, d);
    else if (same && writer.passes == 2)
      require(2, r.mfmaWrite, "an MFMA accumulates on the result of a 2-pass MFMA", use.reg, d);
    else if (!same && writer.f64)
      require(t.xdl                ? 0
              : writer.passes == 4 ? 4
                                   : 17,
              r.mfmaWrite, "an MFMA accumulates on part of another's result", use.reg, d);
    else if (!same && (writer.xdl || !t.xdl))
      require(writer.passes + (writer.xdl ? 1 : 0) + (writer.xdl && writer.passes != 2 ? 1 : 0),
              r.mfmaWrite, "an MFMA accumulates on part of another's result", use.reg, d);
  }
  static bool overlapsExactly(Operand a, Operand b) {
    return a.bank == b.bank && a.index == b.index && a.dwords == b.dwords;
  }

  void checkRead(const Use &use, unsigned d) {
    const Traits &t = *now.traits;
    if (use.reg.bank == BankScalar) {
      ScalarRegister &s = scalarRegister(use.reg, d);
      if (t.vmem)
        require(5, s.valuWrite, "vector memory reads a scalar that a VALU instruction wrote",
                use.reg, d);
      if (isLdsDma(*now.in) && use.reg.index == SgprM0)
        require(1, s.saluWrite, "LDS DMA reads m0 after a scalar write", use.reg, d);
      if (t.valu) {
        bool laneSelect = t.laneAccess && use.role == Role::Source1;
        bool divFmas = now.in->op->mnemonic.starts_with("v_div_fmas") && use.role == Role::Mask;
        require(laneSelect || divFmas ? 4 : 2, s.valuWrite,
                "a VALU instruction reads a scalar that one wrote", use.reg, d);
      }
      return;
    }
    VectorRegister &r = vectorRegister(use.reg, d);
    if (t.mfma)
      return checkMfmaRead(use, d, r);
    if ((t.valu || t.memory) && r.mfmaWrite.in)
      require(t.memory ? afterMfma(traits(r.mfmaWrite.in), 9, 18)
                       : afterMfma(traits(r.mfmaWrite.in), 6, 19),
              r.mfmaWrite,
              t.memory ? "memory reads what an MFMA wrote"
                       : "a VALU instruction reads what an MFMA wrote",
              use.reg, d);
    if ((t.valu || t.memory) && r.dotWrite.in &&
        (r.dotWrite.in->op != now.in->op || use.role != Role::Source2))
      require(3, r.dotWrite, "reads the result of a dot product", use.reg, d);
    if (!t.valu)
      return;
    if (!t.transcendental)
      require(1, r.transWrite, "reads the result of a transcendental", use.reg, d);
    require(1, r.partialWrite, "reads a register of which a part was just written", use.reg, d);
    if (t.dpp && use.role == Role::Source0)
      require(2, r.valuWrite, "DPP reads what a VALU instruction wrote", use.reg, d);
    if (t.laneSwap)
      require(2, r.valuWrite, "a swap between lanes reads what a VALU instruction wrote", use.reg,
              d);
    if (t.laneAccess && use.role == Role::Source0)
      require(1, r.valuWrite, "a lane is read right after the register was written", use.reg, d);
  }

  void checkWrite(const Use &use, unsigned d) {
    const Traits &t = *now.traits;
    if (!isVector(use.reg) || !(t.valu || t.memory))
      return;
    VectorRegister &r = vectorRegister(use.reg, d);
    if (r.mfmaWrite.in)
      require(afterMfma(traits(r.mfmaWrite.in), 6, 19), r.mfmaWrite,
              "overwrites what an MFMA is about to write", use.reg, d);
    if (r.dotWrite.in && r.dotWrite.in->op != now.in->op)
      require(3, r.dotWrite, "overwrites the result of a dot product", use.reg, d);
    if (r.mfmaReadC.in && traits(r.mfmaReadC.in).xdl)
      require(traits(r.mfmaReadC.in).passes - 1, r.mfmaReadC,
              "overwrites the accumulator that an MFMA still reads", use.reg, d);
    if (t.valu)
      require(2, r.storeRead, "overwrites data of a store of more than 64 bits", use.reg, d);
  }

  void checkExec() {
    const Traits &t = *now.traits;
    const Event &e = now.state->scalar[SgprExec].valuWrite;
    if (t.mfma || t.laneAccess || t.laneSwap)
      require(4, e, "EXEC was written by a VALU instruction");
    if (t.dpp)
      require(5, e, "DPP follows a VALU write of EXEC");
  }

  void checkScalarUnit() {
    const Traits &t = *now.traits;
    if (t.scalarMove)
      require(1, now.state->scalar[SgprM0].saluWrite, "m0 names a register right after its write");
    if (t.setReg || t.getReg)
      require(2, now.state->setReg[t.hardwareRegister],
              "a hardware register is accessed right after s_setreg");
  }

  void record(const Uses &uses) {
    const Traits &t = *now.traits;
    Event event{now.in, now.state->time};
    for (const Use &use : uses.reads)
      for (unsigned d = 0; d < use.reg.dwords && isVector(use.reg); ++d) {
        VectorRegister &r = vectorRegister(use.reg, d);
        if (t.mfma && use.role == Role::Source2)
          r.mfmaReadC = event;
        if (t.wideStoreDwords && use.role == Role::Data)
          r.storeRead = event;
      }
    for (const Use &use : uses.writes)
      for (unsigned d = 0; d < use.reg.dwords; ++d) {
        if (!isVector(use.reg)) {
          ScalarRegister &s = scalarRegister(use.reg, d);
          (t.valu ? s.valuWrite : s.saluWrite) = event;
          if (!t.valu)
            s.valuWrite = Event();
          continue;
        }
        VectorRegister &r = vectorRegister(use.reg, d);
        Event readC = r.mfmaReadC, stored = r.storeRead;
        r = VectorRegister();
        r.mfmaReadC = readC;
        r.storeRead = stored;
        if (t.mfma)
          r.mfmaWrite = event;
        if (t.valu)
          r.valuWrite = event;
        if (t.transcendental)
          r.transWrite = event;
        if (t.dot)
          r.dotWrite = event;
        if (t.partial)
          r.partialWrite = event;
      }
    if (t.f64)
      now.state->f64Mfma = event;
    if (t.setReg)
      now.state->setReg[t.hardwareRegister] = event;
    now.state->time += t.states;
  }

  CheckContext context;
  std::vector<std::unique_ptr<WaveState>> waves;
  std::unordered_map<const Inst *, Traits> known;
  Current now{};
};

} // namespace

std::unique_ptr<WorkgroupObserver> makeHazardCheck(const CheckContext &context) {
  return std::make_unique<HazardCheck>(context);
}

} // namespace gfx950emu::check
