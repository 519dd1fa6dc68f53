//===- Settings.cpp - the switches of the environment -----------------------===//
//
// See Settings.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/support/Settings.h"

#include <cstdlib>
#include <fmt/format.h>
#include <span>

namespace nvfp4rt {
namespace {

template <typename T> struct Word {
  std::string_view text;
  T value;
};

constexpr Word<bool> kSwitch[] = {{"0", false},   {"1", true},    {"false", false},
                                  {"true", true}, {"off", false}, {"on", true}};
constexpr Word<LogLevel> kLevels[] = {{"error", LogLevel::Error},
                                      {"warn", LogLevel::Warn},
                                      {"info", LogLevel::Info},
                                      {"debug", LogLevel::Debug}};

/// Sets `value` when the variable is there and not empty.
template <typename T>
Result<void> read(const char *variable, std::span<const Word<T>> words, T &value) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return {};
  std::string known;
  for (const Word<T> &word : words) {
    if (word.text == text) {
      value = word.value;
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word.text);
  }
  return fail(NVFP4RT_ERROR_ENVIRONMENT,
              fmt::format("environment variable {}: expected one of {}, found \"{}\"", variable,
                          known, text));
}

} // namespace

Result<Settings> Settings::fromEnvironment() {
  Settings settings;
  Result<void> ok = read<bool>("NVFP4RT_CHECK", kSwitch, settings.check);
  if (ok)
    ok = read<LogLevel>("NVFP4RT_LOG", kLevels, settings.log);
  if (!ok)
    return tl::unexpected(std::move(ok.error()));
  return settings;
}

} // namespace nvfp4rt
