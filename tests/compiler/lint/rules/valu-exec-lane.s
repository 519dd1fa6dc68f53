//! needs 4
  v_cmpx_gt_u32_e32 vcc, v64, v65
  WAIT
  v_readfirstlane_b32 s4, v66
//! needs 4
  v_cmpx_gt_u32_e32 vcc, v64, v65
  WAIT
  v_writelane_b32 v40, s5, 3
// EXEC from the scalar unit.
//! passes
  s_mov_b64 exec, s[6:7]
  v_readfirstlane_b32 s4, v66
