//===- Race.cpp - unordered accesses to LDS and to global memory ---------------------===//
//
// LDS: two waves in one barrier epoch. Global: the same, and any two workgroups, unless
// atomics order them: one workgroup's atomic (or device-scope access) after its access,
// and a later one of the other workgroup on the same address before its own.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/check/Race.h"

#include "tools/gfx950emu/check/Checks.h"
#include "tools/gfx950emu/check/Operands.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_map>

using namespace llvm;

namespace gfx950emu::check {

namespace {

template <class F> void forEachDword(uint64_t address, uint32_t bytes, F f) {
  for (uint64_t at = address, end = address + bytes; at < end;) {
    uint64_t dword = at / 4, next = std::min(end, (dword + 1) * 4);
    f(dword, uint8_t(((1u << (next - at)) - 1) << (at % 4)));
    at = next;
  }
}

uint32_t numberOf(const Wave &wave, const Inst *in) {
  return uint32_t(in - wave.program->instructions().data()) + 1;
}

/// The other side of a race, seen from a wave of `own`.
std::string party(const DecodedProgram &program, const Touch &t, bool wrote,
                  const WorkgroupInfo &own) {
  std::string text = t.atomic ? "the atomic " : wrote ? "the write " : "the read ";
  text += describe(program, program.instructions().data() + (t.instruction - 1)) + " of wave " +
          std::to_string(t.wave);
  if (t.workgroup == uint32_t(own.linear))
    return text;
  const auto &grid = own.dispatch->grid;
  uint32_t row = t.workgroup / grid[0];
  return text + " of workgroup (" + std::to_string(t.workgroup % grid[0]) + ", " +
         std::to_string(row % grid[1]) + ", " + std::to_string(row / grid[1]) + ")";
}

class LdsRaceCheck : public WorkgroupObserver {
public:
  explicit LdsRaceCheck(const CheckContext &context)
      : context(context), cells((context.group.ldsBytes + 3) / 4) {}

  void barrierRelease() override { ++epoch; }
  void access(Wave &wave, const Inst *in, const Access &a) override {
    if (a.space != Space::Lds || context.group.waves == 1)
      return;
    Touch now;
    now.instruction = numberOf(wave, in);
    now.workgroup = uint32_t(context.group.linear);
    now.epoch = epoch;
    now.wave = wave.indexInGroup;
    now.atomic = a.kind == AccessKind::Atomic;
    forEachDword(a.address, a.bytes, [&](uint64_t dword, uint8_t mask) {
      now.bytes = mask;
      touch(
          cells[dword], now, a.kind != AccessKind::Read,
          [](const Touch &x, const Touch &y) { return x.wave == y.wave || x.epoch != y.epoch; },
          [&](const Touch &earlier, bool wrote) {
            context.report(CheckKind::Race, wave, in, a.lane, [&] {
              return "LDS bytes at " + hexText(dword * 4) + " race with " +
                     party(*wave.program, earlier, wrote, context.group) +
                     ": no barrier lies between";
            });
          });
    });
  }

private:
  CheckContext context;
  std::vector<Cell> cells;
  uint32_t epoch = 0;
};

} // namespace

/// Shared by the workgroups of a dispatch.
class GlobalHistory {
public:
  explicit GlobalHistory(uint64_t bytes) : pageLimit(bytes / sizeof(Page)) {}

  static constexpr unsigned shards = 64;
  struct Page {
    std::array<Cell, 64> cells; ///< 256 bytes
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  /// Times at which a workgroup synchronised through an address.
  struct Syncs {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unordered_map<uint64_t, std::vector<uint64_t>>> byGroup;
  };

  Shard &shardOf(uint64_t page) { return all[page % shards]; }
  uint64_t tick() { return ++clock; }
  /// Whether one page more fits; counts the accesses that are passed over when not.
  bool mayGrow() {
    if (pages.fetch_add(1, std::memory_order_relaxed) < pageLimit)
      return true;
    pages.fetch_sub(1, std::memory_order_relaxed);
    skipped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  uint64_t skippedAccesses() const { return skipped; }

  void synchronise(uint64_t group, uint64_t address, uint64_t time) {
    std::lock_guard lock(syncs.mutex);
    syncs.byGroup[group][address].push_back(time);
  }
  /// Did `first` after `since` release something that `second` acquired by now?
  bool ordered(uint64_t first, uint64_t since, uint64_t second) {
    std::lock_guard lock(syncs.mutex);
    auto a = syncs.byGroup.find(first), b = syncs.byGroup.find(second);
    if (a == syncs.byGroup.end() || b == syncs.byGroup.end())
      return false;
    for (const auto &[address, released] : a->second) {
      auto acquired = b->second.find(address);
      if (acquired == b->second.end())
        continue;
      auto release = std::lower_bound(released.begin(), released.end(), since);
      if (release != released.end() && acquired->second.back() > *release)
        return true;
    }
    return false;
  }

private:
  std::array<Shard, shards> all;
  Syncs syncs;
  std::atomic<uint64_t> clock{0}, pages{0}, skipped{0};
  uint64_t pageLimit;
};

namespace {

class GlobalRaceCheck : public WorkgroupObserver {
public:
  GlobalRaceCheck(const CheckContext &context, std::shared_ptr<GlobalHistory> history)
      : context(context), history(std::move(history)) {}

  void barrierRelease() override { ++epoch; }
  void access(Wave &wave, const Inst *in, const Access &a) override {
    if (a.space != Space::Global && a.space != Space::Constant)
      return;
    // Memory that no kernel can write needs no history.
    if (a.address - region.base >= region.size)
      region = context.group.memory->find(a.address).value_or(MemoryMap::Region());
    if (!region.writable)
      return;
    constexpr uint32_t scopeDevice = 16; // sc1
    bool vector = a.space == Space::Global;
    bool atomic = a.kind == AccessKind::Atomic || (vector && (in->cpol & scopeDevice));
    Touch now;
    now.time = history->tick();
    now.instruction = numberOf(wave, in);
    now.workgroup = uint32_t(context.group.linear);
    now.epoch = epoch;
    now.wave = wave.indexInGroup;
    now.atomic = atomic;
    if (atomic)
      history->synchronise(now.workgroup, a.address, now.time);
    forEachDword(a.address, a.bytes, [&](uint64_t dword, uint8_t mask) {
      now.bytes = mask;
      GlobalHistory::Shard &shard = history->shardOf(dword / 64);
      std::lock_guard lock(shard.mutex);
      std::unique_ptr<GlobalHistory::Page> &page = shard.pages[dword / 64];
      if (!page) {
        if (!history->mayGrow()) {
          shard.pages.erase(dword / 64);
          return;
        }
        page = std::make_unique<GlobalHistory::Page>();
      }
      touch(
          page->cells[dword % 64], now, a.kind != AccessKind::Read,
          [&](const Touch &x, const Touch &y) {
            if (x.workgroup == y.workgroup)
              return x.wave == y.wave || x.epoch != y.epoch;
            return history->ordered(x.workgroup, x.time, y.workgroup);
          },
          [&](const Touch &earlier, bool wrote) {
            context.report(CheckKind::Race, wave, in, a.lane, [&] {
              return "global bytes at " + hexText(dword * 4) + " race with " +
                     party(*wave.program, earlier, wrote, context.group) + ": nothing orders them";
            });
          });
    });
  }

private:
  CheckContext context;
  std::shared_ptr<GlobalHistory> history;
  MemoryMap::Region region;
  uint32_t epoch = 0;
};

} // namespace

std::shared_ptr<GlobalHistory> makeGlobalHistory(uint64_t bytes) {
  return std::make_shared<GlobalHistory>(bytes);
}
uint64_t skippedAccesses(const GlobalHistory &history) { return history.skippedAccesses(); }

std::unique_ptr<WorkgroupObserver> makeLdsRaceCheck(const CheckContext &context) {
  return std::make_unique<LdsRaceCheck>(context);
}

std::unique_ptr<WorkgroupObserver> makeGlobalRaceCheck(const CheckContext &context,
                                                       std::shared_ptr<GlobalHistory> history) {
  return std::make_unique<GlobalRaceCheck>(context, std::move(history));
}

} // namespace gfx950emu::check
