//===- Checker.cpp ------------------------------------------------------------===//

#include "tools/gfx950emu/check/Checker.h"

#include "tools/gfx950emu/check/Checks.h"

namespace gfx950emu::check {

struct Checker::DispatchState {
  std::shared_ptr<GlobalHistory> history;
};

namespace {

/// The checks of one workgroup as one observer. Unlike in an ObserverList, one check that can go
/// on after a fault is enough.
class GroupChecks : public WorkgroupObserver {
public:
  std::vector<std::unique_ptr<WorkgroupObserver>> checks;

  void waveBegin(Wave &wave) override {
    for (auto &check : checks)
      check->waveBegin(wave);
  }
  void waveEnd(Wave &wave) override {
    for (auto &check : checks)
      check->waveEnd(wave);
  }
  bool before(Wave &wave, const Inst *in) override {
    for (auto &check : checks)
      if (!check->before(wave, in))
        return false;
    return true;
  }
  void after(Wave &wave, const Inst *in, const Inst *next) override {
    for (auto &check : checks)
      check->after(wave, in, next);
  }
  void access(Wave &wave, const Inst *in, const Access &access) override {
    for (auto &check : checks)
      check->access(wave, in, access);
  }
  bool fault(Wave &wave, const Inst *in) override {
    bool goOn = false;
    for (auto &check : checks)
      goOn |= check->fault(wave, in);
    return goOn;
  }
  void barrierArrive(Wave &wave, const Inst *in) override {
    for (auto &check : checks)
      check->barrierArrive(wave, in);
  }
  void barrierRelease() override {
    for (auto &check : checks)
      check->barrierRelease();
  }
};

} // namespace

Checker::Checker(const CheckOptions &options)
    : options(options), sink(std::make_unique<Findings>(options.maxFindings)),
      state(std::make_unique<DispatchState>()) {}

Checker::~Checker() = default;

void Checker::begin(const Dispatch &, MemoryMap &) {
  state->history = options.races ? makeGlobalHistory(options.raceHistoryBytes) : nullptr;
}

std::unique_ptr<WorkgroupObserver> Checker::workgroup(const WorkgroupInfo &info) {
  auto group = std::make_unique<GroupChecks>();
  CheckContext context{info, sink.get(), &options};
  auto add = [&](bool wanted, auto make) {
    if (wanted)
      group->checks.push_back(make());
  };
  add(options.bounds || options.readOnly || options.alignment || options.progress,
      [&] { return makeAccessCheck(context); });
  add(options.waits, [&] { return makeWaitCheck(context); });
  add(options.hazards, [&] { return makeHazardCheck(context); });
  add(options.races, [&] { return makeLdsRaceCheck(context); });
  add(options.races, [&] { return makeGlobalRaceCheck(context, state->history); });
  add(options.barriers, [&] { return makeBarrierCheck(context); });
  add(options.undefined, [&] { return makeUndefinedCheck(context); });
  return group;
}

void Checker::end() {
  if (state->history)
    skipped += skippedAccesses(*state->history);
  state->history.reset();
}

std::vector<Finding> Checker::findings() const { return sink->list(); }
uint64_t Checker::dropped() const { return sink->dropped(); }
void Checker::clear() {
  sink->clear();
  skipped = 0;
}

} // namespace gfx950emu::check
