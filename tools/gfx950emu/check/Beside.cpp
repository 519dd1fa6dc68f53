//===- Beside.cpp -------------------------------------------------------------===//

#include "tools/gfx950emu/check/Beside.h"

namespace gfx950emu::check {

namespace {

class Pair : public WorkgroupObserver {
public:
  Pair(std::unique_ptr<WorkgroupObserver> watcher, std::unique_ptr<WorkgroupObserver> decider)
      : watcher(std::move(watcher)), decider(std::move(decider)) {}

  void waveBegin(Wave &wave) override {
    watcher->waveBegin(wave);
    decider->waveBegin(wave);
  }
  void waveEnd(Wave &wave) override {
    watcher->waveEnd(wave);
    decider->waveEnd(wave);
  }
  bool before(Wave &wave, const Inst *in) override {
    return watcher->before(wave, in) && decider->before(wave, in);
  }
  void after(Wave &wave, const Inst *in, const Inst *next) override {
    watcher->after(wave, in, next);
    decider->after(wave, in, next);
  }
  void access(Wave &wave, const Inst *in, const Access &access) override {
    watcher->access(wave, in, access);
    decider->access(wave, in, access);
  }
  bool fault(Wave &wave, const Inst *in) override {
    (void)watcher->fault(wave, in);
    return decider->fault(wave, in);
  }
  void barrierArrive(Wave &wave, const Inst *in) override {
    watcher->barrierArrive(wave, in);
    decider->barrierArrive(wave, in);
  }
  void barrierRelease() override {
    watcher->barrierRelease();
    decider->barrierRelease();
  }
  void finish() override {
    watcher->finish();
    decider->finish();
  }

private:
  std::unique_ptr<WorkgroupObserver> watcher, decider;
};

} // namespace

void Beside::begin(const Dispatch &dispatch, MemoryMap &memory) {
  watcher.begin(dispatch, memory);
  if (decider)
    decider->begin(dispatch, memory);
}

std::unique_ptr<WorkgroupObserver> Beside::workgroup(const WorkgroupInfo &info) {
  // One that does nothing lets every fault end the dispatch.
  return std::make_unique<Pair>(watcher.workgroup(info),
                                decider ? decider->workgroup(info)
                                        : std::make_unique<WorkgroupObserver>());
}

void Beside::end() {
  watcher.end();
  if (decider)
    decider->end();
}

} // namespace gfx950emu::check
