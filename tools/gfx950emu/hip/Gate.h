//===- Gate.h - running work against what would pull memory from under it ---===//
//
// Owns the rule that device memory is unmapped only while nothing runs. Work holds
// the gate shared, hipFree and its like hold it alone. A waiting owner blocks new
// work, so a stream of launches from many threads cannot starve hipFree.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_GATE_H
#define GFX950EMU_HIP_GATE_H

#include <condition_variable>
#include <mutex>

namespace gfx950emu::hip {

/// Lockable by std::shared_lock and std::unique_lock; not recursive.
class Gate {
public:
  void lock_shared() {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return !owned && waitingOwners == 0; });
    ++workers;
  }
  void unlock_shared() {
    std::lock_guard guard(mutex);
    if (--workers == 0)
      changed.notify_all();
  }
  void lock() {
    std::unique_lock guard(mutex);
    ++waitingOwners;
    changed.wait(guard, [&] { return !owned && workers == 0; });
    --waitingOwners;
    owned = true;
  }
  void unlock() {
    std::lock_guard guard(mutex);
    owned = false;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  unsigned workers = 0;
  unsigned waitingOwners = 0;
  bool owned = false;
};

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_GATE_H
