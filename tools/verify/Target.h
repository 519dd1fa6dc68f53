//===- Target.h - where verified kernels run --------------------------------===//
//
// Owns: the interface between the checks and a device, so that the checks
// themselves can be tested against a device that is wrong on purpose.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_TARGET_H
#define NVFP4GEN_TOOLS_VERIFY_TARGET_H

#include "runtime/bundle/Manifest.h"
#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace verify {

class Target {
public:
  virtual ~Target() = default;
  virtual std::string description() const = 0;

  /// `bytes` > 0 of device memory, at least 256-byte aligned, contents undefined. No memory:
  /// NVFP4RT_ERROR_OUT_OF_MEMORY.
  virtual nvfp4rt::Result<void *> allocate(uint64_t bytes) = 0;
  virtual void release(void *device) = 0;
  virtual nvfp4rt::Result<void> write(void *device, const void *host, uint64_t bytes) = 0;
  virtual nvfp4rt::Result<void> read(void *host, const void *device, uint64_t bytes) = 0;

  /// Launch what the runtime picks for `request` and wait for the end. Picking any variant but
  /// `variant`, or another kernel than it names, is an error (G2).
  virtual nvfp4rt::Result<void> launch(const nvfp4rt::Variant &variant,
                                       const nvfp4rt::Request &request, const void *args,
                                       size_t argsSize) = 0;
};

struct ReleaseDevice {
  Target *target = nullptr;
  void operator()(void *address) const { target->release(address); }
};

/// Device memory with an owner.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(Target &target, void *address) : memory(address, ReleaseDevice{&target}) {}
  static nvfp4rt::Result<DeviceMemory> allocate(Target &target, uint64_t bytes) {
    auto address = target.allocate(bytes);
    if (!address)
      return tl::unexpected(std::move(address.error()));
    return DeviceMemory(target, *address);
  }
  void *get() const { return memory.get(); }

private:
  std::unique_ptr<void, ReleaseDevice> memory;
};

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_TARGET_H
