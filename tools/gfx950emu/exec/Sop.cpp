//===- Sop.cpp - scalar arithmetic (SOP1, SOP2) ---------------------------------------===//

#include "tools/gfx950emu/exec/Scalar.h"

GFX950EMU_EXEC_BEGIN

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

void addArithmetic(OpTable &t) {
  salu<u32, u32, u32>(t, "s_add_u32", [](bool &scc, u32 a, u32 b) {
    scc = a + b < a;
    return a + b;
  });
  salu<u32, u32, u32>(t, "s_sub_u32", [](bool &scc, u32 a, u32 b) {
    scc = a < b;
    return a - b;
  });
  salu<u32, u32, u32>(t, "s_add_i32", [](bool &scc, u32 a, u32 b) {
    u32 r = a + b;
    scc = ((a ^ r) & (b ^ r)) >> 31;
    return r;
  });
  salu<u32, u32, u32>(t, "s_sub_i32", [](bool &scc, u32 a, u32 b) {
    u32 r = a - b;
    scc = ((a ^ b) & (a ^ r)) >> 31;
    return r;
  });
  salu<u32, u32, u32>(t, "s_addc_u32", [](bool &scc, u32 a, u32 b) {
    u64 r = u64(a) + b + scc;
    scc = r >> 32;
    return u32(r);
  });
  salu<u32, u32, u32>(t, "s_subb_u32", [](bool &scc, u32 a, u32 b) {
    u64 r = u64(a) - b - scc;
    scc = r >> 63;
    return u32(r);
  });
  salu<i32, i32, i32>(t, "s_min_i32", [](bool &scc, i32 a, i32 b) {
    scc = a < b;
    return std::min(a, b);
  });
  salu<u32, u32, u32>(t, "s_min_u32", [](bool &scc, u32 a, u32 b) {
    scc = a < b;
    return std::min(a, b);
  });
  salu<i32, i32, i32>(t, "s_max_i32", [](bool &scc, i32 a, i32 b) {
    scc = a >= b;
    return std::max(a, b);
  });
  salu<u32, u32, u32>(t, "s_max_u32", [](bool &scc, u32 a, u32 b) {
    scc = a >= b;
    return std::max(a, b);
  });
  salu<u32, u32, u32>(t, "s_mul_i32", [](bool &, u32 a, u32 b) { return a * b; });
  salu<u32, u32, u32>(t, "s_mul_hi_u32",
                      [](bool &, u32 a, u32 b) { return u32((u64(a) * b) >> 32); });
  salu<i32, i32, i32>(t, "s_mul_hi_i32",
                      [](bool &, i32 a, i32 b) { return i32((i64(a) * b) >> 32); });
  salu<i32, i32, i32>(t, "s_absdiff_i32", [](bool &scc, i32 a, i32 b) {
    i32 d = i32(u32(a) - u32(b));
    u32 r = d < 0 ? -u32(d) : u32(d);
    scc = r != 0;
    return i32(r);
  });
  salu<i32, i32>(t, "s_abs_i32", [](bool &scc, i32 a) {
    u32 r = a < 0 ? -u32(a) : u32(a);
    scc = r != 0;
    return i32(r);
  });
  salu<u32, u32, u32>(t, "s_cselect_b32", [](bool &scc, u32 a, u32 b) { return scc ? a : b; });
  salu<u64, u64, u64>(t, "s_cselect_b64", [](bool &scc, u64 a, u64 b) { return scc ? a : b; });
  auto shiftAdd = [](bool &scc, u32 a, u32 b, unsigned n) {
    u64 r = (u64(a) << n) + b;
    scc = r >> 32;
    return u32(r);
  };
  using ShiftAdd = decltype(shiftAdd);
  salu<u32, u32, u32>(t, "s_lshl1_add_u32",
                      [](bool &scc, u32 a, u32 b) { return ShiftAdd()(scc, a, b, 1); });
  salu<u32, u32, u32>(t, "s_lshl2_add_u32",
                      [](bool &scc, u32 a, u32 b) { return ShiftAdd()(scc, a, b, 2); });
  salu<u32, u32, u32>(t, "s_lshl3_add_u32",
                      [](bool &scc, u32 a, u32 b) { return ShiftAdd()(scc, a, b, 3); });
  salu<u32, u32, u32>(t, "s_lshl4_add_u32",
                      [](bool &scc, u32 a, u32 b) { return ShiftAdd()(scc, a, b, 4); });
  salu<u32, u32, u32>(t, "s_pack_ll_b32_b16",
                      [](bool &, u32 a, u32 b) { return (a & 0xffff) | b << 16; });
  salu<u32, u32, u32>(t, "s_pack_lh_b32_b16",
                      [](bool &, u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); });
  salu<u32, u32, u32>(t, "s_pack_hh_b32_b16",
                      [](bool &, u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); });
}

/// A two-source logical operation and its saveexec form; SCC = result is not zero.
template <class F> void addLogic(OpTable &t, const std::string &name, F) {
  salu<u32, u32, u32>(t, "s_" + name + "_b32", [](bool &scc, u32 a, u32 b) {
    u32 r = u32(F()(a, b));
    scc = r != 0;
    return r;
  });
  salu<u64, u64, u64>(t, "s_" + name + "_b64", [](bool &scc, u64 a, u64 b) {
    u64 r = F()(a, b);
    scc = r != 0;
    return r;
  });
}

/// D = EXEC; EXEC = f(S0, EXEC).
template <class F> void addSaveExec(OpTable &t, const std::string &name, F) {
  saluHandler<u64, u64>(t, "s_" + name + "_saveexec_b64", [](Wave &wave, const Inst *in) {
    u64 source = wave.read64(in->src[0]), exec = wave.exec(), r = F()(source, exec);
    wave.setScalar64(in->dst.index, exec);
    wave.setExec(r);
    wave.setScc(r != 0);
    return in + 1;
  });
}

void addLogical(OpTable &t) {
  addLogic(t, "and", [](u64 a, u64 b) { return a & b; });
  addLogic(t, "or", [](u64 a, u64 b) { return a | b; });
  addLogic(t, "xor", [](u64 a, u64 b) { return a ^ b; });
  addLogic(t, "andn2", [](u64 a, u64 b) { return a & ~b; });
  addLogic(t, "orn2", [](u64 a, u64 b) { return a | ~b; });
  addLogic(t, "nand", [](u64 a, u64 b) { return ~(a & b); });
  addLogic(t, "nor", [](u64 a, u64 b) { return ~(a | b); });
  addLogic(t, "xnor", [](u64 a, u64 b) { return ~(a ^ b); });
  addSaveExec(t, "and", [](u64 s, u64 e) { return s & e; });
  addSaveExec(t, "or", [](u64 s, u64 e) { return s | e; });
  addSaveExec(t, "xor", [](u64 s, u64 e) { return s ^ e; });
  addSaveExec(t, "andn2", [](u64 s, u64 e) { return s & ~e; });
  addSaveExec(t, "orn2", [](u64 s, u64 e) { return s | ~e; });
  addSaveExec(t, "nand", [](u64 s, u64 e) { return ~(s & e); });
  addSaveExec(t, "nor", [](u64 s, u64 e) { return ~(s | e); });
  addSaveExec(t, "xnor", [](u64 s, u64 e) { return ~(s ^ e); });
  addSaveExec(t, "andn1", [](u64 s, u64 e) { return ~s & e; });
  addSaveExec(t, "orn1", [](u64 s, u64 e) { return ~s | e; });
  // The wrexec forms return the new EXEC instead of the old.
  saluHandler<u64, u64>(t, "s_andn1_wrexec_b64", [](Wave &wave, const Inst *in) {
    u64 r = ~wave.read64(in->src[0]) & wave.exec();
    wave.setScalar64(in->dst.index, r);
    wave.setExec(r);
    wave.setScc(r != 0);
    return in + 1;
  });
  saluHandler<u64, u64>(t, "s_andn2_wrexec_b64", [](Wave &wave, const Inst *in) {
    u64 r = wave.read64(in->src[0]) & ~wave.exec();
    wave.setScalar64(in->dst.index, r);
    wave.setExec(r);
    wave.setScc(r != 0);
    return in + 1;
  });
}

/// Add M0 to the number of a register. M0 counts registers of 32 bits for pairs too, which must
/// stay at even numbers. False after a fault.
template <class T> bool indexRegister(Wave &wave, const Inst *in, Operand &reg) {
  const uint64_t index = uint64_t(reg.index) + wave.sgpr[SgprM0];
  if (reg.bank == BankScalar && index + reg.dwords <= SgprVcc && index % (sizeof(T) / 4) == 0) {
    reg.index = unsigned(index);
    return true;
  }
  wave.fail(in, FaultKind::BadRegister, -1,
            sizeof(T) == 8 ? "indexes the pair at s" + std::to_string(index)
                           : "indexes s" + std::to_string(index));
  return false;
}

/// Operations that exist for 32 and 64 bits and set SCC when the result is not zero.
template <class T> void addShifts(OpTable &t, const std::string &bits) {
  using S = std::make_signed_t<T>;
  constexpr unsigned width = sizeof(T) * 8, mask = width - 1;
  salu<T, T, u32>(t, "s_lshl_b" + bits, [](bool &scc, T a, u32 b) {
    T r = a << (b & mask);
    scc = r != 0;
    return r;
  });
  salu<T, T, u32>(t, "s_lshr_b" + bits, [](bool &scc, T a, u32 b) {
    T r = a >> (b & mask);
    scc = r != 0;
    return r;
  });
  salu<S, S, u32>(t, "s_ashr_i" + bits, [](bool &scc, S a, u32 b) {
    S r = a >> (b & mask);
    scc = r != 0;
    return r;
  });
  salu<T, u32, u32>(t, "s_bfm_b" + bits,
                    [](bool &, u32 a, u32 b) { return ((T(1) << (a & mask)) - 1) << (b & mask); });
  // Field: offset in [5:0], width in [22:16].
  salu<T, T, u32>(t, "s_bfe_u" + bits, [](bool &scc, T a, u32 b) {
    unsigned w = std::min<unsigned>(b >> 16 & 0x7f, +width);
    T shifted = a >> (b & mask), r = w == width ? shifted : shifted & ((T(1) << w) - 1);
    scc = r != 0;
    return r;
  });
  salu<S, S, u32>(t, "s_bfe_i" + bits, [](bool &scc, S a, u32 b) {
    unsigned w = std::min<unsigned>(b >> 16 & 0x7f, +width);
    T shifted = T(a >> (b & mask));
    S r = w == 0 ? 0 : S(shifted << (width - w)) >> (width - w);
    scc = r != 0;
    return r;
  });
  salu<T, T>(t, "s_mov_b" + bits, [](bool &, T a) { return a; });
  salu<T, T>(t, "s_not_b" + bits, [](bool &scc, T a) {
    scc = T(~a) != 0;
    return T(~a);
  });
  salu<T, T>(t, "s_brev_b" + bits, [](bool &, T a) {
    if constexpr (width == 32)
      return __builtin_bitreverse32(a);
    else
      return __builtin_bitreverse64(a);
  });
  salu<u32, T>(t, "s_bcnt0_i32_b" + bits, [](bool &scc, T a) {
    u32 r = u32(std::popcount(T(~a)));
    scc = r != 0;
    return r;
  });
  salu<u32, T>(t, "s_bcnt1_i32_b" + bits, [](bool &scc, T a) {
    u32 r = u32(std::popcount(a));
    scc = r != 0;
    return r;
  });
  salu<u32, T>(t, "s_ff0_i32_b" + bits,
               [](bool &, T a) { return T(~a) ? u32(std::countr_zero(T(~a))) : ~0u; });
  salu<u32, T>(t, "s_ff1_i32_b" + bits,
               [](bool &, T a) { return a ? u32(std::countr_zero(a)) : ~0u; });
  salu<u32, T>(t, "s_flbit_i32_b" + bits,
               [](bool &, T a) { return a ? u32(std::countl_zero(a)) : ~0u; });
  salu<u32, T>(t, width == 32 ? "s_flbit_i32" : "s_flbit_i32_i64", [](bool &, T a) {
    T v = S(a) < 0 ? T(~a) : a;
    return v ? u32(std::countl_zero(v)) : ~0u;
  });
  // Groups of four bits: any set.
  salu<T, T>(t, "s_wqm_b" + bits, [](bool &scc, T a) {
    T any = 0;
    for (unsigned i = 0; i < width; i += 4)
      any |= a >> i & 15 ? T(15) << i : 0;
    scc = any != 0;
    return any;
  });
  salu<T, T>(t, "s_quadmask_b" + bits, [](bool &scc, T a) {
    T r = 0;
    for (unsigned i = 0; i < width; i += 4)
      r |= a >> i & 15 ? T(1) << (i / 4) : 0;
    scc = r != 0;
    return r;
  });
  saluHandler<T, T>(t, "s_cmov_b" + bits, [](Wave &wave, const Inst *in) {
    if (wave.scc())
      writeScalar<T>(wave, in->dst, readScalar<T>(wave, in->src[0]));
    return in + 1;
  });
  saluHandler<T, u32>(t, "s_bitset0_b" + bits, [](Wave &wave, const Inst *in) {
    T bit = T(1) << (wave.read32(in->src[0]) & mask);
    writeScalar<T>(wave, in->dst, readScalar<T>(wave, in->dst) & ~bit);
    return in + 1;
  });
  saluHandler<T, u32>(t, "s_bitset1_b" + bits, [](Wave &wave, const Inst *in) {
    T bit = T(1) << (wave.read32(in->src[0]) & mask);
    writeScalar<T>(wave, in->dst, readScalar<T>(wave, in->dst) | bit);
    return in + 1;
  });
  saluHandler<T, T>(t, "s_movrels_b" + bits, [](Wave &wave, const Inst *in) -> const Inst * {
    Operand source = in->src[0];
    if (!indexRegister<T>(wave, in, source))
      return nullptr;
    writeScalar<T>(wave, in->dst, readScalar<T>(wave, source));
    return in + 1;
  });
  saluHandler<T, T>(t, "s_movreld_b" + bits, [](Wave &wave, const Inst *in) -> const Inst * {
    Operand dst = in->dst;
    if (!indexRegister<T>(wave, in, dst))
      return nullptr;
    writeScalar<T>(wave, dst, readScalar<T>(wave, in->src[0]));
    return in + 1;
  });
}

void addExtensions(OpTable &t) {
  salu<i32, i32>(t, "s_sext_i32_i8", [](bool &, i32 a) { return i32(int8_t(a)); });
  salu<i32, i32>(t, "s_sext_i32_i16", [](bool &, i32 a) { return i32(int16_t(a)); });
  salu<u64, u32>(t, "s_bitreplicate_b64_b32", [](bool &, u32 a) {
    u64 r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= (a >> i & 1) ? u64(3) << (2 * i) : 0;
    return r;
  });
}

} // namespace

void addSop(OpTable &t) {
  addArithmetic(t);
  addLogical(t);
  addShifts<u32>(t, "32");
  addShifts<u64>(t, "64");
  addExtensions(t);
}

GFX950EMU_EXEC_END
