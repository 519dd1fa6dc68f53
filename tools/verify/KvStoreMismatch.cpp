//===- KvStoreMismatch.cpp - what differs after a kv_store launch -----------===//
//
// Owns: what KvStoreMismatch.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreMismatch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace verify::kv_store {

namespace {

/// A group that a row stores.
struct StoredGroup {
  Tensor tensor;
  size_t row;
  int64_t slot, page, token, head, group;
  size_t payloadImage, scaleImage;
  uint64_t payloadOffset, scaleOffset; ///< 8 bytes and 1 byte
};

/// Call `visit` with every group that the launch stores (P2: of rows with a live slot).
template <typename Visit> void forEachStored(const Comparison &c, Visit visit) {
  const oracle::KvStoreShape &shape = c.launch.shape;
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(shape, tensor))
      continue;
    const auto &slots = tensor == IndexK ? c.launch.indexSlots : c.launch.slots;
    const int64_t pages = tensor == IndexK ? c.launch.indexPages : c.launch.pages;
    const PlanePlace &payload = c.pools.payload[tensor], &scale = c.pools.scale[tensor];
    for (size_t row = 0; row < slots.size(); ++row) {
      const int64_t page = slots[row] / shape.pageSize, token = slots[row] % shape.pageSize;
      if (slots[row] < 0 || page >= pages)
        continue;
      for (int64_t head = 0; head < headsOf(shape, tensor); ++head)
        for (int64_t g = 0; g < headDimOf(shape, tensor) / 16; ++g)
          visit(StoredGroup{tensor, row, slots[row], page, token, head, g, payload.image,
                            scale.image,
                            static_cast<uint64_t>(payload.at(page, token, head) + g * 8),
                            static_cast<uint64_t>(scale.at(page, token, head) + g)});
    }
  }
}

oracle::Group groupAt(const StoredGroup &stored, auto byteAt) {
  oracle::Group group;
  for (size_t j = 0; j < 8; ++j)
    group.payload[j] = byteAt(stored.payloadImage, stored.payloadOffset + j);
  group.scale = byteAt(stored.scaleImage, stored.scaleOffset);
  return group;
}

oracle::Group expectedGroup(const Comparison &c, const StoredGroup &stored) {
  return groupAt(stored, [&](size_t image, uint64_t offset) {
    return std::to_integer<uint8_t>(c.images[image].expected()[offset]);
  });
}

oracle::Group foundGroup(const Comparison &c, const StoredGroup &stored) {
  return groupAt(stored, [&](size_t image, uint64_t offset) {
    return std::to_integer<uint8_t>(c.images[image].found(offset));
  });
}

/// Whether a dequantized element differs; a NaN scale makes NaN, which does (F8).
bool dequantizesApart(const oracle::Group &expected, const oracle::Group &found) {
  for (size_t i = 0; i < 16; ++i) {
    auto element = [&](const oracle::Group &group) {
      return oracle::dequantize(group.payload[i / 2] >> (i % 2 * 4) & 15, group.scale);
    };
    if (element(expected) != element(found))
      return true;
  }
  return false;
}

std::string inputText(const Comparison &c, const StoredGroup &stored) {
  const HostRows &rows = c.inputs[stored.tensor];
  const std::byte *from = rows.base + static_cast<int64_t>(stored.row) * rows.rowStride +
                          stored.head * rows.headStride + stored.group * 32;
  Bits16 bits;
  std::memcpy(bits.data(), from, sizeof(bits));
  std::string text;
  for (uint16_t b : bits)
    text += fmt::format("{}0x{:04x} ({:g})", text.empty() ? "" : ", ", b,
                        oracle::value(b, c.launch.shape.dtype));
  return text;
}

std::string groupText(const oracle::Group &group) {
  return fmt::format("scale 0x{:02x} payload {:02x}", group.scale, fmt::join(group.payload, " "));
}

std::string storedText(const Comparison &c, const StoredGroup &stored, uint64_t offset,
                       size_t image) {
  const bool isScale = image == stored.scaleImage && offset == stored.scaleOffset;
  return fmt::format(
      "{} {} of row {} (slot {}: page {}, token {}), head {}, group {}, byte {}: expected {}, "
      "found {}; inputs {}; rule {}",
      kTensorNames[stored.tensor], isScale ? "scale" : "payload", stored.row, stored.slot,
      stored.page, stored.token, stored.head, stored.group,
      isScale ? 0 : offset - stored.payloadOffset, groupText(expectedGroup(c, stored)),
      groupText(foundGroup(c, stored)), inputText(c, stored),
      isScale ? "F3, F4, F7" : "F2, F5, F6, F7");
}

/// Words for a byte that no row may write: the plane and place it lies in, if any.
std::string strayText(const Comparison &c, size_t image, uint64_t offset) {
  std::string place = fmt::format("byte {} of pool buffer {}", offset, image);
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(c.launch.shape, tensor))
      continue;
    const int64_t pages = tensor == IndexK ? c.launch.indexPages : c.launch.pages;
    for (const PlanePlace *plane : {&c.pools.payload[tensor], &c.pools.scale[tensor]}) {
      const int64_t inPlane = static_cast<int64_t>(offset) - plane->offset;
      if (plane->image != image || inPlane < 0 || inPlane / plane->pageStride >= pages)
        continue;
      const int64_t page = inPlane / plane->pageStride, inPage = inPlane % plane->pageStride;
      for (int64_t token = 0; token < c.launch.shape.pageSize; ++token)
        for (int64_t head = 0; head < headsOf(c.launch.shape, tensor); ++head) {
          const int64_t inRow = inPage - token * plane->tokenStride - head * plane->headStride;
          if (inRow >= 0 && inRow < plane->rowBytes)
            place += fmt::format(", {} {} page {} token {} head {} byte {} (slot {})",
                                 kTensorNames[tensor],
                                 plane == &c.pools.payload[tensor] ? "payload" : "scale", page,
                                 token, head, inRow, page * c.launch.shape.pageSize + token);
        }
    }
  }
  return fmt::format("{}: no row stores there: expected the canary 0x{:02x}, found 0x{:02x}; rule "
                     "P1, P2",
                     place, std::to_integer<unsigned>(c.images[image].expected()[offset]),
                     std::to_integer<unsigned>(c.images[image].found(offset)));
}

std::string firstText(const Comparison &c, size_t image, uint64_t offset) {
  std::string text;
  forEachStored(c, [&](const StoredGroup &stored) {
    const bool inPayload = image == stored.payloadImage && offset >= stored.payloadOffset &&
                           offset < stored.payloadOffset + 8;
    const bool isScale = image == stored.scaleImage && offset == stored.scaleOffset;
    if (text.empty() && (inPayload || isScale))
      text = storedText(c, stored, offset, image);
  });
  return text.empty() ? strayText(c, image, offset) : text;
}

} // namespace

Outcome compare(const Comparison &c) {
  Outcome outcome;
  for (size_t i = 0; i < c.images.size(); ++i) {
    outcome.bytesCompared += c.images[i].windowBytes();
    c.images[i].forEachMismatch([&](uint64_t offset) {
      if (outcome.mismatchingBytes++ == 0)
        outcome.first = firstText(c, i, offset);
    });
  }
  forEachStored(c, [&](const StoredGroup &stored) {
    outcome.values += 16;
    if (outcome.mismatchingBytes &&
        dequantizesApart(expectedGroup(c, stored), foundGroup(c, stored)))
      outcome.worstError = std::numeric_limits<double>::infinity();
  });
  return outcome;
}

} // namespace verify::kv_store
