//===- Assembler.h - gfx950 assembly text to an object, in process ----------===//
#ifndef NVFP4GEN_COMPILER_LINT_ASSEMBLER_H
#define NVFP4GEN_COMPILER_LINT_ASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nvfp4gen::lint {

/// Bytes of the relocatable object; the error has the assembler's diagnostics. Thread-safe.
llvm::Expected<std::string> assemble(llvm::StringRef text);

/// The machine code of `kernel` in a relocatable object that LLVM has just made.
struct ObjectCode {
  std::string text;   ///< the section that holds it
  uint64_t entry = 0; ///< of the kernel in it, bytes
  uint64_t size = 0;  ///< of the kernel, bytes
};
llvm::Expected<ObjectCode> readObjectCode(llvm::StringRef object, llvm::StringRef kernel);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_ASSEMBLER_H
