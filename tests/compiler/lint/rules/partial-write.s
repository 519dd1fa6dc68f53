//! needs 1
  v_add_u16_sdwa v0, v64, v65 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD
  WAIT
  v_mov_b32_e32 v40, v0
//! needs 1
  v_cvt_pk_fp8_f32 v0, v64, v65 op_sel:[0,0,1]
  WAIT
  v_mov_b32_e32 v0, v64
//! needs 1
  v_cvt_scalef32_pk_fp4_f32 v0, v64, v65, 1.0 op_sel:[0,0,1,0]
  WAIT
  v_cvt_scalef32_pk_fp4_f32 v0, v66, v67, 1.0 op_sel:[0,0,0,1]
//! needs 1
  v_cvt_sr_fp8_f32 v0, v64, v65 op_sel:[0,0,1,0]
  WAIT
  v_mov_b32_e32 v40, v0
//! needs 1
  v_cvt_scalef32_sr_pk_fp4_f16 v0, v64, v65, v66
  WAIT
  v_mov_b32_e32 v40, v0
//! needs 1
  v_mad_u16 v0, v64, v65, v66 op_sel:[0,0,0,1]
  WAIT
  v_mov_b32_e32 v40, v0
// op_sel that selects sources, and results that begin at bit 0.
//! passes
  v_cvt_scalef32_pk_f16_fp4 v0, v64, 1.0 op_sel:[1,1,0]
  v_mov_b32_e32 v40, v0
//! passes
  v_pk_mul_f16 v0, v64, v65 op_sel:[1,1] op_sel_hi:[1,1]
  v_mov_b32_e32 v40, v0
//! passes
  v_cvt_scalef32_pk_fp4_f32 v0, v64, v65, 1.0
  v_cvt_scalef32_pk_fp4_f32 v0, v66, v67, 1.0 op_sel:[0,0,1,0]
//! passes
  v_add_u16_sdwa v0, v64, v65 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
  v_mov_b32_e32 v40, v0
