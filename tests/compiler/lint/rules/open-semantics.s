//! fails
  v_cvt_scalef32_pk_fp4_f32 v0, v64, v65, 1.0
//! fails
  v_mov_b32_dpp v0, v64 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
//! fails
  ds_read_b64_tr_b8 v[0:1], v64
//! passes
  v_pk_mul_f16 v0, v64, v65
