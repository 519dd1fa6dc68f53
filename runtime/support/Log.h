//===- Log.h - lines on stderr ----------------------------------------------===//
//
// "nvfp4rt: info: ..." in one write a line, so that lines of several threads and
// of other libraries do not mix. Text is made only where the level asks for it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_SUPPORT_LOG_H
#define NVFP4_RUNTIME_SUPPORT_LOG_H

#include "runtime/support/Settings.h"

#include <atomic>

namespace nvfp4rt {

/// The level of the bundle that was opened last; the environment is the process's.
inline std::atomic<LogLevel> logLevel = LogLevel::Off;

inline bool logs(LogLevel level) { return level <= logLevel.load(std::memory_order_relaxed); }

void writeLog(LogLevel level, std::string_view text);

/// `text` is called only when the level is on.
template <typename Text> void log(LogLevel level, Text text) {
  if (logs(level))
    writeLog(level, text());
}

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_SUPPORT_LOG_H
