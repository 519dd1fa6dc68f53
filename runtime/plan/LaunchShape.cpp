//===- LaunchShape.cpp - grid and block of a kernel's launches --------------===//
//
// See LaunchShape.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/LaunchShape.h"

#include "runtime/args/ArgLayout.h"

#include <algorithm>
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

} // namespace

/// value * mul + div - 1 is at most 2^64 - 2^32, so 64 bits hold it.
uint64_t LaunchShape::Axis::workgroups(const void *args) const {
  const uint64_t value = offset == kNoMember ? 1 : argAt(args, offset);
  return (value * mul + div - 1) / div;
}

LaunchShape::LaunchShape(const Kernel &kernel) {
  const ArgLayout &layout = *argLayout(kernel.family);
  const auto offsetOf = [&](std::string_view member) {
    const std::optional<size_t> field = layout.indexOf(member);
    return field ? layout.fields[*field].offset : kNoMember;
  };
  for (size_t axis = 0; axis < 3; ++axis) {
    const GridAxis &rule = kernel.grid[axis];
    grid_[axis] = {offsetOf(rule.per), rule.mul, rule.div};
    block_[axis] = kernel.block[axis];
  }
  argsSize_ = layout.size;
  reserved_ = offsetOf("reserved");
}

Result<std::array<uint32_t, 3>> LaunchShape::workgroups(const void *args, size_t argsSize,
                                                        const std::string &variant) const {
  const auto invalid = [&](std::string_view where, const auto &expected, const auto &found) {
    return fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("launch of {}: {}: expected {}, found {}", variant, where, expected, found));
  };
  if (!args)
    return invalid("args", "the argument struct", "NULL");
  if (argsSize != argsSize_)
    return invalid("args_size", argsSize_, argsSize);
  if (reserved_ != kNoMember && argAt(args, reserved_) != 0)
    return invalid("args.reserved", 0, argAt(args, reserved_));

  uint64_t groups[3];
  for (size_t axis = 0; axis < 3; ++axis)
    groups[axis] = grid_[axis].workgroups(args);
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0)
    return std::array<uint32_t, 3>{};
  std::array<uint32_t, 3> result;
  for (size_t axis = 0; axis < 3; ++axis) {
    const uint64_t most = std::min(kMaxGrid[axis], kMaxWorkItems / block_[axis]);
    if (groups[axis] > most)
      return invalid(fmt::format("workgroups along {}", "xyz"[axis]),
                     fmt::format("at most {}", most), groups[axis]);
    result[axis] = static_cast<uint32_t>(groups[axis]);
  }
  return result;
}

} // namespace nvfp4rt
