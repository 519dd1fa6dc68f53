//===- HazardTests.cpp - planted hazards: one wait state too few, and just enough ---------===//

#include "tests/emulator/check/Planted.h"

namespace gfx950emu::check::test {
namespace {

#define ZEROES                                                                                     \
  "v_mov_b32_e32 v4, 0\n v_mov_b32_e32 v5, 0\n v_mov_b32_e32 v6, 0\n v_mov_b32_e32 v7, 0\n"        \
  "v_mov_b32_e32 v8, 0\n v_mov_b32_e32 v9, 0\n v_mov_b32_e32 v10, 0\n v_mov_b32_e32 v11, 0\n "     \
  "s_nop 1\n"
#define MFMA4 ZEROES "v_mfma_f32_16x16x32_f16 v[12:15], v[4:7], v[8:11], 0\n"
#define MFMA8 ZEROES "v_mfma_f32_32x32x16_f16 v[16:31], v[4:7], v[8:11], 0\n"
#define MFMA16 ZEROES "v_mfma_f32_32x32x2_f32 v[16:31], v4, v5, 0\n"
#define MFMA2 ZEROES "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[4:5], v[6:7], 0\n"
#define SCALED16 ZEROES "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[4:11], v[4:11], 0\n"

const Planted matrix[] = {
    {"ResultAsSourceOf4Passes",
     CheckKind::Hazard,
     MFMA4 "s_nop 6\n v_mfma_f32_16x16x32_f16 v[32:35], v[12:15], v[8:11], 0",
     {"an MFMA reads as A, B or scale", "expected 8 wait states", "found 7"},
     MFMA4 "s_nop 7\n v_mfma_f32_16x16x32_f16 v[32:35], v[12:15], v[8:11], 0"},
    {"ResultAsSourceOf8Passes",
     CheckKind::Hazard,
     MFMA8 "s_nop 10\n v_mfma_f32_16x16x32_f16 v[32:35], v[8:11], v[16:19], 0",
     {"expected 12 wait states", "found 11"},
     MFMA8 "s_nop 11\n v_mfma_f32_16x16x32_f16 v[32:35], v[8:11], v[16:19], 0"},
    {"ResultAsSourceOf16Passes",
     CheckKind::Hazard,
     SCALED16 "s_nop 15\n s_nop 2\n v_mfma_f32_16x16x32_f16 v[32:35], v[8:11], v[16:19], 0",
     {"expected 20 wait states", "found 19"},
     SCALED16 "s_nop 15\n s_nop 3\n v_mfma_f32_16x16x32_f16 v[32:35], v[8:11], v[16:19], 0"},
    {"ResultAsSourceOf2Passes",
     CheckKind::Hazard,
     MFMA2 "s_nop 3\n v_mfma_f32_16x16x32_f16 v[32:35], v[12:15], v[8:11], 0",
     {"expected 5 wait states", "found 4"},
     MFMA2 "s_nop 4\n v_mfma_f32_16x16x32_f16 v[32:35], v[12:15], v[8:11], 0"},
    {"MixedOpcodesOnAccumulator",
     CheckKind::Hazard,
     MFMA4 "s_nop 3\n v_mfma_f32_16x16x32_bf16 v[12:15], v[4:7], v[8:11], v[12:15]",
     {"one with another opcode", "v_mfma_f32_16x16x32_f16", "expected 5", "found 4"},
     MFMA4 "s_nop 4\n v_mfma_f32_16x16x32_bf16 v[12:15], v[4:7], v[8:11], v[12:15]"},
    {"OverlappingAccumulator",
     CheckKind::Hazard,
     MFMA8 "s_nop 8\n v_mfma_f32_16x16x32_f16 v[32:35], v[4:7], v[8:11], v[16:19]",
     {"part of another's result", "expected 10", "found 9"},
     MFMA8 "s_nop 9\n v_mfma_f32_16x16x32_f16 v[32:35], v[4:7], v[8:11], v[16:19]"},
    {"ValuReadsResult",
     CheckKind::Hazard,
     MFMA4 "s_nop 6\n v_add_f32_e32 v2, v12, v12",
     {"a VALU instruction reads what an MFMA wrote (v12)", "expected 8"},
     MFMA4 "s_nop 7\n v_add_f32_e32 v2, v12, v12"},
    {"StoreReadsResult",
     CheckKind::Hazard,
     MFMA16 "s_nop 15\n s_nop 0\n global_store_dword v1, v16, s[6:7]",
     {"memory reads what an MFMA wrote (v16)", "expected 18 wait states"},
     MFMA16 "s_nop 15\n s_nop 1\n global_store_dword v1, v16, s[6:7]"},
    {"ValuOverwritesResult",
     CheckKind::Hazard,
     MFMA4 "s_nop 6\n v_mov_b32_e32 v13, 0",
     {"overwrites what an MFMA is about to write (v13)"},
     MFMA4 "s_nop 7\n v_mov_b32_e32 v13, 0"},
    {"ValuOverwritesAccumulator",
     CheckKind::Hazard,
     ZEROES "v_mov_b32_e32 v12, 0\n v_mov_b32_e32 v13, 0\n v_mov_b32_e32 v14, 0\n"
            "v_mov_b32_e32 v15, 0\n s_nop 1\n"
            "v_mfma_f32_16x16x32_f16 v[32:35], v[4:7], v[8:11], v[12:15]\n v_mov_b32_e32 v12, 0",
     {"overwrites the accumulator that an MFMA still reads (v12)", "expected 3"},
     ZEROES "v_mov_b32_e32 v12, 0\n v_mov_b32_e32 v13, 0\n v_mov_b32_e32 v14, 0\n"
            "v_mov_b32_e32 v15, 0\n s_nop 1\n"
            "v_mfma_f32_16x16x32_f16 v[32:35], v[4:7], v[8:11], v[12:15]\n s_nop 2\n"
            "v_mov_b32_e32 v12, 0"},
    {"MfmaReadsValuResult",
     CheckKind::Hazard,
     ZEROES "v_mov_b32_e32 v4, 1\n s_nop 0\n v_mfma_f32_16x16x32_f16 v[12:15], v[4:7], v[8:11], 0",
     {"an MFMA reads what a VALU instruction wrote (v4)", "expected 2", "found 1"},
     ZEROES "v_mov_b32_e32 v4, 1\n s_nop 1\n v_mfma_f32_16x16x32_f16 v[12:15], v[4:7], v[8:11], 0"},
};
PLANTED_FAULTS(MatrixHazards, matrix);

const Planted vector[] = {
    {"TranscendentalForwarding",
     CheckKind::Hazard,
     "v_exp_f32_e32 v2, v0\n v_add_f32_e32 v3, v2, v2",
     {"the result of a transcendental (v2)"},
     "v_exp_f32_e32 v2, v0\n s_nop 0\n v_add_f32_e32 v3, v2, v2"},
    {"PartialForwarding",
     CheckKind::Hazard,
     "v_mov_b32_e32 v2, 0\n v_add_u32_sdwa v2, v0, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:DWORD src1_sel:DWORD\n v_add_u32_e32 v3, v2, v0",
     {"a part was just written (v2)"},
     "v_mov_b32_e32 v2, 0\n v_add_u32_sdwa v2, v0, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:DWORD src1_sel:DWORD\n s_nop 0\n v_add_u32_e32 v3, v2, v0"},
    {"MaskReadAfterCompare",
     CheckKind::Hazard,
     "v_cmp_gt_u32_e64 s[8:9], 8, v0\n s_nop 0\n v_cndmask_b32_e64 v2, 0, 1, s[8:9]",
     {"a VALU instruction reads a scalar that one wrote", "expected 2", "found 1"},
     "v_cmp_gt_u32_e64 s[8:9], 8, v0\n s_nop 1\n v_cndmask_b32_e64 v2, 0, 1, s[8:9]"},
    {"ScalarAddressFromValu",
     CheckKind::Hazard,
     "v_readfirstlane_b32 s6, v0\n s_mov_b32 s8, s6\n v_readfirstlane_b32 s10, v0\n"
     "v_readfirstlane_b32 s11, v0\n s_mov_b32 s12, 0\n s_mov_b32 s13, 0\n s_mov_b32 s14, 0\n"
     "s_mov_b32 s15, 0\n v_readfirstlane_b32 s16, v0\n"
     "buffer_load_dword v2, v1, s[12:15], s16 offen\n s_waitcnt vmcnt(0)",
     {"vector memory reads a scalar that a VALU instruction wrote", "expected 5", "found 0"},
     "s_mov_b32 s12, 0\n s_mov_b32 s13, 0\n s_mov_b32 s14, 0\n s_mov_b32 s15, 0\n"
     "v_readfirstlane_b32 s16, v0\n s_nop 4\n"
     "buffer_load_dword v2, v1, s[12:15], s16 offen\n s_waitcnt vmcnt(0)"},
    {"LaneSelectFromValu",
     CheckKind::Hazard,
     "v_readfirstlane_b32 s8, v0\n s_nop 2\n v_readlane_b32 s9, v0, s8",
     {"expected 4", "found 3"},
     "v_readfirstlane_b32 s8, v0\n s_nop 3\n v_readlane_b32 s9, v0, s8"},
    {"DppAfterWrite",
     CheckKind::Hazard,
     "v_mov_b32_e32 v2, v0\n v_mov_b32_e32 v3, 0\n"
     "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
     {"DPP reads what a VALU instruction wrote (v2)", "expected 2", "found 1"},
     "v_mov_b32_e32 v2, v0\n v_mov_b32_e32 v3, 0\n s_nop 0\n"
     "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf"},
    {"ExecBeforeReadlane",
     CheckKind::Hazard,
     "v_cmpx_gt_u32_e32 8, v0\n s_nop 2\n v_readfirstlane_b32 s8, v0",
     {"EXEC was written by a VALU instruction", "expected 4", "found 3"},
     "v_cmpx_gt_u32_e32 8, v0\n s_nop 3\n v_readfirstlane_b32 s8, v0"},
    {"WideStoreDataOverwritten",
     CheckKind::Hazard,
     ZEROES "v_lshlrev_b32_e32 v1, 4, v0\n global_store_dwordx4 v1, v[4:7], s[6:7]\n s_nop 0\n"
            "v_mov_b32_e32 v5, 1",
     {"overwrites data of a store of more than 64 bits (v5)"},
     ZEROES "v_lshlrev_b32_e32 v1, 4, v0\n global_store_dwordx4 v1, v[4:7], s[6:7]\n s_nop 1\n"
            "v_mov_b32_e32 v5, 1"},
    {"LaneSwapAfterWrite",
     CheckKind::Hazard,
     "v_mov_b32_e32 v2, 0\n s_nop 1\n v_mov_b32_e32 v3, v0\n s_nop 0\n"
     "v_permlane32_swap_b32_e32 v2, v3",
     {"a swap between lanes reads what a VALU instruction wrote (v3)", "expected 2", "found 1"},
     "v_mov_b32_e32 v2, 0\n v_mov_b32_e32 v3, v0\n s_nop 1\n v_permlane32_swap_b32_e32 v2, v3"},
    {"ExecBeforeLaneSwap",
     CheckKind::Hazard,
     "v_mov_b32_e32 v2, 0\n v_cmpx_gt_u32_e32 8, v0\n s_nop 2\n v_permlane16_swap_b32_e32 v2, v0",
     {"EXEC was written by a VALU instruction", "expected 4", "found 3"},
     "v_mov_b32_e32 v2, 0\n v_cmpx_gt_u32_e32 8, v0\n s_nop 3\n v_permlane16_swap_b32_e32 v2, v0"},
    {"ByteOfFp4Forwarded",
     CheckKind::Hazard,
     ZEROES "v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,1,0]\n v_mov_b32_e32 v7, v6",
     {"a part was just written (v6)", "expected 1", "found 0"},
     ZEROES "v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0\n v_mov_b32_e32 v7, v6"},
    {"RandomlyRoundedFp4Forwarded",
     CheckKind::Hazard,
     ZEROES "v_cvt_scalef32_sr_pk_fp4_f32 v8, v[4:5], v6, 1.0\n v_mov_b32_e32 v7, v8",
     {"a part was just written (v8)"},
     ZEROES "v_cvt_scalef32_sr_pk_fp4_f32 v8, v[4:5], v6, 1.0\n s_nop 0\n v_mov_b32_e32 v7, v8"},
    {"ByteOfFp8Forwarded",
     CheckKind::Hazard,
     ZEROES "v_cvt_sr_fp8_f32 v6, v4, v5 op_sel:[0,0,1,0]\n v_mov_b32_e32 v7, v6",
     {"a part was just written (v6)"},
     ZEROES "v_cvt_sr_fp8_f32 v6, v4, v5 op_sel:[0,0,1,0]\n s_nop 0\n v_mov_b32_e32 v7, v6"},
    {"ModeReadAfterWrite",
     CheckKind::Hazard,
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n s_nop 0\n"
     "s_getreg_b32 s8, hwreg(HW_REG_MODE)",
     {"a hardware register is accessed right after s_setreg", "expected 2", "found 1"},
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n s_nop 1\n"
     "s_getreg_b32 s8, hwreg(HW_REG_MODE)"},
    {"ModeWrittenTwice",
     CheckKind::Hazard,
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15",
     {"a hardware register is accessed right after s_setreg", "found 0"},
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n s_nop 1\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15"},
    {"M0BeforeIndirectMove",
     CheckKind::Hazard,
     "s_mov_b32 m0, 1\n s_movrels_b32 s8, s4",
     {"m0 names a register right after its write", "expected 1", "found 0"},
     "s_mov_b32 m0, 1\n s_nop 0\n s_movrels_b32 s8, s4"},
    {"M0BeforeLdsDma",
     CheckKind::Hazard,
     "s_mov_b32 m0, 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)",
     {"LDS DMA reads m0 after a scalar write"},
     "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)",
     {.ldsBytes = 256}},
};
PLANTED_FAULTS(VectorHazards, vector);

} // namespace
} // namespace gfx950emu::check::test
