//===- Workarounds.h - what LLVM 22 gets wrong for gfx950 ------------------===//
//
// A difference is to mean a fault of the emulator, so shapes of IR that LLVM 22
// is known to miscompile are kept from its AMDGPU code generator: the value in
// question goes through an empty piece of assembly, which hides where it comes
// from. Each was found by this fuzzer and read in the generated assembly.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_IR_WORKAROUNDS_H
#define TESTS_EMULATOR_IR_WORKAROUNDS_H

#include "tests/emulator/ir/Program.h"

#include "llvm/IR/PassManager.h"

namespace irfuzz {

/// Rewrite `module`, optimized and about to go to the code generator.
void avoidKnownMiscompiles(llvm::Module &module, llvm::FunctionAnalysisManager &analyses,
                           const Config &config);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_WORKAROUNDS_H
