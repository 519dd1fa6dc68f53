//===- FlatAtomics.cpp - flat and global atomics ----------------------------------------------===//

#include "tools/gfx950emu/exec/Address.h"
#include "tools/gfx950emu/exec/Atomic.h"

GFX950EMU_EXEC_BEGIN

namespace {

template <class T, class F> const Inst *forEachWord(Wave &wave, const Inst *in, F update) {
  uint32_t *dst = in->dst.present() ? wave.lanes(in->dst) : nullptr;
  const uint8_t *wrong = nullptr;
  unsigned wrongLane = 0;
  bool ok = forEachLane(wave, in, sizeof(T), true, [&](unsigned l, uint8_t *p) {
    if (wrong || reinterpret_cast<uintptr_t>(p) % sizeof(T)) {
      wrongLane = wrong ? wrongLane : l;
      wrong = wrong ? wrong : p;
      return;
    }
    T old = atomicUpdate<T>(p, [&](T value) { return update(value, l); });
    if (dst)
      setLaneData<T>(dst, l, old);
  });
  if (!ok)
    return nullptr;
  if (wrong)
    return misaligned(wave, in, reinterpret_cast<uintptr_t>(wrong), sizeof(T), wrongLane);
  return in + 1;
}

template <class T, class Op> const Inst *atomic(Wave &wave, const Inst *in) {
  // The result may overlap the data registers of the same lane only: it is written after they are
  // read.
  const uint32_t *data = wave.lanes(in->src[1]);
  return forEachWord<T>(wave, in,
                        [&](T old, unsigned l) { return Op::apply(old, laneData<T>(data, l)); });
}

/// The data pair is {new, compare}.
template <class T> const Inst *compareSwap(Wave &wave, const Inst *in) {
  const uint32_t *fresh = wave.lanes(in->src[1]);
  const uint32_t *compare = fresh + sizeof(T) / 4 * waveSize;
  return forEachWord<T>(wave, in, [&](T old, unsigned l) {
    return old == laneData<T>(compare, l) ? laneData<T>(fresh, l) : old;
  });
}

} // namespace

void addFlatAtomics(OpTable &t) {
  auto addRow = [&](const std::string &name, Handler handler, ValueType dst, ValueType data) {
    for (const char *prefix : {"flat_atomic_", "global_atomic_"}) {
      std::string mnemonic = prefix + name;
      OpInfo info;
      info.mnemonic = mnemonic;
      info.family = Family::Flat;
      info.handler = handler;
      info.dst = dst;
      info.src[1] = data;
      t.add(info);
    }
  };
  forEachMemoryAtomic([&]<class T, class Op>(const std::string &name) {
    ValueType width = sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;
    addRow(name, atomic<T, Op>, width, width);
  });
  addRow("cmpswap", compareSwap<uint32_t>, ValueType::B32, ValueType::B64);
  addRow("cmpswap_x2", compareSwap<uint64_t>, ValueType::B64, ValueType::B128);
}

GFX950EMU_EXEC_END
