//! needs 4
  v_div_scale_f32 v0, vcc, v64, v65, v64
  WAIT
  v_div_fmas_f32 v40, v66, v67, v68
//! passes
  s_mov_b64 vcc, s[4:5]
  v_div_fmas_f32 v40, v66, v67, v68
