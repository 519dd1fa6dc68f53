//===- Classify.h - what kind of work an instruction is ---------------------------===//
//
// Owns the classes that instructions are counted under and the matrix passes of an
// MFMA.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_CLASSIFY_H
#define GFX950EMU_COUNT_CLASSIFY_H

#include "tools/gfx950emu/core/OpTable.h"

#include <cstdint>

namespace gfx950emu::count {

enum class InstClass : uint8_t {
  Salu,
  Smem,
  Valu,           ///< at the full rate of a wave in four cycles
  QuarterRate,    ///< 32-bit integer multiplies
  Transcendental, ///< exp, log, rcp, rsq, sqrt, sin, cos
  Mfma,
  Lds,
  VmemLoad, ///< also loads that go to LDS
  VmemStore,
  VmemAtomic,
  Scratch,
  Branch,
  Barrier,
  Other, ///< s_waitcnt, s_nop, s_endpgm, cache control, what has no handler
};
inline constexpr unsigned instClasses = unsigned(InstClass::Other) + 1;
/// "SALU", "VMEM load", ...
llvm::StringRef className(InstClass kind);

InstClass classify(const Inst &in);

/// EXEC says which lanes take part in instructions of this class.
constexpr bool usesLanes(InstClass kind) {
  return kind != InstClass::Salu && kind != InstClass::Smem && kind != InstClass::Mfma &&
         kind < InstClass::Branch;
}

/// Passes (of four cycles) that an MFMA holds the matrix pipe; 0 for other instructions.
unsigned mfmaPasses(const Inst &in);

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_CLASSIFY_H
