//===- Access.cpp - bounds, read-only memory, alignment and the budget --------------===//
//
// The interpreter finds accesses out of bounds itself; here they become findings and
// the dispatch goes on without the instruction. Alignment is checked here alone: the
// interpreter accepts what hardware in unaligned mode accepts.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/check/Checks.h"
#include "tools/gfx950emu/check/Operands.h"

#include <algorithm>

namespace gfx950emu::check {

namespace {

class AccessCheck : public WorkgroupObserver {
public:
  explicit AccessCheck(const CheckContext &context) : context(context) {}

  bool before(Wave &, const Inst *) override {
    misaligned = false;
    return true;
  }

  bool fault(Wave &wave, const Inst *in) override {
    const CheckOptions &options = *context.options;
    switch (wave.faultKind) {
    case FaultKind::OutOfBounds: {
      bool readOnly = wave.faultDetail.ends_with("is read-only");
      if (!(readOnly ? options.readOnly : options.bounds))
        return false;
      context.report(readOnly ? CheckKind::ReadOnly : CheckKind::Bounds, wave, in, wave.faultLane,
                     [&] { return wave.faultDetail; });
      return true;
    }
    case FaultKind::Misaligned:
      if (!options.alignment)
        return false;
      if (!misaligned) // an atomic's access has said it
        context.report(CheckKind::Alignment, wave, in, wave.faultLane,
                       [&] { return wave.faultDetail; });
      return true;
    case FaultKind::BudgetExhausted:
      if (options.progress)
        context.report(CheckKind::Progress, wave, in, -1, [&] { return wave.faultDetail; });
      return false;
    default:
      return false;
    }
  }

  void access(Wave &wave, const Inst *in, const Access &a) override {
    if (!context.options->alignment)
      return;
    uint32_t needed = alignment(*in, a);
    if (a.address % needed == 0)
      return;
    misaligned = true;
    context.report(CheckKind::Alignment, wave, in, a.lane, [&] {
      return spaceName(a.space).str() + " access of " + std::to_string(a.bytes) + " bytes at " +
             hexText(a.address) + ": expected a multiple of " + std::to_string(needed);
    });
  }

private:
  uint32_t alignment(const Inst &in, const Access &a) const {
    if (a.kind == AccessKind::Atomic)
      return a.bytes; // in every mode; LDS 64-bit atomics too
    if (a.space == Space::Constant || context.options->unalignedMode)
      return 1; // the scalar unit drops the low bits before the access
    if (a.space != Space::Lds)
      return std::min<uint32_t>(a.bytes, 4);
    // read2 and write2 want their element's alignment, as their single forms do.
    if (isLdsDma(in))
      return std::min<uint32_t>(a.bytes, 4);
    return a.bytes == 12 ? 16 : a.bytes;
  }

  CheckContext context;
  bool misaligned = false; ///< an access of the current instruction
};

class BarrierCheck : public WorkgroupObserver {
public:
  explicit BarrierCheck(const CheckContext &context)
      : context(context), waiting(context.group.waves), ended(context.group.waves) {}

  void waveEnd(Wave &wave) override { ended[wave.indexInGroup] = true; }
  void barrierArrive(Wave &wave, const Inst *in) override {
    waiting[wave.indexInGroup] = {&wave, in};
  }
  void barrierRelease() override {
    const Arrival *first = nullptr;
    for (const Arrival &a : waiting)
      if (a.wave) {
        first = first ? first : &a;
        if (a.in != first->in)
          context.report(CheckKind::Barrier, *a.wave, a.in, -1, [&] {
            return "wave " + std::to_string(first->wave->indexInGroup) + " waits at another one, " +
                   describe(*first->wave->program, first->in);
          });
      }
    for (size_t i = 0; i < waiting.size(); ++i)
      if (ended[i] && first)
        context.report(CheckKind::Barrier, *first->wave, first->in, -1,
                       [&] { return "wave " + std::to_string(i) + " has ended without it"; });
    std::fill(waiting.begin(), waiting.end(), Arrival());
  }

private:
  struct Arrival {
    const Wave *wave = nullptr;
    const Inst *in = nullptr;
  };
  CheckContext context;
  std::vector<Arrival> waiting;
  std::vector<bool> ended;
};

} // namespace

std::unique_ptr<WorkgroupObserver> makeAccessCheck(const CheckContext &context) {
  return std::make_unique<AccessCheck>(context);
}

std::unique_ptr<WorkgroupObserver> makeBarrierCheck(const CheckContext &context) {
  return std::make_unique<BarrierCheck>(context);
}

} // namespace gfx950emu::check
