//! needs 8
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  WAIT
  global_store_dword v[64:65], v3, off
//! needs 8
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  WAIT
  ds_write_b64 v64, v[2:3]
//! needs 20
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0
  WAIT
  buffer_store_dwordx4 v[0:3], v64, s[0:3], 0 offen
//! needs 9
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], 0
  WAIT
  global_store_dwordx2 v[64:65], v[0:1], off
//! needs 18
  v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], 0
  WAIT
  ds_write_b64 v64, v[0:1]
//! passes
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  ds_write_b64 v64, v[4:5]
