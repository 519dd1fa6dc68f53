// Two different matrix instructions on one accumulator.
//! needs 5
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[0:3]
  WAIT
  v_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[66:67], v[0:3]
//! needs 5
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], v[0:3]
  WAIT
  v_mfma_f32_4x4x4_16b_bf16 v[0:3], v[64:65], v[66:67], v[0:3]
//! needs 5
  v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:35], v[36:39], v[0:3] cbsz:4 blgp:4
  WAIT
  v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]
//! needs 10
  v_mfma_f32_32x32x16_f16 a[0:15], v[64:67], v[68:71], a[0:15]
  WAIT
  v_mfma_f32_32x32x8_f16 a[0:15], v[64:65], v[66:67], a[0:15]
//! needs 18
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], v[0:31]
  WAIT
  v_mfma_f32_32x32x4_2b_bf16 v[0:31], v[64:65], v[66:67], v[0:31]
//! passes
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[0:3]
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], v[0:3]
