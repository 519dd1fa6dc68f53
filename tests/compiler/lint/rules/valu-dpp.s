//! needs 2
  v_mov_b32_e32 v0, v64
  WAIT
  v_mov_b32_dpp v40, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
//! needs 2
  v_mov_b32_e32 v0, v64
  WAIT
  v_add_f32_dpp v40, v64, v0 row_shl:1 row_mask:0xf bank_mask:0xf
//! passes
  v_mov_b32_e32 v0, v64
  v_mov_b32_dpp v40, v65 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
