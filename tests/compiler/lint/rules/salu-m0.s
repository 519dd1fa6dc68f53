//! needs 1
  s_mov_b32 m0, s4
  WAIT
  global_load_lds_dword v[64:65], off
//! needs 1
  s_mov_b32 m0, s4
  WAIT
  buffer_load_dword v64, s[4:7], 0 offen lds
//! needs 1
  s_mov_b32 m0, s4
  WAIT
  s_sendmsg sendmsg(MSG_INTERRUPT)
//! needs 1
  s_mov_b32 m0, s4
  WAIT
  ds_read_addtid_b32 v40
//! passes
  s_mov_b32 m0, s4
  ds_read_b32 v40, v64
