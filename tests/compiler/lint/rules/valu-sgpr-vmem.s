//! needs 5
  v_readfirstlane_b32 s4, v64
  WAIT
  global_load_dword v40, v65, s[4:5]
//! needs 5
  v_readfirstlane_b32 s7, v64
  WAIT
  buffer_load_dword v40, v65, s[4:7], 0 offen
//! needs 5
  v_readfirstlane_b32 s8, v64
  WAIT
  buffer_load_dword v40, v65, s[4:7], s8 offen
//! passes
  v_readfirstlane_b32 s4, v64
  global_load_dword v40, v65, s[6:7]
