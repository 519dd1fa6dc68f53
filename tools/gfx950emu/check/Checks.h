//===- Checks.h - the checks, one file each ---------------------------------------===//
//
// Owns their constructors. What a check must remember over the workgroups of a
// dispatch is an object that the Checker keeps.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_CHECKS_H
#define GFX950EMU_CHECK_CHECKS_H

#include "tools/gfx950emu/check/Findings.h"

namespace gfx950emu::check {

/// What every check of a workgroup gets.
struct CheckContext {
  WorkgroupInfo group;
  Findings *findings = nullptr;
  const CheckOptions *options = nullptr;

  void report(CheckKind kind, const Wave &wave, const Inst *in, int lane,
              llvm::function_ref<std::string()> detail) const {
    findings->report(kind, group, wave, in, lane, detail);
  }
};

/// Bounds, alignment, read-only memory, and the budget.
std::unique_ptr<WorkgroupObserver> makeAccessCheck(const CheckContext &context);
std::unique_ptr<WorkgroupObserver> makeUndefinedCheck(const CheckContext &context);
std::unique_ptr<WorkgroupObserver> makeLdsRaceCheck(const CheckContext &context);
std::unique_ptr<WorkgroupObserver> makeWaitCheck(const CheckContext &context);
std::unique_ptr<WorkgroupObserver> makeHazardCheck(const CheckContext &context);
std::unique_ptr<WorkgroupObserver> makeBarrierCheck(const CheckContext &context);

/// Who touched which global byte during a dispatch.
class GlobalHistory;
/// `bytes`: of memory that it may use.
std::shared_ptr<GlobalHistory> makeGlobalHistory(uint64_t bytes);
/// Accesses that found it full.
uint64_t skippedAccesses(const GlobalHistory &history);
std::unique_ptr<WorkgroupObserver> makeGlobalRaceCheck(const CheckContext &context,
                                                       std::shared_ptr<GlobalHistory> history);

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_CHECKS_H
