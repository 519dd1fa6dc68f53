//===- Guarded.h - from results to status codes -----------------------------===//
//
// Every function of the C interface runs its body in guarded(): a failure becomes
// the thread's last message and a status, and no exception gets out.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_API_GUARDED_H
#define NVFP4_RUNTIME_API_GUARDED_H

#include "runtime/support/Error.h"

#include <new>
#include <string_view>

namespace nvfp4rt {

/// Make it the calling thread's last failure.
nvfp4rt_status record(Error error);
/// The same when there may be no memory: `literal` is kept as it is.
nvfp4rt_status record(nvfp4rt_status code, const char *literal);

tl::unexpected<Error> nullArgument(std::string_view function, std::string_view argument);

/// Run the body of an interface function, which gets the name of it for messages.
template <typename Body> nvfp4rt_status guarded(const char *function, Body body) noexcept {
  try {
    Result<void> result = body(function);
    return result ? NVFP4RT_OK : record(std::move(result.error()));
  } catch (const std::bad_alloc &) {
    return record(NVFP4RT_ERROR_OUT_OF_MEMORY, "host memory: expected enough, found none left");
  } catch (...) {
    return record(NVFP4RT_ERROR_INTERNAL, "an exception that is not of memory; please report it");
  }
}

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_API_GUARDED_H
