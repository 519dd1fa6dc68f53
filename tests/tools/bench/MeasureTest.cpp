//===- MeasureTest.cpp - bytes of kernels that are known by hand --------------===//
//
// A counter that misses a second read of a byte, or counts lanes that share one twice,
// fails here.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/isa/Assembler.h"
#include "tests/emulator/isa/Kernel.h"
#include "tools/bench/Bench.h"

#include <gtest/gtest.h>

namespace {

using bench::BufferTraffic;
using bench::Measurement;

constexpr uint64_t kBytes = 4096;

/// Source and target, neighbours in one allocation.
struct Counted {
  Measurement measurement;
  BufferTraffic source, target; ///< zeros when untouched
};

/// `body` after a prologue that leaves source in s[4:5], target in s[6:7], 4 * lane + 256 * group
/// in v1. The grid is 16 groups of a wave, so v1 spans kBytes.
Counted runCounted(const std::string &body) {
  const std::string prologue = "s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                               "s_lshl_b32 s8, s2, 8\n"
                               "v_lshlrev_b32_e32 v1, 2, v0\n"
                               "v_add_u32_e32 v1, s8, v1\n"
                               "s_waitcnt lgkmcnt(0)\n";
  Counted run;
  isatest::Assembled assembled =
      isatest::assemble(isatest::rawModuleText(prologue + body, 2, /*ldsBytes=*/1024, 0));
  EXPECT_EQ(assembled.error, "");
  gfx950emu::MemoryMap memory;
  auto object = gfx950emu::CodeObject::load(assembled.image, memory);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return run;
  }
  const auto base = reinterpret_cast<uint64_t>(memory.allocate(2 * kBytes));
  const uint64_t args[] = {base, base + kBytes};
  gfx950emu::Dispatch dispatch;
  dispatch.object = object->get();
  dispatch.kernel = (*object)->find(isatest::kernelName(0));
  dispatch.grid = {16, 1, 1};
  dispatch.block = {64, 1, 1};
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(args), sizeof args};
  // Not in the order of their addresses.
  auto measured = bench::measure(
      dispatch, memory, {{"target", base + kBytes, kBytes, 0, 0}, {"source", base, kBytes, 0, 0}});
  if (!measured) {
    ADD_FAILURE() << measured.error().message;
    return run;
  }
  run.measurement = *measured;
  for (const BufferTraffic &buffer : measured->buffers)
    (buffer.name == "source" ? run.source : run.target) = buffer;
  return run;
}

const std::string kCopy = "global_load_dword v2, v1, s[4:5]\n"
                          "s_waitcnt vmcnt(0)\n"
                          "global_store_dword v1, v2, s[6:7]\n";

double ratio(const Counted &run) {
  return static_cast<double>(run.measurement.bytesRead() + run.measurement.bytesWritten()) /
         (2 * kBytes);
}

// Groups 0 to 3 read nothing, 4 to 7 their 256 bytes once, the others twice.
TEST(Measure, ReadersAreCounted) {
  Counted run = runCounted("v_mov_b32_e32 v3, 0x400\n"
                           "v_cmp_ge_u32_e32 vcc, v1, v3\n"
                           "s_and_saveexec_b64 s[10:11], vcc\n"
                           "global_load_dword v2, v1, s[4:5]\n"
                           "v_mov_b32_e32 v3, 0x800\n"
                           "v_cmp_ge_u32_e32 vcc, v1, v3\n"
                           "s_and_b64 exec, exec, vcc\n"
                           "global_load_dword v2, v1, s[4:5]\n"
                           "s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(run.source.readers, 12u);
  EXPECT_EQ(run.source.mostRead, 512u);
  EXPECT_EQ(run.source.leastRead, 256u);
  EXPECT_EQ(run.source.read, 4u * 256 + 8 * 512);
  EXPECT_EQ(run.target.readers, 0u);
}

TEST(Measure, CopyMovesItsFloor) {
  Counted run = runCounted(kCopy);
  EXPECT_EQ(run.source.read, kBytes);
  EXPECT_EQ(run.source.written, 0u);
  EXPECT_EQ(run.target.read, 0u);
  EXPECT_EQ(run.target.written, kBytes);
  EXPECT_EQ(ratio(run), 1.0);
  EXPECT_EQ(run.measurement.counts.waves, 16u);
  EXPECT_EQ(run.measurement.argumentBytes, 16u * 16u); // s_load_dwordx4 of every wave
}

// Planted faults: the same result from twice the bytes.
TEST(Measure, ReadingAndWritingTwiceShowsTwice) {
  Counted run = runCounted(kCopy + kCopy);
  EXPECT_EQ(run.source.read, 2 * kBytes);
  EXPECT_EQ(run.target.written, 2 * kBytes);
  EXPECT_EQ(ratio(run), 2.0);
}

TEST(Measure, ReadingTwiceShowsOneAndAHalf) {
  Counted run = runCounted("global_load_dword v3, v1, s[4:5]\n" + kCopy);
  EXPECT_EQ(run.source.read, 2 * kBytes);
  EXPECT_EQ(run.target.written, kBytes);
  EXPECT_EQ(ratio(run), 1.5);
}

// Overlapping lanes move their union once.
TEST(Measure, LanesThatShareBytesMoveThemOnce) {
  Counted run = runCounted("v_mov_b32_e32 v3, 0\n"
                           "global_load_dwordx2 v[4:5], v3, s[4:5]\n"); // all lanes: bytes 0..7
  EXPECT_EQ(run.source.read, 16u * 8u);
  // Lane l reads bytes [4 l, 4 l + 16): 63 * 4 + 16 in all.
  run = runCounted("v_lshlrev_b32_e32 v3, 2, v0\n"
                   "global_load_dwordx4 v[4:7], v3, s[4:5]\n");
  EXPECT_EQ(run.source.read, 16u * (63 * 4 + 16));
}

TEST(Measure, OrderOfLanesDoesNotMatter) {
  // Lane l reads the dword of lane 63 - l; then every second dword, falling.
  Counted run = runCounted("v_sub_u32_e32 v3, 63, v0\n"
                           "v_lshlrev_b32_e32 v3, 2, v3\n"
                           "global_load_dword v4, v3, s[4:5]\n");
  EXPECT_EQ(run.source.read, 16u * 256u);
  run = runCounted("v_sub_u32_e32 v3, 63, v0\n"
                   "v_lshlrev_b32_e32 v3, 3, v3\n"
                   "global_load_dword v4, v3, s[4:5]\n");
  EXPECT_EQ(run.source.read, 16u * 256u);
}

// One instruction over the end of a buffer and the start of the next.
TEST(Measure, NeighbouringBuffersAreToldApart) {
  Counted run = runCounted("v_lshlrev_b32_e32 v3, 2, v0\n"
                           "v_add_u32_e32 v3, 0xfc0, v3\n" // from 64 bytes before the end
                           "global_load_dword v4, v3, s[4:5]\n");
  EXPECT_EQ(run.source.read, 16u * 64u);
  EXPECT_EQ(run.target.read, 16u * 192u);
  EXPECT_EQ(run.measurement.argumentBytes, 16u * 16u);
}

TEST(Measure, InactiveLanesMoveNothing) {
  Counted run = runCounted("s_mov_b64 exec, 0xff\n" + kCopy);
  EXPECT_EQ(run.source.read, 16u * 32u);
  EXPECT_EQ(run.target.written, 16u * 32u);
  run = runCounted("s_mov_b64 exec, 0\n" + kCopy);
  EXPECT_EQ(run.measurement.bytesRead() + run.measurement.bytesWritten(), 0u);
}

TEST(Measure, ScalarLoadsOfBuffersCountAndAtomicsCountBothWays) {
  Counted run = runCounted("s_load_dwordx8 s[16:23], s[4:5], 0x20\n"
                           "s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(run.source.read, 16u * 32u);
  run = runCounted("v_mov_b32_e32 v3, 1\n"
                   "global_atomic_add v1, v3, s[6:7]\n");
  EXPECT_EQ(run.target.read, kBytes);
  EXPECT_EQ(run.target.written, kBytes);
}

// What a load brings to LDS is read from memory once, and nothing is written there.
TEST(Measure, LoadsToLdsAreReads) {
  Counted run = runCounted("s_mov_b32 m0, 0\n"
                           "global_load_lds_dword v1, s[4:5]\n"
                           "s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(run.source.read, kBytes);
  EXPECT_EQ(run.source.written, 0u);
}

TEST(Measure, FaultsAreErrorsWithTheirText) {
  isatest::Assembled assembled = isatest::assemble(isatest::rawModuleText("s_trap 2\n", 1, 0, 0));
  ASSERT_EQ(assembled.error, "");
  gfx950emu::MemoryMap memory;
  auto object = gfx950emu::CodeObject::load(assembled.image, memory);
  ASSERT_TRUE(static_cast<bool>(object));
  const uint64_t argument = 0;
  gfx950emu::Dispatch dispatch;
  dispatch.object = object->get();
  dispatch.kernel = (*object)->find(isatest::kernelName(0));
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(&argument), sizeof argument};
  auto measured = bench::measure(dispatch, memory, {});
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find(": trap: "), std::string::npos)
      << measured.error().message;
}

TEST(Measure, FiguresOfMatrixAndLdsInstructions) {
  // 8 passes of the MFMA, beside 8 more VALU instructions than the prologue's two.
  std::string body = "v_mfma_f32_32x32x16_f16 v[8:23], v[4:7], v[4:7], 0\n";
  for (int i = 0; i < 6; ++i)
    body += "v_mov_b32_e32 v3, 0\n";
  Counted run = runCounted(body);
  const auto &counts = run.measurement.counts;
  const double passes = static_cast<double>(counts.total.mfmaPasses) / 16;
  EXPECT_GT(passes, 0);
  EXPECT_DOUBLE_EQ(bench::mfmaShare(counts), passes / (passes + 8));

  // All lanes in one bank: 32 lanes a phase take 32 turns instead of 1.
  run = runCounted("v_lshlrev_b32_e32 v3, 7, v0\n"
                   "v_and_b32_e32 v3, 0x380, v3\n"
                   "ds_write_b32 v3, v1\n");
  // 8 dwords of one bank in each half of the wave: 8 turns, 7 of them lost.
  EXPECT_DOUBLE_EQ(bench::ldsConflictShare(run.measurement.counts), 7.0 / 8.0);
  run = runCounted("v_lshlrev_b32_e32 v3, 2, v0\n"
                   "ds_write_b32 v3, v1\n");
  EXPECT_EQ(bench::ldsConflictShare(run.measurement.counts), 0.0);
}

} // namespace
