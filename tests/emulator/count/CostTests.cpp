//===- CostTests.cpp - the cost estimate, limit by limit ----------------------------===//

#include "tests/emulator/count/Counted.h"
#include "tools/gfx950emu/count/Cost.h"

#include "gtest/gtest.h"

#include <string>

namespace gfx950emu::test {
namespace {

using count::Cost;
using count::Counts;
using count::InstClass;

KernelInfo kernelWith(uint32_t vgprs, uint32_t ldsBytes = 0) {
  KernelInfo kernel;
  kernel.name = "k";
  kernel.vgprs = vgprs;
  kernel.ldsBytes = ldsBytes;
  return kernel;
}

double limit(const Cost &cost, const std::string &name) {
  for (const count::Limit &l : cost.limits)
    if (l.name == name)
      return l.cycles;
  ADD_FAILURE() << "no limit " << name;
  return -1;
}
std::string binding(const Cost &cost) {
  std::string names;
  for (const count::Limit &l : cost.limits)
    if (l.binding)
      names += l.name;
  return names;
}

/// 1024 workgroups of 4 waves: four on each compute unit, all SIMDs used.
Counts evenCounts() {
  Counts c;
  c.kernel = "k";
  c.workgroups = 1024;
  c.waves = 4096;
  return c;
}
void add(Counts &c, InstClass kind, count::InstCounts value) {
  c.classes[unsigned(kind)] += value;
  c.total += value;
}

TEST(Cost, Occupancy) {
  auto groups = [](uint32_t vgprs, unsigned waves, uint64_t lds) {
    return count::occupancyOf(kernelWith(vgprs), waves, lds).groups;
  };
  EXPECT_EQ(groups(64, 4, 0), 8u) << "8 waves a SIMD";
  EXPECT_EQ(groups(65, 4, 0), 7u) << "72 registers: 7 waves";
  EXPECT_EQ(groups(128, 4, 0), 4u);
  EXPECT_EQ(groups(512, 4, 0), 1u);
  EXPECT_EQ(groups(64, 16, 0), 2u);
  EXPECT_EQ(groups(64, 4, 163840), 1u);
  EXPECT_EQ(groups(64, 4, 163840 / 2), 2u);
  EXPECT_EQ(groups(64, 4, 163840 / 2 + 1), 1u) << "rounded up to 1280 bytes";
  EXPECT_EQ(groups(64, 4, 1), 8u);
}

TEST(Cost, Valu) {
  Counts c = evenCounts();
  add(c, InstClass::Valu, {.instructions = 1024 * 100});
  add(c, InstClass::QuarterRate, {.instructions = 1024 * 10});
  add(c, InstClass::Transcendental, {.instructions = 1024 * 20});
  Cost cost = count::estimateCost(c, kernelWith(64), 0);
  // 4 workgroups a unit, 4 SIMDs: one workgroup's worth for each SIMD.
  EXPECT_DOUBLE_EQ(limit(cost, "VALU"), 100 * 4 + 10 * 16 + 20 * 8);
  EXPECT_EQ(binding(cost), "VALU");
  EXPECT_DOUBLE_EQ(cost.cycles, 720);
  EXPECT_DOUBLE_EQ(cost.microseconds, 0.3);
}

TEST(Cost, LaneSwapsTakeTwice) {
  Counts c = evenCounts();
  add(c, InstClass::Valu, {.instructions = 1024 * 100});
  c.opcodes["v_permlane32_swap_b32"].instructions = 1024 * 30;
  Cost cost = count::estimateCost(c, kernelWith(64), 0);
  EXPECT_DOUBLE_EQ(limit(cost, "VALU"), 70 * 4 + 30 * 8);
}

TEST(Cost, MfmaPeakIsTheVendors) {
  // 16x16x32 f16 for a second on all SIMDs: 2.5 PFLOP/s.
  Counts c = evenCounts();
  const double each = 1e6;
  add(c, InstClass::Mfma,
      {.instructions = uint64_t(1024 * each), .mfmaPasses = uint64_t(1024 * each * 4)});
  Cost cost = count::estimateCost(c, kernelWith(64), 0);
  double flops = 1024 * each * 2 * 16 * 16 * 32;
  EXPECT_NEAR(flops / (cost.microseconds * 1e-6), 2.516e15, 1e12);
  EXPECT_EQ(binding(cost), "MFMA");
}

TEST(Cost, LdsAndCaches) {
  Counts c = evenCounts();
  add(c, InstClass::Lds,
      {.instructions = 2048,
       .ldsPhases32 = 1024 * 2,
       .ldsConflicts32 = 1024 * 3,
       .ldsPhases64 = 1024 * 4,
       .ldsConflicts64 = 1024});
  add(c, InstClass::VmemLoad, {.instructions = 1024, .memoryAccesses = 1024, .lines = 1024 * 8});
  c.linesRead = 3333;
  c.linesWritten = 3333;
  Cost cost = count::estimateCost(c, kernelWith(64), 0);
  EXPECT_DOUBLE_EQ(limit(cost, "LDS"), 4 * (5 + 5 * 2));
  EXPECT_DOUBLE_EQ(limit(cost, "L1"), 4 * 8 * 128 / 64.0);
  EXPECT_DOUBLE_EQ(limit(cost, "L2"), 128 * 8 * 128 / 2048.0);
  EXPECT_DOUBLE_EQ(limit(cost, "HBM"), 256);
  EXPECT_DOUBLE_EQ(limit(cost, "VMEM issue"), 4);
  EXPECT_EQ(binding(cost), "HBM");
}

TEST(Cost, FewWavesUseFewSimds) {
  Counts c;
  c.workgroups = 1;
  c.waves = 1;
  c.longestWave = 10;
  add(c, InstClass::Valu, {.instructions = 10});
  Cost cost = count::estimateCost(c, kernelWith(64), 0);
  EXPECT_EQ(cost.simdsUsed, 1u);
  EXPECT_DOUBLE_EQ(limit(cost, "VALU"), 40);
  EXPECT_DOUBLE_EQ(limit(cost, "wave issue"), 40);
}

TEST(Cost, RoundsWhenWorkgroupsDoNotFitAtOnce) {
  Counts c = evenCounts();
  c.longestWave = 100;
  EXPECT_DOUBLE_EQ(limit(count::estimateCost(c, kernelWith(64), 0), "wave issue"), 400);
  EXPECT_DOUBLE_EQ(limit(count::estimateCost(c, kernelWith(64), 100000), "wave issue"), 1600);
  EXPECT_DOUBLE_EQ(limit(count::estimateCost(c, kernelWith(64, 80000), 0), "wave issue"), 800);
}

TEST(Cost, TextSaysWhatItIs) {
  Counted r = runCounted(std::string(prologue) + "global_load_dword v2, v1, s[4:5]\n");
  Cost cost = count::estimateCost(r.counts, r.kernel, 0);
  std::string text;
  llvm::raw_string_ostream os(text);
  count::printCost(cost, os);
  EXPECT_NE(text.find("estimate by a stated model"), std::string::npos) << text;
  EXPECT_NE(text.find("* wave issue"), std::string::npos) << text;
  EXPECT_NE(text.find("hbmBytesPerCycle"), std::string::npos) << text;
  llvm::json::Object json = count::toJson(cost);
  EXPECT_EQ(json.getArray("limits")->size(), cost.limits.size());
  EXPECT_EQ(json.getNumber("cycles_per_cu"), cost.cycles);
}

} // namespace
} // namespace gfx950emu::test
