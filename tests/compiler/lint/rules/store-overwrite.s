//! needs 2
  global_store_dwordx4 v[64:65], v[0:3], off
  WAIT
  v_mov_b32_e32 v3, v66
//! needs 2
  buffer_store_dwordx3 v[0:2], v64, s[4:7], 0 offen
  WAIT
  v_mov_b32_e32 v1, v66
//! needs 1
  buffer_store_dwordx4 v[0:3], v64, s[4:7], s8 offen
  WAIT
  v_mov_b32_e32 v1, v66
//! passes
  global_store_dwordx2 v[64:65], v[0:1], off
  v_mov_b32_e32 v1, v66
//! passes
  global_store_dwordx4 v[64:65], v[0:3], off
  v_mov_b32_e32 v64, v66
