//===- KvStoreLaunch.h - one checked kv_store launch ------------------------===//
//
// Owns: what a launch is made of (layout, slots, inputs) and the comparison of all
// it may touch with the oracle.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_KVSTORELAUNCH_H
#define NVFP4GEN_TOOLS_VERIFY_KVSTORELAUNCH_H

#include "tools/verify/FamilyChecks.h"
#include "tools/verify/Image.h"
#include "tools/verify/KvStoreLayout.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace verify::kv_store {

using Bits16 = std::array<uint16_t, 16>;

/// Groups taken in order, from the start again after the last.
class GroupStream {
public:
  /// `groups` is borrowed and not empty.
  GroupStream(const std::vector<Bits16> &groups, size_t first)
      : groups(&groups), next(first % groups.size()) {}
  const Bits16 &take() {
    const Bits16 &group = (*groups)[next];
    next = next + 1 == groups->size() ? 0 : next + 1;
    return group;
  }

private:
  const std::vector<Bits16> *groups;
  size_t next;
};

/// Inputs of the three tensors, each with its own position.
using Inputs = std::array<GroupStream, kTensors>;

struct Launch {
  const nvfp4rt::Request &request;
  const oracle::KvStoreShape &shape;
  Layout layout = Layout::Dense;
  Order order = Order::NHD;
  int64_t pages = 0, indexPages = 0;
  std::vector<int64_t> slots, indexSlots; ///< one a row each
  /// Compare only around the rows and where their 32-bit wrapped addresses would land: for pools
  /// too large to touch whole.
  bool sparse = false;
  std::string_view what; ///< names the check in messages
};

/// Run one launch and compare; counts and faults go to job.report. NVFP4RT_ERROR_OUT_OF_MEMORY when
/// target or host has no room for the pools. Any other error has been reported as a fault.
nvfp4rt::Result<void> runLaunch(Job &job, const Launch &launch, Inputs &inputs);

/// Bytes of the pools of a launch on the device.
uint64_t poolBytes(const Launch &launch);

} // namespace verify::kv_store

#endif // NVFP4GEN_TOOLS_VERIFY_KVSTORELAUNCH_H
