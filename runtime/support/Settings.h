//===- Settings.h - the switches of the environment -------------------------===//
//
// NVFP4RT_CHECK   on: every launch checks its argument struct (plan/ArgCheck.h)
// NVFP4RT_LOG     error, warn, info or debug: what goes to stderr; nothing if unset
//
// Read when a bundle is opened, never in a launch. Empty means unset.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_SUPPORT_SETTINGS_H
#define NVFP4_RUNTIME_SUPPORT_SETTINGS_H

#include "runtime/support/Error.h"

#include <cstdint>
#include <string_view>

namespace nvfp4rt {

/// A level includes those before it.
enum class LogLevel : uint8_t { Off, Error, Warn, Info, Debug };

struct Settings {
  bool check = false;
  LogLevel log = LogLevel::Off;

  /// NVFP4RT_ERROR_ENVIRONMENT when a variable has a value that it cannot have.
  static Result<Settings> fromEnvironment();
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_SUPPORT_SETTINGS_H
