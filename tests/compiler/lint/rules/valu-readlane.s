//! needs 1
  v_mov_b32_e32 v0, v64
  WAIT
  v_readlane_b32 s4, v0, 3
//! needs 1
  v_mov_b32_e32 v0, v64
  WAIT
  v_readfirstlane_b32 s4, v0
//! passes
  v_mov_b32_e32 v0, v64
  v_readfirstlane_b32 s4, v1
