//! needs 5
  v_cmp_gt_u32_e32 vcc, v64, v65
  WAIT
  v_mov_b32_e32 v40, src_vccz
//! needs 5
  v_cmpx_gt_u32_e64 s[4:5], v64, v65
  WAIT
  v_mov_b32_e32 v40, src_execz
//! passes
  v_cmp_gt_u32_e64 s[4:5], v64, v65
  v_mov_b32_e32 v40, src_vccz
