//===- Opcodes.h - traits of opcodes, from their names ----------------------===//
//
// LLVM's own flags are not part of its public headers, so an opcode is known by
// its mnemonic and by the name of its encoding.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_OPCODES_H
#define NVFP4GEN_COMPILER_LINT_OPCODES_H

#include "compiler/lint/Instruction.h"

namespace nvfp4gen::lint {

/// `opcodeName` is LLVM's, e.g. "V_MOV_B32_dpp_vi".
OpcodeInfo describeOpcode(llvm::StringRef mnemonic, llvm::StringRef opcodeName, bool mayStore);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_OPCODES_H
