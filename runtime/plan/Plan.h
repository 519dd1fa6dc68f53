//===- Plan.h - one variant, ready to launch --------------------------------===//
//
// Everything a launch needs, resolved when the plan is made: HIP's function handle
// and the shape of the launch. A launch only reads the plan (G6).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_PLAN_H
#define NVFP4_RUNTIME_PLAN_PLAN_H

#include "runtime/hip/Module.h"
#include "runtime/plan/LaunchShape.h"

namespace nvfp4rt {

class Plan {
public:
  /// Borrows the module. `variant` is one of the bundle's.
  static Plan make(const Bundle &bundle, const Module &module, const Variant &variant);

  /// Enqueue on `stream`; args are copied by HIP before this returns. No workgroup along any axis:
  /// nothing is launched. NVFP4RT_ERROR_INVALID_ARGUMENT for null or wrongly sized args, a reserved
  /// member that is not 0, or a grid past HIP's limits; NVFP4RT_ERROR_HIP when the launch fails.
  Result<void> launch(const void *args, size_t argsSize, void *stream) const;

  const std::string &variant() const { return variant_; }
  const std::string &symbol() const { return symbol_; }
  uint64_t workspaceBytes() const { return workspaceBytes_; }

private:
  explicit Plan(const Kernel &kernel) : shape_(kernel) {}

  const HipApi *hip_ = nullptr;
  void *function_ = nullptr;
  LaunchShape shape_;
  uint64_t workspaceBytes_ = 0;
  std::string variant_, symbol_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_PLAN_H
