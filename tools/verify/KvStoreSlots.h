//===- KvStoreSlots.h - slots that a kv_store launch is tried with ----------===//
//
// Owns: slot lists with every corner of P2 among distinct live slots, and the
// slots of a pool so large that byte offsets pass 2^31 and 2^32 (P1).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_KVSTORESLOTS_H
#define NVFP4GEN_TOOLS_VERIFY_KVSTORESLOTS_H

#include "tools/verify/KvStoreLayout.h"

#include <cstdint>
#include <random>
#include <vector>

namespace verify::kv_store {

/// Slot lists for one pool, launch after launch. A slot past the end or before 0 that some fault
/// would wrap onto a live slot names a slot that nobody else in the launch writes.
class SlotLists {
public:
  /// `turn` moves the corners against those of another list.
  SlotLists(int64_t pageSize, int64_t pages, uint64_t seed, size_t turn);

  /// Pages that hold `rows` live rows and every corner.
  static int64_t pagesFor(int64_t rows, int64_t pageSize);

  /// Whether each corner has been in a list.
  bool complete() const;
  /// One slot a row: corners that have not been used yet, live slots and pads, mixed.
  std::vector<int64_t> next(size_t rows);
  /// One distinct live slot a row.
  std::vector<int64_t> nextLive(size_t rows);

private:
  int64_t total;
  std::mt19937_64 random;
  std::vector<int64_t> free; ///< all but the first and the last slot
  size_t turn, used = 0;

  void shuffle(std::vector<int64_t> &values);
};

/// Slots whose bytes lie at, before and after 2^31 and 2^32 in the planes of `tensor`, the first
/// and the last slot, one in the middle and one past the end; no two alike. K and V have the same.
std::vector<int64_t> boundarySlots(const PoolLayout &pools, Tensor tensor, int64_t pageSize,
                                   int64_t pages);

/// Page counts of huge pools to try, largest first: every plane passes 2^32 bytes; the longest
/// scale plane does; every payload plane does. Dense pools.
std::vector<int64_t> hugePageCounts(const oracle::KvStoreShape &shape, Order order);

/// Boundary slots for the rows of both lists; no row has one slot in both. Dense pools.
struct HugeSlots {
  std::vector<int64_t> k, index; ///< one a row each
};
HugeSlots hugeSlots(const oracle::KvStoreShape &shape, Order order, int64_t pages);

} // namespace verify::kv_store

#endif // NVFP4GEN_TOOLS_VERIFY_KVSTORESLOTS_H
