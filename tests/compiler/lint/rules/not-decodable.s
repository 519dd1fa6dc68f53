//! fails
  .long 0xffffffff
// Past the end of the code.
//! fails
  s_branch 1000
//! fails
  s_branch -1000
// Data that control does not reach.
//! passes
  s_branch over
  .long 0xffffffff
over:
  v_mov_b32_e32 v0, v64
