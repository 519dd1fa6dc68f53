//===- Guarded.cpp - the calling thread's last failure ----------------------===//
//
// See Guarded.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/api/Guarded.h"

#include "runtime/support/Log.h"

#include <fmt/format.h>

namespace nvfp4rt {
namespace {

/// A literal when there is no memory for more.
struct LastError {
  std::string text;
  const char *literal = nullptr;
};
thread_local LastError lastError;

} // namespace

nvfp4rt_status record(Error error) {
  lastError.text = std::move(error.message);
  lastError.literal = nullptr;
  log(LogLevel::Error,
      [&] { return fmt::format("{}: {}", nvfp4rt_status_name(error.code), lastError.text); });
  return error.code;
}

nvfp4rt_status record(nvfp4rt_status code, const char *literal) {
  lastError.literal = literal;
  return code;
}

tl::unexpected<Error> nullArgument(std::string_view function, std::string_view argument) {
  return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
              fmt::format("{}: {}: expected a pointer, found NULL", function, argument));
}

} // namespace nvfp4rt

extern "C" const char *nvfp4rt_last_error(void) {
  using nvfp4rt::lastError;
  return lastError.literal ? lastError.literal : lastError.text.c_str();
}
