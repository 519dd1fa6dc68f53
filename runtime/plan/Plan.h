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
  /// Borrows the bundle and the module. `variant` is one of the bundle's.
  Plan(const Bundle &bundle, const Module &module, const Variant &variant);

  /// Enqueue on `stream`; args are copied by HIP before this returns. No workgroup along any axis:
  /// nothing is launched. The errors are LaunchShape::workgroups', and NVFP4RT_ERROR_HIP when the
  /// launch fails.
  Result<void> launch(const void *args, void *stream) const;

  const std::string &variant() const { return variant_->name; }
  const std::string &symbol() const { return variant_->symbol; }
  uint64_t workspaceBytes() const { return workspaceBytes_; }

private:
  Plan(const Bundle &bundle, const Module &module, const Variant &variant, size_t kernel);

  const HipApi *hip_;
  void *function_;
  LaunchShape shape_;
  uint64_t workspaceBytes_;
  const Variant *variant_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_PLAN_H
