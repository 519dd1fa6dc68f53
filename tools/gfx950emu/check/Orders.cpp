//===- Orders.cpp -------------------------------------------------------------===//

#include "tools/gfx950emu/check/Orders.h"

#include "tools/gfx950emu/check/Beside.h"
#include "tools/gfx950emu/check/Findings.h"
#include "tools/gfx950emu/core/Workgroup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

using namespace llvm;

namespace gfx950emu::check {

namespace {

/// Every byte of global memory that the dispatch wrote: what it was, and what the first run made
/// of it. Memory comes back from here, so that pools of any size cost what is written of them.
/// For runs on one thread.
class WriteLog : public DispatchObserver {
public:
  explicit WriteLog(MemoryMap &memory) : memory(memory) {}

  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &) override {
    return std::make_unique<Group>(*this);
  }

  /// The first run has ended: its result is what later ones are compared with.
  void keepFirst() {
    forEachByte([](uint64_t address, Byte &byte, uint8_t *defined) {
      byte.first = *at(address);
      byte.firstDefined = !defined || *defined;
    });
  }
  /// What memory holds other than after the first run.
  OrderDifference differences(uint64_t seed, size_t keep) {
    OrderDifference result{seed, 0, {}};
    forEachByte([&](uint64_t address, Byte &byte, uint8_t *) {
      uint8_t now = *at(address);
      if (now == byte.first)
        return;
      if (result.bytes++ < keep)
        result.kept.push_back({address, byte.first, now});
    });
    return result;
  }
  void restoreBefore() {
    forEachByte([](uint64_t address, Byte &byte, uint8_t *defined) {
      *at(address) = byte.before;
      if (defined)
        *defined = byte.beforeDefined;
    });
  }
  void restoreFirst() {
    forEachByte([](uint64_t address, Byte &byte, uint8_t *defined) {
      *at(address) = byte.first;
      if (defined)
        *defined = byte.firstDefined;
    });
  }

private:
  struct Byte {
    uint8_t before = 0;
    uint8_t first = 0; ///< as before where the first run did not write
    bool written : 1 = false;
    bool beforeDefined : 1 = true;
    bool firstDefined : 1 = true;
  };
  static constexpr uint64_t pageBytes = 256;
  using Page = std::array<Byte, pageBytes>;

  class Group : public WorkgroupObserver {
  public:
    explicit Group(WriteLog &log) : log(log) {}
    void access(Wave &, const Inst *, const Access &a) override {
      if (a.space == Space::Global && a.kind != AccessKind::Read)
        log.note(a.address, a.bytes);
    }

  private:
    WriteLog &log;
  };

  static uint8_t *at(uint64_t address) { return std::bit_cast<uint8_t *>(address); }
  uint8_t *definedAt(uint64_t address) {
    if (address - region.base >= region.size)
      region = memory.find(address).value_or(MemoryMap::Region());
    return region.defined ? region.defined + (address - region.base) : nullptr;
  }
  /// About to be written.
  void note(uint64_t address, uint32_t bytes) {
    for (uint64_t end = address + bytes; address < end; ++address) {
      if (!last || address / pageBytes != lastPage) {
        lastPage = address / pageBytes;
        last = &pages[lastPage];
      }
      Byte &byte = (*last)[address % pageBytes];
      if (byte.written)
        continue;
      const uint8_t *defined = definedAt(address);
      byte.written = true;
      byte.before = byte.first = *at(address);
      byte.beforeDefined = byte.firstDefined = !defined || *defined;
    }
  }
  template <class F> void forEachByte(F f) {
    for (auto &[number, page] : pages)
      for (uint64_t i = 0; i < pageBytes; ++i)
        if (page[i].written)
          f(number * pageBytes + i, page[i], definedAt(number * pageBytes + i));
  }

  MemoryMap &memory;
  MemoryMap::Region region;
  std::map<uint64_t, Page> pages;
  Page *last = nullptr;
  uint64_t lastPage = 0;
};

/// Enough of an order to tell it from others: the first workgroups, and the waves of some.
std::vector<uint64_t> fingerprint(const Dispatch &dispatch, uint64_t seed) {
  uint64_t groupsSeen = 256, groupsWithWaves = 4;
  uint64_t groups = uint64_t(dispatch.grid[0]) * dispatch.grid[1] * dispatch.grid[2];
  uint64_t items = uint64_t(dispatch.block[0]) * dispatch.block[1] * dispatch.block[2];
  uint64_t waves = (items + waveSize - 1) / waveSize;
  groupsSeen = std::min(groups, groupsSeen);
  groupsWithWaves = std::min(groups, groupsWithWaves);
  std::vector<uint64_t> order;
  order.reserve(groupsSeen + groupsWithWaves * waves);
  Permutation permutation(groups, seed);
  for (uint64_t i = 0; i < groupsSeen; ++i)
    order.push_back(permutation(i));
  for (uint64_t group = 0; group < groupsWithWaves; ++group) {
    Permutation waveOrder = waveOrderOf(group, waves, seed);
    for (uint64_t i = 0; i < waves; ++i)
      order.push_back(waveOrder(i));
  }
  return order;
}

Error underSeed(uint64_t seed, Error error) {
  return handleErrors(std::move(error), [&](const Fault &fault) {
    return make_error<Fault>(fault.kind,
                             "in the order of seed " + std::to_string(seed) + ": " + fault.message);
  });
}

} // namespace

std::vector<uint64_t> distinctSeeds(const Dispatch &dispatch, uint64_t first, unsigned count) {
  constexpr uint64_t triesEach = 64;
  std::vector<uint64_t> seeds;
  std::set<std::vector<uint64_t>> seen;
  for (uint64_t i = 0; i < triesEach * count && seeds.size() < count; ++i)
    if (seen.insert(fingerprint(dispatch, first + i)).second)
      seeds.push_back(first + i);
  return seeds;
}

Expected<OrdersResult> runOrders(const Dispatch &dispatch, MemoryMap &memory,
                                 const RunOptions &options, unsigned count, size_t keep,
                                 function_ref<DispatchObserver *(size_t)> observerOf) {
  OrdersResult result;
  std::vector<uint64_t> seeds = distinctSeeds(dispatch, options.seed, count);
  WriteLog log(memory);
  for (size_t i = 0; i < seeds.size(); ++i) {
    Beside observer(log, observerOf(i));
    RunOptions own = options;
    own.threads = 1;
    own.seed = seeds[i];
    own.observer = &observer;
    Expected<RunStats> stats = run(dispatch, memory, own);
    if (!stats)
      return underSeed(seeds[i], stats.takeError());
    result.seeds.push_back(seeds[i]);
    if (i == 0) {
      result.stats = *stats;
      log.keepFirst();
    } else if (OrderDifference difference = log.differences(seeds[i], keep); difference.bytes) {
      result.differences.push_back(std::move(difference));
    }
    log.restoreBefore();
  }
  log.restoreFirst();
  return result;
}

std::string orderText(const Dispatch &dispatch, const MemoryMap &memory, uint64_t firstSeed,
                      const OrderDifference &difference) {
  std::string text = "order dependence: kernel " + dispatch.kernel->name + ": " +
                     std::to_string(difference.bytes) + " bytes differ between seeds " +
                     std::to_string(firstSeed) + " and " + std::to_string(difference.seed);
  for (const ByteDifference &byte : difference.kept) {
    MemoryMap::Region region = memory.find(byte.address).value_or(MemoryMap::Region());
    text += (&byte == &difference.kept.front() ? ": byte " : "; byte ") +
            std::to_string(byte.address - region.base) + " of the " + std::to_string(region.size) +
            " at " + hexText(region.base) + " is " + hexText(byte.first) + " and " +
            hexText(byte.found);
  }
  if (difference.kept.size() < difference.bytes)
    text += "; ...";
  return text;
}

} // namespace gfx950emu::check
