//===- KvStoreGroups.cpp - where rows land in the pools ---------------------===//
//
// Owns: what KvStoreGroups.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreGroups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace verify::kv_store {

void forEachStored(const Placement &p,
                   const std::function<void(const StoredGroup &stored)> &visit) {
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(p.shape, tensor))
      continue;
    const auto &slots = tensor == IndexK ? p.indexSlots : p.slots;
    const int64_t pages = tensor == IndexK ? p.indexPages : p.pages;
    const PlanePlace &payload = p.pools.payload[tensor], &scale = p.pools.scale[tensor];
    for (size_t row = 0; row < slots.size(); ++row) {
      const int64_t page = slots[row] / p.shape.pageSize, token = slots[row] % p.shape.pageSize;
      if (slots[row] < 0 || page >= pages)
        continue;
      for (int64_t head = 0; head < headsOf(p.shape, tensor); ++head)
        for (int64_t g = 0; g < headDimOf(p.shape, tensor) / 16; ++g)
          visit(StoredGroup{tensor, row, slots[row], page, token, head, g, payload.image,
                            scale.image,
                            static_cast<uint64_t>(payload.at(page, token, head) + g * 8),
                            static_cast<uint64_t>(scale.at(page, token, head) + g)});
    }
  }
}

std::string groupText(const oracle::Group &group) {
  return fmt::format("scale 0x{:02x} payload {:02x}", group.scale, fmt::join(group.payload, " "));
}

std::string storedText(const StoredGroup &stored, bool isScale, uint64_t offset,
                       const oracle::Group &expected, const oracle::Group &found,
                       std::span<const uint16_t, 16> inputs, oracle::DType dtype) {
  std::string text;
  for (uint16_t b : inputs)
    text += fmt::format("{}0x{:04x} ({:g})", text.empty() ? "" : ", ", b, oracle::value(b, dtype));
  return fmt::format(
      "{} {} of row {} (slot {}: page {}, token {}), head {}, group {}, byte {}: expected {}, "
      "found {}; inputs {}; rule {}",
      kTensorNames[stored.tensor], isScale ? "scale" : "payload", stored.row, stored.slot,
      stored.page, stored.token, stored.head, stored.group,
      isScale ? 0 : offset - stored.payloadOffset, groupText(expected), groupText(found), text,
      isScale ? "F3, F4, F7" : "F2, F5, F6, F7");
}

std::string strayText(const Placement &p, size_t image, uint64_t offset) {
  std::string place = fmt::format("byte {} of pool buffer {}", offset, image);
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(p.shape, tensor))
      continue;
    const int64_t pages = tensor == IndexK ? p.indexPages : p.pages;
    for (const PlanePlace *plane : {&p.pools.payload[tensor], &p.pools.scale[tensor]}) {
      const int64_t inPlane = static_cast<int64_t>(offset) - plane->offset;
      if (plane->image != image || inPlane < 0 || inPlane / plane->pageStride >= pages)
        continue;
      const int64_t page = inPlane / plane->pageStride, inPage = inPlane % plane->pageStride;
      for (int64_t token = 0; token < p.shape.pageSize; ++token)
        for (int64_t head = 0; head < headsOf(p.shape, tensor); ++head) {
          const int64_t inRow = inPage - token * plane->tokenStride - head * plane->headStride;
          if (inRow >= 0 && inRow < plane->rowBytes)
            place += fmt::format(", {} {} page {} token {} head {} byte {} (slot {})",
                                 kTensorNames[tensor],
                                 plane == &p.pools.payload[tensor] ? "payload" : "scale", page,
                                 token, head, inRow, page * p.shape.pageSize + token);
        }
    }
  }
  return place + ": no row stores there; rule P1, P2";
}

std::vector<Window> sparseWindows(const Placement &p, size_t image) {
  std::vector<Window> windows;
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(p.shape, tensor))
      continue;
    const auto &list = tensor == IndexK ? p.indexSlots : p.slots;
    const int64_t pages = tensor == IndexK ? p.indexPages : p.pages;
    for (const PlanePlace *plane : {&p.pools.payload[tensor], &p.pools.scale[tensor]}) {
      if (plane->image != image)
        continue;
      for (int64_t slot : list) {
        const int64_t page = slot / p.shape.pageSize;
        if (slot < 0 || page >= pages)
          continue;
        addWithWraps(windows, static_cast<uint64_t>(plane->at(page, slot % p.shape.pageSize, 0)),
                     2 * static_cast<uint64_t>(plane->pageStride));
      }
    }
  }
  return windows;
}

} // namespace verify::kv_store
