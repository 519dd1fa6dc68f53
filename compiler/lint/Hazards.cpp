//===- Hazards.cpp ----------------------------------------------------------===//

#include "compiler/lint/Hazards.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <bitset>
#include <fmt/format.h>

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
      : flow(flow), firsts(flow.code.size()), lastVisits(flow.code.size(), -1),
        stamps(flow.code.size(), 0), buckets(longestReach()) {
    for (size_t i = 0; i < flow.code.size(); ++i) {
      firsts[i] = rulesWhere(&HazardRule::first, flow.code[i]);
      present |= firsts[i];
    }
  }

  llvm::Expected<std::vector<Hazard>> run() {
    for (uint32_t second = 0; second < flow.code.size(); ++second) {
      searchFrom(second);
      if (total > kMaxVisits)
        return llvm::createStringError(fmt::format(
            "more than {} instructions on the paths between its instructions", kMaxVisits));
    }
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

  /// Vector registers that no matrix instruction between here and the second one writes.
  using Alive = std::bitset<kScalars>;

  /// An instruction met on a path backwards from the second one.
  struct Visit {
    uint32_t instruction;
    unsigned distance; ///< wait states between it and the second one
    Alive alive;
    int32_t previous; ///< visit of the same instruction, or -1
  };

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
    visits.clear();
    addPredecessors(second, 0, reach, Alive().set());
    // By distance, so that most repeated visits end at once.
    for (unsigned distance = 0; distance < reach; ++distance) {
      for (size_t i = 0; i < buckets[distance].size(); ++i) {
        Visit visit = visits[buckets[distance][i]];
        const Instruction &first = flow.code[visit.instruction];
        check(visit, second, rules & firsts[visit.instruction], begin);
        if (first.is(Matrix))
          for (const Operand &operand : first.operands)
            if (operand.role == Role::Definition)
              visit.alive &= ~bits(operand.registers);
        addPredecessors(visit.instruction, distance + first.waitStates, reach, visit.alive);
      }
      buckets[distance].clear();
    }
  }

  static Alive bits(Registers registers) {
    Alive set;
    for (unsigned i = registers.first; i < unsigned(registers.first) + registers.count; ++i)
      if (i < kScalars)
        set.set(i);
    return set;
  }

  void addPredecessors(uint32_t of, unsigned distance, unsigned reach, const Alive &alive) {
    if (distance >= reach)
      return;
    for (uint32_t predecessor : flow.predecessors[of]) {
      if (stamps[predecessor] != stamp) {
        stamps[predecessor] = stamp;
        lastVisits[predecessor] = -1;
      }
      int32_t &last = lastVisits[predecessor];
      bool known = false;
      for (int32_t i = last; i >= 0 && !known; i = visits[size_t(i)].previous)
        known = visits[size_t(i)].distance <= distance && (alive & ~visits[size_t(i)].alive).none();
      if (known)
        continue;
      buckets[distance].push_back(uint32_t(visits.size()));
      visits.push_back({predecessor, distance, alive, last});
      ++total;
      last = int32_t(visits.size() - 1);
    }
  }

  /// Some register of `second` still has the result of `first`.
  static bool meetsResult(const Instruction &first, const Instruction &second, const Alive &alive) {
    for (const Operand &result : first.operands)
      if (result.role == Role::Definition)
        for (const Operand &operand : second.operands)
          if (operand.registers.overlaps(result.registers) &&
              (bits(operand.registers) & bits(result.registers) & alive).any())
            return true;
    return false;
  }

  void check(const Visit &visit, uint32_t second, RuleSet rules, size_t begin) {
    const Instruction &first = flow.code[visit.instruction];
    for (; rules; rules &= rules - 1) {
      const HazardRule &rule = hazardRules()[size_t(llvm::countr_zero(rules))];
      if (visit.distance >= rule.most)
        continue;
      unsigned needed = rule.needed(first, flow.code[second]);
      if (needed <= visit.distance ||
          (rule.matrixResult && !meetsResult(first, flow.code[second], visit.alive)))
        continue;
      Hazard hazard{&rule.rule, visit.instruction, second, needed, visit.distance};
      auto same = std::find_if(found.begin() + ptrdiff_t(begin), found.end(),
                               [&](const Hazard &h) { return h.rule == &rule.rule; });
      if (same == found.end())
        found.push_back(hazard);
      else if (needed - visit.distance > same->needed - same->found)
        *same = hazard;
    }
  }

  const Flow &flow;
  std::vector<RuleSet> firsts; ///< of each instruction, rules that it can begin
  RuleSet present = 0;
  // Of the search under way.
  std::vector<Visit> visits;
  uint64_t total = 0;              ///< of all searches
  std::vector<int32_t> lastVisits; ///< of each instruction, valid where its stamp is the current
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;
  std::vector<std::vector<uint32_t>> buckets; ///< visits still to make, by distance
  std::vector<Hazard> found;
};

} // namespace

llvm::Expected<std::vector<Hazard>> findHazards(const Flow &flow) { return Search(flow).run(); }

} // namespace nvfp4gen::lint
