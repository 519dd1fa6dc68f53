//===- Race.h - who touched a byte last ----------------------------------------------===//
//
// Owns the record of the accesses to one dword and the rule for two of them.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_RACE_H
#define GFX950EMU_CHECK_RACE_H

#include "tools/gfx950emu/core/Observer.h"

#include <cstdint>

namespace gfx950emu::check {

/// One access as the history remembers it.
struct Touch {
  const Inst *in = nullptr;
  uint64_t time = 0;      ///< in the dispatch
  uint64_t workgroup = 0; ///< linear
  uint32_t epoch = 0;     ///< barriers that the workgroup has passed
  uint16_t wave = 0;
  uint8_t bytes = 0; ///< a bit a byte of the dword
  bool atomic = false;
};

/// The last writer and the last two readers (of different waves) of a dword.
struct Cell {
  Touch writer, reader, other;
};

/// Calls conflict(earlier, wrote) for earlier touches that `now` may not overlap with, then enters
/// `now`. `ordered(earlier, now)` tells whether something makes them happen one after the other.
template <class Ordered, class Conflict>
void touch(Cell &cell, const Touch &now, bool writes, Ordered ordered, Conflict conflict) {
  auto clash = [&](const Touch &earlier) {
    return earlier.in && (earlier.bytes & now.bytes) && !(earlier.atomic && now.atomic) &&
           !ordered(earlier, now);
  };
  if (clash(cell.writer))
    conflict(cell.writer, true);
  else if (writes && clash(cell.reader))
    conflict(cell.reader, false);
  else if (writes && clash(cell.other))
    conflict(cell.other, false);
  auto sameParty = [&](const Touch &t) {
    return t.workgroup == now.workgroup && t.wave == now.wave && t.epoch == now.epoch;
  };
  auto enter = [&](Touch &slot) {
    uint8_t bytes = slot.in && sameParty(slot) ? slot.bytes : 0;
    bool atomic = bytes ? slot.atomic && now.atomic : now.atomic;
    slot = now;
    slot.bytes |= bytes;
    slot.atomic = atomic;
  };
  if (writes) {
    enter(cell.writer);
    return;
  }
  if (cell.reader.in && !sameParty(cell.reader))
    cell.other = cell.reader;
  enter(cell.reader);
}

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_RACE_H
