//! needs 4
  v_cmpx_gt_u32_e32 vcc, v64, v65
  WAIT
  v_permlane32_swap_b32_e32 v40, v41
//! passes
  v_cmp_gt_u32_e32 vcc, v64, v65
  v_permlane32_swap_b32_e32 v40, v41
