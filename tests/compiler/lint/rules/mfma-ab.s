// A matrix result read as A, B, scale or sparse index: 20, 12, 8 and 5 wait states after 16, 8, 4
// and 2 passes.
//! needs 20
  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f32_16x16x16_f16 v[40:43], v[2:3], v[66:67], v[40:43]
//! needs 20
  v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:39], v[40:45], v[0:15] blgp:2
  WAIT
  v_mfma_f32_32x32x64_f8f6f4 v[48:63], v[70:73], v[12:15], v[48:63] cbsz:4 blgp:4
//! needs 12
  v_mfma_f32_32x32x16_f16 v[0:15], v[64:67], v[68:71], 0
  WAIT
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[12:15], v[40:43]
//! needs 12
  v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:37], v[40:43], v[0:15] cbsz:2 blgp:4
  WAIT
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[12:15], v[40:43]
//! needs 8
  v_mfma_f32_16x16x32_bf16 a[0:3], v[64:67], v[68:71], 0
  WAIT
  v_mfma_f32_16x16x32_bf16 v[40:43], a[0:3], v[68:71], v[40:43]
//! needs 8
  v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:35], v[36:39], v[0:3] cbsz:4 blgp:4
  WAIT
  v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[32:35], v[36:39], v[40:43], v3, v64 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4
//! needs 8
  v_smfmac_f32_16x16x32_f16 v[0:3], v[64:65], v[66:69], v70
  WAIT
  v_smfmac_f32_16x16x32_f16 v[40:43], v[64:65], v[66:69], v3
//! needs 5
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[64:65], v[66:67], 0
  WAIT
  v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[66:67], v[40:43]
// Other registers, and a result that another matrix instruction has replaced.
//! passes
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  v_mfma_f32_16x16x32_f16 v[40:43], v[64:67], v[68:71], v[40:43]
//! passes
  v_mfma_f32_32x32x16_f16 v[0:15], v[64:67], v[68:71], 0
  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0
  s_nop 7
  v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[68:71], v[40:43]
