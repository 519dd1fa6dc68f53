//===- MemoryMap.cpp ----------------------------------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace gfx950emu {

namespace {

uint64_t pageBytes() { return uint64_t(sysconf(_SC_PAGESIZE)); }

/// Whole pages and an inaccessible one behind them, so that two allocations are never neighbours
/// and an access past the end of one is never inside the next; 0 on overflow.
uint64_t mappedBytes(uint64_t size) {
  uint64_t page = pageBytes();
  return size > UINT64_MAX - 2 * page ? 0 : (size + page - 1) / page * page + page;
}

/// The definedness of a region: zero pages until written, so untouched memory costs nothing.
uint8_t *mapShadow(uint64_t size) {
  void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
}

void unmapRegion(const MemoryMap::Region &region) {
  munmap(reinterpret_cast<void *>(region.base), mappedBytes(region.size));
  if (region.defined)
    munmap(region.defined, region.size);
}

} // namespace

MemoryMap::~MemoryMap() {
  for (const auto &[base, region] : regions)
    if (region.owned)
      unmapRegion(region);
}

void *MemoryMap::allocate(uint64_t size) {
  uint64_t bytes = mappedBytes(size);
  if (size == 0 || bytes == 0)
    return nullptr;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  if (mprotect(static_cast<char *>(p) + bytes - pageBytes(), pageBytes(), PROT_NONE) != 0) {
    munmap(p, bytes);
    return nullptr;
  }
  uint8_t *defined = nullptr;
  if (tracking && !(defined = mapShadow(size))) {
    munmap(p, bytes);
    return nullptr;
  }
  uint64_t base = reinterpret_cast<uint64_t>(p);
  std::unique_lock lock(mutex);
  regions[base] = Region{base, size, /*writable=*/true, /*owned=*/true, defined};
  return p;
}

bool MemoryMap::release(void *base) {
  Region region;
  {
    std::unique_lock lock(mutex);
    auto it = regions.find(reinterpret_cast<uint64_t>(base));
    if (it == regions.end() || !it->second.owned)
      return false;
    region = it->second;
    regions.erase(it);
  }
  unmapRegion(region);
  return true;
}

void MemoryMap::add(uint64_t base, uint64_t size, bool writable, uint8_t *defined) {
  std::unique_lock lock(mutex);
  regions[base] = Region{base, size, writable, /*owned=*/false, defined};
}

void MemoryMap::remove(uint64_t base) {
  std::unique_lock lock(mutex);
  auto it = regions.find(base);
  if (it != regions.end() && !it->second.owned)
    regions.erase(it);
}

std::optional<MemoryMap::Region> MemoryMap::find(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto it = regions.upper_bound(address);
  if (it == regions.begin())
    return std::nullopt;
  --it;
  if (address - it->first >= it->second.size)
    return std::nullopt;
  return it->second;
}

std::optional<MemoryMap::Region> MemoryMap::nearest(uint64_t address) const {
  std::shared_lock lock(mutex);
  if (regions.empty())
    return std::nullopt;
  auto above = regions.upper_bound(address);
  if (above == regions.begin())
    return above->second;
  const Region &below = std::prev(above)->second;
  if (above == regions.end())
    return below;
  uint64_t past = address - below.base, ahead = above->first - address;
  uint64_t gap = past >= below.size ? past - below.size : 0;
  return gap <= ahead ? below : above->second;
}

void MemoryMap::markDefined(uint64_t address, uint64_t bytes) {
  std::optional<Region> region = find(address);
  if (region && region->defined)
    memset(region->defined + (address - region->base), 1,
           std::min(bytes, region->size - (address - region->base)));
}

void MemoryMap::copyDefined(uint64_t target, uint64_t source, uint64_t bytes) {
  std::optional<Region> to = find(target), from = find(source);
  if (!to || !to->defined)
    return;
  bytes = std::min(bytes, to->size - (target - to->base));
  if (!from || !from->defined)
    return markDefined(target, bytes);
  bytes = std::min(bytes, from->size - (source - from->base));
  memmove(to->defined + (target - to->base), from->defined + (source - from->base), bytes);
}

uint64_t MemoryMap::allocatedBytes() const {
  std::shared_lock lock(mutex);
  uint64_t total = 0;
  for (const auto &[base, region] : regions)
    if (region.owned)
      total += region.size;
  return total;
}

} // namespace gfx950emu
