//===- LdsTests.cpp - phases and bank conflicts, known by hand ----------------------===//

#include "tests/emulator/count/Counted.h"

#include "gtest/gtest.h"

#include <string>

namespace gfx950emu::test {
namespace {

struct Row {
  const char *what;
  std::string text; ///< v1 = lane * stride
  unsigned stride;  ///< bytes, a power of two times 1 or 3
  uint64_t phases32, conflicts32, phases64, conflicts64;
};

void expectRow(const Row &row, const std::string &setup = "") {
  SCOPED_TRACE(row.what);
  Counted r = runCounted("s_movk_i32 s4, " + std::to_string(row.stride) +
                             "\nv_mul_u32_u24_e32 v1, s4, v0\n" + setup + row.text + "\n",
                         {.ldsBytes = 32 * 1024});
  const count::InstCounts &c = r.counts.of(count::InstClass::Lds);
  EXPECT_EQ(c.instructions, 1u);
  EXPECT_EQ(c.ldsPhases32, row.phases32);
  EXPECT_EQ(c.ldsConflicts32, row.conflicts32);
  EXPECT_EQ(c.ldsPhases64, row.phases64);
  EXPECT_EQ(c.ldsConflicts64, row.conflicts64);
}

TEST(Lds, ReadB32) {
  expectRow({"dword a lane", "ds_read_b32 v2, v1", 4, 2, 0, 0, 0});
  expectRow({"every other bank, two lanes each", "ds_read_b32 v2, v1", 8, 2, 2, 0, 0});
  expectRow({"one bank", "ds_read_b32 v2, v1", 128, 2, 62, 0, 0});
  expectRow({"broadcast", "ds_read_b32 v2, v1", 0, 2, 0, 0, 0});
  expectRow({"four lanes a dword", "ds_read_u8 v2, v1", 1, 2, 0, 0, 0});
}

TEST(Lds, ReadB64) {
  expectRow({"pair a lane", "ds_read_b64 v[2:3], v1", 8, 0, 0, 2, 0});
  expectRow({"half of the banks", "ds_read_b64 v[2:3], v1", 16, 0, 0, 2, 2});
  expectRow({"two banks", "ds_read_b64 v[2:3], v1", 256, 0, 0, 2, 62});
  expectRow({"broadcast", "ds_read_b64 v[2:3], v1", 0, 0, 0, 2, 0});
}

TEST(Lds, ReadB128) {
  expectRow({"in order", "ds_read_b128 v[4:7], v1", 16, 0, 0, 4, 0});
  expectRow({"half of the banks", "ds_read_b128 v[4:7], v1", 32, 0, 0, 4, 4});
  expectRow({"four banks", "ds_read_b128 v[4:7], v1", 256, 0, 0, 4, 60});
  // Free of conflicts in 16 consecutive lanes, but lanes 20 to 27 meet lanes 0 to 3 and 12 to 15:
  // the upper 16 lanes of each half are turned by 8 places.
  expectRow({"phases are not consecutive lanes", "ds_read_b128 v[4:7], v1", 16, 0, 0, 4, 4},
            "v_lshrrev_b32_e32 v2, 4, v0\n"
            "v_and_b32_e32 v2, 1, v2\n"
            "v_lshlrev_b32_e32 v2, 7, v2\n"
            "v_xor_b32_e32 v1, v1, v2\n");
}

TEST(Lds, ReadB96) {
  expectRow({"in order", "ds_read_b96 v[4:6], v1", 16, 8, 0, 0, 0});
  // 8 lanes 128 bytes apart share three banks.
  expectRow({"three banks", "ds_read_b96 v[4:6], v1", 128, 8, 56, 0, 0});
}

TEST(Lds, Writes) {
  expectRow({"b32", "ds_write_b32 v1, v2", 4, 2, 0, 0, 0});
  expectRow({"b32 conflict", "ds_write_b32 v1, v2", 8, 2, 2, 0, 0});
  expectRow({"b64", "ds_write_b64 v1, v[2:3]", 8, 4, 0, 0, 0});
  expectRow({"b64 conflict: no 64 banks", "ds_write_b64 v1, v[2:3]", 16, 4, 4, 0, 0});
  expectRow({"b128", "ds_write_b128 v1, v[4:7]", 16, 8, 0, 0, 0});
  expectRow({"b128 conflict", "ds_write_b128 v1, v[4:7]", 128, 8, 56, 0, 0});
}

TEST(Lds, Pairs) {
  expectRow({"read2_b32", "ds_read2_b32 v[2:3], v1 offset1:1", 8, 4, 4, 0, 0});
  expectRow({"read2_b64", "ds_read2_b64 v[4:7], v1 offset1:64", 8, 0, 0, 4, 0});
  expectRow({"write2_b32", "ds_write2_b32 v1, v2, v3 offset1:64", 4, 4, 0, 0, 0});
}

TEST(Lds, PairOfOneLaneIsTwoAccesses) {
  expectRow({"lane 63", "ds_read2_b32 v[2:3], v1 offset1:32", 4, 4, 0, 0, 0},
            "s_mov_b32 exec_lo, 0\ns_brev_b32 exec_hi, 1\n");
}

TEST(Lds, AtomicsOfOneDwordTakeTurns) {
  expectRow({"own dwords", "ds_add_u32 v1, v2", 4, 2, 0, 0, 0});
  expectRow({"one dword", "ds_add_u32 v1, v2", 0, 2, 62, 0, 0});
}

TEST(Lds, InactiveLanesDoNotConflict) {
  expectRow({"four lanes of one bank", "ds_read_b32 v2, v1", 128, 2, 3, 0, 0},
            "s_mov_b64 exec, 15\n");
  expectRow({"no lane", "ds_read_b32 v2, v1", 128, 0, 0, 0, 0}, "s_mov_b64 exec, 0\n");
}

TEST(Lds, TransposedReadGoesAsPlain) {
  expectRow({"b64", "ds_read_b64_tr_b16 v[2:3], v1", 8, 0, 0, 2, 0});
}

TEST(Lds, BytesAndSwizzle) {
  Counted r = runCounted("v_lshlrev_b32_e32 v1, 4, v0\n"
                         "ds_write_b128 v1, v[4:7]\n"
                         "ds_read_b64 v[2:3], v1\n"
                         "ds_add_u32 v1, v2\n"
                         "ds_bpermute_b32 v2, v1, v0\n",
                         {.ldsBytes = 1024});
  EXPECT_EQ(r.counts.of(Space::Lds).written, 1024u);
  EXPECT_EQ(r.counts.of(Space::Lds).read, 512u);
  EXPECT_EQ(r.counts.of(Space::Lds).atomic, 256u);
  EXPECT_EQ(r.counts.of(count::InstClass::Lds).instructions, 4u);
  EXPECT_EQ(r.counts.opcodes.at("ds_bpermute_b32").ldsPhases32, 0u) << "touches no memory";
}

} // namespace
} // namespace gfx950emu::test
