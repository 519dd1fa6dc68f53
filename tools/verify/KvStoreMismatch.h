//===- KvStoreMismatch.h - what differs after a kv_store launch -------------===//
//
// Owns: the comparison of pool images with the oracle's and the words for the
// first difference.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_KVSTOREMISMATCH_H
#define NVFP4GEN_TOOLS_VERIFY_KVSTOREMISMATCH_H

#include "tools/verify/KvStoreLaunch.h"

namespace verify::kv_store {

/// Input rows on the host.
struct HostRows {
  const std::byte *base = nullptr;
  int64_t rowStride = 0, headStride = 0;
};

/// A finished launch; everything is borrowed.
struct Comparison {
  const Launch &launch;
  const PoolLayout &pools;
  const std::vector<Image> &images; ///< read back
  std::array<HostRows, kTensors> inputs;
};

struct Outcome {
  uint64_t values = 0; ///< elements that rows stored, and that were compared
  uint64_t bytesCompared = 0;
  uint64_t mismatchingBytes = 0;
  double worstError = 0; ///< as in VariantReport
  std::string first;     ///< of the first mismatching byte: where, both sides, inputs, rule
};

Outcome compare(const Comparison &comparison);

} // namespace verify::kv_store

#endif // NVFP4GEN_TOOLS_VERIFY_KVSTOREMISMATCH_H
