//===- FlatAtomics.cpp - flat and global atomics ----------------------------------------------===//

#include "tools/gfx950emu/exec/Address.h"
#include "tools/gfx950emu/exec/Atomic.h"

GFX950EMU_EXEC_BEGIN

namespace {

struct FlatWords {
  template <class T, class F> static const Inst *update(Wave &wave, const Inst *in, F f) {
    uint32_t *dst = in->dst.present() ? wave.lanes(in->dst) : nullptr;
    const uint8_t *wrong = nullptr;
    unsigned wrongLane = 0;
    bool ok = forEachLane(wave, in, sizeof(T), true, [&](unsigned l, uint8_t *p) {
      if (wrong || reinterpret_cast<uintptr_t>(p) % sizeof(T)) {
        wrongLane = wrong ? wrongLane : l;
        wrong = wrong ? wrong : p;
        return;
      }
      T old = atomicUpdate<T>(p, [&](T value) { return f(value, l); });
      if (dst)
        setLaneData<T>(dst, l, old);
    });
    if (!ok)
      return nullptr;
    if (wrong)
      return misaligned(wave, in, reinterpret_cast<uintptr_t>(wrong), sizeof(T), wrongLane);
    return in + 1;
  }
};

} // namespace

void addFlatAtomics(OpTable &t) {
  forEachAtomicRow<FlatWords>(
      [&](const std::string &name, Handler handler, ValueType dst, ValueType data) {
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
      });
}

GFX950EMU_EXEC_END
