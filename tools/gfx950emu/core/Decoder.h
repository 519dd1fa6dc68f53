//===- Decoder.h - from MC instruction and encoding to Inst ----------------------===//
//
// Owns the decoding of one code segment. Registers and literals come from LLVM's
// MCInst (which knows operand classes and widened constants); modifiers come from
// the bits, whose places are fixed an encoding family.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_DECODER_H
#define GFX950EMU_CORE_DECODER_H

#include "tools/gfx950emu/core/Program.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace gfx950emu {

/// OpInfo::param of Control and Salu rows: simm16 is a branch distance.
constexpr uint32_t paramBranch = 1;

class Decoder {
public:
  Decoder(DecodedProgram &program, const OpTable &table) : program(program), table(table) {}
  llvm::Error run();

private:
  struct Words {
    uint32_t w[4] = {0, 0, 0, 0};
    uint64_t first64() const { return w[0] | uint64_t(w[1]) << 32; }
  };
  struct Operands {
    llvm::SmallVector<Operand, 2> defs;
    llvm::SmallVector<Operand, 6> sources;
    bool supported = true;
  };

  void decodeOne(Inst &in, llvm::ArrayRef<uint8_t> bytes);
  /// False when some part of the instruction has no meaning here; it then faults when executed.
  bool fill(Inst &in, const llvm::MCInst &mc, const Words &words);
  Operands walk(const llvm::MCInst &mc);
  Operand registerOperand(unsigned reg, bool &supported);
  Operand scalarField(uint32_t field, bool &supported);
  Operand constant(uint64_t value);
  void fillValu(Inst &in, const Operands &operands, const Words &words);
  bool fillScalar(Inst &in, const Operands &operands, const Words &words);
  bool fillMfma(Inst &in, const Operands &operands, const Words &words);
  bool fillSmem(Inst &in, const Words &words);
  void fillFlat(Inst &in, const Words &words);
  bool fillDs(Inst &in, const Words &words);
  bool fillMubuf(Inst &in, const Words &words);
  void setWidths(Inst &in);
  void resolveBranches();

  DecodedProgram &program;
  const OpTable &table;
  std::unordered_map<uint64_t, uint32_t> constantIndex;
  std::vector<std::array<uint32_t, 2>> constantValues; ///< pairs: low and high dword
};

} // namespace gfx950emu

#endif // GFX950EMU_CORE_DECODER_H
