//===- Workgroup.cpp ----------------------------------------------------------===//

#include "tools/gfx950emu/core/Workgroup.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <bit>

using namespace llvm;

namespace gfx950emu {

namespace {

/// Registers start with this: neither zero nor a plausible address or float.
constexpr uint32_t poison = 0xdeadbeef;

/// Instructions a wave runs before others get a turn.
constexpr uint64_t sliceInstructions = 1 << 18;

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// MODE as the descriptor's rsrc1 sets it at wave start.
uint32_t initialMode(uint32_t rsrc1) {
  uint32_t mode = rsrc1 >> 12 & 0xff; // round and denorm fields are in the same order
  if (rsrc1 >> 21 & 1)
    mode |= ModeDx10Clamp;
  if (rsrc1 >> 23 & 1)
    mode |= ModeIeee;
  if (rsrc1 >> 26 & 1)
    mode |= ModeFp16Ovfl;
  return mode;
}

} // namespace

Permutation::Permutation(uint64_t count, uint64_t seed) : count(count), seed(seed) {
  if (count > 1)
    halfBits = (unsigned(std::bit_width(count - 1)) + 1) / 2;
}

uint64_t Permutation::operator()(uint64_t index) const {
  if (seed == 0 || count <= 1)
    return index;
  // A Feistel network permutes [0, 2^(2*halfBits)); values outside [0, count) walk on.
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (uint64_t round = 1; round <= 4; ++round) {
      uint64_t next = left ^ (mix(right + seed * 0x9e3779b97f4a7c15 + round) & mask);
      left = right;
      right = next;
    }
    index = left << halfBits | right;
  } while (index >= count);
  return index;
}

Permutation waveOrderOf(uint64_t group, uint64_t waves, uint64_t seed) {
  return {waves, seed ? mix(seed + group) | 1 : 0};
}

Workgroup::Workgroup(DispatchContext &context) : context(context) {
  for (uint32_t i = 0; i < context.wavesPerGroup; ++i) {
    waves.push_back(std::make_unique<Wave>());
    order.push_back(i);
  }
  lds.resize((context.ldsBytes + 3) / 4);
  scratch.resize(size_t(context.wavesPerGroup) * waveSize * (context.scratchBytes / 4));
}

Workgroup::~Workgroup() { finishObserver(); }

void Workgroup::finishObserver() {
  if (observer)
    observer->finish();
  observer.reset();
}

void Workgroup::start(uint64_t index) {
  finishObserver();
  linear = index;
  const std::array<uint32_t, 3> &grid = context.dispatch->grid;
  id = {uint32_t(index % grid[0]), uint32_t(index / grid[0] % grid[1]),
        uint32_t(index / grid[0] / grid[1])};
  faulted = nullptr;
  std::fill(lds.begin(), lds.end(), poison);
  std::fill(scratch.begin(), scratch.end(), poison);
  if (context.options.observer)
    observer = context.options.observer->workgroup({context.dispatch, context.memory, linear, id,
                                                    uint32_t(waves.size()), context.ldsBytes,
                                                    context.scratchBytes});
  for (uint32_t i = 0; i < waves.size(); ++i)
    initWave(*waves[i], i);
  Permutation permutation = waveOrderOf(index, waves.size(), context.options.seed);
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = uint32_t(permutation(i));
}

void Workgroup::initWave(Wave &wave, uint32_t index) {
  const Dispatch &d = *context.dispatch;
  const KernelInfo &k = *d.kernel;
  wave.program = &d.object->program();
  wave.memory = context.memory;
  wave.pc = wave.program->at(k.entry);
  wave.stop = Stop::None;
  wave.lds = reinterpret_cast<uint8_t *>(lds.data());
  wave.observer = observer.get();
  wave.ldsBytes = context.ldsBytes;
  wave.ldsFastBytes = observer ? 0 : context.ldsBytes;
  wave.scratchBytes = context.scratchBytes;
  wave.scratchFastBytes = observer ? 0 : context.scratchBytes;
  wave.scratch =
      reinterpret_cast<uint8_t *>(scratch.data()) + size_t(index) * waveSize * context.scratchBytes;
  wave.indexInGroup = index;
  wave.gprIdxMode = 0;
  wave.clock = 0;
  wave.stats = RunStats();
  wave.resetRegionCache();
  wave.banks[BankVgpr] = wave.vgprStore.get();
  wave.banks[BankAgpr] = wave.vgprStore.get() + size_t(k.accumOffset) * waveSize;
  wave.banks[BankConstant] = wave.program->constants();
  wave.vgprLimit = k.accumOffset;
  wave.agprLimit = k.vgprs - k.accumOffset;
  wave.setMode(initialMode(k.rsrc1));

  std::fill_n(wave.vgprStore.get(), size_t(k.vgprs) * waveSize, poison);
  std::fill_n(wave.sgpr, unsigned(SgprFileSize), poison);
  wave.setScc(false);

  unsigned next = 0;
  auto pushPointer = [&](unsigned bit, uint64_t value) {
    if (k.properties >> bit & 1) {
      wave.setScalar64(next, value);
      next += 2;
    }
  };
  pushPointer(1, context.packetAddress);
  pushPointer(2, context.queueAddress);
  pushPointer(3, context.kernargAddress);
  pushPointer(4, /*dispatch id=*/0);
  if (k.properties >> 6 & 1)
    wave.sgpr[next++] = context.scratchBytes;
  // Preloaded kernarg SGPRs are filled although entering at +0 loads them again: a code object
  // without the compatibility prologue then works too.
  unsigned preload = k.kernargPreload & 0x7f, first = k.kernargPreload >> 7;
  for (unsigned i = 0; i < preload; ++i, ++next)
    if ((first + i + 1) * 4 <= k.kernargBytes)
      memcpy(&wave.sgpr[next],
             reinterpret_cast<const void *>(context.kernargAddress + (first + i) * 4), 4);
  next = k.rsrc2 >> 1 & 0x1f;
  for (unsigned dim = 0; dim < 3; ++dim)
    if (k.rsrc2 >> (7 + dim) & 1)
      wave.sgpr[next++] = id[dim];

  uint32_t total = context.blockSize(), firstItem = index * waveSize;
  uint32_t *v0 = wave.vgprStore.get();
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < waveSize && firstItem + lane < total; ++lane) {
    uint32_t item = firstItem + lane;
    uint32_t x = item % d.block[0], y = item / d.block[0] % d.block[1],
             z = item / d.block[0] / d.block[1];
    v0[lane] = x | y << 10 | z << 20;
    exec |= uint64_t(1) << lane;
  }
  wave.setExec(exec);
  if (observer)
    observer->waveBegin(wave);
}

Workgroup::Result Workgroup::resume() {
  for (;;) {
    bool progress = false;
    size_t ended = 0, waiting = 0;
    for (uint32_t index : order) {
      Wave &wave = *waves[index];
      if (wave.stop == Stop::None || wave.stop == Stop::Yield) {
        uint64_t before = context.executed.load(std::memory_order_relaxed);
        uint64_t budget = context.options.maxInstructions;
        if (before >= budget) {
          reportBudget(wave);
          return Result::Faulted;
        }
        uint64_t executed = wave.run(std::min(sliceInstructions, budget - before));
        wave.stats.instructions += executed;
        context.executed.fetch_add(executed, std::memory_order_relaxed);
        if (wave.stop == Stop::Fault) {
          faulted = &wave;
          return Result::Faulted;
        }
        progress |= wave.stop == Stop::Barrier || wave.stop == Stop::Ended;
      }
      ended += wave.stop == Stop::Ended;
      waiting += wave.stop == Stop::Barrier;
    }
    if (ended == waves.size()) {
      finishObserver();
      return Result::Done;
    }
    if (ended + waiting == waves.size()) {
      if (observer)
        observer->barrierRelease();
      for (auto &wave : waves)
        if (wave->stop == Stop::Barrier)
          wave->stop = Stop::None;
    } else if (!progress) {
      return Result::Suspended;
    }
  }
}

void Workgroup::reportBudget(Wave &wave) {
  faulted = &wave;
  wave.fail(wave.pc, FaultKind::BudgetExhausted, -1,
            "the dispatch has executed " + std::to_string(context.options.maxInstructions) +
                " wave instructions");
  if (observer)
    observer->fault(wave, wave.pc);
}

std::unique_ptr<Fault> Workgroup::takeFault() {
  Wave &w = *faulted;
  const DecodedProgram &p = *w.program;
  std::string where = "kernel " + context.dispatch->kernel->name + ", workgroup (" +
                      std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " +
                      std::to_string(id[2]) + "), wave " + std::to_string(w.indexInGroup);
  if (w.faultLane >= 0)
    where += ", lane " + std::to_string(w.faultLane);
  uint64_t address = p.address(w.pc);
  where += ", pc 0x" + utohexstr(address, /*LowerCase=*/true) + " (" + p.location(address) +
           "): `" + p.text(w.pc) + "`: " + w.faultDetail;
  return std::make_unique<Fault>(w.faultKind, std::move(where));
}

RunStats Workgroup::stats() const {
  RunStats sum;
  for (const auto &wave : waves) {
    sum.instructions += wave->stats.instructions;
    sum.globalBytesRead += wave->stats.globalBytesRead;
    sum.globalBytesWritten += wave->stats.globalBytesWritten;
  }
  sum.waves = waves.size();
  return sum;
}

} // namespace gfx950emu
