//===- Undefined.cpp - values that nothing wrote, followed as memcheck does ---------------===//
//
// Owns the definedness of registers (bits), LDS and scratch (bits) and global memory (bytes,
// in the MemoryMap). Undefined bits may be moved and computed with; they are reported when
// they decide: in an address, a branch, EXEC, MODE, or data stored to global memory. What was
// reported counts as defined from then on, so that one mistake is one finding.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/check/Checks.h"
#include "tools/gfx950emu/check/Differential.h"

#include "llvm/ADT/Twine.h"

#include <cstring>

using namespace llvm;

namespace gfx950emu::check {

namespace {

constexpr unsigned maxLaneBytes = 16, maxScalarBytes = 64;

struct WaveShadow {
  WaveShadow(const Wave &wave, const KernelInfo &kernel)
      : registers(wave, kernel), scratch(size_t(wave.scratchBytes) * waveSize, 0xff) {}
  Shadow registers;
  std::vector<uint8_t> scratch; ///< undefined bits, laid out as Wave::scratch
};

class UndefinedCheck : public WorkgroupObserver {
public:
  explicit UndefinedCheck(const CheckContext &context)
      : context(context), waves(context.group.waves), lds((context.group.ldsBytes + 3) / 4, ~0u) {}

  void waveBegin(Wave &wave) override {
    waves[wave.indexInGroup] = std::make_unique<WaveShadow>(wave, *context.group.dispatch->kernel);
  }

  bool before(Wave &wave, const Inst *in) override {
    now = Current();
    now.wave = &wave;
    now.in = in;
    now.shadow = waves[wave.indexInGroup].get();
    now.exec = wave.exec();
    if (!in->op)
      return true;
    now.uses = usesOf(wave, *in);
    switch (in->op->family) {
    case Family::Control:
      control();
      break;
    case Family::Salu:
      scalarUnit();
      break;
    case Family::Valu:
    case Family::Lane:
    case Family::Mfma:
      compute();
      break;
    case Family::Ds:
      if (!in->op->mnemonic.contains("permute") && !in->op->mnemonic.contains("swizzle"))
        localMemory();
      else
        compute();
      break;
    case Family::Smem:
    case Family::Flat:
    case Family::Mubuf:
      checkAddress();
      break;
    }
    return true;
  }

  void access(Wave &, const Inst *in, const Access &a) override {
    if (in->op->family == Family::Ds) {
      if (isAtomic(*in))
        localAtomic(a);
      return;
    }
    if (a.space == Space::Constant)
      return loadScalar(a);
    unsigned lane = unsigned(a.lane);
    if (lane != now.lane) {
      now.lane = lane;
      now.position = 0;
    }
    if (isLdsDma(*in)) {
      dma(a);
      return;
    }
    uint8_t *loaded = now.loaded[lane];
    switch (a.kind) {
    case AccessKind::Read:
      load(a, loaded + now.position);
      break;
    case AccessKind::Write:
      store(a);
      break;
    case AccessKind::Atomic:
      atomic(a, loaded);
      break;
    }
    now.position = std::min(now.position + a.bytes, maxLaneBytes);
  }

  bool fault(Wave &, const Inst *) override {
    now.skipped = true; // whoever goes on has reported it
    return false;
  }

  void after(Wave &, const Inst *in, const Inst *) override {
    if (!in->op)
      return;
    Shadow &r = now.shadow->registers;
    if (now.skipped) {
      for (const Use &use : now.uses.writes)
        define(use.reg, ~uint64_t(0));
      return;
    }
    switch (in->op->family) {
    case Family::Smem:
      for (const Use &use : now.uses.writes)
        for (unsigned d = 0; d < use.reg.dwords; ++d) {
          uint32_t bits;
          memcpy(&bits, now.loadedScalar + 4 * (d % (maxScalarBytes / 4)), 4);
          r.setScalar((use.reg.index + d) % SgprFileSize, bits);
        }
      break;
    case Family::Flat:
    case Family::Mubuf:
      if (in->dst.present())
        writeLoaded();
      break;
    default:
      apply();
      break;
    }
    for (const Use &use : now.uses.writes)
      for (unsigned d = 0; d < use.reg.dwords; ++d)
        r.setWriter(use.reg, d, in);
  }

private:
  struct Current {
    Wave *wave = nullptr;
    const Inst *in = nullptr;
    WaveShadow *shadow = nullptr;
    Uses uses;
    uint64_t exec = 0;
    bool skipped = false;
    bool feedsScc = false; ///< a scalar instruction with an undefined source
    bool differs = false;  ///< `result` says what is written, else all of it is defined
    Differential::Result result;
    // Undefined bits of what memory instructions read, by lane.
    unsigned lane = waveSize, position = 0;
    uint8_t loaded[waveSize][maxLaneBytes] = {};
    uint8_t loadedScalar[maxScalarBytes] = {};
  };

  static bool isVector(Operand o) { return o.bank == BankVgpr || o.bank == BankAgpr; }

  void define(Operand o, uint64_t lanes) {
    Shadow &r = now.shadow->registers;
    for (unsigned d = 0; d < o.dwords; ++d)
      if (isVector(o))
        r.clearVector(o, d, lanes);
      else
        r.setScalar((o.index + d) % SgprFileSize, 0);
  }

  void report(int lane, const Twine &what, Operand reg, unsigned d) {
    const Inst *writer = now.shadow->registers.writer(reg, d);
    Operand one = reg;
    if (isVector(reg) || reg.dwords > 2) {
      one.index = reg.index + d;
      one.dwords = 1;
    }
    context.report(CheckKind::Undefined, *now.wave, now.in, lane, [&] {
      return what.str() + " undefined bits of " + registerName(one) + ", " +
             (writer ? "which come through " + describe(*now.wave->program, writer)
                     : std::string("which nothing has written"));
    });
  }
  /// Report when any bit of a register (of an active lane) is undefined; it is defined then.
  void require(Operand reg, const Twine &what) {
    Shadow &r = now.shadow->registers;
    for (unsigned d = 0; d < reg.dwords; ++d) {
      if (isVector(reg)) {
        uint64_t lanes = r.dirty(reg, d) & now.exec;
        if (!lanes)
          continue;
        report(std::countr_zero(lanes), what, reg, d);
        return define(reg, now.exec);
      }
      if (!r.scalar((reg.index + d) % SgprFileSize))
        continue;
      report(-1, what, reg, d);
      return define(reg, 0);
    }
  }

  void control() {
    StringRef name = now.in->op->mnemonic;
    Shadow &r = now.shadow->registers;
    if (name.contains("scc")) {
      require({SgprScc, 1, BankScalar}, "branches on");
    } else if (name.contains("vcc")) {
      uint64_t undefined = r.scalar64(SgprVcc);
      if (undefined && !(now.wave->vcc() & ~undefined)) // a defined 1 decides alone
        require({SgprVcc, 2, BankScalar}, "branches on");
    }
  }

  void scalarUnit() {
    StringRef name = now.in->op->mnemonic;
    bool jumps = name.starts_with("s_setpc") || name.starts_with("s_swappc");
    bool index = name.starts_with("s_set_gpr_idx");
    bool indirect = name.starts_with("s_movrel");
    if (jumps || index || name.starts_with("s_setreg_b32")) {
      for (const Use &use : now.uses.reads)
        require(use.reg, jumps ? "jumps to" : index ? "indexes registers with" : "sets MODE from");
      return;
    }
    if (name.starts_with("s_call") || name.starts_with("s_getpc") || name.starts_with("s_getreg") ||
        name.starts_with("s_setreg"))
      return;
    if (indirect) {
      require({SgprM0, 1, BankScalar}, "indexes registers with");
      return indirectMove(name.starts_with("s_movreld"));
    }
    compute();
  }
  /// s_movrels, s_movreld: the register that M0 names is the real operand.
  void indirectMove(bool toIndexed) {
    Operand &named = toIndexed ? now.uses.writes[0].reg : now.uses.reads[0].reg;
    if (now.uses.writes.empty() || now.uses.reads.empty())
      return;
    named.index = (named.index + now.wave->sgpr[SgprM0]) % SgprVcc;
    Operand from = now.uses.reads[0].reg, to = now.uses.writes[0].reg;
    now.differs = true;
    for (unsigned d = 0; d < to.dwords; ++d)
      now.result.scalars.push_back({(to.index + d) % SgprFileSize,
                                    now.shadow->registers.scalar((from.index + d) % SgprFileSize)});
  }

  /// Instructions on registers alone.
  void compute() {
    const Inst &in = *now.in;
    const Shadow &r = now.shadow->registers;
    Family family = in.op->family;
    bool allLanes = family == Family::Lane || family == Family::Mfma || family == Family::Ds ||
                    (in.form & FormDpp);
    bool dirty = false;
    for (const Use &use : now.uses.reads) {
      if (use.role == Role::Address)
        require(use.reg, "uses as address");
      for (unsigned d = 0; d < use.reg.dwords; ++d)
        dirty |= isVector(use.reg)
                     ? (r.dirty(use.reg, d) & (allLanes ? ~uint64_t(0) : now.exec)) != 0
                     : r.scalar((use.reg.index + d) % SgprFileSize) != 0;
    }
    if (family == Family::Salu) {
      // Who writes SCC is not in the table: the experiment tells.
      now.feedsScc = dirty;
      dirty |= r.scalar(SgprScc) != 0;
    }
    if (!dirty)
      return;
    now.result = experiment.run(*now.wave, now.in, now.uses, r);
    now.differs = now.result.known;
  }

  void apply() {
    Shadow &r = now.shadow->registers;
    if (!now.differs) {
      bool wholeWave = now.in->op->family == Family::Mfma || now.in->op->family == Family::Lane;
      for (const Use &use : now.uses.writes)
        define(use.reg, wholeWave ? ~uint64_t(0) : now.exec);
      return;
    }
    for (const auto &v : now.result.vectors)
      for (unsigned d = 0; d < v.reg.dwords; ++d)
        for (unsigned l = 0; l < waveSize; ++l)
          r.setVector(v.reg, d, l, v.bits[d * waveSize + l]);
    for (const auto &[index, bits] : now.result.scalars) {
      r.setScalar(index, bits);
      if (index == SgprScc && bits && now.feedsScc)
        r.setWriter({SgprScc, 1, BankScalar}, 0, now.in);
    }
    if (r.scalar64(SgprExec))
      require({SgprExec, 2, BankScalar}, "sets EXEC from");
  }

  void checkAddress() {
    for (const Use &use : now.uses.reads)
      if (use.role == Role::Address)
        require(use.reg, "uses as address");
  }

  /// LDS reads and writes: the handler itself moves the undefined bits, with LDS and data
  /// registers replaced by their shadows.
  void localMemory() {
    checkAddress();
    Wave &wave = *now.wave;
    if (isAtomic(*now.in))
      return;
    Shadow &r = now.shadow->registers;
    Inst copy = *now.in;
    unsigned used = 0;
    auto place = [&](Operand &o) {
      if (!isVector(o))
        return;
      for (unsigned d = 0; d < o.dwords; ++d)
        memcpy(buffer.at(used + d), r.vector(o, d), waveSize * 4);
      Operand moved{used, o.dwords, BankAgpr};
      used += o.dwords;
      o = moved;
    };
    place(copy.src[1]);
    place(copy.src[2]);
    place(copy.dst);
    uint32_t *agprs = std::exchange(wave.banks[BankAgpr], buffer.at(0));
    uint8_t *realLds = std::exchange(wave.lds, reinterpret_cast<uint8_t *>(lds.data()));
    wave.ldsFastBytes = wave.ldsBytes;
    const Inst *pc = wave.pc;
    bool done = copy.handler(wave, &copy);
    wave.banks[BankAgpr] = agprs;
    wave.lds = realLds;
    wave.ldsFastBytes = 0;
    wave.pc = pc;
    wave.stop = Stop::None; // out of bounds: the real execution says so
    if (!done || !now.in->dst.present())
      return;
    now.differs = true;
    Differential::Result::Vector v{now.in->dst, {}};
    v.bits.assign(buffer.at(copy.dst.index), buffer.at(copy.dst.index + copy.dst.dwords));
    now.result.vectors.push_back(std::move(v));
  }

  void localAtomic(const Access &a) {
    uint8_t *memory = reinterpret_cast<uint8_t *>(lds.data()) + a.address;
    bool undefined = combine(a, memory, now.loaded[a.lane]);
    memset(memory, undefined ? 0xff : 0, a.bytes);
    if (!now.in->dst.present())
      return;
    // The old value goes to the destination.
    if (!now.differs) {
      now.differs = true;
      Differential::Result::Vector v{now.in->dst, {}};
      for (unsigned d = 0; d < now.in->dst.dwords; ++d) {
        const uint32_t *old = now.shadow->registers.vector(now.in->dst, d);
        v.bits.insert(v.bits.end(), old, old + waveSize);
      }
      now.result.vectors.push_back(std::move(v));
    }
    for (unsigned d = 0; d < now.in->dst.dwords; ++d)
      memcpy(&now.result.vectors[0].bits[d * waveSize + unsigned(a.lane)],
             now.loaded[a.lane] + 4 * d, 4);
  }
  /// Old undefined bits to `old`; whether the new value of an atomic is undefined.
  bool combine(const Access &a, const uint8_t *memory, uint8_t *old) {
    bool replaces =
        now.in->op->mnemonic.contains("swap") || now.in->op->mnemonic.contains("wrxchg");
    memcpy(old, memory, a.bytes);
    bool undefined = dataDirty(unsigned(a.lane));
    for (uint32_t i = 0; i < a.bytes && !replaces; ++i)
      undefined |= memory[i] != 0;
    return undefined;
  }
  bool dataDirty(unsigned lane) const {
    for (const Use &use : now.uses.reads)
      for (unsigned d = 0; use.role == Role::Data && d < use.reg.dwords; ++d)
        if (now.shadow->registers.dirty(use.reg, d) >> lane & 1)
          return true;
    return false;
  }

  /// Definedness of global bytes; null when all of the region counts as defined.
  uint8_t *globalShadow(uint64_t address) {
    if (address - region.base >= region.size)
      region = context.group.memory->find(address).value_or(MemoryMap::Region());
    return region.defined ? region.defined + (address - region.base) : nullptr;
  }
  /// Undefined bits of LDS or scratch bytes.
  uint8_t *localShadow(const Access &a) {
    if (a.space == Space::Lds)
      return reinterpret_cast<uint8_t *>(lds.data()) + a.address;
    return now.shadow->scratch.data() + size_t(a.lane) * now.wave->scratchBytes + a.address;
  }
  void load(const Access &a, uint8_t *out) {
    if (a.space != Space::Global && a.space != Space::Constant) {
      memcpy(out, localShadow(a), a.bytes);
      return;
    }
    const uint8_t *defined = globalShadow(a.address);
    for (uint32_t i = 0; i < a.bytes; ++i)
      out[i] = defined && !defined[i] ? 0xff : 0;
  }
  void loadScalar(const Access &a) {
    if (now.position + a.bytes <= maxScalarBytes)
      load(a, now.loadedScalar + now.position);
    now.position += a.bytes;
  }
  void store(const Access &a) {
    Operand data = now.in->src[1];
    unsigned lane = unsigned(a.lane);
    uint8_t bits[maxLaneBytes];
    bool high = now.in->op->mnemonic.ends_with("_d16_hi");
    const Shadow &r = now.shadow->registers;
    bool undefined = false;
    for (uint32_t i = 0; i < a.bytes; ++i) {
      uint32_t byte = now.position + i + (high ? 2 : 0);
      bits[i] = uint8_t(r.vector(data, byte / 4)[lane] >> (8 * (byte % 4)));
      if (bits[i] && !undefined && a.space == Space::Global)
        report(a.lane, "stores to global memory", data, byte / 4);
      undefined |= bits[i] != 0;
    }
    if (a.space != Space::Global)
      memcpy(localShadow(a), bits, a.bytes);
    else if (uint8_t *defined = globalShadow(a.address))
      memset(defined, 1, a.bytes);
  }
  void atomic(const Access &a, uint8_t *loaded) {
    if (a.space != Space::Global) {
      uint8_t *memory = localShadow(a);
      bool undefined = combine(a, memory, loaded);
      memset(memory, undefined ? 0xff : 0, a.bytes);
      return;
    }
    load(a, loaded);
    for (unsigned d = 0; d < now.in->src[1].dwords; ++d)
      if (now.shadow->registers.dirty(now.in->src[1], d) >> a.lane & 1) {
        report(a.lane, "updates global memory with", now.in->src[1], d);
        break;
      }
    // A sum that starts from nothing stays undefined; an exchange does not.
    uint8_t *defined = globalShadow(a.address);
    if (defined && now.in->op->mnemonic.contains("_swap"))
      memset(defined, 1, a.bytes);
  }
  /// Memory to LDS: the read of a lane comes right before its write.
  void dma(const Access &a) {
    uint8_t *passing = now.loaded[a.lane];
    if (a.space == Space::Global) {
      load(a, passing);
      if (a.bytes < 4) // extended to a dword
        memset(passing + a.bytes, passing[a.bytes - 1] & 0x80 ? 0xff : 0, 4 - a.bytes);
      return;
    }
    memcpy(localShadow(a), passing, a.bytes);
    memset(passing, 0, maxLaneBytes); // a read out of range is a defined 0
  }

  void writeLoaded() {
    const Inst &in = *now.in;
    StringRef name = in.op->mnemonic;
    Shadow &r = now.shadow->registers;
    bool half = name.contains("_d16"), high = name.ends_with("_d16_hi");
    bool byte = name.contains("byte"),
         isSigned = name.contains("_sbyte") || name.contains("_sshort");
    bool narrow = byte || name.contains("short");
    for (uint64_t m = now.exec; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      for (unsigned d = 0; d < in.dst.dwords; ++d) {
        uint32_t bits;
        memcpy(&bits, now.loaded[l] + 4 * (d % (maxLaneBytes / 4)), 4);
        if (narrow) {
          uint32_t width = byte ? 8 : 16;
          bits &= (1u << width) - 1;
          if (isSigned && (bits >> (width - 1)))
            bits |= ~((1u << width) - 1);
        }
        if (half) {
          uint32_t old = r.vector(in.dst, d)[l];
          bits = high ? (old & 0xffff) | bits << 16 : (old & 0xffff0000) | (bits & 0xffff);
        }
        r.setVector(in.dst, d, l, bits);
      }
    }
  }

  CheckContext context;
  std::vector<std::unique_ptr<WaveShadow>> waves;
  std::vector<uint32_t> lds; ///< undefined bits
  MemoryMap::Region region;
  Differential experiment;
  RegisterBuffer buffer;
  Current now;
};

} // namespace

std::unique_ptr<WorkgroupObserver> makeUndefinedCheck(const CheckContext &context) {
  return std::make_unique<UndefinedCheck>(context);
}

} // namespace gfx950emu::check
