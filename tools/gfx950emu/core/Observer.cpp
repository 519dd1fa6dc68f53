//===- Observer.cpp -----------------------------------------------------------===//

#include "tools/gfx950emu/core/Observer.h"

#include "tools/gfx950emu/core/OpTable.h"

#include <algorithm>

using namespace llvm;

namespace gfx950emu {

WorkgroupObserver::~WorkgroupObserver() = default;
DispatchObserver::~DispatchObserver() = default;

StringRef spaceName(Space space) {
  switch (space) {
  case Space::Global:
    return "global";
  case Space::Lds:
    return "LDS";
  case Space::Scratch:
    return "scratch";
  case Space::Constant:
    return "scalar";
  }
  return "unknown";
}

AccessKind accessKind(const Inst &in, Space space) {
  const OpInfo &op = *in.op;
  switch (op.family) {
  case Family::Ds:
    return op.mnemonic.starts_with("ds_read")    ? AccessKind::Read
           : op.mnemonic.starts_with("ds_write") ? AccessKind::Write
                                                 : AccessKind::Atomic;
  case Family::Flat:
  case Family::Mubuf:
    if (op.mnemonic.contains("_atomic_"))
      return AccessKind::Atomic;
    if (op.src[1] != ValueType::None)
      return AccessKind::Write;
    // A load without a destination register goes to LDS.
    return space == Space::Lds && !in.dst.present() ? AccessKind::Write : AccessKind::Read;
  default:
    return AccessKind::Read;
  }
}

namespace {

class WorkgroupList : public WorkgroupObserver {
public:
  std::vector<std::unique_ptr<WorkgroupObserver>> parts;

  void waveBegin(Wave &wave) override {
    for (auto &part : parts)
      part->waveBegin(wave);
  }
  void waveEnd(Wave &wave) override {
    for (auto &part : parts)
      part->waveEnd(wave);
  }
  bool before(Wave &wave, const Inst *in) override {
    return std::all_of(parts.begin(), parts.end(),
                       [&](auto &part) { return part->before(wave, in); });
  }
  void after(Wave &wave, const Inst *in, const Inst *next) override {
    for (auto &part : parts)
      part->after(wave, in, next);
  }
  void access(Wave &wave, const Inst *in, const Access &access) override {
    for (auto &part : parts)
      part->access(wave, in, access);
  }
  bool fault(Wave &wave, const Inst *in) override {
    bool goOn = true;
    for (auto &part : parts)
      goOn &= part->fault(wave, in);
    return goOn;
  }
  void barrierArrive(Wave &wave, const Inst *in) override {
    for (auto &part : parts)
      part->barrierArrive(wave, in);
  }
  void barrierRelease() override {
    for (auto &part : parts)
      part->barrierRelease();
  }
  void finish() override {
    for (auto &part : parts)
      part->finish();
  }
};

} // namespace

void ObserverList::begin(const Dispatch &dispatch, MemoryMap &memory) {
  for (DispatchObserver *observer : observers)
    observer->begin(dispatch, memory);
}

std::unique_ptr<WorkgroupObserver> ObserverList::workgroup(const WorkgroupInfo &info) {
  auto list = std::make_unique<WorkgroupList>();
  for (DispatchObserver *observer : observers)
    list->parts.push_back(observer->workgroup(info));
  return list;
}

void ObserverList::end() {
  for (DispatchObserver *observer : observers)
    observer->end();
}

} // namespace gfx950emu
