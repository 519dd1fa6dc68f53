//===- PlantedTests.cpp - accesses, synchronisation and waits ---------------------------===//

#include "tests/emulator/check/Planted.h"

namespace gfx950emu::check::test {
namespace {

Setup lds(uint32_t waves, uint32_t bytes = 4096) { return {.waves = waves, .ldsBytes = bytes}; }
Setup strict(uint32_t ldsBytes) {
  Setup s{.ldsBytes = ldsBytes};
  s.options.unalignedMode = false;
  return s;
}

const Planted accesses[] = {
    {"GlobalBounds",
     CheckKind::Bounds,
     "v_add_u32_e32 v1, 0xfc0, v1\n global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)",
     {"workgroup (0, 0, 0), wave 0, lane 16", "checked+0x", "read of 4 bytes", "of 4096 bytes"},
     "v_add_u32_e32 v1, 0xf00, v1\n global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)"},
    {"LdsBounds",
     CheckKind::Bounds,
     "ds_write_b32 v1, v0 offset:60\n s_waitcnt lgkmcnt(0)",
     {"lane 49", "LDS access of 4 bytes at 0x100"},
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)",
     lds(1, 256)},
    {"ScratchBounds",
     CheckKind::Bounds,
     "scratch_store_dword off, v0, off offset:16\n s_waitcnt vmcnt(0)",
     {"lane 0", "a lane has 16 bytes"},
     "scratch_store_dword off, v0, off offset:12\n s_waitcnt vmcnt(0)",
     {.scratchBytes = 16}},
    {"WriteToConstantInput",
     CheckKind::ReadOnly,
     "global_store_dword v1, v0, s[4:5]",
     {"write of 4 bytes", "is read-only"},
     "global_store_dword v1, v0, s[6:7]",
     {.inputWritable = false}},
    {"AtomicAlignment",
     CheckKind::Alignment,
     "v_mov_b32_e32 v3, 0\n v_mov_b32_e32 v2, v0\n s_mov_b64 exec, 1\n"
     "global_atomic_add_x2 v1, v[2:3], s[4:5] offset:4",
     {"lane 0"},
     "v_mov_b32_e32 v3, 0\n v_mov_b32_e32 v2, v0\n s_mov_b64 exec, 1\n"
     "global_atomic_add_x2 v1, v[2:3], s[4:5] offset:8"},
    {"GlobalAlignment",
     CheckKind::Alignment,
     "global_load_dwordx2 v[2:3], v1, s[4:5] offset:2\n s_waitcnt vmcnt(0)",
     {"global access of 8 bytes", "expected a multiple of 4"},
     "global_load_dwordx2 v[2:3], v1, s[4:5] offset:4\n s_waitcnt vmcnt(0)",
     strict(0)},
    {"LdsAlignment",
     CheckKind::Alignment,
     "v_mov_b32_e32 v2, v0\n v_mov_b32_e32 v3, v0\n ds_write_b64 v1, v[2:3]\n s_waitcnt lgkmcnt(0)",
     {"lane 1", "expected a multiple of 8"},
     "v_mov_b32_e32 v2, v0\n v_mov_b32_e32 v3, v0\n v_lshlrev_b32_e32 v1, 3, v0\n"
     "ds_write_b64 v1, v[2:3]\n s_waitcnt lgkmcnt(0)",
     strict(1024)},
    {"LdsAlignment128",
     CheckKind::Alignment,
     "v_lshlrev_b32_e32 v1, 4, v0\n v_mov_b32_e32 v4, 0\n v_mov_b32_e32 v5, 0\n v_mov_b32_e32 v6, "
     "0\n"
     "v_mov_b32_e32 v7, 0\n ds_write_b128 v1, v[4:7] offset:8\n s_waitcnt lgkmcnt(0)",
     {"lane 0", "expected a multiple of 16"},
     "v_lshlrev_b32_e32 v1, 4, v0\n v_mov_b32_e32 v4, 0\n v_mov_b32_e32 v5, 0\n v_mov_b32_e32 v6, "
     "0\n"
     "v_mov_b32_e32 v7, 0\n ds_write_b128 v1, v[4:7] offset:16\n s_waitcnt lgkmcnt(0)",
     strict(2048)},
    {"Progress",
     CheckKind::Progress,
     ".Lforever:\n s_branch .Lforever",
     {"1000000 wave instructions"},
     "s_branch .Lonce\n.Lonce:"},
};
PLANTED_FAULTS(Access, accesses);

const Planted synchronisation[] = {
    {"LdsReadAfterWrite",
     CheckKind::Race,
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n v_xor_b32_e32 v2, 0x100, v1\n"
     "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n s_barrier",
     {"LDS bytes at", "race with the write `ds_write_b32 v1, v0`", "no barrier"},
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32_e32 v2, 0x100, v1\n"
     "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)",
     lds(2)},
    {"LdsWriteAfterRead",
     CheckKind::Race,
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v3, v1\n"
     "v_xor_b32_e32 v2, 0x100, v1\n s_waitcnt lgkmcnt(0)\n ds_write_b32 v2, v0\n"
     "s_waitcnt lgkmcnt(0)\n s_barrier",
     {"race with the read `ds_read_b32 v3, v1`"},
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 v3, v1\n"
     "v_xor_b32_e32 v2, 0x100, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_write_b32 v2, v0\n"
     "s_waitcnt lgkmcnt(0)\n s_barrier",
     lds(2)},
    {"LdsAtomicAndPlain",
     CheckKind::Race,
     "v_mov_b32_e32 v2, 0\n v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lplain\n"
     "ds_add_u32 v2, v0\n s_branch .Ldone\n.Lplain:\n ds_write_b32 v2, v0\n.Ldone:\n"
     "s_waitcnt lgkmcnt(0)",
     {"the atomic `ds_add_u32 v2, v0`"},
     "v_mov_b32_e32 v2, 0\n v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lplain\n"
     "ds_max_u32 v2, v0\n s_branch .Ldone\n.Lplain:\n ds_min_u32 v2, v0\n.Ldone:\n"
     "s_waitcnt lgkmcnt(0)",
     [] {
       Setup s = lds(2);
       s.options.undefined = false; // the sum starts from nothing
       return s;
     }()},
    {"GlobalBetweenWorkgroups",
     CheckKind::Race,
     "global_store_dword v1, v0, s[6:7]",
     {"workgroup (1, 0, 0)", "of workgroup (0, 0, 0)", "nothing orders them"},
     "s_lshl_b32 s8, s2, 8\n s_nop 0\n v_add_u32_e32 v1, s8, v1\n global_store_dword v1, v0, "
     "s[6:7]",
     {.workgroups = 2}},
    {"GlobalBetweenWaves",
     CheckKind::Race,
     "global_store_dword v1, v0, s[6:7]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v2, 0x100, v1\n"
     "global_load_dword v3, v2, s[6:7]\n s_waitcnt vmcnt(0)\n s_barrier",
     {"global bytes at"},
     "global_store_dword v1, v0, s[6:7]\n s_waitcnt vmcnt(0)\n s_barrier\n"
     "v_xor_b32_e32 v2, 0x100, v1\n global_load_dword v3, v2, s[6:7]\n s_waitcnt vmcnt(0)",
     [] {
       Setup s{.waves = 2};
       s.options.undefined = false;
       return s;
     }()},
    {"BarrierElsewhere",
     CheckKind::Barrier,
     "v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lsecond\n s_barrier\n s_endpgm\n.Lsecond:\n"
     "s_barrier",
     {"waits at another one", "`s_barrier` at checked+"},
     "v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lsecond\n s_nop 0\n.Lsecond:\n s_barrier",
     {.waves = 2}},
    {"BarrierAfterEnd",
     CheckKind::Barrier,
     "v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz .Lend1\n s_barrier\n.Lend1:",
     {"wave 1 has ended without it"},
     "s_barrier",
     {.waves = 2}},
};
PLANTED_FAULTS(Synchronisation, synchronisation);

const Planted waits[] = {
    {"LoadedValue",
     CheckKind::WaitCount,
     "global_load_dword v2, v1, s[4:5]\n v_add_u32_e32 v3, v2, v0",
     {"reads v2", "`global_load_dword v2, v1, s[4:5]`", "vmcnt(0)"},
     "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v3, v2, v0"},
    {"InOrderCount",
     CheckKind::WaitCount,
     "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n"
     "global_store_dword v1, v0, s[6:7]\n s_waitcnt vmcnt(2)\n v_add_u32_e32 v4, v2, v3",
     {"reads v3", "vmcnt(1)"},
     "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n"
     "global_store_dword v1, v0, s[6:7]\n s_waitcnt vmcnt(1)\n v_add_u32_e32 v4, v2, v3"},
    {"Overwritten",
     CheckKind::WaitCount,
     "global_load_dword v2, v1, s[4:5]\n v_mov_b32_e32 v2, 0",
     {"overwrites v2"},
     "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v2, 0"},
    {"ScalarLoadsAreUnordered",
     CheckKind::WaitCount,
     "s_load_dword s8, s[4:5], 0x0\n s_load_dword s9, s[4:5], 0x4\n s_waitcnt lgkmcnt(1)\n"
     "s_add_u32 s10, s8, 1",
     {"reads s8", "lgkmcnt(0)"},
     "s_load_dword s8, s[4:5], 0x0\n s_load_dword s9, s[4:5], 0x4\n s_waitcnt lgkmcnt(0)\n"
     "s_add_u32 s10, s8, 1"},
    {"LdsInOrder",
     CheckKind::WaitCount,
     "ds_write_b32 v1, v0\n ds_read_b32 v2, v1\n ds_read_b32 v3, v1\n s_waitcnt lgkmcnt(1)\n"
     "v_add_u32_e32 v4, v2, v3",
     {"reads v3"},
     "ds_write_b32 v1, v0\n ds_read_b32 v2, v1\n ds_read_b32 v3, v1\n s_waitcnt lgkmcnt(1)\n"
     "v_add_u32_e32 v4, v2, v2\n s_waitcnt lgkmcnt(0)\n v_add_u32_e32 v4, v4, v3",
     lds(1)},
    {"LdsDma",
     CheckKind::WaitCount,
     "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n ds_read_b32 v2, v1\n"
     "s_waitcnt vmcnt(0) lgkmcnt(0)",
     {"LDS bytes at 0x0", "global_load_lds_dword", "vmcnt"},
     "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
     "ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)",
     lds(1)},
    {"LdsWriteAtBarrier",
     CheckKind::WaitCount,
     "ds_write_b32 v1, v0\n s_barrier\n v_xor_b32_e32 v2, 0x100, v1\n ds_read_b32 v3, v2\n"
     "s_waitcnt lgkmcnt(0)",
     {"`ds_write_b32 v1, v0`", "lgkmcnt"},
     "ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32_e32 v2, 0x100, v1\n"
     "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)",
     lds(2)},
};
PLANTED_FAULTS(Waits, waits);

/// A full history is counted, not passed over.
TEST(RaceHistory, SaysWhatItDidNotCheck) {
  test::Setup setup{.workgroups = 2};
  setup.options.raceHistoryBytes = 0;
  Outcome outcome = check("global_store_dword v1, v0, s[6:7]", setup);
  EXPECT_EQ(outcome.text(), "silent");
  EXPECT_EQ(outcome.skippedRaceAccesses, 128u);
}

/// Loads return in order, so a load may follow another into the same register.
TEST(WaitExact, LoadsOverLoads) {
  EXPECT_EQ(check("global_load_dword v2, v1, s[4:5]\n global_load_dword v2, v1, s[4:5] offset:4\n"
                  "s_waitcnt vmcnt(0)\n v_add_u32_e32 v3, v2, v0")
                .text(),
            "silent");
  // Not so with another unit.
  Outcome mixed = check("ds_write_b32 v1, v0\n global_load_dword v2, v1, s[4:5]\n"
                        "ds_read_b32 v2, v1\n s_waitcnt vmcnt(0) lgkmcnt(0)",
                        {.ldsBytes = 256});
  ASSERT_EQ(mixed.findings.size(), 1u) << mixed.text();
  EXPECT_EQ(mixed.findings[0].kind, CheckKind::WaitCount);
}

} // namespace
} // namespace gfx950emu::check::test
