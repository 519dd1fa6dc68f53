//! needs 4
  v_cmpx_gt_u32_e32 vcc, v64, v65
  WAIT
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
//! passes
  v_cmp_gt_u32_e32 vcc, v64, v65
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
