//===- Observer.h - a look over the shoulder of a dispatch -------------------------===//
//
// Owns the interface between the interpreter and what watches it (checkers, counters).
// A dispatch without an observer runs a loop that knows nothing of them; a dispatch
// with one runs another loop, and each access of each lane takes the slow path to
// memory, which tells the observer.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_OBSERVER_H
#define GFX950EMU_CORE_OBSERVER_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Inst.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace gfx950emu {

enum class Space : uint8_t {
  Global,
  Lds,
  Scratch,
  Constant, ///< a scalar load; same memory as Global
};
llvm::StringRef spaceName(Space space);

enum class AccessKind : uint8_t { Read, Write, Atomic };

/// One lane's access (or the wave's, of a scalar load), after its bounds were checked and before
/// it happens.
struct Access {
  Space space = Space::Global;
  AccessKind kind = AccessKind::Read;
  int lane = -1;        ///< -1 for scalar loads
  uint64_t address = 0; ///< Lds, Scratch: from the start of the workgroup's or lane's part
  uint32_t bytes = 0;
};

/// What an observer of a workgroup may want to know at its start.
struct WorkgroupInfo {
  const Dispatch *dispatch = nullptr;
  MemoryMap *memory = nullptr;
  uint64_t linear = 0; ///< x fastest
  std::array<uint32_t, 3> id{0, 0, 0};
  uint32_t waves = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0; ///< per lane
};

/// Watches one workgroup; all calls come from the thread that runs it at the moment.
class WorkgroupObserver {
public:
  virtual ~WorkgroupObserver();

  /// Registers are set up, nothing has been executed.
  virtual void waveBegin(Wave &) {}
  virtual void waveEnd(Wave &) {}
  /// False when the observer stopped the wave with Wave::fail(); the instruction is not executed.
  virtual bool before(Wave &, const Inst *) { return true; }
  /// `next` is where the wave goes on; null when it has ended.
  virtual void after(Wave &, const Inst *, const Inst * /*next*/) {}
  /// Called between before() and after(), in lane order. Each access was found in bounds.
  virtual void access(Wave &, const Inst *, const Access &) {}
  /// The wave was stopped with a fault (see Wave::faultKind) at this instruction. True to go on
  /// behind the instruction as if it had not been there; what it did for earlier lanes stays.
  /// After a true answer after() is called.
  virtual bool fault(Wave &, const Inst *) { return false; }
  virtual void barrierArrive(Wave &, const Inst *) {}
  /// Every wave waits or has ended; those that wait go on.
  virtual void barrierRelease() {}
  /// All waves have ended, or the dispatch is abandoned.
  virtual void finish() {}
};

/// Watches a dispatch. workgroup() may be called from several threads at once.
class DispatchObserver {
public:
  virtual ~DispatchObserver();
  virtual void begin(const Dispatch &, MemoryMap &) {}
  virtual std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &info) = 0;
  /// No workgroup runs any more.
  virtual void end() {}
};

/// Several observers as one. Each is told everything, in the given order; one that stops a wave
/// in before() hides the instruction from those behind it, and a fault is passed over only when
/// all agree.
class ObserverList : public DispatchObserver {
public:
  explicit ObserverList(std::vector<DispatchObserver *> observers)
      : observers(std::move(observers)) {}
  void begin(const Dispatch &dispatch, MemoryMap &memory) override;
  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &info) override;
  void end() override;

private:
  std::vector<DispatchObserver *> observers;
};

/// What `in` does with memory of `space` (an LDS DMA reads Global and writes Lds).
AccessKind accessKind(const Inst &in, Space space);

} // namespace gfx950emu

#endif // GFX950EMU_CORE_OBSERVER_H
