//===- UndefinedTests.cpp - planted uses of values that nothing wrote ----------------------===//

#include "tests/emulator/check/Planted.h"

namespace gfx950emu::check::test {
namespace {

const Planted faults[] = {
    {"StoredRegister",
     CheckKind::Undefined,
     "global_store_dword v1, v2, s[6:7]",
     {"lane 0", "stores to global memory undefined bits of v2, which nothing has written"},
     "v_mov_b32_e32 v2, 0\n global_store_dword v1, v2, s[6:7]"},
    {"ThroughArithmetic",
     CheckKind::Undefined,
     "v_mul_f32_e32 v3, v2, v0\n v_add_f32_e32 v3, v3, v0\n global_store_dword v1, v3, s[6:7]",
     {"undefined bits of v3, which come through `v_add_f32_e32 v3, v3, v0`"},
     "v_mul_f32_e32 v3, v0, v0\n v_add_f32_e32 v3, v3, v0\n global_store_dword v1, v3, s[6:7]"},
    {"OneLane",
     CheckKind::Undefined,
     "s_mov_b64 exec, 0xff\n v_mov_b32_e32 v2, 0\n s_mov_b64 exec, 0x1ff\n"
     "global_store_dword v1, v2, s[6:7]",
     {"lane 8"},
     "s_mov_b64 exec, 0xff\n v_mov_b32_e32 v2, 0\n s_mov_b64 exec, 0x7f\n"
     "global_store_dword v1, v2, s[6:7]"},
    {"Address",
     CheckKind::Undefined,
     "s_mov_b64 exec, 0\n v_mov_b32_e32 v3, v1\n s_mov_b64 exec, 1\n v_and_b32_e32 v3, 0xfc, v3\n"
     "global_load_dword v2, v3, s[4:5]\n s_waitcnt vmcnt(0)",
     {"uses as address undefined bits of v3"},
     "v_mov_b32_e32 v3, v1\n s_mov_b64 exec, 1\n v_and_b32_e32 v3, 0xfc, v3\n"
     "global_load_dword v2, v3, s[4:5]\n s_waitcnt vmcnt(0)"},
    {"ScalarBranch",
     CheckKind::Undefined,
     "s_cmp_eq_u32 s20, 5\n s_cbranch_scc1 .Lx\n s_nop 0\n.Lx:",
     {"branches on undefined bits of scc", "`s_cmp_eq_u32 s20, 5`"},
     "s_cmp_eq_u32 s2, 5\n s_cbranch_scc1 .Lx\n s_nop 0\n.Lx:"},
    {"VectorBranch",
     CheckKind::Undefined,
     "v_cmp_eq_u32_e32 vcc, 5, v2\n s_cbranch_vccz .Lx\n s_nop 0\n.Lx:",
     {"branches on undefined bits of vcc"},
     "v_cmp_eq_u32_e32 vcc, 5, v0\n s_cbranch_vccz .Lx\n s_nop 0\n.Lx:"},
    {"Exec",
     CheckKind::Undefined,
     "v_cmp_gt_u32_e32 vcc, 5, v2\n s_and_saveexec_b64 s[8:9], vcc",
     {"sets EXEC from undefined bits of exec"},
     "v_cmp_gt_u32_e32 vcc, 5, v0\n s_and_saveexec_b64 s[8:9], vcc"},
    {"Memory",
     CheckKind::Undefined,
     "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v2, s[6:7]",
     {"`global_load_dword v2, v1, s[4:5]`"},
     "global_store_dword v1, v0, s[4:5]\n s_waitcnt vmcnt(0)\n"
     "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v2, s[6:7]",
     {.inputDefined = false}},
    {"ScalarMemory",
     CheckKind::Undefined,
     "s_load_dword s8, s[4:5], 0x0\n s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v2, s8\n"
     "global_store_dword v1, v2, s[6:7]",
     {"`v_mov_b32_e32 v2, s8`"},
     "s_load_dword s8, s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v2, s8\n"
     "global_store_dword v1, v2, s[6:7]",
     {.inputDefined = false}},
    {"Lds",
     CheckKind::Undefined,
     "ds_write_b8 v1, v0\n ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {"`ds_read_b32 v2, v1`"},
     "ds_write_b8 v1, v0\n ds_read_u8 v2, v1\n s_waitcnt lgkmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {.ldsBytes = 256}},
    {"Scratch",
     CheckKind::Undefined,
     "scratch_load_dword v2, off, off offset:4\n s_waitcnt vmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {"`scratch_load_dword v2, off, off offset:4`"},
     "scratch_store_dword off, v0, off offset:4\n s_waitcnt vmcnt(0)\n"
     "scratch_load_dword v2, off, off offset:4\n s_waitcnt vmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {.scratchBytes = 16}},
    {"UpperHalf",
     CheckKind::Undefined,
     "global_load_short_d16 v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v2, "
     "s[6:7]",
     {"undefined bits of v2"},
     "global_load_short_d16 v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n global_store_short v1, v2, "
     "s[6:7]"},
    {"DppSource",
     CheckKind::Undefined,
     "s_mov_b64 exec, 1\n v_mov_b32_e32 v2, 0\n s_mov_b64 exec, -1\n s_nop 4\n"
     "v_mov_b32_dpp v3, v2 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf\n s_mov_b64 exec, 0x1f\n"
     "global_store_dword v1, v3, s[6:7]",
     {"lane 4"},
     "s_mov_b64 exec, 1\n v_mov_b32_e32 v2, 0\n s_mov_b64 exec, -1\n s_nop 4\n"
     "v_mov_b32_dpp v3, v2 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf\n s_mov_b64 exec, 0xf\n"
     "global_store_dword v1, v3, s[6:7]"},
    {"EqualityWithAConstant",
     CheckKind::Undefined,
     "v_and_b32_e32 v2, 1, v2\n v_cmp_eq_u32_e32 vcc, 1, v2\n s_cbranch_vccz .Lx\n.Lx:",
     {"branches on undefined bits of vcc"},
     "v_and_b32_e32 v2, 1, v2\n v_cmp_eq_u32_e32 vcc, 2, v2\n s_cbranch_vccz .Lx\n.Lx:"},
    {"Mfma",
     CheckKind::Undefined,
     "v_mov_b32_e32 v4, 0\n v_mov_b32_e32 v5, 0\n v_mov_b32_e32 v6, 0\n s_nop 1\n"
     "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0\n s_nop 15\n"
     "global_store_dword v1, v8, s[6:7]",
     {"`v_mfma_f32_16x16x16_f16"},
     "v_mov_b32_e32 v4, 0\n v_mov_b32_e32 v5, 0\n v_mov_b32_e32 v6, 0\n v_mov_b32_e32 v7, 0\n"
     "s_nop 1\n v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0\n s_nop 15\n"
     "global_store_dword v1, v8, s[6:7]"},
    {"LdsDma",
     CheckKind::Undefined,
     "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
     "ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n global_store_dword v1, v2, s[6:7]",
     {"`ds_read_b32 v2, v1`"},
     "s_mov_b32 m0, 0\n s_nop 0\n global_store_dword v1, v0, s[4:5]\n s_waitcnt vmcnt(0)\n"
     "global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
     "ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n global_store_dword v1, v2, s[6:7]",
     {.ldsBytes = 256, .inputDefined = false}},
    {"Atomic",
     CheckKind::Undefined,
     "global_atomic_add v1, v2, s[4:5]",
     {"updates global memory with undefined bits of v2"},
     "v_mov_b32_e32 v2, 1\n global_atomic_add v1, v2, s[4:5]"},
    {"LdsAtomicOnNothing",
     CheckKind::Undefined,
     "ds_add_u32 v1, v0\n ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {"`ds_read_b32 v2, v1`"},
     "ds_write_b32 v1, v0\n ds_add_u32 v1, v0\n ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n"
     "global_store_dword v1, v2, s[6:7]",
     {.ldsBytes = 256}},
};
PLANTED_FAULTS(Undefined, faults);

/// Results that are defined although a source is not.
TEST(UndefinedExact, SourcesThatDoNotMatter) {
  for (const char *code : {
           "v_xor_b32_e32 v3, v2, v2",
           "v_and_b32_e32 v3, 0, v2",
           "v_mul_lo_u32 v3, v2, 0",
           "v_sub_u32_e32 v3, v2, v2",
           "v_or_b32_e32 v3, -1, v2",
           "v_mov_b32_e32 v4, 0xff\n v_and_b32_e32 v3, v2, v4\n v_lshrrev_b32_e32 v3, 8, v3",
           "v_cmp_le_u32_e32 vcc, 0, v0\n s_nop 1\n v_cndmask_b32_e32 v3, v2, v0, vcc",
           "s_mov_b32 s8, 0x07060504\n v_perm_b32 v3, v0, v2, s8",
           "v_lshl_or_b32 v3, v2, 16, v0\n v_and_b32_e32 v3, 0xffff, v3",
           "v_bfi_b32 v3, 0, v2, v0",
           "v_bitop3_b32 v3, v0, v2, v2 bitop3:0xf0",
           "v_readlane_b32 s8, v0, 3\n s_nop 1\n v_mov_b32_e32 v3, s8",
           "v_cvt_f32_ubyte0_e32 v3, v0",
           "s_and_b32 s8, s20, 0\n v_mov_b32_e32 v3, s8",
           "s_cmp_eq_u32 s20, s20\n s_cselect_b32 s8, s2, s20\n v_mov_b32_e32 v3, s8",
       }) {
    Outcome outcome = check(std::string(code) + "\n s_nop 1\n global_store_dword v1, v3, s[6:7]");
    EXPECT_EQ(outcome.text(), "silent") << code;
  }
}

/// And the opposite: the same instructions where the source does matter.
TEST(UndefinedExact, SourcesThatMatter) {
  for (const char *code : {
           "v_xor_b32_e32 v3, v2, v4",
           "v_and_b32_e32 v3, 1, v2",
           "v_mul_lo_u32 v3, v2, 2",
           "v_sub_u32_e32 v3, v2, v0",
           "v_or_b32_e32 v3, 0xfffffffe, v2",
           "v_cmp_lt_u32_e32 vcc, 0, v0\n s_nop 1\n v_cndmask_b32_e32 v3, v2, v0, vcc",
           "v_lshl_or_b32 v3, v2, 16, v0",
           "v_bfi_b32 v3, 1, v2, v0",
           "v_bitop3_b32 v3, v0, v2, v2 bitop3:0xcc",
           "v_readlane_b32 s8, v2, 3\n s_nop 1\n v_mov_b32_e32 v3, s8",
           "v_max_f32_e32 v3, v2, v0",
           "v_min_i32_e32 v3, v2, v0",
           "v_cvt_f32_ubyte0_e32 v3, v2",
           "s_and_b32 s8, s20, 1\n v_mov_b32_e32 v3, s8",
           "s_cmp_eq_u32 s20, 7\n s_cselect_b32 s8, s2, 4\n v_mov_b32_e32 v3, s8",
       }) {
    Outcome outcome = check(std::string(code) + "\n s_nop 1\n global_store_dword v1, v3, s[6:7]");
    ASSERT_EQ(outcome.findings.size(), 1u) << code << "\n" << outcome.text();
    EXPECT_EQ(outcome.findings[0].kind, CheckKind::Undefined) << outcome.text();
  }
}

} // namespace
} // namespace gfx950emu::check::test
