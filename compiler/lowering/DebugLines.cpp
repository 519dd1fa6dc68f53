//===- DebugLines.cpp -------------------------------------------------------===//

#include "compiler/lowering/DebugLines.h"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;

namespace nvfp4gen {

namespace {

/// Paths in locations are relative to the project, so a table says the same wherever it is made.
LLVM::DIFileAttr fileOf(FileLineColLoc location) {
  return LLVM::DIFileAttr::get(location.getContext(), location.getFilename().getValue(), "");
}

/// The place where the template's body begins: its first operation with a location.
FileLineColLoc firstLocation(LLVM::LLVMFuncOp function) {
  FileLineColLoc first;
  function.walk([&](Operation *op) {
    first = dyn_cast<FileLineColLoc>(op->getLoc());
    return first ? WalkResult::interrupt() : WalkResult::advance();
  });
  return first;
}

void attach(LLVM::LLVMFuncOp function) {
  FileLineColLoc begin = firstLocation(function);
  if (!begin)
    return; // a body of constants alone
  MLIRContext *context = function.getContext();
  LLVM::DIFileAttr file = fileOf(begin);
  auto unit = LLVM::DICompileUnitAttr::get(
      DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C_plus_plus_14, file,
      StringAttr::get(context, "nvfp4gen"), /*isOptimized=*/true,
      LLVM::DIEmissionKind::LineTablesOnly);
  auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
  auto scope = LLVM::DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)), unit, file, function.getNameAttr(),
      function.getNameAttr(), file, begin.getLine(), begin.getLine(),
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type,
      /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(FusedLoc::get(context, {begin}, scope));
  function.walk([&](Operation *op) {
    auto location = dyn_cast<FileLineColLoc>(op->getLoc());
    if (!location || location.getFilename() == begin.getFilename())
      return; // the subprogram's own file
    auto block = LLVM::DILexicalBlockFileAttr::get(context, scope, fileOf(location),
                                                   /*discriminator=*/0);
    op->setLoc(FusedLoc::get(context, {location}, block));
  });
}

} // namespace

void attachLineTables(ModuleOp module) {
  module.walk([](LLVM::LLVMFuncOp function) {
    if (!function.isExternal())
      attach(function);
  });
}

} // namespace nvfp4gen
