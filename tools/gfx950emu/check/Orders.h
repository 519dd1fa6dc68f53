//===- Orders.h - one launch in several orders ----------------------------------------===//
//
// Owns the repetition of a dispatch from the same memory with other orders of workgroups and
// waves, and the comparison of every byte that any of the runs wrote. A kernel whose result
// depends on the order shows here even where each access by itself is in order (sums of floats
// by atomics, a ticket that decides where something goes).
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_ORDERS_H
#define GFX950EMU_CHECK_ORDERS_H

#include "tools/gfx950emu/core/Observer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu::check {

struct ByteDifference {
  uint64_t address = 0;
  uint8_t first = 0; ///< after the run in the first order
  uint8_t found = 0;
};

/// What one order left other than the first did.
struct OrderDifference {
  uint64_t seed = 0;
  uint64_t bytes = 0;               ///< all that differ
  std::vector<ByteDifference> kept; ///< by address; the first of them
};

struct OrdersResult {
  RunStats stats;              ///< of the first order
  std::vector<uint64_t> seeds; ///< that ran; fewer than asked for when there are no other orders
  std::vector<OrderDifference> differences; ///< of seeds whose result is another
};

/// Up to `count` seeds from `first` upwards, each with an order of its own; seeds that give an
/// order again are passed over. Small dispatches have few orders: one wave has one.
std::vector<uint64_t> distinctSeeds(const Dispatch &dispatch, uint64_t first, unsigned count);

/// Run `dispatch` with RunOptions::seed and count - 1 other seeds, each on one thread, so that a
/// seed is one order. `observerOf(i)`, null for none, watches run i in place of
/// RunOptions::observer. Memory is left as the first order leaves it, and as a faulting run leaves
/// it when one faults. `keep`: bytes listed a seed.
llvm::Expected<OrdersResult>
runOrders(const Dispatch &dispatch, MemoryMap &memory, const RunOptions &options, unsigned count,
          size_t keep, llvm::function_ref<DispatchObserver *(size_t run)> observerOf);

/// A line about a seed whose result differs: how many bytes, and those that were kept.
std::string orderText(const Dispatch &dispatch, const MemoryMap &memory, uint64_t firstSeed,
                      const OrderDifference &difference);

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_ORDERS_H
