//===- Lowering.h - from a kernel plan to gfx950 machine code ---------------===//
//
// Template -> MLIR -> LLVM IR -> assembly or object. Every stage has a text form.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LOWERING_LOWERING_H
#define NVFP4GEN_COMPILER_LOWERING_LOWERING_H

#include "compiler/variants/Family.h"

#include "llvm/Support/Error.h"

#include <string>

namespace nvfp4gen {

enum class Stage : uint8_t {
  MLIR,     ///< as the template emitted it (.mlir)
  LLVM,     ///< LLVM IR after optimization (.ll)
  Assembly, ///< .s
  Object,   ///< relocatable ELF (.o)
};

/// Compile flags that change code; part of the build id.
std::string loweringFlags(const TargetSpec &target);
/// "LLVM 22.1.8"
std::string toolchainVersion();

/// Emit `plan` and lower it to `stage`: text, or the bytes of the object. Thread-safe.
llvm::Expected<std::string> lowerKernel(const KernelPlan &plan, const TargetSpec &target,
                                        Stage stage);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_LOWERING_LOWERING_H
