//===- DsAtomics.cpp - LDS atomics -----------------------------------------------------------===//
//
// A workgroup runs on one host thread, so an LDS atomic is a plain update.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Atomic.h"

GFX950EMU_EXEC_BEGIN

namespace {

struct LdsWords {
  template <class T, class F> static const Inst *update(Wave &wave, const Inst *in, F f) {
    const uint32_t *address = wave.lanes(in->src[0]);
    uint32_t *dst = in->dst.present() ? wave.lanes(in->dst) : nullptr;
    for (uint64_t m = wave.exec(); m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      uint32_t at = address[l] + uint32_t(in->imm);
      if (at % sizeof(T))
        return misaligned(wave, in, at, sizeof(T), l);
      if (!wave.reachLds(in, at, sizeof(T), int(l)))
        return nullptr;
      T old;
      memcpy(&old, wave.lds + at, sizeof old);
      T value = f(old, l);
      memcpy(wave.lds + at, &value, sizeof value);
      if (dst)
        setLaneData<T>(dst, l, old);
    }
    return in + 1;
  }
};

template <class T, class Op> constexpr Handler atomic = AtomicHandlers<LdsWords>::update<T, Op>;

/// MODE decides whether the sum keeps denormals.
const Inst *addF32(Wave &wave, const Inst *in) {
  bool keeps = (wave.mode >> ModeDenorm32Shift & 3) == 3;
  return keeps ? atomic<uint32_t, AtomicAddF32Denormals>(wave, in)
               : atomic<uint32_t, AtomicAddF32>(wave, in);
}

/// data0 = compare, data1 = new.
template <class T> const Inst *compareStore(Wave &wave, const Inst *in) {
  const uint32_t *compare = wave.lanes(in->src[1]), *fresh = wave.lanes(in->src[2]);
  return LdsWords::update<T>(wave, in, [&](T old, unsigned l) {
    return old == laneData<T>(compare, l) ? laneData<T>(fresh, l) : old;
  });
}

/// The float forms compare as numbers: -0 equals +0, NaN nothing.
template <class T, class V> const Inst *compareStoreFloat(Wave &wave, const Inst *in) {
  const uint32_t *compare = wave.lanes(in->src[1]), *fresh = wave.lanes(in->src[2]);
  return LdsWords::update<T>(wave, in, [&](T old, unsigned l) {
    return std::bit_cast<V>(old) == std::bit_cast<V>(laneData<T>(compare, l))
               ? laneData<T>(fresh, l)
               : old;
  });
}

/// old = (old & ~data0) | data1
template <class T> const Inst *maskOr(Wave &wave, const Inst *in) {
  const uint32_t *mask = wave.lanes(in->src[1]), *bits = wave.lanes(in->src[2]);
  return LdsWords::update<T>(wave, in, [&](T old, unsigned l) {
    return (old & ~laneData<T>(mask, l)) | laneData<T>(bits, l);
  });
}

/// "ds_<name>_<type>" and "ds_<name>_rtn_<type>".
void addBoth(OpTable &t, const std::string &name, const std::string &type, Handler handler,
             ValueType width, bool twoData = false) {
  OpInfo info;
  info.family = Family::Ds;
  info.handler = handler;
  info.src[0] = ValueType::B32;
  info.src[1] = width;
  if (twoData)
    info.src[2] = width;
  std::string plain = "ds_" + name + "_" + type, returning = "ds_" + name + "_rtn_" + type;
  if (name != "wrxchg") { // exists only with a result
    info.mnemonic = plain;
    t.add(info);
  }
  info.mnemonic = returning;
  info.dst = width;
  t.add(info);
}

template <class T> void addInteger(OpTable &t, const std::string &bits) {
  ValueType width = sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;
  addBoth(t, "add", "u" + bits, atomic<T, AtomicAdd>, width);
  addBoth(t, "sub", "u" + bits, atomic<T, AtomicSub>, width);
  addBoth(t, "rsub", "u" + bits, atomic<T, AtomicRsub>, width);
  addBoth(t, "inc", "u" + bits, atomic<T, AtomicInc>, width);
  addBoth(t, "dec", "u" + bits, atomic<T, AtomicDec>, width);
  addBoth(t, "min", "i" + bits, atomic<T, AtomicSmin>, width);
  addBoth(t, "max", "i" + bits, atomic<T, AtomicSmax>, width);
  addBoth(t, "min", "u" + bits, atomic<T, AtomicUmin>, width);
  addBoth(t, "max", "u" + bits, atomic<T, AtomicUmax>, width);
  addBoth(t, "and", "b" + bits, atomic<T, AtomicAnd>, width);
  addBoth(t, "or", "b" + bits, atomic<T, AtomicOr>, width);
  addBoth(t, "xor", "b" + bits, atomic<T, AtomicXor>, width);
  addBoth(t, "wrxchg", "b" + bits, atomic<T, AtomicSwap>, width);
  addBoth(t, "cmpst", "b" + bits, compareStore<T>, width, true);
  addBoth(t, "mskor", "b" + bits, maskOr<T>, width, true);
}

} // namespace

void addDsAtomics(OpTable &t) {
  addInteger<uint32_t>(t, "32");
  addInteger<uint64_t>(t, "64");
  addBoth(t, "add", "f32", addF32, ValueType::B32);
  addBoth(t, "add", "f64", atomic<uint64_t, AtomicAddF64>, ValueType::B64);
  addBoth(t, "min", "f32", atomic<uint32_t, AtomicMinF32>, ValueType::B32);
  addBoth(t, "max", "f32", atomic<uint32_t, AtomicMaxF32>, ValueType::B32);
  addBoth(t, "min", "f64", atomic<uint64_t, AtomicMinF64>, ValueType::B64);
  addBoth(t, "max", "f64", atomic<uint64_t, AtomicMaxF64>, ValueType::B64);
  addBoth(t, "cmpst", "f32", compareStoreFloat<uint32_t, float>, ValueType::B32, true);
  addBoth(t, "cmpst", "f64", compareStoreFloat<uint64_t, double>, ValueType::B64, true);
  addBoth(t, "pk_add", "f16", atomic<uint32_t, AtomicPkAddF16>, ValueType::B32);
  addBoth(t, "pk_add", "bf16", atomic<uint32_t, AtomicPkAddBf16>, ValueType::B32);
}

GFX950EMU_EXEC_END
