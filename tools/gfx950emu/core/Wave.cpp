//===- Wave.cpp ---------------------------------------------------------------===//

#include "tools/gfx950emu/core/Wave.h"

#include "tools/gfx950emu/core/Observer.h"

#include "llvm/ADT/StringExtras.h"

#include <new>

using namespace llvm;

namespace gfx950emu {

namespace {

std::string hex(uint64_t value) { return "0x" + utohexstr(value, /*LowerCase=*/true); }

} // namespace

Wave::Wave() : vgprStore(new (std::align_val_t(64)) uint32_t[size_t(vgprFile) * waveSize]) {
  resetRegionCache();
}

void Wave::setMode(uint32_t value) {
  mode = value;
  auto plain = [&](unsigned roundShift, unsigned denormShift) {
    return (mode >> roundShift & 3) == 0 && (mode >> denormShift & 3) == 3;
  };
  fpSlow = (plain(ModeRound32Shift, ModeDenorm32Shift) ? 0 : 1) |
           (plain(ModeRound64Shift, ModeDenorm64Shift) ? 0 : 2);
}

const Inst *Wave::fail(const Inst *in, FaultKind kind, int lane, std::string detail) {
  pc = in;
  stop = Stop::Fault;
  faultKind = kind;
  faultLane = lane;
  faultDetail = std::move(detail);
  return nullptr;
}

bool Wave::reachSlow(const Inst *in, uint64_t address, uint32_t bytes, bool write, int lane) {
  auto holds = [&](const auto &r) {
    return address - r.base < r.size && bytes <= r.size - (address - r.base) &&
           (!write || r.writable);
  };
  if (!observer || !holds(observedRegion)) {
    std::optional<MemoryMap::Region> region = memory->find(address);
    if (!region || !holds(*region))
      return failReach(in, address, bytes, write, lane);
    CachedRegion &cache =
        observer ? observedRegion : regionCache[(in->offset >> 3) % regionCache.size()];
    cache = {region->base, region->size, region->writable};
  }
  if (observer) {
    Space space = in->op->family == Family::Smem ? Space::Constant : Space::Global;
    observer->access(*this, in, {space, accessKind(*in, space), lane, address, bytes});
  }
  return true;
}

bool Wave::failReach(const Inst *in, uint64_t address, uint32_t bytes, bool write, int lane) {
  std::optional<MemoryMap::Region> region = memory->find(address);
  std::string what =
      (write ? "write of " : "read of ") + std::to_string(bytes) + " bytes at " + hex(address);
  auto describe = [](const MemoryMap::Region &r) {
    return "[" + hex(r.base) + ", " + hex(r.base + r.size) + ") of " + std::to_string(r.size) +
           " bytes";
  };
  if (region && write && !region->writable) {
    what += ": the allocation " + describe(*region) + " is read-only";
  } else if (region) {
    what += ": crosses the end of the allocation " + describe(*region);
  } else if (std::optional<MemoryMap::Region> near = memory->nearest(address)) {
    bool above = address >= near->base + near->size;
    what += ": in no allocation; the nearest is " + describe(*near) + ", " +
            std::to_string(above ? address - (near->base + near->size) : near->base - address) +
            (above ? " bytes past its end" : " bytes before its start");
  } else {
    what += ": there are no allocations";
  }
  fail(in, FaultKind::OutOfBounds, lane, std::move(what));
  return false;
}

bool Wave::reachLdsSlow(const Inst *in, uint64_t address, uint32_t bytes, int lane) {
  if (address > ldsBytes || bytes > ldsBytes - address) {
    fail(in, FaultKind::OutOfBounds, lane,
         "LDS access of " + std::to_string(bytes) + " bytes at " + hex(address) +
             ": the workgroup has " + std::to_string(ldsBytes) + " bytes");
    return false;
  }
  if (observer)
    observer->access(*this, in, {Space::Lds, accessKind(*in, Space::Lds), lane, address, bytes});
  return true;
}

bool Wave::reachScratchSlow(const Inst *in, uint64_t offset, uint32_t bytes, int lane) {
  if (offset > scratchBytes || bytes > scratchBytes - offset) {
    fail(in, FaultKind::OutOfBounds, lane,
         "scratch access of " + std::to_string(bytes) + " bytes at " + hex(offset) +
             ": a lane has " + std::to_string(scratchBytes) + " bytes");
    return false;
  }
  if (observer)
    observer->access(*this, in,
                     {Space::Scratch, accessKind(*in, Space::Scratch), lane, offset, bytes});
  return true;
}

const Inst *Wave::failRegisters(const Inst *in) {
  return fail(in, FaultKind::BadRegister, -1,
              "names v" + std::to_string(in->vgprEnd ? in->vgprEnd - 1 : 0) + "/a" +
                  std::to_string(in->agprEnd ? in->agprEnd - 1 : 0) +
                  ", the descriptor allocates " + std::to_string(vgprLimit) + " VGPRs and " +
                  std::to_string(agprLimit) + " AGPRs");
}

uint64_t Wave::run(uint64_t limit) {
  if (observer)
    return runObserved(limit);
  const Inst *in = pc;
  uint64_t executed = 0;
  stop = Stop::None;
  while (executed < limit) {
    if (!hasRegisters(in)) [[unlikely]] {
      failRegisters(in);
      return executed;
    }
    const Inst *next = in->handler(*this, in);
    ++executed;
    if (!next)
      return executed;
    in = next;
  }
  pc = in;
  return executed;
}

uint64_t Wave::runObserved(uint64_t limit) {
  uint64_t executed = 0;
  stop = Stop::None;
  while (executed < limit) {
    const Inst *in = pc;
    const Inst *next = nullptr;
    if (!hasRegisters(in)) {
      failRegisters(in);
    } else if (observer->before(*this, in)) {
      next = in->handler(*this, in);
      ++executed;
    }
    if (!next && stop == Stop::Fault) {
      if (!observer->fault(*this, in))
        return executed;
      stop = Stop::None;
      next = in + 1;
    }
    if (next)
      pc = next;
    observer->after(*this, in, stop == Stop::Ended ? nullptr : pc);
    if (stop == Stop::Barrier)
      observer->barrierArrive(*this, in);
    else if (stop == Stop::Ended)
      observer->waveEnd(*this);
    if (!next)
      return executed;
  }
  return executed;
}

} // namespace gfx950emu
