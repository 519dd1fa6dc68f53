//! needs 3
  v_dot2_f32_f16 v0, v64, v65, v66
  WAIT
  v_mov_b32_e32 v40, v0
//! needs 3
  v_dot2_f32_f16 v0, v64, v65, v66
  WAIT
  v_dot2_f32_f16 v40, v0, v65, v66
//! needs 3
  v_dot2c_f32_f16 v0, v64, v65
  WAIT
  v_dot2_f32_f16 v40, v64, v65, v0
//! needs 3
  v_dot4_i32_i8 v0, v64, v65, v66
  WAIT
  ds_write_b32 v64, v0
//! passes
  v_dot2_f32_f16 v0, v64, v65, v66
  v_dot2_f32_f16 v40, v64, v65, v0
//! passes
  v_dot2c_f32_f16 v0, v64, v65
  v_dot2c_f32_f16 v0, v64, v65
