//===- Wait.cpp - results used before s_waitcnt allows it ---------------------------===//
//
// Owns a model of vmcnt and lgkmcnt. Vector memory counts in order in vmcnt, loads and
// stores alike; LDS counts in order in lgkmcnt; scalar loads count there out of order, so
// that only 0 is a guarantee; flat_* counts in both. Also LDS bytes that a DMA or a
// ds_write of another wave may not have delivered yet.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/check/Checks.h"
#include "tools/gfx950emu/check/Operands.h"

#include <algorithm>
#include <deque>

using namespace llvm;

namespace gfx950emu::check {

namespace {

/// An instruction whose counter has not been waited for.
struct Pending {
  uint64_t id = 0;
  const Inst *in = nullptr;
  Operand result; ///< none for stores
  bool ordered = true;
};

struct Counter {
  std::deque<Pending> queue; ///< oldest first

  /// At most `limit` may be left: what is done for sure? The largest value does not wait.
  void wait(unsigned limit, unsigned largest) {
    if (limit == largest)
      return;
    if (limit == 0) {
      queue.clear();
      return;
    }
    size_t unordered = size_t(
        std::count_if(queue.begin(), queue.end(), [](const Pending &p) { return !p.ordered; }));
    if (queue.size() <= limit + unordered)
      return;
    // In the worst case all out-of-order ones finished first.
    size_t done = queue.size() - limit - unordered;
    for (auto it = queue.begin(); done > 0 && it != queue.end();) {
      if (it->ordered) {
        it = queue.erase(it);
        --done;
      } else {
        ++it;
      }
    }
  }
  bool holds(uint64_t id) const {
    return std::any_of(queue.begin(), queue.end(), [&](const Pending &p) { return p.id == id; });
  }
};

struct WaveState {
  Counter vm, lgkm;
};

/// The last instruction that writes an LDS dword without being waited for.
struct LdsWriter {
  uint64_t id = 0;
  const Inst *in = nullptr;
  uint32_t wave = 0;
  bool dma = false;
};

class WaitCheck : public WorkgroupObserver {
public:
  explicit WaitCheck(const CheckContext &context)
      : context(context), waves(context.group.waves), lds((context.group.ldsBytes + 3) / 4) {}

  bool before(Wave &wave, const Inst *in) override {
    if (!in->op)
      return true;
    WaveState &state = waves[wave.indexInGroup];
    if (in->op->mnemonic == "s_waitcnt") {
      uint32_t imm = uint32_t(in->imm);
      state.vm.wait((imm & 15) | (imm >> 14 & 3) << 4, 63);
      state.lgkm.wait(imm >> 8 & 15, 15);
      return true;
    }
    ++current;
    Uses uses = usesOf(wave, *in);
    for (const Use &use : uses.reads)
      check(wave, in, state, use.reg, /*writes=*/false);
    for (const Use &use : uses.writes)
      check(wave, in, state, use.reg, /*writes=*/true);
    count(state, in, uses);
    return true;
  }

  void access(Wave &wave, const Inst *in, const Access &a) override {
    if (a.space != Space::Lds)
      return;
    bool dma = isLdsDma(*in);
    for (uint64_t dword = a.address / 4; dword <= (a.address + a.bytes - 1) / 4; ++dword) {
      LdsWriter &writer = lds[dword];
      // The LDS unit handles one wave's own accesses in order.
      if (writer.id && writer.id != current && (writer.wave != wave.indexInGroup || writer.dma)) {
        const WaveState &its = waves[writer.wave];
        if ((writer.dma ? its.vm : its.lgkm).holds(writer.id) && !(dma && writer.dma))
          context.report(CheckKind::WaitCount, wave, in, a.lane, [&] {
            return "LDS bytes at " + hexText(a.address) + " may still be on the way from " +
                   describe(*wave.program, writer.in) + " of wave " + std::to_string(writer.wave) +
                   ": expected s_waitcnt " + (writer.dma ? "vmcnt" : "lgkmcnt") +
                   " in that wave before";
          });
      }
      if (a.kind != AccessKind::Read)
        writer = {current, in, wave.indexInGroup, dma};
    }
  }

private:
  void check(Wave &wave, const Inst *in, const WaveState &state, Operand reg, bool writes) {
    constexpr uint32_t segmentFlat = 0;
    Family family = in->op->family;
    bool vectorMemory =
        family == Family::Mubuf || (family == Family::Flat && in->extra != segmentFlat);
    // What counts in order also writes in order.
    auto look = [&](const Counter &counter, const char *name, bool sameOrder) {
      bool allOrdered = std::all_of(counter.queue.begin(), counter.queue.end(),
                                    [](const Pending &p) { return p.ordered; });
      for (size_t i = 0; i < counter.queue.size(); ++i) {
        const Pending &p = counter.queue[i];
        if (!p.result.present() || !overlaps(p.result, reg) || (writes && sameOrder && p.ordered))
          continue;
        size_t allowed = allOrdered ? counter.queue.size() - 1 - i : 0;
        context.report(CheckKind::WaitCount, wave, in, -1, [&] {
          return std::string(writes ? "overwrites " : "reads ") + registerName(reg) + ", which " +
                 describe(*wave.program, p.in) +
                 " may not have delivered yet: expected s_waitcnt " + name + "(" +
                 std::to_string(allowed) + ") or less in between";
        });
        return;
      }
    };
    look(state.vm, "vmcnt", vectorMemory);
    look(state.lgkm, "lgkmcnt", family == Family::Ds);
  }

  void count(WaveState &state, const Inst *in, const Uses &uses) {
    Pending p{current, in, in->dst, true};
    if (!uses.writes.empty())
      p.result = uses.writes[0].reg;
    switch (in->op->family) {
    case Family::Flat: {
      constexpr uint32_t segmentFlat = 0;
      p.ordered = in->extra != segmentFlat;
      state.vm.queue.push_back(p);
      if (!p.ordered)
        state.lgkm.queue.push_back(p);
      break;
    }
    case Family::Mubuf:
      state.vm.queue.push_back(p);
      break;
    case Family::Ds:
      if (in->op->mnemonic != "ds_nop")
        state.lgkm.queue.push_back(p);
      break;
    case Family::Smem:
      if (uses.writes.empty())
        break;
      p.ordered = false;
      state.lgkm.queue.push_back(p);
      break;
    default:
      break;
    }
  }

  CheckContext context;
  std::vector<WaveState> waves;
  std::vector<LdsWriter> lds;
  uint64_t current = 0;
};

} // namespace

std::unique_ptr<WorkgroupObserver> makeWaitCheck(const CheckContext &context) {
  return std::make_unique<WaitCheck>(context);
}

} // namespace gfx950emu::check
