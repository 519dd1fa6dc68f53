//===- Valu.h - operand fetch, modifiers and write-back of vector instructions ----===//
//
// Owns what all vector ALU instructions share. Lane functions see plain arrays; all
// of DPP, SDWA, source and result modifiers, denormal modes and EXEC is here.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_VALU_H
#define GFX950EMU_EXEC_VALU_H

#include "tools/gfx950emu/exec/Exec.h"

GFX950EMU_EXEC_BEGIN

using LaneVector = uint32_t[waveSize];

/// mask bit l -> out[l] = 0 or ~0.
inline void expandMask(uint64_t mask, uint32_t *__restrict out) {
  for (unsigned b = 0; b < 8; ++b) {
    uint32_t byte = uint32_t(mask >> (8 * b)) & 0xff;
    for (unsigned i = 0; i < 8; ++i)
      out[8 * b + i] = (byte & (1u << i)) ? ~0u : 0;
  }
}

/// The sign bits of 64 dwords.
inline uint64_t packMask(const uint32_t *in) {
  typedef int32_t I8 __attribute__((ext_vector_type(8)));
  typedef bool B8 __attribute__((ext_vector_type(8)));
  uint64_t mask = 0;
  for (unsigned b = 0; b < 8; ++b) {
    I8 v;
    memcpy(&v, in + 8 * b, sizeof v);
    B8 bits = __builtin_convertvector(v < 0, B8);
    mask |= uint64_t(std::bit_cast<uint8_t>(bits)) << (8 * b);
  }
  return mask;
}

/// Write `dwords` registers under EXEC.
inline void mergeLanes(uint32_t *__restrict dst, const uint32_t *__restrict value, uint64_t exec,
                       unsigned dwords) {
  if (exec == ~uint64_t(0)) {
    memcpy(dst, value, size_t(dwords) * sizeof(LaneVector));
    return;
  }
  alignas(64) LaneVector mask;
  expandMask(exec, mask);
  for (unsigned d = 0; d < dwords; ++d)
    for (unsigned l = 0; l < waveSize; ++l) {
      unsigned i = d * waveSize + l;
      dst[i] = (value[i] & mask[l]) | (dst[i] & ~mask[l]);
    }
}

/// Lanes of a source operand; a scalar is broadcast into `space` (its width in registers).
inline const uint32_t *fetchLanes(const Wave &wave, Operand op, uint32_t *space) {
  if (op.bank != BankScalar)
    return wave.lanes(op);
  for (unsigned d = 0; d < op.dwords; ++d) {
    uint32_t v = wave.sgpr[op.index + d];
    for (unsigned l = 0; l < waveSize; ++l)
      space[d * waveSize + l] = v;
  }
  return space;
}

/// Bits of Wave::fpSlow that matter to a type.
constexpr uint32_t floatClass(ValueType t) {
  switch (t) {
  case ValueType::F32:
  case ValueType::PkF32:
    return 1;
  case ValueType::F16:
  case ValueType::F64:
  case ValueType::PkF16:
    return 2;
  case ValueType::Mix:
    return 3;
  default:
    return 0;
  }
}

/// The handler for a row with these properties.
Handler valuHandler(unsigned sources, uint16_t flags);

/// Any form of any VALU row: modifiers, SDWA, DPP, indexed registers, unusual float modes.
const Inst *valuSlow(Wave &wave, const Inst *in);

/// For each lane its DPP source lane, or -1 when it has none.
void dppSources(uint32_t control, int8_t *source);

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_VALU_H
