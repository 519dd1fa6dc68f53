//===- Race.h - who touched a dword last ----------------------------------------------===//
//
// Owns the record of the accesses to one dword and the rule for two of them.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_RACE_H
#define GFX950EMU_CHECK_RACE_H

#include "tools/gfx950emu/core/Observer.h"

#include <cstdint>

namespace gfx950emu::check {

/// One access as the history remembers it; small, since there are three a dword of memory.
struct Touch {
  uint64_t time : 48 = 0; ///< in the dispatch
  uint64_t bytes : 4 = 0; ///< a bit a byte of the dword
  uint64_t atomic : 1 = 0;
  uint64_t wave : 5 = 0;
  uint32_t instruction = 0; ///< 1 + index in the program; 0: no access
  uint32_t workgroup = 0;   ///< linear, modulo 2^32
  uint32_t epoch = 0;       ///< barriers that the workgroup has passed

  bool sameParty(const Touch &t) const {
    return workgroup == t.workgroup && wave == t.wave && epoch == t.epoch;
  }
};
static_assert(sizeof(Touch) == 24);

/// The last writer and the last two readers (of different waves) of a dword.
struct Cell {
  Touch writer, reader, other;
};

/// Calls conflict(earlier, wrote) for an earlier touch that `now` may not overlap with, then enters
/// `now`. `ordered(earlier, now)` tells whether something makes them happen one after the other.
template <class Ordered, class Conflict>
void touch(Cell &cell, const Touch &now, bool writes, Ordered ordered, Conflict conflict) {
  auto clash = [&](const Touch &earlier) {
    return earlier.instruction && (earlier.bytes & now.bytes) && !(earlier.atomic && now.atomic) &&
           !ordered(earlier, now);
  };
  if (clash(cell.writer))
    conflict(cell.writer, true);
  else if (writes && clash(cell.reader))
    conflict(cell.reader, false);
  else if (writes && clash(cell.other))
    conflict(cell.other, false);
  auto enter = [&](Touch &slot) {
    bool again = slot.instruction && slot.sameParty(now);
    uint64_t bytes = again ? slot.bytes : 0, atomic = again ? slot.atomic : 1;
    slot = now;
    slot.bytes |= bytes;
    slot.atomic &= atomic;
  };
  if (writes) {
    enter(cell.writer);
    return;
  }
  if (cell.reader.instruction && !cell.reader.sameParty(now))
    cell.other = cell.reader;
  enter(cell.reader);
}

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_RACE_H
