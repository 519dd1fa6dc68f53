//===- Disassembler.h - LLVM's MC layer for gfx950 ------------------------------===//
//
// Owns the MC objects. Thread-safe: faults of several threads print through it.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_DISASSEMBLER_H
#define GFX950EMU_CORE_DISASSEMBLER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/MC/MCInst.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace llvm {
class MCInstrDesc;
class MCRegisterInfo;
} // namespace llvm

namespace gfx950emu {

class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>> create();
  ~Disassembler();

  /// Decode one instruction at the start of `bytes`; 0 when it does not decode.
  uint64_t decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address, llvm::MCInst &inst) const;
  /// As printed, without the encoding suffix.
  std::string mnemonic(const llvm::MCInst &inst) const;
  std::string text(const llvm::MCInst &inst, uint64_t address) const;
  const llvm::MCInstrDesc &description(const llvm::MCInst &inst) const;
  const llvm::MCRegisterInfo &registers() const;

private:
  Disassembler();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace gfx950emu

#endif // GFX950EMU_CORE_DISASSEMBLER_H
