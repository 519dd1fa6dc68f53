//! needs 2
  v_mov_b32_e32 v64, v80
  WAIT
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
//! needs 2
  v_mov_b32_e32 v40, v80
  WAIT
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
//! passes
  v_mov_b32_e32 v81, v80
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
