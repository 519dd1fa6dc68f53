//===- Beside.h - a watcher that has no say ------------------------------------------===//
//
// Owns the pairing of an observer that only looks (a counter, a log) with one that decides
// what becomes of a fault. In an ObserverList all must agree to pass over a fault; here the
// first is told everything and not asked.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_BESIDE_H
#define GFX950EMU_CHECK_BESIDE_H

#include "tools/gfx950emu/core/Observer.h"

namespace gfx950emu::check {

class Beside : public DispatchObserver {
public:
  /// `decider` may be null: then a fault ends the dispatch, as without an observer.
  Beside(DispatchObserver &watcher, DispatchObserver *decider)
      : watcher(watcher), decider(decider) {}

  void begin(const Dispatch &dispatch, MemoryMap &memory) override;
  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &info) override;
  void end() override;

private:
  DispatchObserver &watcher;
  DispatchObserver *decider;
};

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_BESIDE_H
