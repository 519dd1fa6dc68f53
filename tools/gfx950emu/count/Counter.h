//===- Counter.h - counts while a dispatch runs -----------------------------------===//
//
// Owns the observer that fills Counts.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_COUNTER_H
#define GFX950EMU_COUNT_COUNTER_H

#include "tools/gfx950emu/core/Observer.h"
#include "tools/gfx950emu/count/Counts.h"

#include <memory>
#include <vector>

namespace gfx950emu::count {

/// Watches any number of dispatches, one after the other.
class Counter : public DispatchObserver {
public:
  Counter();
  ~Counter() override;

  void begin(const Dispatch &dispatch, MemoryMap &memory) override;
  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &info) override;
  void end() override;

  /// One for each dispatch that has ended.
  const std::vector<Counts> &results() const { return finished; }

private:
  struct State;
  std::unique_ptr<State> state;
  std::vector<Counts> finished;
};

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_COUNTER_H
