//===- Pipeline.h - MLIR passes from template output to LLVM IR -------------===//
#ifndef NVFP4GEN_COMPILER_LOWERING_PIPELINE_H
#define NVFP4GEN_COMPILER_LOWERING_PIPELINE_H

#include "compiler/ir/Mlir.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace nvfp4gen {

/// Lower a module with one gpu.module to LLVM IR for `arch`, with line tables of the templates when
/// `debugLines`; `module` is changed. Diagnostics of the passes are collected into the error.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module,
                                                              llvm::StringRef arch, bool debugLines,
                                                              llvm::LLVMContext &llvmContext);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_LOWERING_PIPELINE_H
