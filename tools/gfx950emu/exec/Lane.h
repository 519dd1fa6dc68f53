//===- Lane.h - lane functions from lambdas ---------------------------------------===//
//
// Owns the operand tags and the templates that turn a lambda over one lane into a
// LaneFn over 64 and a row of the table. A new VALU instruction is one row here:
//   valu<U32, U32, U32>(table, "v_add_u32", [](uint32_t a, uint32_t b) { return a + b; });
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_LANE_H
#define GFX950EMU_EXEC_LANE_H

#include "tools/gfx950emu/exec/Exec.h"
#include "tools/gfx950emu/exec/Float.h"
#include "tools/gfx950emu/exec/Valu.h"

GFX950EMU_EXEC_BEGIN

template <class Type, ValueType V> struct Word {
  using T = Type;
  static constexpr ValueType type = V;
  static T load(const uint32_t *p, unsigned l) { return std::bit_cast<T>(p[l]); }
  static void store(uint32_t *p, unsigned l, T v) { p[l] = std::bit_cast<uint32_t>(v); }
};
template <class Type, ValueType V> struct Double {
  using T = Type;
  static constexpr ValueType type = V;
  static T load(const uint32_t *p, unsigned l) {
    return std::bit_cast<T>(p[l] | uint64_t(p[waveSize + l]) << 32);
  }
  static void store(uint32_t *p, unsigned l, T v) {
    uint64_t u = std::bit_cast<uint64_t>(v);
    p[l] = uint32_t(u);
    p[waveSize + l] = uint32_t(u >> 32);
  }
};
template <class Type, ValueType V> struct Short {
  using T = Type;
  static constexpr ValueType type = V;
  static T fromBits(uint32_t u) { return T(u); }
  static uint32_t toBits(T v) { return uint16_t(v); }
  static T load(const uint32_t *p, unsigned l) { return T(p[l]); }
  static void store(uint32_t *p, unsigned l, T v) { p[l] = uint16_t(v); }
};
using B32 = Word<uint32_t, ValueType::B32>;
using U32 = Word<uint32_t, ValueType::U32>;
using I32 = Word<int32_t, ValueType::I32>;
using F32 = Word<float, ValueType::F32>;
using B64 = Double<uint64_t, ValueType::B64>;
using U64 = Double<uint64_t, ValueType::U64>;
using I64 = Double<int64_t, ValueType::I64>;
using F64 = Double<double, ValueType::F64>;
using U16 = Short<uint16_t, ValueType::U16>;
using I16 = Short<int16_t, ValueType::I16>;
using Pk16 = Word<uint32_t, ValueType::Pk16>;
using PkF16 = Word<uint32_t, ValueType::PkF16>;
using Mix = Word<float, ValueType::Mix>;
/// Computes in f32; every f16 operation but fma is then correctly rounded.
struct F16 {
  using T = float;
  static constexpr ValueType type = ValueType::F16;
  static T fromBits(uint32_t u) { return halfToFloat(u & 0xffff); }
  static uint32_t toBits(T v) { return floatToHalf(v); }
  static T load(const uint32_t *p, unsigned l) { return halfToFloat(p[l] & 0xffff); }
  static void store(uint32_t *p, unsigned l, T v) { p[l] = floatToHalf(v); }
};
/// The bits of an f16 (float modifiers apply).
struct H16 {
  using T = uint32_t;
  static constexpr ValueType type = ValueType::F16;
  static T fromBits(uint32_t u) { return u & 0xffff; }
  static uint32_t toBits(T v) { return v & 0xffff; }
  static T load(const uint32_t *p, unsigned l) { return p[l] & 0xffff; }
  static void store(uint32_t *p, unsigned l, T v) { p[l] = v & 0xffff; }
};

/// The extra parameters that a lambda takes, in the order: (const LaneArgs &), sources...,
/// (old destination), (mask in), (mask out by reference).
enum : unsigned { TakesArgs = 1, TakesOld = 2, TakesMaskIn = 4, TakesMaskOut = 8, IsCompare = 16 };

template <class F, unsigned Takes, class D, class... S> struct LaneLoop {
  template <size_t... I>
  static void body(const LaneArgs &a, uint32_t *__restrict out, uint32_t *__restrict maskOut,
                   std::index_sequence<I...>) {
    F f;
    const uint32_t *const src[] = {a.src[I]..., nullptr};
    for (unsigned l = 0; l < waveSize; ++l) {
      if constexpr (Takes == IsCompare) {
        maskOut[l] = f(S::load(src[I], l)...) ? ~0u : 0;
      } else if constexpr (Takes == 0) {
        D::store(out, l, f(S::load(src[I], l)...));
      } else if constexpr (Takes == TakesArgs) {
        D::store(out, l, f(a, S::load(src[I], l)...));
      } else if constexpr (Takes == (TakesArgs | TakesOld)) {
        D::store(out, l, f(a, S::load(src[I], l)..., D::load(a.old, l)));
      } else if constexpr (Takes == TakesMaskIn) {
        D::store(out, l, f(S::load(src[I], l)..., a.maskIn[l] != 0));
      } else if constexpr (Takes == TakesMaskOut) {
        bool mask = false;
        D::store(out, l, f(S::load(src[I], l)..., mask));
        maskOut[l] = mask ? ~0u : 0;
      } else {
        static_assert(Takes == (TakesMaskIn | TakesMaskOut));
        bool mask = false;
        D::store(out, l, f(S::load(src[I], l)..., a.maskIn[l] != 0, mask));
        maskOut[l] = mask ? ~0u : 0;
      }
    }
  }
  static void run(const LaneArgs &a) { body(a, a.out, a.maskOut, std::index_sequence_for<S...>()); }
};

/// A row with the given lane function and operand types.
template <class D, class... S> OpInfo valuRow(llvm::StringRef name, LaneFn lanes, uint16_t flags) {
  static_assert(sizeof...(S) <= 3);
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Valu;
  info.lanes = lanes;
  info.sources = sizeof...(S);
  info.flags = flags;
  if constexpr (!std::is_void_v<D>)
    info.dst = D::type;
  unsigned i = 0;
  ((info.src[i++] = S::type), ...);
  if (!(flags & OpKeepsDenormals)) {
    info.param = floatClass(info.dst);
    for (ValueType t : info.src)
      info.param |= floatClass(t);
  }
  info.handler = valuHandler(info.sources, flags);
  return info;
}

/// The row of an operation with lambda F.
template <unsigned Takes, class F, class D, class... S>
OpInfo &addRow(OpTable &table, llvm::StringRef name, uint16_t flags) {
  OpInfo info = valuRow<D, S...>(name, LaneLoop<F, Takes, D, S...>::run, flags);
  if constexpr (std::is_same_v<D, F16>)
    info.wideLanes = LaneLoop<F, Takes, F32, S...>::run;
  return table.add(info);
}

template <class D, class... S, class F>
OpInfo &valu(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return addRow<0, F, D, S...>(table, name, flags);
}
/// f(const LaneArgs &, sources...)
template <class D, class... S, class F>
OpInfo &valuArgs(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return addRow<TakesArgs, F, D, S...>(table, name, flags);
}
/// f(const LaneArgs &, sources..., old destination)
template <class D, class... S, class F>
OpInfo &valuOld(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return table.add(
      valuRow<D, S...>(name, LaneLoop<F, TakesArgs | TakesOld, D, S...>::run, flags | OpReadsOld));
}
/// f(sources..., mask bit)
template <class D, class... S, class F>
OpInfo &valuMaskIn(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return table.add(
      valuRow<D, S...>(name, LaneLoop<F, TakesMaskIn, D, S...>::run, flags | OpReadsMask));
}
/// f(sources..., bool &mask)
template <class D, class... S, class F>
OpInfo &valuMaskOut(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return table.add(
      valuRow<D, S...>(name, LaneLoop<F, TakesMaskOut, D, S...>::run, flags | OpWritesMask));
}
/// f(sources..., mask bit, bool &mask)
template <class D, class... S, class F>
OpInfo &valuMaskInOut(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return table.add(valuRow<D, S...>(name, LaneLoop<F, TakesMaskIn | TakesMaskOut, D, S...>::run,
                                    flags | OpReadsMask | OpWritesMask));
}
/// bool f(sources...)
template <class... S, class F>
OpInfo &valuCompare(OpTable &table, llvm::StringRef name, F, uint16_t flags = 0) {
  return table.add(valuRow<void, S...>(name, LaneLoop<F, IsCompare, void, S...>::run,
                                       flags | OpWritesMask | OpCompare));
}
/// The lane function of an integer operation with the clamp bit set.
template <class D, class... S, class F> LaneFn clamped(F) { return LaneLoop<F, 0, D, S...>::run; }

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_LANE_H
