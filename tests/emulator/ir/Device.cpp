//===- Device.cpp - programs compiled for gfx950 ---------------------------===//
#include "tests/emulator/ir/Device.h"

#include "tests/emulator/Linker.h"
#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Inputs.h"
#include "tests/emulator/ir/Workarounds.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace irfuzz {
namespace {

/// The kernel of `program`: work-item i of all works on input i and output i.
void addKernel(Function &program) {
  Module &module = *program.getParent();
  LLVMContext &context = module.getContext();
  IRBuilder<> b(context);
  FunctionType *type =
      FunctionType::get(b.getVoidTy(), program.getFunctionType()->params().take_front(3), false);
  Function *kernel = Function::Create(type, GlobalValue::ExternalLinkage,
                                      "k" + program.getName().drop_front(), module);
  kernel->copyAttributesFrom(&program);
  kernel->setCallingConv(CallingConv::AMDGPU_KERNEL);
  kernel->removeFnAttr(Attribute::AlwaysInline);
  kernel->setVisibility(GlobalValue::ProtectedVisibility);
  program.setLinkage(GlobalValue::InternalLinkage);
  std::string sizes = "1," + std::to_string(BlockSize);
  kernel->addFnAttr("amdgpu-flat-work-group-size", sizes);

  auto *area = ArrayType::get(b.getInt64Ty(), LdsSlots);
  auto *allAreas = ArrayType::get(area, BlockSize);
  auto *lds = new GlobalVariable(module, allAreas, false, GlobalValue::InternalLinkage,
                                 PoisonValue::get(allAreas), kernel->getName() + ".lds", nullptr,
                                 GlobalValue::NotThreadLocal, 3);
  b.SetInsertPoint(BasicBlock::Create(context, "entry", kernel));
  Value *item = b.CreateIntrinsic(Intrinsic::amdgcn_workitem_id_x, {});
  Value *group = b.CreateIntrinsic(Intrinsic::amdgcn_workgroup_id_x, {});
  Value *lane = b.CreateAdd(b.CreateMul(group, b.getInt32(BlockSize)), item);
  auto at = [&](Value *base, unsigned slots) {
    return b.CreateGEP(b.getInt64Ty(), base, b.CreateMul(lane, b.getInt32(slots)));
  };
  b.CreateCall(&program, {at(kernel->getArg(0), InputSlots), kernel->getArg(1),
                          at(kernel->getArg(2), OutputSlots), b.CreateGEP(area, lds, item)});
  b.CreateRetVoid();
}

/// What LLVM reports while it compiles, instead of an exit of the process.
struct Diagnosed {
  std::string errors;
  unsigned fallbacks = 0;
};

class Diagnostics : public DiagnosticHandler {
public:
  explicit Diagnostics(Diagnosed &diagnosed) : diagnosed(diagnosed) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    diagnosed.fallbacks += info.getKind() == DK_ISelFallback;
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream out(diagnosed.errors);
    DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    out << '\n';
    return true;
  }

private:
  Diagnosed &diagnosed;
};

Expected<std::unique_ptr<TargetMachine>> makeTarget(const Config &config) {
  static const bool once = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    return true;
  }();
  (void)once;
  Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  TargetOptions options;
  options.EnableGlobalISel = config.globalISel;
  options.GlobalISelAbort = GlobalISelAbortMode::DisableWithDiag;
  auto level = config.level == 0   ? CodeGenOptLevel::None
               : config.level == 1 ? CodeGenOptLevel::Less
                                   : CodeGenOptLevel::Aggressive;
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, "gfx950", "", options, Reloc::PIC_, std::nullopt, level));
}

void optimize(Module &module, TargetMachine &target, const Config &config) {
  const unsigned level = config.level;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder passes(&target);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  auto optimization = level == 0   ? OptimizationLevel::O0
                      : level == 1 ? OptimizationLevel::O1
                                   : OptimizationLevel::O3;
  auto pipeline = level == 0 ? passes.buildO0DefaultPipeline(optimization)
                             : passes.buildPerModuleDefaultPipeline(optimization);
  pipeline.run(module, modules);
  avoidKnownMiscompiles(module, functions, config);
}

enum class Stage : uint8_t { Ir, Assembly, Object };

/// What a compilation works on; lost when LLVM crashes.
struct Compilation {
  LLVMContext context;
  std::unique_ptr<Module> module;
  std::unique_ptr<TargetMachine> target;
  Diagnosed diagnosed;
  SmallVector<char, 0> output;
  std::string failure;
};

void run(Compilation &work, const Config &config, Stage stage) {
  work.context.setDiagnosticHandler(std::make_unique<Diagnostics>(work.diagnosed));
  Module &module = *work.module;
  module.setDataLayout(work.target->createDataLayout());
  module.addModuleFlag(Module::Error, "amdhsa_code_object_version", config.codeObjectVersion);
  SmallVector<Function *, ProgramsPerModule> bodies;
  for (Function &function : module)
    if (seedOf(function.getName()))
      bodies.push_back(&function);
  for (Function *body : bodies)
    addKernel(*body);
  optimize(module, *work.target, config);

  raw_svector_ostream stream(work.output);
  if (stage == Stage::Ir) {
    module.print(stream, nullptr);
    return;
  }
  legacy::PassManager codeGenerator;
  auto kind = stage == Stage::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (work.target->addPassesToEmitFile(codeGenerator, stream, nullptr, kind,
                                       /*DisableVerify=*/true))
    work.failure = "the target emits no objects";
  else
    codeGenerator.run(module);
}

Expected<std::unique_ptr<Compilation>> compile(const Module &programs, const Config &config,
                                               const Mutation &mutation, Stage stage) {
  auto work = std::make_unique<Compilation>();
  auto target = makeTarget(config);
  if (!target)
    return target.takeError();
  work->target = std::move(*target);
  auto copy = copyTo(work->context, programs);
  if (!copy)
    return copy.takeError();
  work->module = std::move(*copy);
  if (mutation)
    mutation(*work->module);
  CrashRecoveryContext::Enable();
  CrashRecoveryContext recovery;
  if (!recovery.RunSafely([&] { run(*work, config, stage); })) {
    (void)work.release(); // in no state to be destroyed
    return createStringError("LLVM crashes");
  }
  if (!work->diagnosed.errors.empty())
    work->failure += work->diagnosed.errors;
  if (!work->failure.empty())
    return createStringError("LLVM for gfx950: " + work->failure);
  return work;
}

} // namespace

Expected<DeviceCode> compileForDevice(const Module &programs, const Config &config,
                                      const Mutation &mutation) {
  auto work = compile(programs, config, mutation, Stage::Object);
  if (!work)
    return work.takeError();
  gfx950emu::test::Linked linked = gfx950emu::test::linkCodeObject((*work)->output);
  if (!linked.error.empty())
    return createStringError(linked.error);
  return DeviceCode{std::move(linked.image), (*work)->diagnosed.fallbacks};
}

Expected<std::string> deviceAssembly(const Module &programs, const Config &config,
                                     const Mutation &mutation) {
  auto work = compile(programs, config, mutation, Stage::Assembly);
  if (!work)
    return work.takeError();
  return std::string((*work)->output.begin(), (*work)->output.end());
}

Expected<std::string> deviceIr(const Module &programs, const Config &config) {
  auto work = compile(programs, config, {}, Stage::Ir);
  if (!work)
    return work.takeError();
  return std::string((*work)->output.begin(), (*work)->output.end());
}

} // namespace irfuzz
