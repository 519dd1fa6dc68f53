//===- Settings.h - the GFX950EMU_* environment -----------------------------===//
//
// Owns the names, defaults and ranges of the environment variables (documented in
// gfx950emu_hip.h) and their strict parser.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_SETTINGS_H
#define GFX950EMU_HIP_SETTINGS_H

#include "tools/gfx950emu/check/Switches.h"
#include "tools/gfx950emu/core/Emulator.h"

#include <functional>
#include <optional>
#include <string>

namespace gfx950emu::hip {

struct Settings {
  unsigned devices = 1;
  RunOptions run;
  std::optional<check::CheckOptions> checks; ///< none: launches run without the checker
  unsigned orders = 1;                       ///< in which each launch runs
};

/// Reads a variable; null when it is unset.
using Environment = std::function<const char *(const char *name)>;

/// All settings, or an error that names every bad variable, its value and what it accepts.
llvm::Expected<Settings> parseSettings(const Environment &environment);

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_SETTINGS_H
