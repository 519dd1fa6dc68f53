//===- MachineCode.h - the instructions of a bundle's kernels ---------------===//
#ifndef NVFP4GEN_TOOLS_NVFP4GEN_MACHINECODE_H
#define NVFP4GEN_TOOLS_NVFP4GEN_MACHINECODE_H

#include "runtime/bundle/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nvfp4gen {

struct Instruction {
  uint64_t address = 0; ///< in the code object
  llvm::ArrayRef<uint8_t> bytes;
  std::string text;     ///< as LLVM prints it
  std::string mnemonic; ///< without the suffix of its encoding
};

/// The kernel of a variant, or the one with this symbol; the error says which file has neither.
llvm::Expected<const nvfp4rt::Kernel *>
findKernel(const nvfp4rt::Manifest &manifest, const std::string &file, const std::string &name);

/// Every instruction of a kernel of the code object `elf`, which is borrowed.
llvm::Expected<std::vector<Instruction>> decodeKernel(llvm::StringRef elf,
                                                      const std::string &symbol);

struct SourceLine {
  std::string file;
  unsigned line = 0; ///< 0 = no template's line
  bool operator==(const SourceLine &) const = default;
};

/// The template's line of each instruction, in order; empty when the code object has no line
/// tables.
llvm::Expected<std::vector<SourceLine>> sourceLines(llvm::StringRef elf,
                                                    llvm::ArrayRef<Instruction> instructions);

} // namespace nvfp4gen

#endif // NVFP4GEN_TOOLS_NVFP4GEN_MACHINECODE_H
