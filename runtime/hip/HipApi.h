//===- HipApi.h - the HIP library, found at run time ------------------------===//
//
// A table of the functions in HipFunctions.def, taken from the file named by the
// environment variable NVFP4RT_HIP_LIBRARY (empty means unset), else from
// libamdhip64.so.7, .6 or .5. One binary serves all of them.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_HIP_HIPAPI_H
#define NVFP4_RUNTIME_HIP_HIPAPI_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvfp4rt {

/// A function of the HIP library. UBSan's function check compares mangled types, and ours differ
/// from HIP's in the names of handles and enums only, so the call is exempt from it.
template <typename Signature> class HipFunction;
template <typename R, typename... Args> class HipFunction<R(Args...)> {
public:
  HipFunction() = default;
  explicit HipFunction(void *address) : pointer(reinterpret_cast<R (*)(Args...)>(address)) {}
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  R operator()(Args... args) const {
    return pointer(args...);
  }
  explicit operator bool() const { return pointer != nullptr; }

private:
  R (*pointer)(Args...) = nullptr;
};

/// Values of HIP's enums and macros that this project passes or compares; a test holds them against
/// HIP's headers.
namespace hip {
inline constexpr int kSuccess = 0;
inline constexpr int kErrorNoDevice = 100;
inline constexpr int kMemcpyHostToDevice = 1;
inline constexpr int kMemcpyDeviceToHost = 2;
inline constexpr uintptr_t kLaunchParamBufferPointer = 1;
inline constexpr uintptr_t kLaunchParamBufferSize = 2;
inline constexpr uintptr_t kLaunchParamEnd = 3;

/// Where hipGetDeviceProperties writes gcnArchName (256 bytes, NUL-terminated). HIP 6.0 gave the
/// struct a new layout under the new symbol hipGetDevicePropertiesR0600 and left the old layout
/// under the plain name, so the symbol found decides which offset is right.
inline constexpr size_t kArchNameBytes = 256;
inline constexpr size_t kArchNameOffset = 396;       ///< HIP 5: hipGetDeviceProperties, 792 bytes
inline constexpr size_t kArchNameOffsetR0600 = 1160; ///< HIP 6 and 7: ...R0600, 1472 bytes
/// Room for the struct of either layout to grow in a later release.
inline constexpr size_t kPropertiesBytes = 16384;
} // namespace hip

/// Plain data; copies are cheap and refer to the same library, which stays loaded until the process
/// ends: HIP libraries start threads and register exit handlers, so unloading one is not safe.
/// Thread-safe after load().
struct HipApi {
  static Result<HipApi> load();

  /// "gfx950" of "gfx950:sramecc+:xnack-".
  Result<std::string> archName(int device) const;

  /// Ok, or NVFP4RT_ERROR_HIP (NVFP4RT_ERROR_NO_DEVICE for hipErrorNoDevice) with the call, the
  /// number, name and text of HIP's error and the library.
  Result<void> check(int error, std::string_view call) const;

  std::string library; ///< the name that was opened
#define NVFP4_HIP_FUNCTION(name, ret, params) HipFunction<ret params> name;
#include "runtime/hip/HipFunctions.def"

private:
  HipFunction<int(void *, int)> getProperties;
  size_t archNameOffset = 0; ///< in the struct that getProperties writes
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_HIP_HIPAPI_H
