//! needs 2
  v_readfirstlane_b32 s4, v64
  WAIT
  v_add_u32_e32 v40, s4, v64
//! needs 2
  v_cmp_gt_u32_e32 vcc, v64, v65
  WAIT
  v_cndmask_b32_e32 v40, v64, v65, vcc
//! needs 2
  v_cmp_gt_u32_e64 s[4:5], v64, v65
  WAIT
  v_cndmask_b32_e64 v40, v64, v65, s[4:5]
//! needs 2
  v_add_co_u32_e32 v40, vcc, v64, v65
  WAIT
  v_addc_co_u32_e32 v41, vcc, v66, v67, vcc
//! passes
  v_readfirstlane_b32 s4, v64
  v_add_u32_e32 v40, s5, v64
// The hardware knows masks in EXEC and what the scalar unit reads.
//! passes
  v_cmpx_gt_u32_e32 vcc, v64, v65
  v_add_u32_e32 v40, v66, v64
//! passes
  v_readfirstlane_b32 s4, v64
  s_add_u32 s5, s4, s4
