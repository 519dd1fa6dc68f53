//===- Settings.cpp - the GFX950EMU_* environment ---------------------------===//

#include "tools/gfx950emu/hip/Settings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Errc.h"

namespace gfx950emu::hip {

llvm::Expected<Settings> parseSettings(const Environment &environment) {
  Settings settings;
  uint64_t devices = settings.devices, threads = settings.run.threads, orders = settings.orders;
  struct Variable {
    const char *name;
    uint64_t min, max;
    uint64_t *value;
  };
  const Variable variables[] = {
      {"GFX950EMU_DEVICES", 1, 64, &devices},
      {"GFX950EMU_THREADS", 0, 1024, &threads},
      {"GFX950EMU_ORDERS", 1, 64, &orders},
      {"GFX950EMU_SEED", 0, UINT64_MAX, &settings.run.seed},
      {"GFX950EMU_MAX_INSTRUCTIONS", 1, UINT64_MAX, &settings.run.maxInstructions},
  };

  std::string problems;
  auto refuse = [&](const char *name, const std::string &text) {
    problems += std::string(problems.empty() ? "" : "; ") + name + ": " + text;
  };
  for (const Variable &variable : variables) {
    const char *raw = environment(variable.name);
    if (!raw || !*raw)
      continue;
    llvm::StringRef text(raw);
    uint64_t value = 0;
    // getAsInteger alone would accept a sign.
    if (!llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value) ||
        value < variable.min || value > variable.max)
      refuse(variable.name, "expected a decimal number from " + std::to_string(variable.min) +
                                " to " + std::to_string(variable.max) + ", found '" + raw + "'");
    else
      *variable.value = value;
  }
  constexpr const char *check = "GFX950EMU_CHECK";
  const char *raw = environment(check);
  if (llvm::StringRef text = raw ? raw : ""; !text.empty() && text != "0") {
    auto checks = check::parseChecks(text == "1" ? "all" : text, check::Listed::On);
    if (checks)
      settings.checks = *checks;
    else
      refuse(check, "0, 1 or a list: " + llvm::toString(checks.takeError()));
  }
  if (!problems.empty())
    return llvm::createStringError(llvm::errc::invalid_argument, problems);
  settings.devices = static_cast<unsigned>(devices);
  settings.orders = static_cast<unsigned>(orders);
  settings.run.threads = static_cast<unsigned>(threads);
  return settings;
}

} // namespace gfx950emu::hip
