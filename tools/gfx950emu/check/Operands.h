//===- Operands.h - which registers an instruction reads and writes -----------------===//
//
// Owns the one place that knows this for every family; wait counts, hazards and
// definedness ask here. Implicit SCC is not listed.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_OPERANDS_H
#define GFX950EMU_CHECK_OPERANDS_H

#include "tools/gfx950emu/core/OpTable.h"
#include "tools/gfx950emu/core/Wave.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace gfx950emu::check {

enum class Role : uint8_t {
  Source0,
  Source1,
  Source2,
  Mask,    ///< a lane mask: VCC or an SGPR pair
  Address, ///< address, offset, resource, M0 of a memory instruction
  Data,    ///< of a store or an atomic
  Scale,   ///< of a scaled MFMA, or the index of an smfmac
  Result,
  OldResult, ///< the destination is also read: partial writes, accumulation in place
};

struct Use {
  Operand reg; ///< never a constant
  Role role;
};

struct Uses {
  llvm::SmallVector<Use, 6> reads;
  llvm::SmallVector<Use, 3> writes;
};

/// Registers of `in` with indexed VGPRs (s_set_gpr_idx) resolved.
Uses usesOf(const Wave &wave, const Inst &in);

inline bool overlaps(Operand a, Operand b) {
  return a.bank == b.bank && a.index < b.index + b.dwords && b.index < a.index + a.dwords;
}

/// "v5", "v[4:7]", "s[0:1]", "vcc", "exec", "m0"
std::string registerName(Operand reg);

/// global_load_lds_* and buffer_load_* with the lds bit.
bool isLdsDma(const Inst &in);
/// A memory instruction that is an atomic.
bool isAtomic(const Inst &in);

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_OPERANDS_H
