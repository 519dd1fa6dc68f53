//===- Audit.h - open semantics that a code object relies on ------------------------===//
//
// Owns the table of semantics that public sources leave open, with the guess the emulator
// takes, and the search for them in the instructions of a code object.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_AUDIT_AUDIT_H
#define GFX950EMU_AUDIT_AUDIT_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Inst.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu::audit {

struct OpenSemantic {
  llvm::StringRef id;
  llvm::StringRef pattern; ///< glob over mnemonics
  uint8_t form = 0;        ///< bits of Inst::form that must be set
  llvm::StringRef what;
  llvm::StringRef guess;
};
llvm::ArrayRef<OpenSemantic> openSemantics();
/// Rows that apply to an instruction of this mnemonic and form.
std::vector<const OpenSemantic *> openSemanticsOf(llvm::StringRef mnemonic, uint8_t form);

/// Instructions of one mnemonic that meet one row, or that have no handler.
struct Use {
  const OpenSemantic *open = nullptr; ///< null: the emulator has no handler
  std::string mnemonic;
  uint64_t count = 0;
  std::string first; ///< where the first is, "kernel+0x40"
};
struct KernelAudit {
  std::string kernel; ///< empty: code outside of every kernel
  std::vector<Use> uses;
};
/// Kernels in the order of the code object, those without uses too; code outside last, if it has
/// any use.
std::vector<KernelAudit> audit(const CodeObject &object);

void printAudit(llvm::ArrayRef<KernelAudit> kernels, llvm::raw_ostream &os);
llvm::json::Array toJson(llvm::ArrayRef<KernelAudit> kernels);
/// The table as a Markdown page.
std::string markdown();

} // namespace gfx950emu::audit

#endif // GFX950EMU_AUDIT_AUDIT_H
