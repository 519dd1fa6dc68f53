//===- SopCompare.cpp - scalar compares and 16-bit immediates (SOPC, SOPK) --------------===//

#include "tools/gfx950emu/exec/Scalar.h"

GFX950EMU_EXEC_BEGIN

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;

/// s_cmp_* and s_cmpk_* of a condition.
template <class T, class F> void addCompare(OpTable &t, const std::string &name, F) {
  salu<void, T, T>(t, "s_cmp_" + name, [](bool &scc, T a, T b) { scc = F()(a, b); });
  saluHandler<void, T>(t, "s_cmpk_" + name, [](Wave &wave, const Inst *in) {
    // The immediate is sign-extended for signed compares, zero-extended for unsigned ones.
    T k = std::is_signed_v<T> ? T(in->imm) : T(uint16_t(in->imm));
    wave.setScc(F()(readScalar<T>(wave, in->src[0]), k));
    return in + 1;
  });
}

template <class T> void addCompares(OpTable &t, const std::string &type) {
  addCompare<T>(t, "eq_" + type, [](T a, T b) { return a == b; });
  addCompare<T>(t, "lg_" + type, [](T a, T b) { return a != b; });
  addCompare<T>(t, "gt_" + type, [](T a, T b) { return a > b; });
  addCompare<T>(t, "ge_" + type, [](T a, T b) { return a >= b; });
  addCompare<T>(t, "lt_" + type, [](T a, T b) { return a < b; });
  addCompare<T>(t, "le_" + type, [](T a, T b) { return a <= b; });
}

constexpr u32 hwregMode = 1, hwregXccId = 20;

/// The hwreg operand: id in [5:0], bit offset in [10:6], width - 1 in [15:11].
struct HwregField {
  u32 id, offset, mask;
  explicit HwregField(int32_t simm16)
      : id(u32(simm16) & 0x3f), offset(u32(simm16) >> 6 & 0x1f),
        mask(u32((u64(2) << (u32(simm16) >> 11 & 0x1f)) - 1)) {}
};

const Inst *failHwreg(Wave &wave, const Inst *in, u32 id) {
  return wave.fail(in, FaultKind::UnknownInstruction, -1,
                   "hardware register " + std::to_string(id) + " is not modelled");
}

const Inst *setHwreg(Wave &wave, const Inst *in, u32 value) {
  HwregField f(in->imm);
  if (f.id != hwregMode)
    return failHwreg(wave, in, f.id);
  u32 mask = f.mask << f.offset;
  wave.setMode((wave.mode & ~mask) | (value << f.offset & mask));
  return in + 1;
}

void addHwreg(OpTable &t) {
  saluHandler<void, u32>(t, "s_setreg_b32", [](Wave &wave, const Inst *in) {
    return setHwreg(wave, in, wave.read32(in->src[0]));
  });
  saluHandler<void>(t, "s_setreg_imm32_b32",
                    [](Wave &wave, const Inst *in) { return setHwreg(wave, in, in->extra); });
  saluHandler<u32>(t, "s_getreg_b32", [](Wave &wave, const Inst *in) -> const Inst * {
    HwregField f(in->imm);
    if (f.id != hwregMode && f.id != hwregXccId)
      return failHwreg(wave, in, f.id);
    u32 value = f.id == hwregMode ? wave.mode : 0;
    wave.sgpr[in->dst.index] = value >> f.offset & f.mask;
    return in + 1;
  });
}

void addImmediates(OpTable &t) {
  saluHandler<u32>(t, "s_movk_i32", [](Wave &wave, const Inst *in) {
    wave.sgpr[in->dst.index] = u32(in->imm);
    return in + 1;
  });
  saluHandler<u32>(t, "s_cmovk_i32", [](Wave &wave, const Inst *in) {
    if (wave.scc())
      wave.sgpr[in->dst.index] = u32(in->imm);
    return in + 1;
  });
  saluHandler<u32>(t, "s_addk_i32", [](Wave &wave, const Inst *in) {
    u32 a = wave.sgpr[in->dst.index], b = u32(in->imm), r = a + b;
    wave.sgpr[in->dst.index] = r;
    wave.setScc(((a ^ r) & (b ^ r)) >> 31);
    return in + 1;
  });
  saluHandler<u32>(t, "s_mulk_i32", [](Wave &wave, const Inst *in) {
    wave.sgpr[in->dst.index] *= u32(in->imm);
    return in + 1;
  });
}

} // namespace

void addSopCompare(OpTable &t) {
  addCompares<i32>(t, "i32");
  addCompares<u32>(t, "u32");
  salu<void, u64, u64>(t, "s_cmp_eq_u64", [](bool &scc, u64 a, u64 b) { scc = a == b; });
  salu<void, u64, u64>(t, "s_cmp_lg_u64", [](bool &scc, u64 a, u64 b) { scc = a != b; });
  salu<void, u32, u32>(t, "s_bitcmp0_b32",
                       [](bool &scc, u32 a, u32 b) { scc = !(a >> (b & 31) & 1); });
  salu<void, u32, u32>(t, "s_bitcmp1_b32",
                       [](bool &scc, u32 a, u32 b) { scc = a >> (b & 31) & 1; });
  salu<void, u64, u32>(t, "s_bitcmp0_b64",
                       [](bool &scc, u64 a, u32 b) { scc = !(a >> (b & 63) & 1); });
  salu<void, u64, u32>(t, "s_bitcmp1_b64",
                       [](bool &scc, u64 a, u32 b) { scc = a >> (b & 63) & 1; });
  addHwreg(t);
  addImmediates(t);
}

GFX950EMU_EXEC_END
