//===- Counter.cpp ------------------------------------------------------------===//
//
// Workgroups borrow an accumulator each and give it back, so there are as many as run at
// once; they are added up at the end of the dispatch.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/count/Counter.h"

#include "tools/gfx950emu/core/Wave.h"
#include "tools/gfx950emu/count/LdsBanks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

using namespace llvm;

namespace gfx950emu::count {

namespace {

/// A set of line numbers; neighbours share a word, as kernels touch ranges.
class LineSet {
public:
  void insert(uint64_t line) { words[line / 64] |= uint64_t(1) << line % 64; }
  void insert(const LineSet &other) {
    for (const auto &[word, mask] : other.words)
      words[word] |= mask;
  }
  uint64_t size() const {
    uint64_t n = 0;
    for (const auto &[word, mask] : words)
      n += unsigned(std::popcount(mask));
    return n;
  }

private:
  DenseMap<uint64_t, uint64_t> words;
};

struct InstFacts {
  InstClass kind = InstClass::Other;
  unsigned passes = 0;
};

struct Accumulator {
  std::vector<InstCounts> perInst; ///< by index in the program
  std::array<SpaceBytes, spaces> bytes;
  LineSet read, written, scalar;
  uint64_t workgroups = 0, waves = 0, barrierReleases = 0, longestWave = 0;

  void add(const Accumulator &other) {
    for (size_t i = 0; i < perInst.size(); ++i)
      perInst[i] += other.perInst[i];
    for (unsigned i = 0; i < spaces; ++i)
      bytes[i] += other.bytes[i];
    read.insert(other.read);
    written.insert(other.written);
    scalar.insert(other.scalar);
    workgroups += other.workgroups;
    waves += other.waves;
    barrierReleases += other.barrierReleases;
    longestWave = std::max(longestWave, other.longestWave);
  }
};

} // namespace

struct Counter::State {
  std::string kernel;
  const DecodedProgram *program = nullptr;
  std::vector<InstFacts> facts; ///< by index in the program
  std::mutex mutex;
  std::vector<std::unique_ptr<Accumulator>> idle;

  std::unique_ptr<Accumulator> borrow() {
    std::lock_guard lock(mutex);
    if (idle.empty()) {
      auto fresh = std::make_unique<Accumulator>();
      fresh->perInst.resize(facts.size());
      return fresh;
    }
    std::unique_ptr<Accumulator> used = std::move(idle.back());
    idle.pop_back();
    return used;
  }
  void giveBack(std::unique_ptr<Accumulator> used) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(used));
  }
  Counts total();
};

namespace {

class WorkgroupCounter : public WorkgroupObserver {
public:
  WorkgroupCounter(ArrayRef<Inst> insts, ArrayRef<InstFacts> facts, uint32_t waves,
                   Accumulator &sums)
      : insts(insts), facts(facts), sums(sums), waveInstructions(waves) {
    ++sums.workgroups;
    sums.waves += waves;
  }

  bool before(Wave &wave, const Inst *) override {
    lanes = unsigned(std::popcount(wave.exec()));
    return true;
  }

  void access(Wave &, const Inst *in, const Access &a) override {
    SpaceBytes &bytes = sums.bytes[unsigned(a.space)];
    uint64_t &sum = a.kind == AccessKind::Read    ? bytes.read
                    : a.kind == AccessKind::Write ? bytes.written
                                                  : bytes.atomic;
    sum += a.bytes;
    switch (a.space) {
    case Space::Global:
      for (uint64_t line = a.address / lineBytes; line <= (a.address + a.bytes - 1) / lineBytes;
           ++line)
        if (lines.empty() || lines.back() != line)
          lines.push_back(line);
      globalKind = a.kind;
      break;
    case Space::Constant:
      for (uint64_t line = a.address / lineBytes; line <= (a.address + a.bytes - 1) / lineBytes;
           ++line)
        sums.scalar.insert(line);
      break;
    case Space::Lds:
      if (in->op->family == Family::Ds) {
        // The second half of read2 and write2 starts over at the lowest lane.
        if (!lds.empty() && unsigned(a.lane) <= lds.back().lane)
          closeLds(in);
        lds.push_back({unsigned(a.lane), uint32_t(a.address)});
        ldsKind = a.kind;
        ldsBytes = a.bytes;
      }
      break;
    case Space::Scratch:
      break;
    }
  }

  void after(Wave &wave, const Inst *in, const Inst *) override {
    size_t index = indexOf(in);
    InstCounts &c = sums.perInst[index];
    ++c.instructions;
    ++waveInstructions[wave.indexInGroup];
    if (usesLanes(facts[index].kind))
      c.lanes += lanes;
    c.mfmaPasses += facts[index].passes;
    if (!lines.empty())
      closeLines(c);
    if (!lds.empty())
      closeLds(in);
  }

  void barrierRelease() override { ++sums.barrierReleases; }

  void finish() override {
    for (uint64_t n : waveInstructions)
      sums.longestWave = std::max(sums.longestWave, n);
  }

private:
  size_t indexOf(const Inst *in) const { return size_t(in - insts.data()); }

  void closeLines(InstCounts &c) {
    llvm::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    ++c.memoryAccesses;
    c.lines += lines.size();
    for (uint64_t line : lines) {
      if (globalKind != AccessKind::Write)
        sums.read.insert(line);
      if (globalKind != AccessKind::Read)
        sums.written.insert(line);
    }
    lines.clear();
  }

  void closeLds(const Inst *in) {
    LdsCost cost = ldsCost(ldsKind, ldsBytes, lds);
    InstCounts &c = sums.perInst[indexOf(in)];
    (cost.banks == 32 ? c.ldsPhases32 : c.ldsPhases64) += cost.phases;
    (cost.banks == 32 ? c.ldsConflicts32 : c.ldsConflicts64) += cost.conflicts;
    lds.clear();
  }

  ArrayRef<Inst> insts;
  ArrayRef<InstFacts> facts;
  Accumulator &sums;
  std::vector<uint64_t> waveInstructions;

  // The instruction under way.
  unsigned lanes = 0;
  SmallVector<uint64_t, 2 * waveSize> lines;
  AccessKind globalKind = AccessKind::Read;
  SmallVector<LaneAddress, waveSize> lds;
  AccessKind ldsKind = AccessKind::Read;
  uint32_t ldsBytes = 0;
};

/// Owns the loan of an accumulator for the life of a workgroup.
template <class State> class Loan : public WorkgroupCounter {
public:
  Loan(State &state, std::unique_ptr<Accumulator> sums, uint32_t waves)
      : WorkgroupCounter(state.program->instructions(), state.facts, waves, *sums), state(state),
        sums(std::move(sums)) {}
  void finish() override {
    WorkgroupCounter::finish();
    state.giveBack(std::move(sums));
  }

private:
  State &state;
  std::unique_ptr<Accumulator> sums;
};

} // namespace

Counts Counter::State::total() {
  Counts counts;
  counts.kernel = kernel;
  if (idle.empty())
    return counts;
  Accumulator &sum = *idle.front();
  for (size_t i = 1; i < idle.size(); ++i)
    sum.add(*idle[i]);
  for (size_t i = 0; i < facts.size(); ++i) {
    const InstCounts &c = sum.perInst[i];
    if (c.instructions == 0)
      continue;
    const Inst &in = program->instructions()[i];
    counts.total += c;
    counts.classes[unsigned(facts[i].kind)] += c;
    counts.opcodes[in.op ? in.op->mnemonic.str() : program->mnemonic(&in)] += c;
  }
  counts.bytes = sum.bytes;
  counts.linesRead = sum.read.size();
  counts.linesWritten = sum.written.size();
  counts.scalarLines = sum.scalar.size();
  sum.read.insert(sum.written);
  counts.linesTouched = sum.read.size();
  counts.workgroups = sum.workgroups;
  counts.waves = sum.waves;
  counts.barrierReleases = sum.barrierReleases;
  counts.longestWave = sum.longestWave;
  return counts;
}

Counter::Counter() = default;
Counter::~Counter() = default;

void Counter::begin(const Dispatch &dispatch, MemoryMap &) {
  state = std::make_unique<State>();
  state->kernel = dispatch.kernel->name;
  state->program = &dispatch.object->program();
  for (const Inst &in : state->program->instructions())
    state->facts.push_back({classify(in), mfmaPasses(in)});
}

std::unique_ptr<WorkgroupObserver> Counter::workgroup(const WorkgroupInfo &info) {
  return std::make_unique<Loan<State>>(*state, state->borrow(), info.waves);
}

void Counter::end() {
  finished.push_back(state->total());
  state.reset();
}

} // namespace gfx950emu::count
