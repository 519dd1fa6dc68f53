//===- Plan.h - one variant, ready to launch --------------------------------===//
//
// Everything a launch needs, resolved when the plan is made: HIP's function handle
// and the shape of the launch. A launch only reads the plan (G6).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_PLAN_H
#define NVFP4_RUNTIME_PLAN_PLAN_H

#include "runtime/hip/Module.h"
#include "runtime/plan/ArgCheck.h"
#include "runtime/plan/LaunchShape.h"
#include "runtime/support/Settings.h"

namespace nvfp4rt {

class Plan {
public:
  /// Borrows the bundle and the module. `variant` is one of the bundle's.
  Plan(const Bundle &bundle, const Module &module, const Variant &variant,
       const Settings &settings);

  /// Enqueue on `stream`; args are copied by HIP before this returns. No workgroup along any axis:
  /// nothing is launched. The errors are LaunchShape::workgroups' and, where the settings ask for
  /// it, ArgCheck::run's; NVFP4RT_ERROR_HIP when the launch fails.
  Result<void> launch(const void *args, void *stream) const;

  const std::string &variant() const { return variant_->name; }
  const std::string &symbol() const { return variant_->symbol; }
  uint64_t workspaceBytes() const { return workspaceBytes_; }

private:
  /// What a launch does on top when the environment asks for it.
  struct Watch {
    std::optional<ArgCheck> check;
    int device; ///< for the log
  };
  Result<void> watch(const void *args, const std::array<uint32_t, 3> &groups) const;

  const HipApi *hip_;
  void *function_;
  LaunchShape shape_;
  std::unique_ptr<const Watch> watch_; ///< null when nothing is asked for
  const Variant *variant_;
  uint64_t workspaceBytes_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_PLAN_H
