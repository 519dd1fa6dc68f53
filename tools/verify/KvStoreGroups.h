//===- KvStoreGroups.h - where rows land in the pools -----------------------===//
//
// Owns: the groups that the rows of a launch store (P1, P2), words for a place in a
// pool, and the parts of a huge pool that a launch may touch, or that 32-bit
// arithmetic would. For every family that writes the cache.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_KVSTOREGROUPS_H
#define NVFP4GEN_TOOLS_VERIFY_KVSTOREGROUPS_H

#include "tools/verify/Image.h"
#include "tools/verify/KvStoreLayout.h"

#include <functional>
#include <string>
#include <vector>

namespace verify::kv_store {

/// What decides where rows land; everything is borrowed.
struct Placement {
  const oracle::KvStoreShape &shape;
  const PoolLayout &pools;
  int64_t pages, indexPages;
  const std::vector<int64_t> &slots, &indexSlots;
};

/// A group that a row stores.
struct StoredGroup {
  Tensor tensor;
  size_t row;
  int64_t slot, page, token, head, group;
  size_t payloadImage, scaleImage;
  uint64_t payloadOffset, scaleOffset; ///< 8 bytes and 1 byte

  bool isScale(size_t image, uint64_t offset) const {
    return image == scaleImage && offset == scaleOffset;
  }
  bool holds(size_t image, uint64_t offset) const {
    return isScale(image, offset) ||
           (image == payloadImage && offset >= payloadOffset && offset < payloadOffset + 8);
  }
};

/// Call `visit` with every group that the launch stores (P2: of rows with a live slot).
void forEachStored(const Placement &placement,
                   const std::function<void(const StoredGroup &stored)> &visit);

/// The group, from the bytes that `byteAt(image, offset)` gives.
template <typename ByteAt> oracle::Group groupAt(const StoredGroup &stored, ByteAt byteAt) {
  oracle::Group group;
  for (size_t j = 0; j < 8; ++j)
    group.payload[j] = byteAt(stored.payloadImage, stored.payloadOffset + j);
  group.scale = byteAt(stored.scaleImage, stored.scaleOffset);
  return group;
}

std::string groupText(const oracle::Group &group);

/// Words for a byte of a stored group that is wrong: place, both sides, the 16 inputs that are
/// quantized, and the rule.
std::string storedText(const StoredGroup &stored, bool isScale, uint64_t offset,
                       const oracle::Group &expected, const oracle::Group &found,
                       std::span<const uint16_t, 16> inputs, oracle::DType dtype);

/// Words for a byte that no row may write: the plane and place it lies in, if any.
std::string strayText(const Placement &placement, size_t image, uint64_t offset);

/// Around each row's page, and where its address modulo 2^32 and 2^31 would be.
std::vector<Window> sparseWindows(const Placement &placement, size_t image);

} // namespace verify::kv_store

#endif // NVFP4GEN_TOOLS_VERIFY_KVSTOREGROUPS_H
