//===- Mlir.h - the MLIR headers our IR code uses ---------------------------===//
//
// One place for the dialects in use, so that they can be precompiled. Headers of
// all dialects at once (InitAllDialects.h) take most of a minute to compile.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_IR_MLIR_H
#define NVFP4GEN_COMPILER_IR_MLIR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#endif // NVFP4GEN_COMPILER_IR_MLIR_H
