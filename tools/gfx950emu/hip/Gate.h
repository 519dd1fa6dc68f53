//===- Gate.h - a shared lock that does not starve its owner ----------------===//
//
// Owns the exclusion of running work and of what has to be alone: hipFree against all
// work, the null stream against the blocking streams. Work holds the gate shared. A
// waiting owner blocks new work, so launches from many threads cannot starve it,
// which std::shared_mutex does not promise.
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
