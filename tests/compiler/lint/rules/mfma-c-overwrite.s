//! needs 1
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[40:43]
  WAIT
  v_mov_b32_e32 v40, v64
//! needs 3
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
  WAIT
  v_mov_b32_e32 v43, v64
//! needs 7
  v_mfma_f32_32x32x16_f16 v[0:15], v[64:67], v[68:71], v[40:55]
  WAIT
  ds_read_b32 v40, v64
//! needs 15
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], v[80:111]
  WAIT
  v_mov_b32_e32 v80, v64
// A and B are read at once.
//! passes
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[40:43]
  v_mov_b32_e32 v64, v72
