//===- Inst.h - a decoded instruction ----------------------------------------===//
//
// Owns the compact form that the interpreter executes: operands resolved to a
// register bank and index, modifiers taken from the encoding, and the handler.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_INST_H
#define GFX950EMU_CORE_INST_H

#include <cstdint>

namespace gfx950emu {

class Wave;
struct Inst;
struct OpInfo;

/// Executes one wave instruction. Returns the next instruction, or null to stop the wave (end,
/// barrier, yield or fault; the reason is in Wave::stop).
using Handler = const Inst *(*)(Wave &, const Inst *);

constexpr unsigned waveSize = 64;

/// The first three are arrays of 64 dwords a register, so a lane loop needs no case distinction.
enum Bank : uint32_t {
  BankVgpr = 0,
  BankAgpr = 1,
  BankConstant = 2, ///< the program's constants, each broadcast to 64 lanes
  BankScalar = 3,   ///< Wave::sgpr, by hardware encoding (VCC 106, M0 124, EXEC 126, SCC 253)
  BankNone = 4,
};

struct Operand {
  uint32_t index : 20 = 0;
  uint32_t dwords : 8 = 0;
  uint32_t bank : 4 = BankNone;

  bool present() const { return bank != BankNone; }
};
static_assert(sizeof(Operand) == 4);

/// Hardware encodings of scalar registers with a meaning.
enum : uint32_t { SgprVcc = 106, SgprM0 = 124, SgprExec = 126, SgprScc = 253, SgprFileSize = 256 };

/// Inst::form: what makes an instruction leave the fast path.
enum : uint8_t {
  FormModifiers = 1, ///< neg, abs, omod, clamp, op_sel away from the default
  FormSdwa = 2,
  FormDpp = 4,
  FormAliased = 8, ///< the destination shares a register with a source
};

struct Inst {
  Handler handler = nullptr;
  const OpInfo *op = nullptr; ///< null when there is no handler for the mnemonic
  uint32_t offset = 0;        ///< bytes from the start of the code segment
  uint8_t size = 0;           ///< bytes
  uint8_t form = 0;
  uint16_t vgprEnd = 0; ///< one past the highest VGPR named
  uint16_t agprEnd = 0;
  uint16_t opSel : 4 = 0; ///< op_sel; bit 3 is the destination's
  uint16_t opSelHi : 3 = 7;
  uint16_t clamp : 1 = 0;
  uint16_t omod : 2 = 0;
  uint16_t cpol : 5 = 0; ///< sc0 = 1, nt = 2, sc1 = 16
  Operand dst;
  Operand sdst;   ///< mask or second destination
  Operand src[3]; ///< memory: address, data, second data
  Operand smask;  ///< mask source; memory: scalar address, soffset
  uint32_t extra =
      0;           ///< the SDWA or DPP dword; MAI: cbsz | abid << 4 | blgp << 8; else family's own
  int32_t imm = 0; ///< simm16, offset or instruction distance of a branch
  uint8_t neg = 0; ///< neg, or neg_lo
  uint8_t abs = 0; ///< abs, or neg_hi
};

} // namespace gfx950emu

#endif // GFX950EMU_CORE_INST_H
