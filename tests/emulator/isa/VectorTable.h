//===- VectorTable.h - tables of per-lane vector instructions --------------===//
//
// A row gives a mnemonic, its operand types, the encodings and modifiers it has
// and what one lane computes. Every row is expanded into cases: VGPR, SGPR,
// inline and literal operands, neg/abs in each position, clamp, omod, op_sel, a
// DPP and a few SDWA forms, the MODE variants; each with full and partial EXEC.
//
// Operand registers: a = v[8:9] or s[32:33], b = v[10:11] or s[34:35], c = v[12:13] or s[36:37],
// destination v[14:15], lane masks VCC (e32) or s[40:41] out and s[42:43] in (e64).
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_ISA_VECTORTABLE_H
#define TESTS_EMULATOR_ISA_VECTORTABLE_H

#include "tests/emulator/isa/Numeric.h"
#include "tests/emulator/isa/Operands.h"

#include <cfenv>

namespace isatest {

/// One lane's operands after modifiers.
struct Lane {
  uint64_t a = 0, b = 0, c = 0;
  uint64_t d = 0;    ///< the destination's old value
  bool mask = false; ///< carry in, select or scale bit; the function leaves the mask result here
  unsigned lane = 0;
  bool unspecified = false; ///< set by the function: the text does not say what comes out
  Mode mode;
};

using LaneFunction = std::function<uint64_t(Lane &)>;

enum Form : unsigned {
  E32 = 1 << 0,
  E64 = 1 << 1,
  DPP = 1 << 2,
  SDWA = 1 << 3,
  NEG = 1 << 4,      ///< e64 has neg and abs on float operands
  CLAMP = 1 << 5,    ///< e64 clamps the float result to [0, 1]
  OMOD = 1 << 6,     ///< e64 scales the float result
  OPSEL = 1 << 7,    ///< e64 picks halves of 16-bit operands and of the destination
  KEEPHIGH = 1 << 8, ///< a 16-bit result leaves the other half of its register
  MASKOUT = 1 << 9,  ///< writes a lane mask
  MASKIN = 1 << 10,  ///< reads a lane mask
  NODST = 1 << 11,   ///< writes only the lane mask
  FTZ = 1 << 12,     ///< also run with denormals off
  NOIEEE = 1 << 13,  ///< also run with IEEE mode off
  ROUNDS = 1 << 14,  ///< also run in the other rounding modes
  VCCIN = 1 << 15,   ///< the mask is read from VCC without being named
  FIXEDB = 1 << 16,  ///< operands after the first are VGPRs only
  NOCONST = 1 << 17, ///< VGPR operands only
  ADDS = 1 << 18,    ///< the old destination is an operand (fmac, dot2c)
  NOSEXT = 1 << 19,  ///< SDWA without sign extension
  EXECOUT = 1 << 20, ///< the mask also goes to EXEC (v_cmpx)
};

constexpr unsigned Vop1 = E32 | E64 | DPP, Vop2 = E32 | E64 | DPP | SDWA, Vop3 = E64;
constexpr unsigned FloatMods = NEG | CLAMP | OMOD;

struct Row {
  const char *name;
  Type dst;
  std::vector<Type> src;
  unsigned forms;
  LaneFunction fn;
  Compare compare = {};           ///< kind is filled in from `dst` when left at Bits
  const char *operands = nullptr; ///< {0} destination, {1}.. sources, {4} mask out, {5} mask in
  Type old = Type::B32;           ///< type of the old destination, with ADDS
};

void addRows(Suite &suite, const std::vector<Row> &rows);

//===--- what rows are written with -----------------------------------------===//

/// Set the host's rounding as MODE.round says while alive.
struct HostRounding {
  explicit HostRounding(unsigned mode) {
    constexpr int Modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(Modes[mode & 3]);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
};

inline uint64_t in32(const Lane &l, uint64_t bits) {
  return l.mode.denorm32 ? bits : flush32(bits);
}
inline uint64_t in16(const Lane &l, uint64_t bits) {
  return l.mode.denorm16 ? bits : flush16(bits);
}
inline uint64_t in64(const Lane &l, uint64_t bits) {
  return l.mode.denorm16 ? bits : flush64(bits);
}

/// f32 operations with MODE's rounding and denormal control on inputs and output.
inline LaneFunction f32x1(float (*f)(float)) {
  return [f](Lane &l) {
    HostRounding rounding(l.mode.round32);
    return in32(l, bitsOf(f(asF32(in32(l, l.a)))));
  };
}
inline LaneFunction f32x2(float (*f)(float, float)) {
  return [f](Lane &l) {
    HostRounding rounding(l.mode.round32);
    return in32(l, bitsOf(f(asF32(in32(l, l.a)), asF32(in32(l, l.b)))));
  };
}
inline LaneFunction f32x3(float (*f)(float, float, float)) {
  return [f](Lane &l) {
    HostRounding rounding(l.mode.round32);
    return in32(l, bitsOf(f(asF32(in32(l, l.a)), asF32(in32(l, l.b)), asF32(in32(l, l.c)))));
  };
}
inline LaneFunction f64x1(double (*f)(double)) {
  return [f](Lane &l) { return in64(l, bitsOf(f(asF64(in64(l, l.a))))); };
}
inline LaneFunction f64x2(double (*f)(double, double)) {
  return [f](Lane &l) {
    HostRounding rounding(l.mode.round16);
    return in64(l, bitsOf(f(asF64(in64(l, l.a)), asF64(in64(l, l.b)))));
  };
}
inline LaneFunction f64x3(double (*f)(double, double, double)) {
  return [f](Lane &l) {
    HostRounding rounding(l.mode.round16);
    return in64(l, bitsOf(f(asF64(in64(l, l.a)), asF64(in64(l, l.b)), asF64(in64(l, l.c)))));
  };
}
/// f16 operations: exact in 113 bits, rounded once.
inline uint64_t toF16(const Lane &l, Wide x) {
  return in16(l, encode(F16Format, x, Round(l.mode.round16)));
}
inline LaneFunction f16x1(Wide (*f)(Wide)) {
  return [f](Lane &l) { return toF16(l, f(f16(in16(l, l.a)))); };
}
inline LaneFunction f16x2(Wide (*f)(Wide, Wide)) {
  return [f](Lane &l) { return toF16(l, f(f16(in16(l, l.a)), f16(in16(l, l.b)))); };
}
inline LaneFunction f16x3(Wide (*f)(Wide, Wide, Wide)) {
  return
      [f](Lane &l) { return toF16(l, f(f16(in16(l, l.a)), f16(in16(l, l.b)), f16(in16(l, l.c)))); };
}
/// Integer operations; the operands are the low 32 bits.
inline LaneFunction u32x1(uint32_t (*f)(uint32_t)) {
  return [f](Lane &l) { return f(uint32_t(l.a)); };
}
inline LaneFunction u32x2(uint32_t (*f)(uint32_t, uint32_t)) {
  return [f](Lane &l) { return f(uint32_t(l.a), uint32_t(l.b)); };
}
inline LaneFunction u32x3(uint32_t (*f)(uint32_t, uint32_t, uint32_t)) {
  return [f](Lane &l) { return f(uint32_t(l.a), uint32_t(l.b), uint32_t(l.c)); };
}
inline LaneFunction u16x2(uint16_t (*f)(uint16_t, uint16_t)) {
  return [f](Lane &l) { return f(uint16_t(l.a), uint16_t(l.b)); };
}
inline LaneFunction u16x3(uint16_t (*f)(uint16_t, uint16_t, uint16_t)) {
  return [f](Lane &l) { return f(uint16_t(l.a), uint16_t(l.b), uint16_t(l.c)); };
}

/// v_min/v_max and their IEEE-2019 relatives, on bit patterns of any float format.
uint64_t minMax(const Format &f, uint64_t a, uint64_t b, bool max, bool ieee);
uint64_t minMax64(uint64_t a, uint64_t b, bool max, bool ieee);
/// minimum/maximum: NaN wins.
uint64_t minimumMaximum(const Format &f, uint64_t a, uint64_t b, bool max);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_VECTORTABLE_H
