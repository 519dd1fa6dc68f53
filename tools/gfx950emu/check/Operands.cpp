//===- Operands.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/check/Operands.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace llvm;

namespace gfx950emu::check {

namespace {

constexpr Operand execRegister{SgprExec, 2, BankScalar};
constexpr Operand m0Register{SgprM0, 1, BankScalar};
constexpr uint32_t segmentGlobal = 2; ///< Inst::extra of FLAT

Operand widened(Operand o, unsigned dwords) {
  o.dwords = dwords;
  return o;
}

class Collector {
public:
  Collector(const Wave &wave, const Inst &in) : wave(wave), in(in), op(*in.op) {}

  Uses collect() {
    switch (op.family) {
    case Family::Valu:
      valu();
      break;
    case Family::Lane:
      lane();
      break;
    case Family::Mfma:
      mfma();
      break;
    case Family::Salu:
      salu();
      break;
    case Family::Smem:
      smem();
      break;
    case Family::Flat:
    case Family::Mubuf:
    case Family::Ds:
      memory();
      break;
    case Family::Control:
      break;
    }
    return std::move(uses);
  }

private:
  void read(Operand o, Role role) {
    if (o.bank == BankVgpr || o.bank == BankAgpr || o.bank == BankScalar)
      uses.reads.push_back({widened(o, std::max<unsigned>(o.dwords, 1)), role});
  }
  void write(Operand o) {
    if (o.bank == BankVgpr || o.bank == BankAgpr || o.bank == BankScalar)
      uses.writes.push_back({widened(o, std::max<unsigned>(o.dwords, 1)), Role::Result});
  }
  Operand indexed(Operand o, uint32_t bit) const {
    if ((wave.gprIdxMode & bit) && o.bank == BankVgpr)
      o.index = o.index + (wave.sgpr[SgprM0] & 0xff);
    return o;
  }

  void valu() {
    Operand dst = indexed(in.dst, GprIdxDst);
    for (unsigned i = 0; i < op.sources; ++i) {
      bool accumulator = (op.flags & OpAccumulates) && i + 1 == op.sources;
      read(accumulator ? dst : indexed(in.src[i], GprIdxSrc0 << i), Role(i));
    }
    if (op.flags & OpReadsMask)
      read(widened(in.smask, 2), Role::Mask);
    if (!(op.flags & OpCompare)) {
      if ((in.form & (FormSdwa | FormDpp)) || (op.flags & (OpReadsOld | OpKeepsHigh)))
        read(dst, Role::OldResult);
      write(dst);
    }
    if (op.flags & OpWritesMask)
      write(widened(in.sdst, 2));
    if (op.flags & OpWritesExec)
      write(execRegister);
  }
  void lane() {
    read(indexed(in.src[0], GprIdxSrc0), Role::Source0);
    read(in.src[1], Role::Source1);
    bool swaps = in.sdst.present();
    if (swaps || op.mnemonic == "v_writelane_b32")
      read(in.dst, Role::OldResult);
    write(in.dst);
    if (swaps) {
      read(in.sdst, Role::Source0);
      write(in.sdst);
    }
  }
  void mfma() {
    for (unsigned i = 0; i < 3; ++i)
      read(in.src[i], Role(i));
    if (in.size == 16) {
      read(in.sdst, Role::Scale);
      read(in.smask, Role::Scale);
    } else if (op.flags & OpAccumulates) {
      read(in.smask, Role::Scale);
    }
    write(in.dst);
  }
  void salu() {
    for (unsigned i = 0; i < op.sources && i < 3; ++i)
      read(in.src[i], Role(i));
    bool inPlace =
        StringSwitch<bool>(op.mnemonic)
            .Cases({"s_addk_i32", "s_mulk_i32", "s_cmovk_i32", "s_cmov_b32", "s_cmov_b64"}, true)
            .StartsWith("s_bitset", true)
            .Default(false);
    if (inPlace)
      read(in.dst, Role::OldResult);
    write(in.dst);
    if (op.mnemonic.contains("saveexec") || op.mnemonic.contains("wrexec")) {
      read(execRegister, Role::Source1);
      write(execRegister);
    }
  }
  void smem() {
    bool buffer = op.param & 0x100;
    unsigned dwords = op.param & 0xff;
    if (dwords == 0) {
      if (op.mnemonic.starts_with("s_mem"))
        write(widened(in.dst, 2)); // a clock
      return;
    }
    read(widened(in.src[0], buffer ? 4 : 2), Role::Address);
    read(in.smask, Role::Address);
    write(widened(in.dst, dwords));
  }
  void memory() {
    bool lanesOnly = op.mnemonic == "ds_swizzle_b32";
    read(in.src[0], lanesOnly ? Role::Source0 : Role::Address);
    read(in.src[1], Role::Data);
    read(in.src[2], Role::Data);
    if (op.family == Family::Mubuf)
      read(in.sdst, Role::Address);
    if (op.family != Family::Ds)
      read(widened(in.smask, op.family == Family::Flat && in.extra == segmentGlobal ? 2 : 1),
           Role::Address);
    if (isLdsDma(in))
      read(m0Register, Role::Address);
    if (op.mnemonic.contains("_d16"))
      read(in.dst, Role::OldResult);
    write(in.dst);
  }

  const Wave &wave;
  const Inst &in;
  const OpInfo &op;
  Uses uses;
};

} // namespace

Uses usesOf(const Wave &wave, const Inst &in) {
  return in.op ? Collector(wave, in).collect() : Uses();
}

std::string registerName(Operand reg) {
  if (reg.bank == BankScalar) {
    switch (reg.index) {
    case SgprVcc:
      return "vcc";
    case SgprM0:
      return "m0";
    case SgprExec:
      return "exec";
    case SgprScc:
      return "scc";
    default:
      break;
    }
  }
  char bank = reg.bank == BankVgpr ? 'v' : reg.bank == BankAgpr ? 'a' : 's';
  if (reg.dwords <= 1)
    return bank + std::to_string(reg.index);
  return std::string(1, bank) + "[" + std::to_string(reg.index) + ":" +
         std::to_string(reg.index + reg.dwords - 1) + "]";
}

bool isLdsDma(const Inst &in) {
  constexpr uint32_t mubufLds = 4; // Inst::extra of MUBUF
  return in.op && ((in.op->family == Family::Mubuf && (in.extra & mubufLds)) ||
                   in.op->mnemonic.starts_with("global_load_lds_"));
}

bool isAtomic(const Inst &in) {
  if (!in.op)
    return false;
  if (in.op->family == Family::Ds)
    return in.op->src[1] != ValueType::None && !in.op->mnemonic.starts_with("ds_write") &&
           !in.op->mnemonic.contains("permute");
  return in.op->mnemonic.contains("_atomic_");
}

} // namespace gfx950emu::check
