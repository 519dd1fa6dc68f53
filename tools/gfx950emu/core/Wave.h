//===- Wave.h - the state of a wave -------------------------------------------===//
//
// Owns registers, mode and the checked ways from a wave to memory. Handlers work
// on this class only; scheduling is in Workgroup.h.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_WAVE_H
#define GFX950EMU_CORE_WAVE_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Inst.h"
#include "tools/gfx950emu/core/Program.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace gfx950emu {

enum class Stop : uint8_t {
  None,    ///< may run (also: the slice of instructions is used up)
  Yield,   ///< s_sleep: let others run first
  Barrier, ///< waits at s_barrier
  Ended,
  Fault,
};

/// MODE register fields.
enum : uint32_t {
  ModeRoundMask = 0xf,
  ModeRound32Shift = 0,
  ModeRound64Shift = 2,
  ModeDenorm32Shift = 4,
  ModeDenorm64Shift = 6,
  ModeDx10Clamp = 1u << 8,
  ModeIeee = 1u << 9,
  ModeFp16Ovfl = 1u << 23,
  ModeGprIdxEnable = 1u << 27,
};

/// s_set_gpr_idx mode bits.
enum : uint32_t { GprIdxSrc0 = 1, GprIdxSrc1 = 2, GprIdxSrc2 = 4, GprIdxDst = 8 };

/// Non-canonical bases of the LDS and scratch windows in the flat address space (high dwords only).
constexpr uint64_t sharedAperture = 0x0001'0000'0000'0000;
constexpr uint64_t privateAperture = 0x0002'0000'0000'0000;

constexpr uint32_t ldsLimit = 160 * 1024;
constexpr uint32_t vgprFile = 512;

/// Freed with the alignment it was allocated with.
struct AlignedDelete {
  void operator()(uint32_t *p) const { ::operator delete[](p, std::align_val_t(64)); }
};

class WorkgroupObserver; // Observer.h

class Wave {
public:
  Wave();

  // Registers.
  alignas(64) uint32_t sgpr[SgprFileSize];
  /// VGPRs, AGPRs, constants.
  uint32_t *banks[3] = {nullptr, nullptr, nullptr};
  uint32_t vgprLimit = 0, agprLimit = 0;
  uint32_t mode = 0;
  /// Bit 0: f32 flushes denormals or rounds unusually; bit 1: f16/f64 do.
  uint32_t fpSlow = 0;
  uint32_t gprIdxMode = 0; ///< s_set_gpr_idx mode while on, else 0

  // Where and why it stands.
  const Inst *pc = nullptr;
  Stop stop = Stop::None;
  FaultKind faultKind = FaultKind::Trap;
  int faultLane = -1;
  std::string faultDetail;

  // Surroundings.
  const DecodedProgram *program = nullptr;
  const MemoryMap *memory = nullptr;
  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  uint8_t *scratch = nullptr; ///< 64 consecutive arrays of scratchBytes
  uint32_t scratchBytes = 0;
  uint32_t indexInGroup = 0;
  uint64_t clock = 0; ///< what s_memtime returned last
  /// With an observer every access takes the slow path: the region cache stays empty and the two
  /// limits below are 0.
  WorkgroupObserver *observer = nullptr;
  uint32_t ldsFastBytes = 0, scratchFastBytes = 0;
  RunStats stats;

  uint64_t exec() const { return scalar64(SgprExec); }
  uint64_t vcc() const { return scalar64(SgprVcc); }
  uint64_t scalar64(unsigned index) const {
    uint64_t v;
    memcpy(&v, &sgpr[index], 8);
    return v;
  }
  void setScalar64(unsigned index, uint64_t value) { memcpy(&sgpr[index], &value, 8); }
  bool scc() const { return sgpr[SgprScc] != 0; }
  void setScc(bool value) { sgpr[SgprScc] = value; }
  void setExec(uint64_t value) { setScalar64(SgprExec, value); }

  /// The 64 lanes of a vector operand or constant.
  uint32_t *lanes(Operand op) const { return banks[op.bank] + size_t(op.index) * waveSize; }
  /// A scalar operand: SGPR or constant.
  uint32_t read32(Operand op) const { return op.bank == BankScalar ? sgpr[op.index] : *lanes(op); }
  uint64_t read64(Operand op) const {
    if (op.bank == BankScalar)
      return scalar64(op.index);
    const uint32_t *p = lanes(op);
    return p[0] | uint64_t(p[waveSize]) << 32;
  }

  void setMode(uint32_t value);

  /// Stop with a fault; returns null so that a handler can `return wave.fail(...)`.
  const Inst *fail(const Inst *in, FaultKind kind, int lane, std::string detail);
  /// Stop without a fault and go on at `next`.
  const Inst *pause(const Inst *next, Stop why) {
    pc = next;
    stop = why;
    return nullptr;
  }

  /// True if [address, address+bytes) lies in one allocation (a writable one for `write`). Else the
  /// wave is stopped with a fault.
  bool reach(const Inst *in, uint64_t address, uint32_t bytes, bool write, int lane) {
    const CachedRegion &c = regionCache[(in->offset >> 3) % regionCache.size()];
    if (address - c.base < c.size && bytes <= c.size - (address - c.base) && (!write || c.writable))
      return true;
    return reachSlow(in, address, bytes, write, lane);
  }
  bool reachLds(const Inst *in, uint64_t address, uint32_t bytes, int lane) {
    if (address <= ldsFastBytes && bytes <= ldsFastBytes - address)
      return true;
    return reachLdsSlow(in, address, bytes, lane);
  }
  bool reachScratch(const Inst *in, uint64_t offset, uint32_t bytes, int lane) {
    if (offset <= scratchFastBytes && bytes <= scratchFastBytes - offset)
      return true;
    return reachScratchSlow(in, offset, bytes, lane);
  }
  uint8_t *scratchAt(unsigned lane, uint64_t offset) const {
    return scratch + uint64_t(lane) * scratchBytes + offset;
  }

  /// Execute up to `limit` instructions; returns how many were.
  uint64_t run(uint64_t limit);

  /// Backing store of VGPRs and AGPRs.
  std::unique_ptr<uint32_t[], AlignedDelete> vgprStore;
  /// Forget cached regions (before a dispatch).
  void resetRegionCache() {
    regionCache.fill({});
    observedRegion = {};
  }

private:
  struct CachedRegion {
    uint64_t base = 0, size = 0;
    bool writable = false;
  };
  bool reachSlow(const Inst *in, uint64_t address, uint32_t bytes, bool write, int lane);
  bool failReach(const Inst *in, uint64_t address, uint32_t bytes, bool write, int lane);
  bool reachLdsSlow(const Inst *in, uint64_t address, uint32_t bytes, int lane);
  bool reachScratchSlow(const Inst *in, uint64_t offset, uint32_t bytes, int lane);
  bool hasRegisters(const Inst *in) const {
    return in->vgprEnd <= vgprLimit && in->agprEnd <= agprLimit;
  }
  const Inst *failRegisters(const Inst *in);
  uint64_t runObserved(uint64_t limit);

  std::array<CachedRegion, 16> regionCache;
  CachedRegion observedRegion; ///< the cache of an observed wave
};

} // namespace gfx950emu

#endif // GFX950EMU_CORE_WAVE_H
