//! needs 2
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  WAIT
  s_getreg_b32 s4, hwreg(HW_REG_MODE)
//! needs 2
  s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s4
  WAIT
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
//! passes
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_getreg_b32 s4, hwreg(HW_REG_STATUS)
