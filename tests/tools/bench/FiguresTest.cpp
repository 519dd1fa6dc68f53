//===- FiguresTest.cpp - figures made of counts -------------------------------===//

#include "tools/bench/Bench.h"

#include <gtest/gtest.h>

namespace {

namespace count = gfx950emu::count;

count::InstCounts instructions(uint64_t n, uint64_t passes = 0) {
  count::InstCounts counts;
  counts.instructions = n;
  counts.mfmaPasses = passes;
  return counts;
}

// MFMA passes x 4 / (those + 4 for each other VALU instruction): scalar, memory and LDS
// instructions do not count, integer multiplies and transcendentals do.
TEST(Figures, MfmaShare) {
  count::Counts counts;
  EXPECT_EQ(bench::mfmaShare(counts), 0.0);
  counts.classes[unsigned(count::InstClass::Mfma)] = counts.total = instructions(4, 32);
  EXPECT_EQ(bench::mfmaShare(counts), 1.0);
  counts.classes[unsigned(count::InstClass::Salu)] = instructions(1000);
  counts.classes[unsigned(count::InstClass::Lds)] = instructions(1000);
  EXPECT_EQ(bench::mfmaShare(counts), 1.0);
  counts.classes[unsigned(count::InstClass::Valu)] = instructions(28);
  counts.classes[unsigned(count::InstClass::QuarterRate)] = instructions(2);
  counts.classes[unsigned(count::InstClass::Transcendental)] = instructions(2);
  EXPECT_EQ(bench::mfmaShare(counts), 0.5);
}

TEST(Figures, LdsConflictsAreCyclesInAllCycles) {
  count::Counts counts;
  EXPECT_EQ(bench::ldsConflictShare(counts), 0.0);
  counts.total.ldsPhases32 = 6;
  counts.total.ldsConflicts32 = 2;
  EXPECT_EQ(bench::ldsConflictShare(counts), 0.25);
  // A turn over 64 banks moves twice as much and counts twice: 2 + 2 * 6 of 8 + 2 * 6.
  counts.total.ldsConflicts64 = 6;
  EXPECT_EQ(bench::ldsConflictShare(counts), 0.7);
}

TEST(Figures, WavesPerSimdByRegistersAndLds) {
  gfx950emu::KernelInfo kernel;
  kernel.vgprs = 128;
  count::Cost cost;
  cost.occupancy = count::occupancyOf(kernel, 4, 0);
  EXPECT_EQ(bench::wavesPerSimd(cost), 4.0); // 512 / 128
  // Two workgroups of four waves fit the LDS: two waves on each of four SIMDs.
  cost.occupancy = count::occupancyOf(kernel, 4, 80 * 1024);
  EXPECT_EQ(bench::wavesPerSimd(cost), 2.0);
  cost.occupancy = count::occupancyOf(kernel, 1, 160 * 1024);
  EXPECT_EQ(bench::wavesPerSimd(cost), 0.25);
}

} // namespace
