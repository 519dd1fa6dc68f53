//===- LdsBanks.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/count/LdsBanks.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>

using namespace llvm;

namespace gfx950emu::count {

namespace {

struct Rule {
  unsigned banks, phases;
};

Rule ruleOf(AccessKind kind, uint32_t bytes) {
  bool read = kind == AccessKind::Read;
  if (bytes <= 4)
    return {32, 2};
  if (bytes <= 8)
    return read ? Rule{64, 2} : Rule{32, 4};
  if (bytes <= 12)
    return {32, 8};
  return read ? Rule{64, 4} : Rule{32, 8};
}

unsigned phaseOf(Rule rule, unsigned lane) {
  if (rule.banks == 64 && rule.phases == 4) {
    // ds_read_b128: lanes {0-3, 12-15, 20-27} and {4-11, 16-19, 28-31} of each half.
    constexpr uint32_t first = 0x0ff0f00f;
    return lane / 32 * 2 + (first >> lane % 32 & 1 ? 0 : 1);
  }
  return lane / (waveSize / rule.phases);
}

} // namespace

LdsCost ldsCost(AccessKind kind, uint32_t bytes, ArrayRef<LaneAddress> lanes) {
  Rule rule = ruleOf(kind, bytes);
  LdsCost cost;
  cost.banks = rule.banks;
  if (lanes.empty())
    return cost;
  cost.phases = rule.phases;
  std::array<SmallVector<uint32_t, waveSize>, 8> dwords;
  for (const LaneAddress &l : lanes)
    for (uint32_t d = l.address / 4; d <= (l.address + bytes - 1) / 4; ++d)
      dwords[phaseOf(rule, l.lane)].push_back(d);
  for (auto &phase : dwords) {
    if (phase.empty())
      continue;
    if (kind != AccessKind::Atomic) {
      llvm::sort(phase);
      phase.erase(std::unique(phase.begin(), phase.end()), phase.end());
    }
    std::array<unsigned, 64> load{};
    for (uint32_t d : phase)
      ++load[d % rule.banks];
    cost.conflicts += *std::max_element(load.begin(), load.end()) - 1;
  }
  return cost;
}

} // namespace gfx950emu::count
