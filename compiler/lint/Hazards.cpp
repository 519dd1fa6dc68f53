//===- Hazards.cpp ----------------------------------------------------------===//

#include "compiler/lint/Hazards.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <array>

namespace nvfp4gen::lint {

namespace {

/// Rules, by their place in hazardRules().
using RuleSet = uint64_t;

/// Further back no rule looks.
unsigned longestReach() {
  unsigned most = 0;
  for (const HazardRule &rule : hazardRules())
    most = std::max(most, rule.most);
  return most;
}

class Search {
public:
  explicit Search(const Flow &flow)
      : flow(flow), firsts(flow.code.size()), distances(flow.code.size(), 0),
        stamps(flow.code.size(), 0), buckets(longestReach()) {
    for (size_t i = 0; i < flow.code.size(); ++i) {
      firsts[i] = rulesWhere(&HazardRule::first, flow.code[i]);
      present |= firsts[i];
    }
  }

  std::vector<Hazard> run() {
    for (uint32_t second = 0; second < flow.code.size(); ++second)
      searchFrom(second);
    llvm::sort(found, [&](const Hazard &a, const Hazard &b) {
      return std::pair(flow.code[a.second].pc, a.rule->id) <
             std::pair(flow.code[b.second].pc, b.rule->id);
    });
    return std::move(found);
  }

private:
  static RuleSet rulesWhere(bool (*HazardRule::*predicate)(const Instruction &),
                            const Instruction &instruction) {
    RuleSet set = 0;
    for (auto [i, rule] : llvm::enumerate(hazardRules()))
      if ((rule.*predicate)(instruction))
        set |= RuleSet(1) << i;
    return set;
  }

  void searchFrom(uint32_t second) {
    // Only what some instruction of this code can begin.
    RuleSet rules = present & rulesWhere(&HazardRule::second, flow.code[second]);
    unsigned reach = 0;
    for (RuleSet rest = rules; rest; rest &= rest - 1)
      reach = std::max(reach, hazardRules()[size_t(llvm::countr_zero(rest))].most);
    if (!reach)
      return;
    size_t begin = found.size();
    ++stamp;
    // By distance: the first visit of an instruction is on a shortest path to it.
    addPredecessors(second, 0, reach);
    for (unsigned distance = 0; distance < reach; ++distance) {
      for (size_t i = 0; i < buckets[distance].size(); ++i) {
        uint32_t first = buckets[distance][i];
        if (distances[first] != distance)
          continue; // met nearer since
        check(first, second, rules & firsts[first], distance, begin);
        addPredecessors(first, distance + flow.code[first].waitStates, reach);
      }
      buckets[distance].clear();
    }
  }

  void addPredecessors(uint32_t of, unsigned distance, unsigned reach) {
    if (distance >= reach)
      return;
    for (uint32_t predecessor : flow.predecessors[of]) {
      if (stamps[predecessor] == stamp && distances[predecessor] <= distance)
        continue;
      stamps[predecessor] = stamp;
      distances[predecessor] = distance;
      buckets[distance].push_back(predecessor);
    }
  }

  void check(uint32_t first, uint32_t second, RuleSet rules, unsigned distance, size_t begin) {
    for (; rules; rules &= rules - 1) {
      const HazardRule &rule = hazardRules()[size_t(llvm::countr_zero(rules))];
      if (distance >= rule.most)
        continue;
      unsigned needed = rule.needed(flow.code[first], flow.code[second]);
      if (needed <= distance)
        continue;
      Hazard hazard{&rule.rule, first, second, needed, distance};
      auto same = std::find_if(found.begin() + ptrdiff_t(begin), found.end(),
                               [&](const Hazard &h) { return h.rule == &rule.rule; });
      if (same == found.end())
        found.push_back(hazard);
      else if (needed - distance > same->needed - same->found)
        *same = hazard;
    }
  }

  const Flow &flow;
  std::vector<RuleSet> firsts; ///< of each instruction, rules that it can begin
  RuleSet present = 0;
  // Of the search under way: the distance of an instruction, valid where its stamp is the current.
  std::vector<unsigned> distances;
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;
  std::vector<std::vector<uint32_t>> buckets; ///< instructions to visit, by distance
  std::vector<Hazard> found;
};

} // namespace

std::vector<Hazard> findHazards(const Flow &flow) { return Search(flow).run(); }

} // namespace nvfp4gen::lint
