//===- MemoryMap.cpp ----------------------------------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"

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

} // namespace

MemoryMap::~MemoryMap() {
  for (const auto &[base, region] : regions)
    if (region.owned)
      munmap(reinterpret_cast<void *>(base), mappedBytes(region.size));
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
  uint64_t base = reinterpret_cast<uint64_t>(p);
  std::unique_lock lock(mutex);
  regions[base] = Region{base, size, /*writable=*/true, /*owned=*/true};
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
  munmap(base, mappedBytes(region.size));
  return true;
}

void MemoryMap::add(uint64_t base, uint64_t size, bool writable) {
  std::unique_lock lock(mutex);
  regions[base] = Region{base, size, writable, /*owned=*/false};
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

uint64_t MemoryMap::allocatedBytes() const {
  std::shared_lock lock(mutex);
  uint64_t total = 0;
  for (const auto &[base, region] : regions)
    if (region.owned)
      total += region.size;
  return total;
}

} // namespace gfx950emu
