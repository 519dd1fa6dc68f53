//===- Switches.h - the checks and their names ---------------------------------------===//
//
// Owns the switches of the checks and the one syntax by which every command line and the
// HIP library's environment name them. The table is Kinds.def. Needs nothing of the
// emulator.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_SWITCHES_H
#define GFX950EMU_CHECK_SWITCHES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gfx950emu::check {

enum class CheckKind : uint8_t {
#define GFX950EMU_CHECK(Kind, member, name, title, finds) Kind,
#include "tools/gfx950emu/check/Kinds.def"
};

struct CheckOptions {
  // Whether each check runs. Without `bounds` and `readOnly` an access that they would report is a
  // fault that ends the dispatch, as it is without the checker. `undefined` needs
  // MemoryMap::trackDefined() for values that come from memory.
#define GFX950EMU_CHECK(Kind, member, name, title, finds) bool member = true;
#include "tools/gfx950emu/check/Kinds.def"

  /// SH_MEM_CONFIG.alignment_mode unaligned, as ROCm sets it: vector memory and wide LDS accesses
  /// need no alignment at all. Off: dwords for global, the natural rule for LDS.
  bool unalignedMode = true;
  /// Memory for the history of global accesses (18 bytes a byte that a kernel touches). What finds
  /// it full is not checked for races, and counted.
  uint64_t raceHistoryBytes = uint64_t(4) << 30;
  size_t maxFindings = 100; ///< places; more are counted, not kept
};

struct CheckSwitch {
  CheckKind kind;
  bool CheckOptions::*enabled;
  llvm::StringRef name, title, finds;
};
/// In the order of Kinds.def, which is that of CheckKind.
llvm::ArrayRef<CheckSwitch> checkSwitches();
inline const CheckSwitch &switchOf(CheckKind kind) { return checkSwitches()[size_t(kind)]; }

/// "bounds, alignment, ..."
std::string knownChecks();
/// A line a check: its name and what it finds.
std::string checkHelp();

enum class Listed : bool { Off, On };
/// Every check named in `list` ("all", or names with commas between) `On` or `Off`, every other
/// one the other way. An error names what is unknown and all that is known.
llvm::Expected<CheckOptions> parseChecks(llvm::StringRef list, Listed listed);

/// "all", "none" or the names of those that are on, with commas between.
std::string checkNames(const CheckOptions &options);
bool anyCheck(const CheckOptions &options);

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_SWITCHES_H
