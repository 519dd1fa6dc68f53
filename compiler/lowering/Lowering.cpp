//===- Lowering.cpp ---------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

#include "compiler/ir/KernelBuilder.h"
#include "compiler/lowering/Pipeline.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace nvfp4gen {

namespace {

constexpr const char *kTriple = "amdgcn-amd-amdhsa";
/// Where a kernel does not ask for packed fp32 (KernelPlan).
constexpr const char *kFeatures = "-packed-fp32-ops";
constexpr const char *kPackedFp32 = "+packed-fp32-ops";

// Hidden arguments and everything else a kernel does not use (rule G7). Without these LLVM reserves
// 256 bytes of hidden arguments in every kernel.
constexpr const char *kUnused[] = {
    "amdgpu-no-implicitarg-ptr",    "amdgpu-no-dispatch-ptr",     "amdgpu-no-queue-ptr",
    "amdgpu-no-dispatch-id",        "amdgpu-no-hostcall-ptr",     "amdgpu-no-heap-ptr",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-default-queue",    "amdgpu-no-completion-action",
    "amdgpu-no-lds-kernel-id",      "amdgpu-no-flat-scratch-init"};

// With IEEE mode off v_max and v_med3 take any NaN as missing, without a canonicalizing instruction
// in front of each operand.
constexpr std::pair<const char *, const char *> kFunctionAttributes[] = {
    {"amdgpu-ieee", "false"}, {"uniform-work-group-size", "true"}};

llvm::Error lowerError(const KernelPlan &plan, const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "kernel '" + plan.symbol + "': " + what);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetSpec &target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
  return std::unique_ptr<llvm::TargetMachine>(
      llvmTarget->createTargetMachine(triple, target.arch, kFeatures, llvm::TargetOptions(),
                                      llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Aggressive));
}

void setAttributes(llvm::Module &module, const KernelPlan &plan, const TargetSpec &target) {
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                       uint32_t(target.codeObjectVersion * 100));
  llvm::Function *function = module.getFunction(plan.symbol);
  for (const char *name : kUnused)
    function->addFnAttr(name);
  for (auto [name, value] : kFunctionAttributes)
    function->addFnAttr(name, value);
  std::string size = std::to_string(plan.block[0] * plan.block[1] * plan.block[2]);
  function->addFnAttr("amdgpu-flat-work-group-size", size + "," + size);
  function->addFnAttr("target-cpu", target.arch);
  function->addFnAttr("target-features", plan.packedFp32 ? kPackedFp32 : kFeatures);
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

} // namespace

struct EmittedKernel::Impl {
  Impl(const KernelPlan &plan, const nvfp4rt::ArgLayout &layout)
      : plan(plan), context(mlir::MLIRContext::Threading::DISABLED),
        builder(context, plan, layout) {}
  const KernelPlan &plan;
  mlir::MLIRContext context;
  KernelBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

EmittedKernel::EmittedKernel(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
EmittedKernel::EmittedKernel(EmittedKernel &&) noexcept = default;
EmittedKernel::~EmittedKernel() = default;

std::string loweringFlags(const TargetSpec &target, const LoweringOptions &options) {
  std::string flags = std::string(kTriple) + " -mcpu=" + target.arch + " -O3 " + kFeatures +
                      " code-object-v" + std::to_string(target.codeObjectVersion);
  for (auto [name, value] : kFunctionAttributes)
    flags += std::string(" ") + name + "=" + value;
  for (const char *name : kUnused)
    flags += std::string(" ") + name;
  if (options.debugLines)
    flags += " -gline-tables-only";
  return flags;
}

std::string kernelFlags(const KernelPlan &plan) {
  std::string flags = plan.packedFp32 ? kPackedFp32 : kFeatures;
  for (uint32_t size : plan.block)
    flags += " " + std::to_string(size);
  return flags;
}

std::string toolchainVersion() { return "LLVM " LLVM_VERSION_STRING; }

llvm::Expected<EmittedKernel> EmittedKernel::emit(const KernelPlan &plan) {
  const nvfp4rt::ArgLayout *layout = nvfp4rt::argLayout(plan.family);
  if (!layout)
    return lowerError(plan, "family '" + llvm::Twine(std::string(plan.family)) +
                                "' has no kernel-argument layout");
  auto impl = std::make_unique<Impl>(plan, *layout);
  plan.emit(impl->builder);
  impl->module = impl->builder.takeModule();
  return EmittedKernel(std::move(impl));
}

std::string EmittedKernel::text(bool locations) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo();
  impl->module->print(os, flags);
  return text + "\n";
}

llvm::Expected<std::string> EmittedKernel::lower(const TargetSpec &target, Stage stage,
                                                 const LoweringOptions &options) {
  const KernelPlan &plan = impl->plan;
  if (stage == Stage::MLIR)
    return text(options.debugLines);

  llvm::LLVMContext llvmContext;
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      translateToLLVM(*impl->module, target.arch, options.debugLines, llvmContext);
  if (!module)
    return lowerError(plan, llvm::toString(module.takeError()));
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  (*module)->setTargetTriple(llvm::Triple(kTriple));
  (*module)->setDataLayout((*machine)->createDataLayout());
  setAttributes(**module, plan, target);
  std::string verifyText;
  llvm::raw_string_ostream verifyStream(verifyText);
  if (llvm::verifyModule(**module, &verifyStream))
    return lowerError(plan, "invalid LLVM IR: " + verifyText);
  optimize(**module, **machine);
  if (stage == Stage::LLVM) {
    std::string text;
    llvm::raw_string_ostream os(text);
    (*module)->print(os, nullptr);
    return text;
  }

  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  auto fileType = stage == Stage::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                           : llvm::CodeGenFileType::ObjectFile;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, fileType))
    return lowerError(plan, "the target cannot emit this kind of file");
  passes.run(**module);
  return std::string(buffer.begin(), buffer.end());
}

llvm::Expected<std::string> lowerKernel(const KernelPlan &plan, const TargetSpec &target,
                                        Stage stage, const LoweringOptions &options) {
  llvm::Expected<EmittedKernel> kernel = EmittedKernel::emit(plan);
  if (!kernel)
    return kernel.takeError();
  return kernel->lower(target, stage, options);
}

} // namespace nvfp4gen
