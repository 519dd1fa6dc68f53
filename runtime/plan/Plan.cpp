//===- Plan.cpp - one variant, ready to launch ------------------------------===//
//
// See Plan.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include <fmt/format.h>

namespace nvfp4rt {

Plan Plan::make(const Bundle &bundle, const Module &module, const Variant &variant) {
  const size_t index = bundle.kernelIndex(variant.symbol);
  Plan plan(bundle.manifest().kernels[index]);
  plan.hip_ = &module.hip();
  plan.function_ = module.function(index);
  const Term *requests = variant.guard.find(Field::requests);
  plan.workspaceBytes_ =
      variant.workspace.fixed +
      variant.workspace.perRequest * static_cast<uint64_t>(requests ? requests->values.back() : 0);
  plan.variant_ = variant.name;
  plan.symbol_ = variant.symbol;
  return plan;
}

Result<void> Plan::launch(const void *args, size_t argsSize, void *stream) const {
  auto groups = shape_.workgroups(args, argsSize, variant_);
  if (!groups)
    return tl::unexpected(std::move(groups.error()));
  const auto [x, y, z] = *groups;
  if (x == 0 || y == 0 || z == 0)
    return {};
  const std::array<uint32_t, 3> &block = shape_.block();

  // HIP copies the buffer into the kernel-argument segment, in a captured graph as well.
  size_t size = argsSize;
  // NOLINTBEGIN(performance-no-int-to-ptr): HIP's markers are small integers as pointers.
  void *extra[] = {reinterpret_cast<void *>(hip::kLaunchParamBufferPointer),
                   const_cast<void *>(args), reinterpret_cast<void *>(hip::kLaunchParamBufferSize),
                   &size, reinterpret_cast<void *>(hip::kLaunchParamEnd)};
  // NOLINTEND(performance-no-int-to-ptr)
  const int error = hip_->hipModuleLaunchKernel(function_, x, y, z, block[0], block[1], block[2], 0,
                                                stream, nullptr, extra);
  if (error != hip::kSuccess)
    return hip_->check(error, fmt::format("hipModuleLaunchKernel of {}", variant_));
  return {};
}

} // namespace nvfp4rt
