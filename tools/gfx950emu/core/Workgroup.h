//===- Workgroup.h - a workgroup that can be suspended ----------------------------===//
//
// Owns the waves, LDS and scratch of a workgroup in flight and the order in which
// its waves run: one wave until it ends, waits at a barrier or has used its slice,
// then the next. A workgroup all of whose waves only use up slices (a spin lock)
// is suspended so that others can make progress.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_WORKGROUP_H
#define GFX950EMU_CORE_WORKGROUP_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Observer.h"
#include "tools/gfx950emu/core/Wave.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace gfx950emu {

/// What all workgroups of a dispatch share.
struct DispatchContext {
  const Dispatch *dispatch = nullptr;
  MemoryMap *memory = nullptr;
  RunOptions options;
  uint64_t kernargAddress = 0;
  uint64_t packetAddress = 0; ///< hsa_kernel_dispatch_packet_t
  uint64_t queueAddress = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0; ///< per lane
  uint32_t wavesPerGroup = 0;
  std::atomic<uint64_t> executed{0};

  uint32_t blockSize() const {
    return dispatch->block[0] * dispatch->block[1] * dispatch->block[2];
  }
};

class Workgroup {
public:
  enum class Result { Done, Suspended, Faulted };

  explicit Workgroup(DispatchContext &context);
  ~Workgroup();
  /// Start over as workgroup `linear` (x fastest).
  void start(uint64_t linear);
  Result resume();

  uint64_t linearId() const { return linear; }
  /// After Faulted.
  std::unique_ptr<Fault> takeFault();
  /// Sums over the waves since start().
  RunStats stats() const;

private:
  void initWave(Wave &wave, uint32_t index);
  void reportBudget(Wave &wave);
  void finishObserver();

  DispatchContext &context;
  uint64_t linear = 0;
  std::array<uint32_t, 3> id{0, 0, 0};
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<uint32_t> order;
  std::vector<uint32_t> lds; ///< dwords, for alignment
  std::vector<uint32_t> scratch;
  Wave *faulted = nullptr;
  std::unique_ptr<WorkgroupObserver> observer; ///< null when nobody looks
};

/// A bijection of [0, count) chosen by `seed`; seed 0 is the identity. O(1) memory.
class Permutation {
public:
  Permutation(uint64_t count, uint64_t seed);
  uint64_t operator()(uint64_t index) const;

private:
  uint64_t count, seed;
  unsigned halfBits = 0;
};

/// The order in which the `waves` of workgroup `group` get their first turn.
Permutation waveOrderOf(uint64_t group, uint64_t waves, uint64_t seed);

} // namespace gfx950emu

#endif // GFX950EMU_CORE_WORKGROUP_H
