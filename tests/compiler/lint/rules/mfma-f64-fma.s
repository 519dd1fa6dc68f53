//! needs 2
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], 0
  WAIT
  v_fma_f64 v[40:41], v[64:65], v[66:67], v[68:69]
//! passes
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], 0
  v_fma_f32 v40, v64, v66, v68
