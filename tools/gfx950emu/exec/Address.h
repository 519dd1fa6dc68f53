//===- Address.h - lanes of vector memory instructions to host memory ---------------------===//
//
// Owns address arithmetic and checking of FLAT, GLOBAL and SCRATCH instructions. Each
// active lane gets a host pointer to `bytes` checked bytes.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_ADDRESS_H
#define GFX950EMU_EXEC_ADDRESS_H

#include "tools/gfx950emu/exec/Exec.h"

GFX950EMU_EXEC_BEGIN

/// Inst::extra of the FLAT family.
enum : uint32_t { SegmentFlat = 0, SegmentScratch = 1, SegmentGlobal = 2 };

/// 64-bit address of each lane of a flat or global instruction.
inline void laneAddresses(const Wave &wave, const Inst *in, uint64_t *__restrict address) {
  const uint32_t *low = wave.lanes(in->src[0]);
  uint64_t offset = uint64_t(int64_t(in->imm));
  if (in->smask.present()) {
    uint64_t base = wave.scalar64(in->smask.index) + offset;
    for (unsigned l = 0; l < waveSize; ++l)
      address[l] = base + low[l];
  } else {
    const uint32_t *high = low + waveSize;
    for (unsigned l = 0; l < waveSize; ++l)
      address[l] = (low[l] | uint64_t(high[l]) << 32) + offset;
  }
}

/// Host pointer of one lane of a flat access, by aperture; null after a fault.
inline uint8_t *flatPointer(Wave &wave, const Inst *in, uint64_t address, uint32_t bytes,
                            bool write, unsigned lane) {
  uint64_t high = address >> 32, offset = address & 0xffffffff;
  if (high == sharedAperture >> 32)
    return wave.reachLds(in, offset, bytes, int(lane)) ? wave.lds + offset : nullptr;
  if (high == privateAperture >> 32)
    return wave.reachScratch(in, offset, bytes, int(lane)) ? wave.scratchAt(lane, offset) : nullptr;
  if (!wave.reach(in, address, bytes, write, int(lane)))
    return nullptr;
  return reinterpret_cast<uint8_t *>(address);
}

/// Call f(lane, pointer) for every active lane, in lane order. False after a fault.
template <class F> bool forEachLane(Wave &wave, const Inst *in, uint32_t bytes, bool write, F f) {
  uint64_t exec = wave.exec();
  uint64_t &counter = write ? wave.stats.globalBytesWritten : wave.stats.globalBytesRead;
  if (in->extra == SegmentScratch) {
    uint32_t base = uint32_t(in->imm);
    if (in->smask.present())
      base += wave.sgpr[in->smask.index];
    const uint32_t *vaddr = in->src[0].present() ? wave.lanes(in->src[0]) : nullptr;
    for (uint64_t m = exec; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      uint32_t offset = base + (vaddr ? vaddr[l] : 0);
      if (!wave.reachScratch(in, offset, bytes, int(l)))
        return false;
      f(l, wave.scratchAt(l, offset));
    }
    return true;
  }
  alignas(64) uint64_t address[waveSize];
  laneAddresses(wave, in, address);
  if (in->extra == SegmentGlobal) {
    for (uint64_t m = exec; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      if (!wave.reach(in, address[l], bytes, write, int(l)))
        return false;
      f(l, reinterpret_cast<uint8_t *>(address[l]));
    }
    counter += uint64_t(std::popcount(exec)) * bytes;
    return true;
  }
  for (uint64_t m = exec; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint8_t *p = flatPointer(wave, in, address[l], bytes, write, l);
    if (!p)
      return false;
    uint64_t high = address[l] >> 32;
    if (high != sharedAperture >> 32 && high != privateAperture >> 32)
      counter += bytes;
    f(l, p);
  }
  return true;
}

/// How a narrow load or store uses its register.
enum class Narrow : uint8_t {
  U8,
  I8,
  U16,
  I16,
  U8Low,  ///< d16: zero-extended into the low half, the high half stays
  U8High, ///< d16_hi
  I8Low,
  I8High,
  B16Low,
  B16High,
};

constexpr uint32_t narrowBytes(Narrow n) {
  switch (n) {
  case Narrow::U8:
  case Narrow::I8:
  case Narrow::U8Low:
  case Narrow::U8High:
  case Narrow::I8Low:
  case Narrow::I8High:
    return 1;
  default:
    return 2;
  }
}

/// The register after loading `raw` (1 or 2 bytes, zero-extended).
constexpr uint32_t narrowLoad(Narrow n, uint32_t raw, uint32_t old) {
  uint32_t sign8 = uint32_t(int32_t(int8_t(raw)));
  switch (n) {
  case Narrow::I8:
    return sign8;
  case Narrow::I16:
    return uint32_t(int32_t(int16_t(raw)));
  case Narrow::U8Low:
  case Narrow::B16Low:
    return (old & 0xffff0000) | raw;
  case Narrow::U8High:
  case Narrow::B16High:
    return (old & 0xffff) | raw << 16;
  case Narrow::I8Low:
    return (old & 0xffff0000) | (sign8 & 0xffff);
  case Narrow::I8High:
    return (old & 0xffff) | sign8 << 16;
  default:
    return raw;
  }
}

/// Type of `dwords` registers.
constexpr ValueType registersType(unsigned dwords) {
  switch (dwords) {
  case 1:
    return ValueType::B32;
  case 2:
    return ValueType::B64;
  case 3:
    return ValueType::B96;
  default:
    return ValueType::B128;
  }
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_ADDRESS_H
