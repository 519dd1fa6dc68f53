//===- Error.h - typed errors of the runtime --------------------------------===//
//
// A fallible function returns Result<T>; the error carries the status of the C
// interface and a message that says what, where, expected and found.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_SUPPORT_ERROR_H
#define NVFP4_RUNTIME_SUPPORT_ERROR_H

#include "runtime/include/nvfp4rt.h"

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace nvfp4rt {

struct [[nodiscard]] Error {
  nvfp4rt_status code = NVFP4RT_ERROR_INTERNAL;
  std::string message;
};

template <typename T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(nvfp4rt_status code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_SUPPORT_ERROR_H
