//===- Plan.h - one variant, ready to launch --------------------------------===//
//
// Everything a launch needs, resolved when the plan is made: HIP's function
// handle, block, and for each grid axis the place in the argument struct that
// scales it. A launch only reads the plan (G6).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_PLAN_H
#define NVFP4_RUNTIME_PLAN_PLAN_H

#include "runtime/hip/Module.h"

#include <array>

namespace nvfp4rt {

/// Workgroups along an axis: ceil(value * mul / div), value being the argument at `offset`, or 1.
struct PlanAxis {
  static constexpr uint32_t kConstant = UINT32_MAX;
  uint32_t offset = kConstant; ///< bytes into the argument struct
  uint32_t mul = 1, div = 1;
};

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
  Plan() = default;

  const HipApi *hip_ = nullptr;
  void *function_ = nullptr;
  std::array<PlanAxis, 3> grid_;
  std::array<uint32_t, 3> block_{};
  uint32_t argsSize_ = 0;
  uint32_t reserved_ = PlanAxis::kConstant; ///< offset of the struct's "reserved" member, if any
  uint64_t workspaceBytes_ = 0;
  std::string variant_, symbol_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_PLAN_H
