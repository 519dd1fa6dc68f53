//! needs 2
  v_mov_b32_e32 v0, v64
  WAIT
  v_permlane32_swap_b32_e32 v40, v0
//! needs 2
  v_mov_b32_e32 v0, v64
  WAIT
  v_permlane16_swap_b32_e32 v0, v40
//! passes
  v_mov_b32_e32 v0, v64
  v_permlane32_swap_b32_e32 v40, v41
