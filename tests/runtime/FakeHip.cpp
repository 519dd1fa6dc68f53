//===- FakeHip.cpp - a HIP library that records what it is asked ------------===//
//
// Built three times: FAKE_HIP_R0600 exports both property functions as HIP 6 and
// 7 do, FAKE_HIP_R0000 the old one only as HIP 5 does, and FAKE_HIP_R0600_ONLY the
// new one only, as a HIP that has left the old layout behind. Modules and functions
// are handles; nothing runs.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/FakeHip.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace nvfp4rt::test;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

FakeHipState state;

[[maybe_unused]] constexpr int kInvalidValue = 1;
constexpr int kNoDevice = 100, kInvalidDevice = 101, kInjected = 999;

/// True when this call is to fail.
bool fails(const char *name) { return ++state.number == state.failAt || state.failingCall == name; }

/// Records a call; true when it is to fail.
bool enter(const char *name) {
  state.calls.emplace_back(name);
  return fails(name);
}

struct FakeFunction {
  std::string name;
};

struct FakeModule {
  std::vector<FakeFunction *> functions;
};

template <typename Properties> void writeArch(void *out, int device) {
  Properties properties;
  std::memset(static_cast<void *>(&properties), 'x', sizeof(properties)); // nothing is a terminator
  std::strncpy(properties.gcnArchName, state.arch[device].c_str(), sizeof(properties.gcnArchName));
  std::memcpy(out, &properties, sizeof(properties));
}

} // namespace

EXPORT FakeHipState *fakeHipState() { return &state; }

EXPORT int hipGetDeviceCount(int *count) {
  if (enter("hipGetDeviceCount"))
    return kInjected;
  *count = state.deviceCount;
  return state.deviceCount > 0 ? 0 : kNoDevice;
}

EXPORT int hipSetDevice(int device) {
  if (enter("hipSetDevice"))
    return kInjected;
  if (device < 0 || device >= state.deviceCount)
    return kInvalidDevice;
  state.currentDevice = device;
  return 0;
}

EXPORT int hipGetDevice(int *device) {
  if (enter("hipGetDevice"))
    return kInjected;
  *device = state.currentDevice;
  return 0;
}

EXPORT const char *hipGetErrorName(int error) {
  return error == kInjected ? "hipErrorUnknown" : "hipErrorOther";
}
EXPORT const char *hipGetErrorString(int error) {
  return error == kInjected ? "injected by the test" : nullptr;
}
EXPORT int hipGetLastError() { return 0; }

EXPORT int hipModuleLoadData(void **module, const void *image) {
  if (enter("hipModuleLoadData")) {
    *module = reinterpret_cast<void *>(1); // rubbish that must not be unloaded
    return kInjected;
  }
  const auto *bytes = static_cast<const uint8_t *>(image);
  state.image.assign(bytes, bytes + 64);
  ++state.loadedModules;
  *module = new FakeModule;
  return 0;
}

EXPORT int hipModuleUnload(void *module) {
  const bool failing = enter("hipModuleUnload");
  auto *fake = static_cast<FakeModule *>(module);
  for (FakeFunction *function : fake->functions)
    delete function;
  state.functions -= fake->functions.size();
  delete fake;
  --state.loadedModules;
  return failing ? kInjected : 0;
}

EXPORT int hipModuleGetFunction(void **function, void *module, const char *name) {
  if (enter("hipModuleGetFunction"))
    return kInjected;
  auto *fake = new FakeFunction{name};
  static_cast<FakeModule *>(module)->functions.push_back(fake);
  ++state.functions;
  *function = fake;
  return 0;
}

EXPORT int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                 unsigned blockX, unsigned blockY, unsigned blockZ,
                                 unsigned sharedBytes, void *stream, void **params, void **extra) {
  if (fails("hipModuleLaunchKernel"))
    return kInjected;
  if (params || !extra || extra[0] != reinterpret_cast<void *>(1) ||
      extra[2] != reinterpret_cast<void *>(2) || extra[4] != reinterpret_cast<void *>(3))
    return kInvalidValue;
  if (!state.recordLaunches)
    return 0;
  const auto *args = static_cast<const uint8_t *>(extra[1]);
  state.launches.push_back({.kernel = static_cast<FakeFunction *>(function)->name,
                            .function = function,
                            .device = state.currentDevice,
                            .grid = {gridX, gridY, gridZ},
                            .block = {blockX, blockY, blockZ},
                            .sharedBytes = sharedBytes,
                            .stream = stream,
                            .args = {args, args + *static_cast<size_t *>(extra[3])}});
  return 0;
}

#ifndef FAKE_HIP_R0600_ONLY
EXPORT int hipGetDeviceProperties(void *properties, int device) {
  if (enter("hipGetDeviceProperties"))
    return kInjected;
  writeArch<PropertiesR0000>(properties, device);
  return 0;
}
#endif

#ifndef FAKE_HIP_R0000
EXPORT int hipGetDevicePropertiesR0600(void *properties, int device) {
  if (enter("hipGetDevicePropertiesR0600"))
    return kInjected;
  writeArch<PropertiesR0600>(properties, device);
  return 0;
}
#endif

// The client functions: a test of the runtime only needs them to exist.
EXPORT int hipMalloc(void **pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  return 0;
}
EXPORT int hipFree(void *pointer) {
  std::free(pointer);
  return 0;
}
EXPORT int hipMemcpy(void *to, const void *from, size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return 0;
}
EXPORT int hipMemset(void *to, int value, size_t bytes) {
  std::memset(to, value, bytes);
  return 0;
}
EXPORT int hipStreamCreate(void **stream) {
  *stream = nullptr;
  return 0;
}
EXPORT int hipStreamDestroy(void *) { return 0; }
EXPORT int hipStreamSynchronize(void *) { return 0; }
EXPORT int hipDeviceSynchronize() { return 0; }
