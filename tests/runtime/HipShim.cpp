//===- HipShim.cpp - the emulator's HIP library, with its calls counted -----===//
//
// Hands every function of HipFunctions.def on to the emulator. Counts all calls
// but launches, and keeps what happens inside the emulator out of the counts of
// Interpose.h.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/Interpose.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

uint64_t calls = 0;

void *emulator(const char *name) {
  static void *library = dlopen(EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, name) : nullptr;
  if (!address) {
    std::fprintf(stderr, "%s: %s: %s\n", EMULATOR_LIBRARY, name, dlerror());
    std::exit(1);
  }
  return address;
}

/// One call into the emulator.
template <typename Result, typename... Arguments>
Result handOn(const char *name, Result (*real)(Arguments...), Arguments... arguments) {
  if (std::string_view(name) != "hipModuleLaunchKernel")
    ++calls;
  pauseWatching(true);
  Result result = real(arguments...);
  pauseWatching(false);
  return result;
}

} // namespace

EXPORT uint64_t hipShimCalls() { return calls; }

#define SHIM(name, result, parameters, ...)                                                        \
  EXPORT result name parameters {                                                                  \
    static auto *real = reinterpret_cast<result(*) parameters>(emulator(#name));                   \
    return handOn(#name, real __VA_OPT__(, ) __VA_ARGS__);                                         \
  }

SHIM(hipGetDeviceCount, int, (int *count), count)
SHIM(hipSetDevice, int, (int device), device)
SHIM(hipGetDevice, int, (int *device), device)
SHIM(hipGetErrorName, const char *, (int error), error)
SHIM(hipGetErrorString, const char *, (int error), error)
SHIM(hipGetLastError, int, ())
SHIM(hipModuleLoadData, int, (void **module, const void *image), module, image)
SHIM(hipModuleUnload, int, (void *module), module)
SHIM(hipModuleGetFunction, int, (void **function, void *module, const char *name), function, module,
     name)
SHIM(hipModuleLaunchKernel, int,
     (void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
      unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream, void **params,
      void **extra),
     function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, params, extra)
SHIM(hipMalloc, int, (void **pointer, size_t bytes), pointer, bytes)
SHIM(hipFree, int, (void *pointer), pointer)
SHIM(hipMemcpy, int, (void *to, const void *from, size_t bytes, int kind), to, from, bytes, kind)
SHIM(hipMemset, int, (void *to, int value, size_t bytes), to, value, bytes)
SHIM(hipStreamCreate, int, (void **stream), stream)
SHIM(hipStreamDestroy, int, (void *stream), stream)
SHIM(hipStreamSynchronize, int, (void *stream), stream)
SHIM(hipDeviceSynchronize, int, ())
SHIM(hipGetDevicePropertiesR0600, int, (void *properties, int device), properties, device)
// Of the captures that the test makes itself.
SHIM(hipStreamBeginCapture, int, (void *stream, int mode), stream, mode)
SHIM(hipStreamEndCapture, int, (void *stream, void **graph), stream, graph)
SHIM(hipGraphDestroy, int, (void *graph), graph)
