//===- Pipeline.cpp ---------------------------------------------------------===//

#include "compiler/lowering/Pipeline.h"

#include "compiler/lowering/DebugLines.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;

namespace nvfp4gen {

llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(ModuleOp module, llvm::StringRef arch,
                                                              bool debugLines,
                                                              llvm::LLVMContext &llvmContext) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  context->appendDialectRegistry(registry);

  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(diagnostics);
    os << diagnostic.getLocation() << ": " << diagnostic << "; ";
    return success();
  });
  auto fail = [&](const char *what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   std::string(what) + ": " + diagnostics);
  };

  PassManager passes(context);
  passes.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToROCDLOpsOptions options;
  options.chipset = arch.str();
  passes.addNestedPass<gpu::GPUModuleOp>(createConvertGpuOpsToROCDLOps(options));
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    return fail("lowering to the LLVM dialect failed");
  if (debugLines)
    attachLineTables(module);

  auto gpuModules = module.getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(gpuModules))
    return fail("expected one gpu.module");
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(
      *gpuModules.begin(), llvmContext, module.getName().value_or("kernel"));
  if (!result)
    return fail("translation to LLVM IR failed");
  return result;
}

} // namespace nvfp4gen
