//===- Module.h - a bundle's kernels on one device --------------------------===//
//
// Loads all kernels of a bundle at once, so that a launch loads nothing (G6).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_HIP_MODULE_H
#define NVFP4_RUNTIME_HIP_MODULE_H

#include "runtime/bundle/Bundle.h"
#include "runtime/hip/HipApi.h"

#include <memory>
#include <vector>

namespace nvfp4rt {

/// Owns the HIP modules, one a code object. Borrows the HipApi and, because HIP may read the image later, the bundle's
/// bytes; both must outlive it. The calling thread's current device is restored after each call.
class Module {
public:
  /// NVFP4RT_ERROR_NO_DEVICE when HIP has no such device, NVFP4RT_ERROR_WRONG_ARCH when it is of
  /// another architecture, else NVFP4RT_ERROR_HIP; nothing stays loaded after an error.
  static Result<std::unique_ptr<Module>> load(const HipApi &hip, const Bundle &bundle, int device);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Free the device's copy now; the destructor does the same but cannot report a failure.
  Result<void> unload();

  int device() const { return device_; }
  const HipApi &hip() const { return hip_; }
  /// HIP's handle of manifest().kernels[index].
  void *function(size_t index) const { return functions_[index]; }

private:
  Module(const HipApi &hip, int device) : hip_(hip), device_(device) {}
  Result<void> loadOnCurrentDevice(const Bundle &bundle);

  const HipApi &hip_;
  int device_;
  std::vector<void *> handles_;
  std::vector<void *> functions_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_HIP_MODULE_H
