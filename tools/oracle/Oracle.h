//===- Oracle.h - host reference of the kernel contract ---------------------===//
//
// Written from the numbered rules alone (F, W, P ...), never from a template:
// slow, exact and plain. Where a rule is exact, arithmetic here is on integers or
// rationals, not on floating point.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_ORACLE_H
#define NVFP4GEN_TOOLS_ORACLE_ORACLE_H

#include "runtime/include/nvfp4rt_args.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace oracle {

enum class DType : uint8_t { BF16, FP16 };

/// F1..F3: 16 elements; payload byte j holds element 2j in its low nibble.
struct Group {
  uint8_t scale = 0;
  std::array<uint8_t, 8> payload{};
  bool operator==(const Group &) const = default;
};

/// F4..F7 on 16 values given as bf16 or fp16 bit patterns. A group of NaN alone is quantized like
/// zeros (F4's maximum over no value is 0).
Group quantize(std::span<const uint16_t, 16> bits, DType dtype);

/// F8: the exact value of a code under a scale byte; NaN for scale 0x7F/0xFF.
double dequantize(uint8_t code, uint8_t scale);

/// The exact value of a bf16 or fp16 bit pattern.
double value(uint16_t bits, DType dtype);

/// Shape of a kv_store launch.
struct KvStoreShape {
  DType dtype = DType::BF16;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t indexHeadDim = 0;
  int64_t pageSize = 0;
  bool storesK = true, storesV = true, storesIndex = true;
};

/// W1 on host memory: every pointer in `args` is a host pointer. Pointers of planes that the shape
/// does not store, and every pointer when args.rows is 0, are not read. The
/// caller vouches that rows, slots and planes are as large as strides and counts say.
void kvStore(const KvStoreShape &shape, const nvfp4rt_kv_store_args &args);

/// A named set of groups of 16 elements (bit patterns) that pins one corner of F4..F7.
struct PinnedSet {
  std::string name; ///< e.g. "F5 midpoints", "F7 NaN and infinities"
  std::vector<std::array<uint16_t, 16>> groups;
};

/// Every pinned input of the contract for a dtype: all midpoints of F5 and their neighbours for all
/// 126 finite scales, amax at and around 0, 2^-9 * 6, 2688, 2700, 65504, NaN, +-Inf, -0, zero
/// groups.
std::vector<PinnedSet> pinnedSets(DType dtype);

/// What is small enough to try all of: every bit pattern as the only value of a group, and every
/// value from s/8 up (below, each is far from F5's first midpoint s/4) under every scale s.
std::vector<PinnedSet> exhaustiveSets(DType dtype);

/// Normal values with outlier channels, reproducible from `seed`: `groups` groups of 16.
std::vector<std::array<uint16_t, 16>> randomGroups(DType dtype, size_t groups, uint64_t seed);

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_ORACLE_H
