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

uint32_t argAt(const void *segment, uint32_t offset) {
  uint32_t value;
  std::memcpy(&value, static_cast<const char *>(segment) + offset, sizeof(value));
  return value;
}

} // namespace

/// value * mul + div - 1 is at most 2^64 - 2^32, so 64 bits hold it.
uint64_t LaunchShape::Axis::workgroups(const void *segment) const {
  const uint64_t items = offset == kNoMember ? mul : uint64_t{argAt(segment, offset)} * mul;
  return div == 1 ? items : (items + div - 1) / div;
}

LaunchShape::LaunchShape(const Kernel &kernel) {
  const ArgLayout &layout = *argLayout(kernel.family);
  const auto offsetOf = [&](std::string_view member) {
    const std::optional<size_t> field = layout.indexOf(member);
    return field ? layout.fields[*field].offset : kNoMember;
  };
  for (size_t axis = 0; axis < 3; ++axis) {
    const GridAxis &rule = kernel.grid[axis];
    block_[axis] = kernel.block[axis];
    grid_[axis] = {offsetOf(rule.per), rule.mul, rule.div,
                   std::min(kMaxGrid[axis], kMaxWorkItems / block_[axis])};
  }
  segmentBytes_ = layout.size;
  reserved_ = offsetOf("reserved");
}

Result<std::array<uint32_t, 3>> LaunchShape::workgroups(const void *args,
                                                        const std::string &variant) const {
  const auto invalid = [&](std::string_view where, const auto &expected, const auto &found,
                           nvfp4rt_status code = NVFP4RT_ERROR_INVALID_ARGUMENT) {
    return fail(code, fmt::format("launch of {}: {}: expected {}, found {}", variant, where,
                                  expected, found));
  };
  if (!args)
    return invalid("args", "the argument struct", "NULL");
  uint64_t structSize;
  std::memcpy(&structSize, args, sizeof(structSize));
  if (structSize != kStructSizeBytes + segmentBytes_)
    return invalid("args.struct_size", kStructSizeBytes + segmentBytes_, structSize,
                   NVFP4RT_ERROR_ARGS_LAYOUT);
  const void *segment = argSegment(args);
  if (reserved_ != kNoMember && argAt(segment, reserved_) != 0)
    return invalid("args.reserved", 0, argAt(segment, reserved_));

  uint64_t groups[3];
  for (size_t axis = 0; axis < 3; ++axis)
    groups[axis] = grid_[axis].workgroups(segment);
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0)
    return std::array<uint32_t, 3>{};
  std::array<uint32_t, 3> result;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (groups[axis] > grid_[axis].most)
      return invalid(fmt::format("workgroups along {}", "xyz"[axis]),
                     fmt::format("at most {}", grid_[axis].most), groups[axis]);
    result[axis] = static_cast<uint32_t>(groups[axis]);
  }
  return result;
}

} // namespace nvfp4rt
