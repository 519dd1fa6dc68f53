//===- LaunchShape.h - grid and block of a kernel's launches ----------------===//
//
// What the manifest says of a kernel's launches, resolved against its argument
// struct: for each grid axis the place in the struct that scales it. Knows nothing
// of HIP, so whoever runs kernels by other means launches the same grids.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_PLAN_LAUNCHSHAPE_H
#define NVFP4_RUNTIME_PLAN_LAUNCHSHAPE_H

#include "runtime/bundle/Manifest.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvfp4rt {

class LaunchShape {
public:
  /// `kernel` is of a verified bundle: its family and the members its grid names exist.
  explicit LaunchShape(const Kernel &kernel);

  /// Workgroups along x, y and z; a 0 among them means that there is nothing to launch.
  /// `args` is the family's struct, its struct_size included: NVFP4RT_ERROR_ARGS_LAYOUT when that
  /// is another. NVFP4RT_ERROR_INVALID_ARGUMENT for null args, a reserved member that is not 0, or
  /// a grid past HIP's limits. `variant` names the launch in messages.
  Result<std::array<uint32_t, 3>> workgroups(const void *args, const std::string &variant) const;
  /// Work-items of a workgroup.
  const std::array<uint32_t, 3> &block() const { return block_; }
  /// Bytes of the kernel-argument segment (argSegment of ArgLayout.h).
  uint32_t segmentBytes() const { return segmentBytes_; }

private:
  static constexpr uint32_t kNoMember = UINT32_MAX;
  /// Workgroups along an axis: ceil(value * mul / div), value being the argument at `offset`, or 1.
  struct Axis {
    uint32_t offset = kNoMember; ///< bytes into the segment
    uint32_t mul = 1, div = 1;
    uint64_t most = 0; ///< workgroups that HIP accepts
    uint64_t workgroups(const void *segment) const;
  };

  std::array<Axis, 3> grid_;
  std::array<uint32_t, 3> block_{};
  uint32_t segmentBytes_ = 0;
  uint32_t reserved_ = kNoMember; ///< offset of the "reserved" member, if any
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_PLAN_LAUNCHSHAPE_H
