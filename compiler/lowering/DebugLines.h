//===- DebugLines.h - from MLIR locations to line tables --------------------===//
#ifndef NVFP4GEN_COMPILER_LOWERING_DEBUGLINES_H
#define NVFP4GEN_COMPILER_LOWERING_DEBUGLINES_H

#include "compiler/ir/Mlir.h"

namespace nvfp4gen {

/// Give each kernel of `module`, which is in the LLVM dialect, a debug scope in the file of its
/// template, and each operation of a fragment one in the fragment's file. LLVM then writes line
/// tables, and nothing else, into .debug_line.
void attachLineTables(mlir::ModuleOp module);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_LOWERING_DEBUGLINES_H
