//===- CountTests.cpp - counts of small kernels, known by hand ----------------------===//

#include "tests/emulator/count/Counted.h"

#include "gtest/gtest.h"

#include <string>

namespace gfx950emu::test {
namespace {

using count::InstClass;

TEST(Count, CoalescedLoad) {
  Counted r = runCounted(std::string(prologue) + "global_load_dword v2, v1, s[4:5]\n"
                                                 "s_waitcnt vmcnt(0)\n");
  const count::Counts &c = r.counts;
  EXPECT_EQ(c.total.instructions, 6u);
  EXPECT_EQ(c.total.instructions, r.stats.instructions);
  EXPECT_EQ(c.of(InstClass::Smem).instructions, 1u);
  EXPECT_EQ(c.of(InstClass::Valu).instructions, 1u);
  EXPECT_EQ(c.of(InstClass::Valu).lanes, 64u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).instructions, 1u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).lanes, 64u);
  EXPECT_EQ(c.of(InstClass::Other).instructions, 3u) << "two s_waitcnt and s_endpgm";
  EXPECT_EQ(c.of(Space::Global).read, 256u);
  EXPECT_EQ(c.of(Space::Global).read + c.of(Space::Constant).read, r.stats.globalBytesRead);
  EXPECT_EQ(c.of(Space::Global).written, 0u);
  EXPECT_EQ(c.of(Space::Constant).read, 8u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).memoryAccesses, 1u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).lines, 2u);
  EXPECT_EQ(c.linesRead, 2u);
  EXPECT_EQ(c.linesWritten, 0u);
  EXPECT_EQ(c.scalarLines, 1u);
  EXPECT_EQ(c.longestWave, 6u);
  EXPECT_EQ(c.opcodes.at("s_waitcnt").instructions, 2u);
  EXPECT_EQ(c.opcodes.at("v_lshlrev_b32").instructions, 1u);
  EXPECT_EQ(c.opcodes.at("global_load_dword").lanes, 64u);
}

TEST(Count, StridedLoadTouchesALineALane) {
  Counted r = runCounted(std::string(prologue) + "v_lshlrev_b32_e32 v1, 5, v1\n"
                                                 "global_load_dword v2, v1, s[4:5]\n"
                                                 "global_load_dword v3, v1, s[4:5] offset:4\n");
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).memoryAccesses, 2u);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 128u);
  EXPECT_EQ(r.counts.linesRead, 64u) << "the second load meets the same lines";
  EXPECT_EQ(r.counts.of(Space::Global).read, 512u);
}

TEST(Count, AccessAcrossALineIsTwoLines) {
  Counted r = runCounted(std::string(prologue) + "s_mov_b64 exec, 1\n"
                                                 "global_load_dwordx2 v[2:3], v1, s[4:5] "
                                                 "offset:124\n");
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 2u);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lanes, 1u);
}

TEST(Count, PartialExec) {
  Counted r = runCounted(std::string(prologue) + "s_mov_b64 exec, 0xff\n"
                                                 "v_add_f32_e32 v2, v1, v1\n"
                                                 "global_load_dword v2, v1, s[4:5]\n"
                                                 "s_mov_b64 exec, 0\n"
                                                 "global_load_dword v2, v1, s[4:5]\n");
  const count::Counts &c = r.counts;
  EXPECT_EQ(c.of(InstClass::Valu).instructions, 2u);
  EXPECT_EQ(c.of(InstClass::Valu).lanes, 64u + 8u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).instructions, 2u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).lanes, 8u);
  EXPECT_EQ(c.of(InstClass::VmemLoad).memoryAccesses, 1u) << "none when no lane is active";
  EXPECT_EQ(c.of(InstClass::VmemLoad).lines, 1u);
  EXPECT_EQ(c.of(Space::Global).read, 32u);
}

TEST(Count, LastWaveOfABlockIsPartial) {
  Counted r = runCounted("v_mov_b32_e32 v1, 0\n", {.block = 70});
  EXPECT_EQ(r.counts.waves, 2u);
  EXPECT_EQ(r.counts.of(InstClass::Valu).lanes, 70u);
}

TEST(Count, StoresAndAtomics) {
  Counted r = runCounted(std::string(prologue) + "v_lshlrev_b32_e32 v2, 2, v1\n"
                                                 "global_store_dwordx4 v2, v[4:7], s[4:5]\n"
                                                 "v_mov_b32_e32 v2, 0\n"
                                                 "v_mov_b32_e32 v3, 1\n"
                                                 "global_atomic_add v2, v3, s[4:5] offset:2048\n");
  const count::Counts &c = r.counts;
  EXPECT_EQ(c.of(InstClass::VmemStore).instructions, 1u);
  EXPECT_EQ(c.of(InstClass::VmemStore).lines, 8u);
  EXPECT_EQ(c.of(InstClass::VmemAtomic).instructions, 1u);
  EXPECT_EQ(c.of(InstClass::VmemAtomic).lines, 1u);
  EXPECT_EQ(c.of(Space::Global).written, 1024u);
  EXPECT_EQ(c.of(Space::Global).atomic, 256u);
  EXPECT_EQ(c.linesWritten, 9u);
  EXPECT_EQ(c.linesRead, 1u) << "the atomic's";
  EXPECT_EQ(c.linesTouched, 9u);
}

TEST(Count, BufferLoadIsOneAccess) {
  // A raw resource of 64 KiB at the buffer.
  Counted r = runCounted(std::string(prologue) + "s_mov_b32 s6, 0x10000\n"
                                                 "s_mov_b32 s7, 0x27000\n"
                                                 "v_lshlrev_b32_e32 v2, 2, v1\n"
                                                 "buffer_load_dwordx4 v[4:7], v2, s[4:7], 0 "
                                                 "offen\n");
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).memoryAccesses, 1u);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 8u);
  EXPECT_EQ(r.counts.of(Space::Global).read, 1024u);
}

/// A raw resource of `records` bytes at `base` (two scalar moves, or the buffer), 16 bytes a lane.
Counted loadBuffer(const std::string &base, unsigned records, const std::string &operands) {
  return runCounted(std::string(prologue) + base + "s_movk_i32 s6, " + std::to_string(records) +
                    "\ns_mov_b32 s7, 0x27000\ns_mov_b32 s8, 0x1000\nv_lshlrev_b32_e32 v2, 2, v1\n" +
                    "buffer_load_dwordx4 v[4:7], v2, s[4:7], " + operands + "\n");
}

TEST(Count, BufferLoadCountsWhatIsInRange) {
  // Six lanes, and one dword of the seventh.
  Counted r = loadBuffer("", 100, "0 offen");
  EXPECT_EQ(r.counts.of(Space::Global).read, 100u);
  EXPECT_EQ(r.counts.of(Space::Global).read + r.counts.of(Space::Constant).read,
            r.stats.globalBytesRead);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).memoryAccesses, 1u);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 1u);
  // The immediate and soffset count.
  EXPECT_EQ(loadBuffer("", 100, "0 offen offset:96").counts.of(Space::Global).read, 4u);
  EXPECT_EQ(loadBuffer("", 4100, "s8 offen").counts.of(Space::Global).read, 4u);
}

TEST(Count, BufferLoadOutOfRangeTouchesNoMemory) {
  const std::string nowhere = "s_mov_b32 s4, 0x1000\ns_mov_b32 s5, 0\n";
  for (const char *operands : {"0 offen", "0 offen offset:4092", "s8 offen"})
    for (unsigned records : {0u, 3u}) {
      Counted r = loadBuffer(nowhere, records, operands);
      EXPECT_EQ(r.counts.of(Space::Global).read, 0u) << operands;
      EXPECT_EQ(r.counts.of(InstClass::VmemLoad).instructions, 1u) << operands;
      EXPECT_EQ(r.counts.of(InstClass::VmemLoad).memoryAccesses, 0u) << operands;
      EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 0u) << operands;
      EXPECT_EQ(r.counts.linesTouched, 0u) << operands;
      EXPECT_EQ(r.stats.globalBytesRead, r.counts.of(Space::Constant).read) << operands;
    }
}

TEST(Count, ScalarBufferLoadCountsWhatIsInRange) {
  Counted r = runCounted(std::string(prologue) + "s_mov_b32 s6, 8\n"
                                                 "s_mov_b32 s7, 0x27000\n"
                                                 "s_buffer_load_dwordx4 s[8:11], s[4:7], 0x0\n");
  EXPECT_EQ(r.counts.of(Space::Constant).read, 8u + 8u);
  EXPECT_EQ(r.stats.globalBytesRead, 8u + 8u);
}

TEST(Count, LdsDmaReadsGlobalAndWritesLds) {
  Counted r = runCounted(std::string(prologue) + "s_mov_b32 m0, 0\n"
                                                 "global_load_lds_dword v1, s[4:5]\n",
                         {.ldsBytes = 256});
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).instructions, 1u);
  EXPECT_EQ(r.counts.of(InstClass::VmemLoad).lines, 2u);
  EXPECT_EQ(r.counts.of(Space::Global).read, 256u);
  EXPECT_EQ(r.counts.of(Space::Lds).written, 256u);
  EXPECT_EQ(r.counts.total.ldsPhases32, 0u) << "no rule is published";
  EXPECT_EQ(r.counts.linesWritten, 0u);
}

TEST(Count, LoopsAndLongestWave) {
  // Wave 0 goes round 10 times, wave 1 20 times.
  Counted r = runCounted("v_readfirstlane_b32 s4, v0\n"
                         "s_mov_b32 s5, 10\n"
                         "s_cmp_eq_u32 s4, 0\n"
                         "s_cselect_b32 s5, 10, 20\n"
                         "Lloop:\n"
                         "v_exp_f32_e32 v1, v0\n"
                         "v_mul_lo_u32 v1, v0, v0\n"
                         "s_sub_u32 s5, s5, 1\n"
                         "s_cmp_lg_u32 s5, 0\n"
                         "s_cbranch_scc1 Lloop\n",
                         {.block = 128});
  const count::Counts &c = r.counts;
  EXPECT_EQ(c.of(InstClass::Transcendental).instructions, 30u);
  EXPECT_EQ(c.of(InstClass::Transcendental).lanes, 30u * 64);
  EXPECT_EQ(c.of(InstClass::QuarterRate).instructions, 30u);
  EXPECT_EQ(c.of(InstClass::Valu).instructions, 2u);
  EXPECT_EQ(c.of(InstClass::Salu).instructions, 2u * 3 + 30 * 2);
  EXPECT_EQ(c.of(InstClass::Branch).instructions, 30u);
  EXPECT_EQ(c.longestWave, 4u + 20 * 5 + 1);
  EXPECT_EQ(c.total.instructions, r.stats.instructions);
}

TEST(Count, Barriers) {
  Counted r = runCounted("s_barrier\ns_nop 0\ns_barrier\n", {.grid = 3, .block = 128});
  EXPECT_EQ(r.counts.workgroups, 3u);
  EXPECT_EQ(r.counts.waves, 6u);
  EXPECT_EQ(r.counts.of(InstClass::Barrier).instructions, 12u);
  EXPECT_EQ(r.counts.barrierReleases, 6u);
}

TEST(Count, Scratch) {
  Counted r = runCounted("s_mov_b64 exec, 7\n"
                         "v_mov_b32_e32 v2, 0\n"
                         "scratch_store_dwordx2 v2, v[4:5], off\n"
                         "scratch_load_dword v3, v2, off\n");
  EXPECT_EQ(r.counts.of(InstClass::Scratch).instructions, 2u);
  EXPECT_EQ(r.counts.of(InstClass::Scratch).lanes, 6u);
  EXPECT_EQ(r.counts.of(Space::Scratch).written, 24u);
  EXPECT_EQ(r.counts.of(Space::Scratch).read, 12u);
  EXPECT_EQ(r.counts.linesTouched, 0u);
}

TEST(Count, MfmaPasses) {
  struct Row {
    const char *text;
    unsigned passes;
  };
  const Row rows[] = {
      {"v_mfma_f32_4x4x4_16b_f16 v[0:3], v[32:33], v[34:35], v[0:3]", 2},
      {"v_mfma_f32_16x16x32_f16 v[0:3], v[32:35], v[36:39], v[0:3]", 4},
      {"v_mfma_f32_32x32x16_bf16 v[0:15], v[32:35], v[36:39], v[0:15]", 8},
      {"v_mfma_i32_16x16x64_i8 v[0:3], v[32:35], v[36:39], v[0:3]", 4},
      {"v_mfma_f32_16x16x4_f32 v[0:3], v32, v33, v[0:3]", 8},
      {"v_mfma_f32_32x32x2_f32 v[0:15], v32, v33, v[0:15]", 16},
      {"v_mfma_f32_16x16x4_4b_f16 v[0:15], v[32:33], v[34:35], v[0:15]", 8},
      {"v_mfma_f64_16x16x4_f64 v[0:7], v[32:33], v[34:35], v[0:7]", 16},
      {"v_mfma_f64_4x4x4_4b_f64 v[0:1], v[32:33], v[34:35], v[0:1]", 4},
      {"v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[32:33], v[34:35], v[0:3]", 4},
      {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:35], v[36:39], v[0:3] cbsz:4 blgp:4", 4},
      {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[16:21], v[24:29], v[0:3] cbsz:2 blgp:3", 4},
      {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[16:23], v[24:31], v[0:3]", 8},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:35], v[36:39], v[0:15] cbsz:4 blgp:4", 8},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:35], v[16:23], v[0:15] cbsz:4", 16},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[32:35], v[36:39], v[0:3], v4, v5 "
       "cbsz:4 blgp:4",
       4},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.text);
    Counted r = runCounted(std::string("s_mov_b64 exec, 1\n") + row.text + "\n" + row.text + "\n");
    EXPECT_EQ(r.counts.of(InstClass::Mfma).instructions, 2u);
    EXPECT_EQ(r.counts.of(InstClass::Mfma).mfmaPasses, 2u * row.passes);
    EXPECT_EQ(r.counts.of(InstClass::Mfma).lanes, 0u) << "EXEC has no say";
  }
}

TEST(Count, DoesNotDependOnThreadsOrSeed) {
  const std::string body = std::string(prologue) + "s_lshl_b32 s6, s2, 8\n"
                                                   "v_add_u32_e32 v1, s6, v1\n"
                                                   "s_add_u32 s7, s2, 1\n"
                                                   "Lloop:\n"
                                                   "global_load_dword v2, v1, s[4:5]\n"
                                                   "ds_write_b32 v1, v2\n"
                                                   "s_barrier\n"
                                                   "s_sub_u32 s7, s7, 1\n"
                                                   "s_cmp_lg_u32 s7, 0\n"
                                                   "s_cbranch_scc1 Lloop\n";
  auto json = [&](unsigned threads, uint64_t seed) {
    Counted r = runCounted(
        body, {.grid = 40, .block = 256, .ldsBytes = 16 * 1024, .threads = threads, .seed = seed});
    EXPECT_EQ(r.counts.of(InstClass::Barrier).instructions, 4u * 40 * 41 / 2);
    return llvm::json::Value(count::toJson(r.counts));
  };
  llvm::json::Value expected = json(1, 0);
  EXPECT_EQ(json(4, 0), expected);
  EXPECT_EQ(json(1, 7), expected);
  EXPECT_EQ(json(3, 99), expected);
}

TEST(Count, TableNamesWhatWasCounted) {
  Counted r = runCounted(std::string(prologue) + "global_load_dword v2, v1, s[4:5]\n");
  std::string text;
  llvm::raw_string_ostream os(text);
  count::printTable(r.counts, os);
  EXPECT_NE(text.find("1 workgroups, 1 waves, longest 5 instructions"), std::string::npos) << text;
  EXPECT_NE(text.find("global_load_dword"), std::string::npos);
  EXPECT_NE(text.find("distinct lines of 128 bytes: 2 read, 0 written, 2 in all, 1 by scalar"),
            std::string::npos)
      << text;
}

} // namespace
} // namespace gfx950emu::test
