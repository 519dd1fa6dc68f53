//===- KvStoreMismatch.cpp - what differs after a kv_store launch -----------===//
//
// Owns: what KvStoreMismatch.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreMismatch.h"
#include "tools/verify/KvStoreGroups.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace verify::kv_store {

namespace {

Placement placementOf(const Comparison &c) {
  return {c.launch.shape,      c.pools,        c.launch.pages,
          c.launch.indexPages, c.launch.slots, c.launch.indexSlots};
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

Bits16 inputsOf(const Comparison &c, const StoredGroup &stored) {
  const HostRows &rows = c.inputs[stored.tensor];
  Bits16 bits;
  std::memcpy(bits.data(),
              rows.base + static_cast<int64_t>(stored.row) * rows.rowStride +
                  stored.head * rows.headStride + stored.group * 32,
              sizeof(bits));
  return bits;
}

std::string firstText(const Comparison &c, size_t image, uint64_t offset) {
  std::string text;
  forEachStored(placementOf(c), [&](const StoredGroup &stored) {
    if (text.empty() && stored.holds(image, offset))
      text = storedText(stored, stored.isScale(image, offset), offset, expectedGroup(c, stored),
                        foundGroup(c, stored), inputsOf(c, stored), c.launch.shape.dtype);
  });
  if (!text.empty())
    return text;
  return fmt::format("{}: expected the canary 0x{:02x}, found 0x{:02x}",
                     strayText(placementOf(c), image, offset),
                     std::to_integer<unsigned>(c.images[image].expected()[offset]),
                     std::to_integer<unsigned>(c.images[image].found(offset)));
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
  forEachStored(placementOf(c), [&](const StoredGroup &stored) {
    outcome.values += 16;
    if (outcome.mismatchingBytes &&
        dequantizesApart(expectedGroup(c, stored), foundGroup(c, stored)))
      outcome.worstError = std::numeric_limits<double>::infinity();
  });
  return outcome;
}

} // namespace verify::kv_store
