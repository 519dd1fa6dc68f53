//===- Traffic.cpp - global bytes of a dispatch, buffer by buffer -------------===//
//
// Owns: what Traffic.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Traffic.h"
#include "tools/gfx950emu/core/Wave.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace bench {

using gfx950emu::Access;
using gfx950emu::AccessKind;
using gfx950emu::Inst;
using gfx950emu::Space;
using gfx950emu::Wave;

/// Counts one workgroup, and adds itself to the dispatch at its end.
class Traffic::Workgroup : public gfx950emu::WorkgroupObserver {
public:
  Workgroup(Traffic &traffic, uint32_t waves)
      : traffic(traffic), moved(waves * traffic.sums.size()) {}

  void access(Wave &, const Inst *, const Access &a) override {
    if (a.space != Space::Global && a.space != Space::Constant)
      return;
    kind = a.kind;
    // Lanes mostly follow each other in memory; then there is one range, and nothing to sort.
    if (!ranges.empty() && a.address >= ranges.back().begin && a.address <= ranges.back().end)
      ranges.back().end = std::max(ranges.back().end, a.address + a.bytes);
    else
      ranges.push_back({a.address, a.address + a.bytes});
  }

  void after(Wave &wave, const Inst *, const Inst *) override {
    if (ranges.empty())
      return;
    if (ranges.size() > 1)
      llvm::sort(ranges, [](const Range &a, const Range &b) { return a.begin < b.begin; });
    uint64_t counted = 0; // everything below this address
    for (const Range &range : ranges) {
      add(wave, std::max(range.begin, counted), range.end);
      counted = std::max(counted, range.end);
    }
    ranges.clear();
  }

  void finish() override {
    std::lock_guard lock(traffic.mutex);
    for (size_t i = 0; i < moved.size(); ++i) {
      BufferTraffic &sum = traffic.sums[i % traffic.sums.size()];
      const auto [read, written] = moved[i];
      sum.read += read;
      sum.written += written;
      if (read == 0)
        continue;
      sum.mostRead = std::max(sum.mostRead, read);
      sum.leastRead = sum.readers++ == 0 ? read : std::min(sum.leastRead, read);
    }
    traffic.outside += outside;
    ++traffic.done;
    if (traffic.progress)
      traffic.progress(traffic.done);
  }

private:
  struct Range {
    uint64_t begin, end;
  };
  struct Moved {
    uint64_t read = 0, written = 0;
  };

  Traffic &traffic;
  std::vector<Moved> moved; ///< by wave, then by buffer
  uint64_t outside = 0;
  // Of the instruction under way.
  llvm::SmallVector<Range, 64> ranges;
  AccessKind kind = AccessKind::Read;

  void add(const Wave &wave, uint64_t begin, uint64_t end) {
    while (begin < end) {
      auto next = llvm::upper_bound(
          traffic.sums, begin, [](uint64_t at, const BufferTraffic &b) { return at < b.base; });
      uint64_t stop = next == traffic.sums.end() ? end : std::min(end, next->base);
      if (next != traffic.sums.begin() && begin < (next - 1)->base + (next - 1)->size) {
        const BufferTraffic &buffer = *(next - 1);
        stop = std::min(stop, buffer.base + buffer.size);
        Moved &m = moved[wave.indexInGroup * traffic.sums.size() +
                         static_cast<size_t>(&buffer - traffic.sums.data())];
        if (kind != AccessKind::Write)
          m.read += stop - begin;
        if (kind != AccessKind::Read)
          m.written += stop - begin;
      } else {
        outside += stop - begin;
      }
      begin = stop;
    }
  }
};

Traffic::Traffic(std::vector<BufferTraffic> buffers, Progress progress)
    : sums(std::move(buffers)), progress(std::move(progress)) {
  llvm::sort(sums, [](const BufferTraffic &a, const BufferTraffic &b) { return a.base < b.base; });
}

std::unique_ptr<gfx950emu::WorkgroupObserver>
Traffic::workgroup(const gfx950emu::WorkgroupInfo &info) {
  return std::make_unique<Workgroup>(*this, info.waves);
}

} // namespace bench
