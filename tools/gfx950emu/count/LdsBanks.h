//===- LdsBanks.h - phases and bank conflicts of LDS accesses ---------------------===//
//
// Owns the rule by which the LDS serves a wave: groups of lanes in turn (phases), and in
// a phase one dword a bank and cycle.
//
// Published for ds_read_b32 (32 banks), ds_read_b64 (64 banks, 2 phases), ds_read_b128
// (64 banks, 4 phases of certain lanes), b96 and writes (32 banks; b64 in 4 phases, b96
// in 8), and that reads of one address in a phase are one. Inferred: ds_write_b128 takes
// 8 phases of 8 lanes; narrow accesses go as b32; each half of read2 and write2 is an
// access of its own width; writes of several lanes to one dword in a phase are one; an
// atomic goes as a write, but lanes on one dword take turns; a transposed read goes as the
// plain read of its width.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_LDSBANKS_H
#define GFX950EMU_COUNT_LDSBANKS_H

#include "tools/gfx950emu/core/Inst.h"
#include "tools/gfx950emu/core/Observer.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace gfx950emu::count {

/// One lane's part of an LDS access.
struct LaneAddress {
  unsigned lane = 0;
  uint32_t address = 0; ///< bytes
};

struct LdsCost {
  unsigned banks = 32;    ///< of the access's width: 32 or 64
  uint64_t phases = 0;    ///< turns without conflicts
  uint64_t conflicts = 0; ///< turns beyond those
};

/// `lanes` in lane order, each lane at most once, each of `bytes` (1 to 16). No lanes: nothing.
LdsCost ldsCost(AccessKind kind, uint32_t bytes, llvm::ArrayRef<LaneAddress> lanes);

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_LDSBANKS_H
