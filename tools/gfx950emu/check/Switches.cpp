//===- Switches.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/check/Switches.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"

using namespace llvm;

namespace gfx950emu::check {

ArrayRef<CheckSwitch> checkSwitches() {
  static constexpr CheckSwitch all[] = {
#define GFX950EMU_CHECK(Kind, member, name, title, finds)                                          \
  {CheckKind::Kind, &CheckOptions::member, name, title, finds},
#include "tools/gfx950emu/check/Kinds.def"
  };
  return all;
}

std::string knownChecks() {
  return join(map_range(checkSwitches(), [](const CheckSwitch &s) { return s.name; }), ", ");
}

std::string checkHelp() {
  size_t widest = 0;
  for (const CheckSwitch &s : checkSwitches())
    widest = std::max(widest, s.name.size());
  std::string text;
  for (const CheckSwitch &s : checkSwitches())
    text += ("  " + s.name + std::string(widest - s.name.size() + 2, ' ') + s.finds + "\n").str();
  return text;
}

Expected<CheckOptions> parseChecks(StringRef list, Listed listed) {
  const bool on = listed == Listed::On;
  CheckOptions options;
  for (const CheckSwitch &s : checkSwitches())
    options.*s.enabled = on == (list == "all");
  if (list == "all")
    return options;
  SmallVector<StringRef> names;
  list.split(names, ',');
  for (StringRef name : names) {
    const CheckSwitch *found =
        find_if(checkSwitches(), [&](const auto &s) { return s.name == name; });
    if (found == checkSwitches().end())
      return createStringError(errc::invalid_argument,
                               "expected all or names of checks (" + knownChecks() +
                                   ") with commas between, found '" + name + "' in '" + list + "'");
    options.*found->enabled = on;
  }
  return options;
}

std::string checkNames(const CheckOptions &options) {
  SmallVector<StringRef> on;
  for (const CheckSwitch &s : checkSwitches())
    if (options.*s.enabled)
      on.push_back(s.name);
  return on.empty() ? "none" : on.size() == checkSwitches().size() ? "all" : join(on, ",");
}

bool anyCheck(const CheckOptions &options) {
  return any_of(checkSwitches(), [&](const CheckSwitch &s) { return options.*s.enabled; });
}

} // namespace gfx950emu::check
