//! needs 5
  v_cmpx_gt_u32_e32 vcc, v64, v65
  WAIT
  v_mov_b32_dpp v40, v66 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
//! passes
  s_mov_b64 exec, s[6:7]
  v_mov_b32_dpp v40, v66 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
