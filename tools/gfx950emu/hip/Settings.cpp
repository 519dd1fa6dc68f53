//===- Settings.cpp - the GFX950EMU_* environment ---------------------------===//

#include "tools/gfx950emu/hip/Settings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Errc.h"

namespace gfx950emu::hip {

llvm::Expected<Settings> parseSettings(const Environment &environment) {
  Settings settings;
  uint64_t devices = settings.devices, threads = settings.run.threads, check = 0;
  struct Variable {
    const char *name;
    uint64_t min, max;
    uint64_t *value;
  };
  const Variable variables[] = {
      {"GFX950EMU_DEVICES", 1, 64, &devices},
      {"GFX950EMU_THREADS", 0, 1024, &threads},
      {"GFX950EMU_CHECK", 0, 1, &check},
      {"GFX950EMU_SEED", 0, UINT64_MAX, &settings.run.seed},
      {"GFX950EMU_MAX_INSTRUCTIONS", 1, UINT64_MAX, &settings.run.maxInstructions},
  };

  std::string problems;
  for (const Variable &variable : variables) {
    const char *raw = environment(variable.name);
    if (!raw || !*raw)
      continue;
    llvm::StringRef text(raw);
    uint64_t value = 0;
    // getAsInteger alone would accept a sign.
    if (!llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value) ||
        value < variable.min || value > variable.max)
      problems += std::string(problems.empty() ? "" : "; ") + variable.name +
                  ": expected a decimal number from " + std::to_string(variable.min) + " to " +
                  std::to_string(variable.max) + ", found '" + raw + "'";
    else
      *variable.value = value;
  }
  if (!problems.empty())
    return llvm::createStringError(llvm::errc::invalid_argument, problems);
  settings.check = check != 0;
  settings.devices = static_cast<unsigned>(devices);
  settings.run.threads = static_cast<unsigned>(threads);
  return settings;
}

} // namespace gfx950emu::hip
