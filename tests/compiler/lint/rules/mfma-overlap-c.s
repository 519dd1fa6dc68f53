// A result that is a part of C.
//! needs 4
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f32_4x4x4_16b_f16 v[40:43], v[64:65], v[66:67], v[2:5]
//! needs 6
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  WAIT
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[68:71], v[2:5]
//! needs 10
  v_mfma_f32_32x32x16_f16 v[0:15], v[64:67], v[68:71], 0
  WAIT
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[68:71], v[0:3]
//! needs 18
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[68:71], v[0:3]
//! needs 8
  v_mfma_f32_16x16x4_f32 v[0:3], v64, v65, 0
  WAIT
  v_mfma_f32_16x16x4_f32 v[40:43], v64, v65, v[2:5]
//! needs 17
  v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f64_16x16x4_f64 v[40:47], v[64:65], v[66:67], v[2:9]
//! needs 4
  v_mfma_f64_4x4x4_4b_f64 v[0:1], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f64_16x16x4_f64 v[40:47], v[64:65], v[66:67], v[0:7]
//! passes
  v_mfma_f32_16x16x4_f32 v[0:3], v64, v65, 0
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[68:71], v[2:5]
