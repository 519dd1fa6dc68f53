//===- Vopc.cpp - vector compares -----------------------------------------------------===//
//
// Owns v_cmp_* and v_cmpx_* of every condition and type, and the class tests.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Lane.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// One condition as v_cmp_ and v_cmpx_.
template <class T, class F>
void addPair(OpTable &t, const std::string &condition, const std::string &suffix, F f) {
  valuCompare<T, T>(t, "v_cmp_" + condition + "_" + suffix, f);
  valuCompare<T, T>(t, "v_cmpx_" + condition + "_" + suffix, f, OpWritesExec);
}

template <class T> void addFloat(OpTable &t, const std::string &s) {
  using V = typename T::T;
  addPair<T>(t, "f", s, [](V, V) { return false; });
  addPair<T>(t, "lt", s, [](V a, V b) { return a < b; });
  addPair<T>(t, "eq", s, [](V a, V b) { return a == b; });
  addPair<T>(t, "le", s, [](V a, V b) { return a <= b; });
  addPair<T>(t, "gt", s, [](V a, V b) { return a > b; });
  addPair<T>(t, "lg", s, [](V a, V b) { return (a < b) | (a > b); });
  addPair<T>(t, "ge", s, [](V a, V b) { return a >= b; });
  addPair<T>(t, "o", s, [](V a, V b) { return (a == a) & (b == b); });
  addPair<T>(t, "u", s, [](V a, V b) { return (a != a) | (b != b); });
  addPair<T>(t, "nge", s, [](V a, V b) { return !(a >= b); });
  addPair<T>(t, "nlg", s, [](V a, V b) { return !((a < b) | (a > b)); });
  addPair<T>(t, "ngt", s, [](V a, V b) { return !(a > b); });
  addPair<T>(t, "nle", s, [](V a, V b) { return !(a <= b); });
  addPair<T>(t, "neq", s, [](V a, V b) { return !(a == b); });
  addPair<T>(t, "nlt", s, [](V a, V b) { return !(a < b); });
  addPair<T>(t, "tru", s, [](V, V) { return true; });
}

template <class T> void addInteger(OpTable &t, const std::string &s) {
  using V = typename T::T;
  addPair<T>(t, "f", s, [](V, V) { return false; });
  addPair<T>(t, "lt", s, [](V a, V b) { return a < b; });
  addPair<T>(t, "eq", s, [](V a, V b) { return a == b; });
  addPair<T>(t, "le", s, [](V a, V b) { return a <= b; });
  addPair<T>(t, "gt", s, [](V a, V b) { return a > b; });
  addPair<T>(t, "ne", s, [](V a, V b) { return a != b; });
  addPair<T>(t, "ge", s, [](V a, V b) { return a >= b; });
  addPair<T>(t, "t", s, [](V, V) { return true; });
}

/// Bit of the class mask: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal,
/// 8 +normal, 9 +inf.
uint32_t classBit(bool negative, uint64_t exponent, uint64_t mantissa, uint64_t exponentMax,
                  uint64_t quietBit) {
  if (exponent == exponentMax && mantissa != 0)
    return mantissa & quietBit ? 1 : 0;
  unsigned kind = exponent == exponentMax ? 0 : exponent != 0 ? 1 : mantissa != 0 ? 2 : 3;
  return negative ? 2 + kind : 9 - kind;
}

void addClass(OpTable &t) {
  auto half = [](uint32_t v, uint32_t mask) {
    return (mask >> classBit(v >> 15 & 1, v >> 10 & 0x1f, v & 0x3ff, 0x1f, 0x200) & 1) != 0;
  };
  auto single = [](float f, uint32_t mask) {
    uint32_t v = bitsOf(f);
    return (mask >> classBit(v >> 31, v >> 23 & 0xff, v & 0x7fffff, 0xff, 0x400000) & 1) != 0;
  };
  auto wide = [](double f, uint32_t mask) {
    uint64_t v = bitsOf(f), fraction = (uint64_t(1) << 52) - 1;
    return (mask >> classBit(v >> 63, v >> 52 & 0x7ff, v & fraction, 0x7ff, uint64_t(1) << 51) &
            1) != 0;
  };
  for (uint16_t exec : {uint16_t(0), uint16_t(OpWritesExec)}) {
    std::string name = exec ? "v_cmpx_class_" : "v_cmp_class_";
    uint16_t flags = uint16_t(exec | OpKeepsDenormals);
    valuCompare<H16, U32>(t, name + "f16", half, flags);
    valuCompare<F32, U32>(t, name + "f32", single, flags);
    valuCompare<F64, U32>(t, name + "f64", wide, flags);
  }
}

} // namespace

void addVopc(OpTable &t) {
  addFloat<F16>(t, "f16");
  addFloat<F32>(t, "f32");
  addFloat<F64>(t, "f64");
  addInteger<I16>(t, "i16");
  addInteger<U16>(t, "u16");
  addInteger<I32>(t, "i32");
  addInteger<U32>(t, "u32");
  addInteger<I64>(t, "i64");
  addInteger<U64>(t, "u64");
  addClass(t);
}

GFX950EMU_EXEC_END
