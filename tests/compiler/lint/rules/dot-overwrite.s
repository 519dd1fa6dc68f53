//! needs 3
  v_dot2_f32_f16 v0, v64, v65, v66
  WAIT
  v_mov_b32_e32 v0, v64
//! passes
  v_dot2_f32_f16 v0, v64, v65, v66
  v_dot2_f32_f16 v0, v64, v65, v66
