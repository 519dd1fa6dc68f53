//===- Api.h - what every HIP function does around its body -----------------===//
//
// Owns the boundary: no exception crosses it, bad settings refuse every call, and a
// failure becomes the thread's last error.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_API_H
#define GFX950EMU_HIP_API_H

#include "tools/gfx950emu/hip/Runtime.h"

#include <cstring>
#include <new>

namespace gfx950emu::hip {

/// The last error is the last actual failure of the thread: a success leaves it alone.
inline hipError_t remember(hipError_t code) {
  if (code != hipSuccess)
    thisThread().lastError = code;
  return code;
}

/// The number behind an enumeration that a caller passed. A value that the C++ type cannot hold is
/// undefined behaviour to look at as the enumeration.
template <typename Enum> int rawValue(const Enum &value) {
  int raw;
  static_assert(sizeof raw == sizeof value);
  memcpy(&raw, &value, sizeof raw);
  return raw;
}

/// Run `body(Runtime &)` as the body of an API function.
template <typename Body> hipError_t apiCall(Body &&body) noexcept {
  try {
    Runtime &runtime = Runtime::get();
    return remember(runtime.usable() ? body(runtime) : hipErrorInvalidValue);
  } catch (const std::bad_alloc &) {
    return remember(hipErrorOutOfMemory);
  } catch (...) {
    return remember(hipErrorUnknown);
  }
}

/// The same with the runtime's mutex held, for functions that run no work.
template <typename Body> hipError_t lockedCall(Body &&body) noexcept {
  return apiCall([&](Runtime &runtime) {
    std::lock_guard lock(runtime.mutex);
    return body(runtime);
  });
}

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_API_H
