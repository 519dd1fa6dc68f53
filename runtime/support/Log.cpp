//===- Log.cpp - lines on stderr --------------------------------------------===//
//
// See Log.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/support/Log.h"

#include <fmt/format.h>
#include <unistd.h>

namespace nvfp4rt {

void writeLog(LogLevel level, std::string_view text) {
  constexpr std::string_view kNames[] = {"off", "error", "warn", "info", "debug"};
  const std::string line =
      fmt::format("nvfp4rt: {}: {}\n", kNames[static_cast<size_t>(level)], text);
  // Where stderr takes nothing there is nobody to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace nvfp4rt
