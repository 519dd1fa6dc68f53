//===- Checker.h - finds what hardware would let pass ---------------------------===//
//
// Owns the public face of the checker: an observer of dispatches that collects
// findings. Each check is a file of its own and can be switched off.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_CHECKER_H
#define GFX950EMU_CHECK_CHECKER_H

#include "tools/gfx950emu/check/Switches.h"
#include "tools/gfx950emu/core/Observer.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gfx950emu::check {

/// One place (kernel, pc, kind) with its first occurrence.
struct Finding {
  CheckKind kind = CheckKind::Bounds;
  std::string kernel;
  std::array<uint32_t, 3> workgroup{0, 0, 0};
  uint32_t wave = 0;
  int lane = -1; ///< -1 when it is not about one lane
  uint64_t pc = 0;
  std::string location; ///< symbol+offset of pc
  std::string text;     ///< disassembly
  std::string detail;   ///< what is wrong, with the other party
  uint64_t count = 1;   ///< occurrences

  std::string message() const;
};

class Findings;

/// Watches any number of dispatches, one after the other.
class Checker : public DispatchObserver {
public:
  explicit Checker(const CheckOptions &options = {});
  ~Checker() override;

  void begin(const Dispatch &dispatch, MemoryMap &memory) override;
  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &info) override;
  void end() override;

  /// In the order of kernel, pc and kind; they add up over dispatches.
  std::vector<Finding> findings() const;
  /// Places beyond maxFindings.
  uint64_t dropped() const;
  /// Global accesses beyond CheckOptions::raceHistoryBytes, not checked for races.
  uint64_t skippedRaceAccesses() const { return skipped; }
  void clear();

private:
  CheckOptions options;
  std::unique_ptr<Findings> sink;
  struct DispatchState;
  std::unique_ptr<DispatchState> state;
  uint64_t skipped = 0;
};

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_CHECKER_H
