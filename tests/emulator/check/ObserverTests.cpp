//===- ObserverTests.cpp - what an observer is told -----------------------------------===//

#include "tests/emulator/check/Harness.h"
#include "tests/emulator/isa/Assembler.h"
#include "tools/gfx950emu/core/Wave.h"

#include <gtest/gtest.h>

#include <map>

namespace gfx950emu::check::test {
namespace {

/// Counts the calls; stops or passes over what it is told to.
class Counting : public DispatchObserver {
public:
  std::map<std::string, unsigned> calls;
  bool passesFaults = true;

  void begin(const Dispatch &, MemoryMap &) override { ++calls["begin"]; }
  void end() override { ++calls["end"]; }
  std::unique_ptr<WorkgroupObserver> workgroup(const WorkgroupInfo &) override {
    ++calls["workgroup"];
    return std::make_unique<Group>(*this);
  }

private:
  class Group : public WorkgroupObserver {
  public:
    explicit Group(Counting &owner) : owner(owner) {}
    void waveBegin(Wave &) override { ++owner.calls["waveBegin"]; }
    void waveEnd(Wave &) override { ++owner.calls["waveEnd"]; }
    bool before(Wave &, const Inst *) override { return ++owner.calls["before"]; }
    void after(Wave &, const Inst *, const Inst *) override { ++owner.calls["after"]; }
    void access(Wave &, const Inst *, const Access &a) override {
      ++owner.calls[spaceName(a.space).str() + (a.kind == AccessKind::Write ? " write" : " read")];
    }
    bool fault(Wave &, const Inst *) override {
      ++owner.calls["fault"];
      return owner.passesFaults;
    }
    void barrierArrive(Wave &, const Inst *) override { ++owner.calls["arrive"]; }
    void barrierRelease() override { ++owner.calls["release"]; }
    void finish() override { ++owner.calls["finish"]; }

  private:
    Counting &owner;
  };
};

/// Two workgroups of two waves: 3 instructions of the harness, 5 of these, s_endpgm.
constexpr const char *code = "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier\n"
                             "global_load_dword v2, v1, s[4:5] offset:4092\n s_waitcnt vmcnt(0)";

llvm::Error runUnder(DispatchObserver &observer) {
  isatest::Assembled assembled = isatest::assemble(moduleText(code, {.ldsBytes = 512}));
  MemoryMap memory;
  auto object = CodeObject::load(assembled.image, memory);
  if (!object)
    return object.takeError();
  uint64_t args[2] = {reinterpret_cast<uint64_t>(memory.allocate(4096)), 0};
  Dispatch d;
  d.object = object->get();
  d.kernel = (*object)->find("checked");
  d.grid = {2, 1, 1};
  d.block = {128, 1, 1};
  d.kernarg = {reinterpret_cast<const uint8_t *>(args), sizeof args};
  RunOptions options;
  options.threads = 1;
  options.observer = &observer;
  return run(d, memory, options).takeError();
}

TEST(Observer, IsToldEverythingOnce) {
  Counting first, second;
  ObserverList list({&first, &second});
  llvm::Error error = runUnder(list);
  ASSERT_FALSE(bool(error)) << toString(std::move(error));
  // Lane 0 of each workgroup's first wave reads in bounds, then the load faults and is passed over.
  std::map<std::string, unsigned> expected = {
      {"begin", 1},   {"end", 1},    {"workgroup", 2},   {"waveBegin", 4},   {"waveEnd", 4},
      {"before", 36}, {"after", 36}, {"LDS write", 256}, {"scalar read", 4}, {"global read", 2},
      {"fault", 4},   {"arrive", 4}, {"release", 2},     {"finish", 2}};
  EXPECT_EQ(first.calls, expected);
  EXPECT_EQ(second.calls, expected);
}

TEST(Observer, AllMustAgreeToPassOverAFault) {
  Counting first, second;
  second.passesFaults = false;
  ObserverList list({&first, &second});
  llvm::Error error = runUnder(list);
  ASSERT_TRUE(bool(error));
  EXPECT_NE(toString(std::move(error)).find("lane 1,"), std::string::npos);
  EXPECT_EQ(first.calls["fault"], 1u);
  EXPECT_EQ(first.calls["finish"], 1u);
  EXPECT_EQ(first.calls["end"], 1u);
}

} // namespace
} // namespace gfx950emu::check::test
