//===- KvStoreSlots.cpp - slots that a kv_store launch is tried with --------===//
//
// Owns: what KvStoreSlots.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreSlots.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace verify::kv_store {

namespace {

constexpr int64_t kTwo32 = int64_t{1} << 32;

/// The pool size of a field report in which 32-bit offsets wrapped.
constexpr int64_t kHugePages = 8'401'239;

/// A corner of P2 for a pool of `total` slots; `spare` is a live slot that no row writes.
using Corner = int64_t (*)(int64_t total, int64_t spare);
constexpr Corner kCorners[] = {
    [](int64_t, int64_t) { return int64_t{0}; },
    [](int64_t, int64_t) { return int64_t{-1}; },
    [](int64_t total, int64_t) { return total - 1; },
    [](int64_t total, int64_t) { return total; },
    [](int64_t total, int64_t spare) { return total + spare; }, // modulo wraps it
    [](int64_t total, int64_t spare) { return spare - total; }, // so does a signed modulo
    [](int64_t, int64_t spare) { return kTwo32 + spare; },      // 32-bit truncation wraps it
    [](int64_t, int64_t spare) { return spare - kTwo32; },
    [](int64_t, int64_t) { return int64_t{-2}; },
    [](int64_t, int64_t) { return std::numeric_limits<int64_t>::min(); },
    [](int64_t, int64_t) { return std::numeric_limits<int64_t>::max(); },
};
constexpr size_t kCornerCount = std::size(kCorners);

} // namespace

SlotLists::SlotLists(int64_t pageSize, int64_t pages, uint64_t seed, size_t turn)
    : total(pageSize * pages), random(seed), free(static_cast<size_t>(total - 2)), turn(turn) {
  std::iota(free.begin(), free.end(), int64_t{1});
}

int64_t SlotLists::pagesFor(int64_t rows, int64_t pageSize) {
  const int64_t slots = rows + static_cast<int64_t>(kCornerCount) + 2;
  return (slots + pageSize - 1) / pageSize + 1;
}

bool SlotLists::complete() const { return used >= kCornerCount; }

std::vector<int64_t> SlotLists::next(size_t rows) {
  shuffle(free);
  std::vector<int64_t> slots(rows);
  auto live = free.begin();
  for (size_t row = 0; row < rows; ++row, ++live)
    if (used < kCornerCount)
      slots[row] = kCorners[(used++ + turn) % kCornerCount](total, *live);
    else
      slots[row] = random() % 8 == 0 ? -1 : *live;
  shuffle(slots);
  return slots;
}

std::vector<int64_t> SlotLists::nextLive(size_t rows) {
  shuffle(free);
  return {free.begin(), free.begin() + static_cast<ptrdiff_t>(rows)};
}

void SlotLists::shuffle(std::vector<int64_t> &values) {
  // std::shuffle differs between standard libraries; reports must not.
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random() % i]);
}

std::vector<int64_t> boundarySlots(const PoolLayout &pools, Tensor tensor, int64_t pageSize,
                                   int64_t pages) {
  const int64_t total = pages * pageSize;
  std::set<int64_t> slots = {0, total / 2, total - 1, total};
  for (const PlanePlace *plane : {&pools.payload[tensor], &pools.scale[tensor]})
    for (int64_t boundary : {kTwo32 / 2, kTwo32}) {
      const int64_t page = (boundary - plane->offset) / plane->pageStride;
      for (int64_t near = page - 1; near <= page + 1; ++near)
        for (int64_t token : {int64_t{0}, pageSize / 2, pageSize - 1})
          if (near >= 0 && near < pages)
            slots.insert(near * pageSize + token);
    }
  return {slots.begin(), slots.end()};
}

std::vector<int64_t> hugePageCounts(const oracle::KvStoreShape &shape, Order order) {
  const PoolLayout pools = poolLayout(shape, Layout::Dense, order, 1, 1);
  auto pagesPastTwo32 = [](int64_t stride) { return kTwo32 / stride + 8; };
  int64_t shortPayload = 0, shortScale = 0, longScale = 0;
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(shape, tensor))
      continue;
    const int64_t payload = pagesPastTwo32(pools.payload[tensor].pageStride);
    const int64_t scale = pagesPastTwo32(pools.scale[tensor].pageStride);
    shortPayload = std::max(shortPayload, payload);
    shortScale = std::max(shortScale, scale);
    longScale = longScale == 0 ? scale : std::min(longScale, scale);
  }
  return {std::max(kHugePages, shortScale), longScale, shortPayload};
}

HugeSlots hugeSlots(const oracle::KvStoreShape &shape, Order order, int64_t pages) {
  const PoolLayout pools = poolLayout(shape, Layout::Dense, order, pages, pages);
  HugeSlots slots;
  if (shape.storesK || shape.storesV)
    slots.k = boundarySlots(pools, shape.storesK ? K : V, shape.pageSize, pages);
  if (shape.storesIndex)
    slots.index = boundarySlots(pools, IndexK, shape.pageSize, pages);
  const size_t rows = std::max(slots.k.size(), slots.index.size());
  slots.k.resize(rows, -1);
  slots.index.resize(rows, -1);
  std::reverse(slots.index.begin(), slots.index.end());
  return slots;
}

} // namespace verify::kv_store
