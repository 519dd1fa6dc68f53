//! needs 5
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], 0
  WAIT
  v_mov_b32_e32 v3, v64
//! needs 8
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  WAIT
  v_mov_b32_e32 v3, v64
//! needs 12
  v_mfma_f32_32x32x16_f16 v[0:15], v[64:67], v[68:71], 0
  WAIT
  ds_read_b128 v[12:15], v64
//! needs 20
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0
  WAIT
  global_load_dwordx4 v[0:3], v[64:65], off
//! needs 18
  v_mfma_f32_32x32x2_f32 v[0:15], v64, v66, 0
  WAIT
  v_mov_b32_e32 v3, v64
//! needs 6
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], 0
  WAIT
  v_mov_b32_e32 v1, v64
//! needs 11
  v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], 0
  WAIT
  v_mov_b32_e32 v1, v64
//! passes
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  v_mov_b32_e32 v4, v64
