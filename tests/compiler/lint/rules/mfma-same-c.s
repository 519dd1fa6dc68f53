// Results of 2 passes, and of the small f64 form, are not forwarded at once.
//! needs 2
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[0:3]
  WAIT
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[0:3]
//! needs 4
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], v[0:1]
  WAIT
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], v[0:1]
//! passes
  v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], v[0:7]
  v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], v[0:7]
