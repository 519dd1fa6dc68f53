//===- Counts.h - what a dispatch did, in numbers ---------------------------------===//
//
// Owns the counters of a dispatch and their printing. They are sums, maxima and sizes of
// sets over workgroups, so they do not depend on threads or on the order of the waves.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_COUNTS_H
#define GFX950EMU_COUNT_COUNTS_H

#include "tools/gfx950emu/core/Observer.h"
#include "tools/gfx950emu/count/Classify.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace gfx950emu::count {

/// Of a class or of an opcode.
struct InstCounts {
  uint64_t instructions = 0; ///< wave instructions
  uint64_t lanes = 0;        ///< bits of EXEC over them; 0 where EXEC has no say
  uint64_t mfmaPasses = 0;
  uint64_t memoryAccesses = 0;                  ///< wave instructions that reached global memory
  uint64_t lines = 0;                           ///< distinct 128-byte lines of each, summed
  uint64_t ldsPhases32 = 0, ldsConflicts32 = 0; ///< turns of the LDS over 32 banks
  uint64_t ldsPhases64 = 0, ldsConflicts64 = 0; ///< over 64 banks

  InstCounts &operator+=(const InstCounts &other);
};

struct SpaceBytes {
  uint64_t read = 0, written = 0, atomic = 0;
  SpaceBytes &operator+=(const SpaceBytes &other);
};

inline constexpr uint64_t lineBytes = 128;
inline constexpr unsigned spaces = unsigned(Space::Constant) + 1;

struct Counts {
  std::string kernel;
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  InstCounts total;
  std::array<InstCounts, instClasses> classes;
  std::map<std::string, InstCounts> opcodes; ///< by mnemonic
  std::array<SpaceBytes, spaces> bytes;      ///< by Space
  /// Distinct 128-byte lines that vector memory instructions read or wrote; atomics do both.
  uint64_t linesRead = 0, linesWritten = 0, linesTouched = 0;
  uint64_t scalarLines = 0;     ///< distinct lines of scalar loads
  uint64_t barrierReleases = 0; ///< workgroup barriers; the waves' arrivals are in classes
  uint64_t longestWave = 0;     ///< wave instructions

  const InstCounts &of(InstClass kind) const { return classes[unsigned(kind)]; }
  const SpaceBytes &of(Space space) const { return bytes[unsigned(space)]; }
};

void printTable(const Counts &counts, llvm::raw_ostream &os);
llvm::json::Object toJson(const Counts &counts);

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_COUNTS_H
