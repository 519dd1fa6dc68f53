//===- Plan.cpp - one variant, ready to launch ------------------------------===//
//
// See Plan.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include "runtime/args/ArgLayout.h"
#include "runtime/support/Log.h"

#include <fmt/format.h>

namespace nvfp4rt {

Plan::Plan(const Bundle &bundle, const Module &module, const Variant &variant,
           const Settings &settings)
    : hip_(&module.hip()), function_(module.function(bundle.kernelIndex(variant.symbol))),
      shape_(bundle.manifest().kernels[bundle.kernelIndex(variant.symbol)]), variant_(&variant) {
  const Term *requests = variant.guard.find(Field::requests);
  workspaceBytes_ =
      variant.workspace.fixed +
      variant.workspace.perRequest * static_cast<uint64_t>(requests ? requests->values.back() : 0);
  if (settings.check || settings.log >= LogLevel::Debug)
    watch_ = std::make_unique<const Watch>(
        Watch{settings.check ? std::optional<ArgCheck>(variant) : std::nullopt, module.device()});
}

Result<void> Plan::watch(const void *args, const std::array<uint32_t, 3> &groups) const {
  if (watch_->check)
    if (Result<void> ok = watch_->check->run(argSegment(args)); !ok)
      return ok;
  log(LogLevel::Debug, [&] {
    return fmt::format("launch of {} on device {}: {} x {} x {} workgroups", variant(),
                       watch_->device, groups[0], groups[1], groups[2]);
  });
  return {};
}

Result<void> Plan::launch(const void *args, void *stream) const {
  auto groups = shape_.workgroups(args, variant());
  if (!groups)
    return tl::unexpected(std::move(groups.error()));
  const auto [x, y, z] = *groups;
  if (x == 0 || y == 0 || z == 0)
    return {};
  if (watch_) [[unlikely]]
    if (Result<void> ok = watch(args, *groups); !ok)
      return ok;
  const std::array<uint32_t, 3> &block = shape_.block();

  // HIP copies the buffer into the kernel-argument segment, in a captured graph as well.
  size_t size = shape_.segmentBytes();
  // NOLINTBEGIN(performance-no-int-to-ptr): HIP's markers are small integers as pointers.
  void *extra[] = {reinterpret_cast<void *>(hip::kLaunchParamBufferPointer),
                   const_cast<void *>(argSegment(args)),
                   reinterpret_cast<void *>(hip::kLaunchParamBufferSize), &size,
                   reinterpret_cast<void *>(hip::kLaunchParamEnd)};
  // NOLINTEND(performance-no-int-to-ptr)
  const int error = hip_->hipModuleLaunchKernel(function_, x, y, z, block[0], block[1], block[2], 0,
                                                stream, nullptr, extra);
  if (error != hip::kSuccess)
    return hip_->check(error, fmt::format("hipModuleLaunchKernel of {}", variant()));
  return {};
}

} // namespace nvfp4rt
