//! fails
  s_swappc_b64 s[30:31], s[4:5]
//! fails
  s_setpc_b64 s[4:5]
//! fails
  s_call_b64 s[30:31], 0
//! fails
  s_set_gpr_idx_on s4, gpr_idx(SRC0)
//! fails
  s_movrels_b32 s4, s6
//! passes
  s_cbranch_scc0 over
  s_branch over
over:
  v_mov_b32_e32 v0, v64
