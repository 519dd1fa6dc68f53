//===- Atomic.h - the operations of memory atomics ------------------------------------------===//
//
// Owns what an atomic does with the old value and its data; Ds, Flat and Mubuf apply it to
// their memory. T is uint32_t or uint64_t, the width of the access.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_ATOMIC_H
#define GFX950EMU_EXEC_ATOMIC_H

#include "tools/gfx950emu/exec/Float.h"
#include "tools/gfx950emu/exec/MinMax.h"

GFX950EMU_EXEC_BEGIN

struct AtomicSwap {
  template <class T> static T apply(T, T data) { return data; }
};
struct AtomicAdd {
  template <class T> static T apply(T old, T data) { return old + data; }
};
struct AtomicSub {
  template <class T> static T apply(T old, T data) { return old - data; }
};
struct AtomicRsub {
  template <class T> static T apply(T old, T data) { return data - old; }
};
struct AtomicSmin {
  template <class T> static T apply(T old, T data) {
    using S = std::make_signed_t<T>;
    return S(data) < S(old) ? data : old;
  }
};
struct AtomicSmax {
  template <class T> static T apply(T old, T data) {
    using S = std::make_signed_t<T>;
    return S(data) > S(old) ? data : old;
  }
};
struct AtomicUmin {
  template <class T> static T apply(T old, T data) { return std::min(old, data); }
};
struct AtomicUmax {
  template <class T> static T apply(T old, T data) { return std::max(old, data); }
};
struct AtomicAnd {
  template <class T> static T apply(T old, T data) { return old & data; }
};
struct AtomicOr {
  template <class T> static T apply(T old, T data) { return old | data; }
};
struct AtomicXor {
  template <class T> static T apply(T old, T data) { return old ^ data; }
};
struct AtomicInc {
  template <class T> static T apply(T old, T data) { return old >= data ? 0 : old + 1; }
};
struct AtomicDec {
  template <class T> static T apply(T old, T data) {
    return old == 0 || old > data ? data : old - 1;
  }
};
/// The memory units flush denormals of f32 sums.
struct AtomicAddF32 {
  static uint32_t apply(uint32_t old, uint32_t data) {
    return bitsOf(flushed(flushed(floatOf(old)) + flushed(floatOf(data))));
  }
};
/// LDS with denormals kept by MODE.
struct AtomicAddF32Denormals {
  static uint32_t apply(uint32_t old, uint32_t data) {
    return bitsOf(floatOf(old) + floatOf(data));
  }
};
struct AtomicAddF64 {
  static uint64_t apply(uint64_t old, uint64_t data) {
    return bitsOf(doubleOf(old) + doubleOf(data));
  }
};
struct AtomicMinF32 {
  static uint32_t apply(uint32_t old, uint32_t data) {
    return bitsOf(minNumber(floatOf(old), floatOf(data), false));
  }
};
struct AtomicMaxF32 {
  static uint32_t apply(uint32_t old, uint32_t data) {
    return bitsOf(maxNumber(floatOf(old), floatOf(data), false));
  }
};
struct AtomicMinF64 {
  static uint64_t apply(uint64_t old, uint64_t data) {
    return bitsOf(minNumber(doubleOf(old), doubleOf(data), false));
  }
};
struct AtomicMaxF64 {
  static uint64_t apply(uint64_t old, uint64_t data) {
    return bitsOf(maxNumber(doubleOf(old), doubleOf(data), false));
  }
};
struct AtomicPkAddF16 {
  static uint32_t apply(uint32_t old, uint32_t data) {
    auto one = [](uint32_t a, uint32_t b) {
      return floatToHalf(halfToFloat(a & 0xffff) + halfToFloat(b & 0xffff));
    };
    return one(old, data) | one(old >> 16, data >> 16) << 16;
  }
};
struct AtomicPkAddBf16 {
  static uint32_t apply(uint32_t old, uint32_t data) {
    auto one = [](uint32_t a, uint32_t b) {
      return floatToBf16(bf16ToFloat(a & 0xffff) + bf16ToFloat(b & 0xffff));
    };
    return one(old, data) | one(old >> 16, data >> 16) << 16;
  }
};

/// Apply f to memory atomically with respect to other emulated waves; returns the old value.
template <class T, class F> T atomicUpdate(uint8_t *p, F f) {
  T *word = reinterpret_cast<T *>(p);
  T old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (
      !__atomic_compare_exchange_n(word, &old, f(old), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// One lane's data of width T.
template <class T> T laneData(const uint32_t *lanes, unsigned l) {
  if constexpr (sizeof(T) == 8)
    return lanes[l] | uint64_t(lanes[waveSize + l]) << 32;
  else
    return lanes[l];
}
template <class T> void setLaneData(uint32_t *lanes, unsigned l, T value) {
  lanes[l] = uint32_t(value);
  if constexpr (sizeof(T) == 8)
    lanes[waveSize + l] = uint32_t(value >> 32);
}

/// Call visit.template operator()<T, Op>(name) for every memory atomic but compare-and-swap; `name`
/// is the part behind "global_atomic_", with _x2 for 64 bits.
template <class V> void forEachMemoryAtomic(V visit) {
  auto both = [&]<class Op>(const char *name) {
    visit.template operator()<uint32_t, Op>(name);
    visit.template operator()<uint64_t, Op>(std::string(name) + "_x2");
  };
  both.template operator()<AtomicSwap>("swap");
  both.template operator()<AtomicAdd>("add");
  both.template operator()<AtomicSub>("sub");
  both.template operator()<AtomicSmin>("smin");
  both.template operator()<AtomicUmin>("umin");
  both.template operator()<AtomicSmax>("smax");
  both.template operator()<AtomicUmax>("umax");
  both.template operator()<AtomicAnd>("and");
  both.template operator()<AtomicOr>("or");
  both.template operator()<AtomicXor>("xor");
  both.template operator()<AtomicInc>("inc");
  both.template operator()<AtomicDec>("dec");
  visit.template operator()<uint32_t, AtomicAddF32>("add_f32");
  visit.template operator()<uint64_t, AtomicAddF64>("add_f64");
  visit.template operator()<uint64_t, AtomicMinF64>("min_f64");
  visit.template operator()<uint64_t, AtomicMaxF64>("max_f64");
  visit.template operator()<uint32_t, AtomicPkAddF16>("pk_add_f16");
  visit.template operator()<uint32_t, AtomicPkAddBf16>("pk_add_bf16");
}

/// Reports an address that is no multiple of the access; null, for `return misaligned(...)`.
inline const Inst *misaligned(Wave &wave, const Inst *in, uint64_t address, unsigned bytes,
                              unsigned lane) {
  return wave.fail(in, FaultKind::Misaligned, int(lane),
                   "atomic of " + std::to_string(bytes) + " bytes at address " +
                       std::to_string(address));
}

/// Handlers of the atomics of one family. `Words::update<T>(wave, in, f)` replaces each active
/// lane's word with f(old, lane), and returns the old ones if there is a destination.
template <class Words> struct AtomicHandlers {
  template <class T, class Op> static const Inst *update(Wave &wave, const Inst *in) {
    // The result may overlap the data registers of the same lane only: it is written after they are
    // read.
    const uint32_t *data = wave.lanes(in->src[1]);
    return Words::template update<T>(
        wave, in, [&](T old, unsigned l) { return Op::apply(old, laneData<T>(data, l)); });
  }
  /// The data pair is {new, compare}.
  template <class T> static const Inst *compareSwap(Wave &wave, const Inst *in) {
    const uint32_t *fresh = wave.lanes(in->src[1]);
    const uint32_t *compare = fresh + sizeof(T) / 4 * waveSize;
    return Words::template update<T>(wave, in, [&](T old, unsigned l) {
      return old == laneData<T>(compare, l) ? laneData<T>(fresh, l) : old;
    });
  }
};

/// Call add(name, handler, result and data types) for every memory atomic.
template <class Words, class F> void forEachAtomicRow(F add) {
  using Handlers = AtomicHandlers<Words>;
  forEachMemoryAtomic([&]<class T, class Op>(const std::string &name) {
    ValueType width = sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;
    add(name, Handlers::template update<T, Op>, width, width);
  });
  add("cmpswap", Handlers::template compareSwap<uint32_t>, ValueType::B32, ValueType::B64);
  add("cmpswap_x2", Handlers::template compareSwap<uint64_t>, ValueType::B64, ValueType::B128);
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_ATOMIC_H
