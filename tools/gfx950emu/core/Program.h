//===- Program.h - the instructions of a code object ---------------------------===//
//
// Owns the decoded instructions, their constants and the way back from an
// instruction to its address and text.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_PROGRAM_H
#define GFX950EMU_CORE_PROGRAM_H

#include "tools/gfx950emu/core/Disassembler.h"
#include "tools/gfx950emu/core/Inst.h"
#include "tools/gfx950emu/core/OpTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gfx950emu {

class DecodedProgram {
public:
  struct Symbol {
    uint64_t address = 0, size = 0;
    std::string name;
  };

  /// Decode `code`, which is mapped at `base`. `starts` are addresses where decoding must
  /// resynchronise (function symbols). Bytes that do not decode become instructions that fault when
  /// executed.
  static llvm::Expected<std::unique_ptr<DecodedProgram>>
  decode(llvm::ArrayRef<uint8_t> code, uint64_t base, std::vector<Symbol> symbols, SimdLevel level);

  /// The instruction that starts at `address`, or null.
  const Inst *at(uint64_t address) const;
  uint64_t address(const Inst *in) const { return base + in->offset; }
  /// Assembly text, without encoding.
  std::string text(const Inst *in) const;
  /// Mnemonic as in the opcode table (no _e32, _e64, _sdwa, _dpp); empty when it does not decode.
  std::string mnemonic(const Inst *in) const;
  llvm::ArrayRef<uint8_t> encoding(const Inst *in) const {
    return code.slice(in->offset, in->size);
  }
  /// "symbol+0x10" or the bare address.
  std::string location(uint64_t address) const;
  uint64_t codeBase() const { return base; }
  uint64_t codeSize() const { return code.size(); }
  /// In address order, without the sentinel behind the last.
  llvm::ArrayRef<Inst> instructions() const { return llvm::ArrayRef(insts).drop_back(); }
  /// Broadcast constants, 64 dwords each.
  uint32_t *constants() const { return constantPool; }

  ~DecodedProgram();

private:
  DecodedProgram() = default;
  friend class Decoder;

  llvm::ArrayRef<uint8_t> code;
  uint64_t base = 0;
  std::vector<Symbol> symbols;
  std::vector<Inst> insts;
  std::vector<uint32_t> indexByDword; ///< instruction index + 1; 0 = none starts here
  uint32_t *constantPool = nullptr;
  std::unique_ptr<Disassembler> disassembler;
};

} // namespace gfx950emu

#endif // GFX950EMU_CORE_PROGRAM_H
