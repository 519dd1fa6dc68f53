//! needs 1
  v_exp_f32_e32 v0, v64
  WAIT
  v_add_f32_e32 v40, v0, v64
//! needs 1
  v_rcp_f16_e32 v0, v64
  WAIT
  v_mul_f16_e32 v40, v64, v0
//! needs 1
  v_rsq_f64_e32 v[0:1], v[64:65]
  WAIT
  v_mov_b32_e32 v40, v1
//! passes
  v_exp_f32_e32 v0, v64
  v_log_f32_e32 v40, v0
