//===- Plan.cpp - one variant, ready to launch ------------------------------===//
//
// See Plan.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include "runtime/args/ArgLayout.h"

#include <cstring>
#include <fmt/format.h>

namespace nvfp4rt {
namespace {

/// Workgroups along x, y and z that every HIP version accepts; the dispatch packet counts
/// work-items in 32 bits on top of that.
constexpr uint64_t kMaxGrid[3] = {0x7fffffff, 65535, 65535};
constexpr uint64_t kMaxWorkItems = UINT32_MAX;

uint32_t argAt(const void *args, uint32_t offset) {
  uint32_t value;
  std::memcpy(&value, static_cast<const char *>(args) + offset, sizeof(value));
  return value;
}

/// value * mul + div - 1 is at most 2^64 - 2^32, so 64 bits hold it.
uint64_t workgroups(const PlanAxis &axis, const void *args) {
  const uint64_t value = axis.offset == PlanAxis::kConstant ? 1 : argAt(args, axis.offset);
  return (value * axis.mul + axis.div - 1) / axis.div;
}

} // namespace

Plan Plan::make(const Bundle &bundle, const Module &module, const Variant &variant) {
  const size_t index = bundle.kernelIndex(variant.symbol);
  const Kernel &kernel = bundle.manifest().kernels[index];
  const ArgLayout &layout = *argLayout(kernel.family);
  const auto offsetOf = [&](std::string_view member) {
    const std::optional<size_t> field = layout.indexOf(member);
    return field ? layout.fields[*field].offset : PlanAxis::kConstant;
  };

  Plan plan;
  plan.hip_ = &module.hip();
  plan.function_ = module.function(index);
  for (size_t axis = 0; axis < 3; ++axis) {
    const GridAxis &rule = kernel.grid[axis];
    plan.grid_[axis] = {offsetOf(rule.per), rule.mul, rule.div};
    plan.block_[axis] = kernel.block[axis];
  }
  plan.argsSize_ = layout.size;
  plan.reserved_ = offsetOf("reserved");
  const Term *requests = variant.guard.find(Field::requests);
  plan.workspaceBytes_ =
      variant.workspace.fixed +
      variant.workspace.perRequest * static_cast<uint64_t>(requests ? requests->values.back() : 0);
  plan.variant_ = variant.name;
  plan.symbol_ = variant.symbol;
  return plan;
}

Result<void> Plan::launch(const void *args, size_t argsSize, void *stream) const {
  const auto invalid = [&](std::string_view where, const auto &expected, const auto &found) {
    return fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("launch of {}: {}: expected {}, found {}", variant_, where, expected, found));
  };
  if (!args)
    return invalid("args", "the argument struct", "NULL");
  if (argsSize != argsSize_)
    return invalid("args_size", argsSize_, argsSize);
  if (reserved_ != PlanAxis::kConstant && argAt(args, reserved_) != 0)
    return invalid("args.reserved", 0, argAt(args, reserved_));

  uint64_t grid[3];
  for (size_t axis = 0; axis < 3; ++axis)
    grid[axis] = workgroups(grid_[axis], args);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return {};
  for (size_t axis = 0; axis < 3; ++axis) {
    const uint64_t most = std::min(kMaxGrid[axis], kMaxWorkItems / block_[axis]);
    if (grid[axis] > most)
      return invalid(fmt::format("workgroups along {}", "xyz"[axis]),
                     fmt::format("at most {}", most), grid[axis]);
  }

  // HIP copies the buffer into the kernel-argument segment, in a captured graph as well.
  size_t size = argsSize;
  // NOLINTBEGIN(performance-no-int-to-ptr): HIP's markers are small integers as pointers.
  void *extra[] = {reinterpret_cast<void *>(hip::kLaunchParamBufferPointer),
                   const_cast<void *>(args), reinterpret_cast<void *>(hip::kLaunchParamBufferSize),
                   &size, reinterpret_cast<void *>(hip::kLaunchParamEnd)};
  // NOLINTEND(performance-no-int-to-ptr)
  const int error = hip_->hipModuleLaunchKernel(
      function_, static_cast<unsigned>(grid[0]), static_cast<unsigned>(grid[1]),
      static_cast<unsigned>(grid[2]), block_[0], block_[1], block_[2], 0, stream, nullptr, extra);
  if (error != hip::kSuccess)
    return hip_->check(error, fmt::format("hipModuleLaunchKernel of {}", variant_));
  return {};
}

} // namespace nvfp4rt
