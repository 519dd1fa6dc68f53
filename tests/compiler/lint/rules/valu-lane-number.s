//! needs 4
  v_readfirstlane_b32 s4, v64
  WAIT
  v_readlane_b32 s5, v65, s4
//! needs 4
  v_readfirstlane_b32 s4, v64
  WAIT
  v_writelane_b32 v40, 7, s4
//! passes
  v_readfirstlane_b32 s4, v64
  v_readlane_b32 s5, v65, s6
