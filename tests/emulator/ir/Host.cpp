//===- Host.cpp - programs compiled for and run on this machine ------------===//
#include "tests/emulator/ir/Host.h"

#include "tests/emulator/ir/Program.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace irfuzz {
namespace {

constexpr char HalfFma[] = "irfuzz_fma_f16";

APFloat halfOf(uint16_t bits) { return APFloat(APFloat::IEEEhalf(), APInt(16, bits)); }

/// x86 would round the f32 result once more.
uint16_t fmaHalf(uint16_t left, uint16_t right, uint16_t addend) {
  APFloat result = halfOf(left);
  result.fusedMultiplyAdd(halfOf(right), halfOf(addend), APFloat::rmNearestTiesToEven);
  return uint16_t(result.bitcastToAPInt().getZExtValue());
}

template <class To, class From> To narrowed(From value, const fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return std::bit_cast<To>(uint16_t(number.bitcastToAPInt().getZExtValue()));
}

// What compiler-rt has under the names __truncdfhf2 and so on, by their ABI.
_Float16 truncDoubleHalf(double value) { return narrowed<_Float16>(value, APFloat::IEEEhalf()); }
__bf16 truncFloatBrain(float value) { return narrowed<__bf16>(value, APFloat::BFloat()); }
__bf16 truncDoubleBrain(double value) { return narrowed<__bf16>(value, APFloat::BFloat()); }

/// x86 has no llvm.canonicalize of half vectors. Without signaling NaN and with denormals kept it
/// is the identity.
void dropCanonicalize(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == Intrinsic::canonicalize) {
          call->replaceAllUsesWith(call->getArgOperand(0));
          call->eraseFromParent();
        }
}

/// Calls of llvm.fma on halves become calls of fmaHalf.
void replaceHalfFma(Module &module) {
  Type *bits = Type::getInt16Ty(module.getContext());
  SmallVector<IntrinsicInst *> calls;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == Intrinsic::fma &&
            call->getType()->getScalarType()->isHalfTy())
          calls.push_back(call);
  if (calls.empty())
    return;
  FunctionCallee callee = module.getOrInsertFunction(HalfFma, bits, bits, bits, bits);
  auto *declaration = cast<Function>(callee.getCallee());
  declaration->addRetAttr(Attribute::ZExt);
  for (unsigned i = 0; i < 3; ++i)
    declaration->addParamAttr(i, Attribute::ZExt);
  for (IntrinsicInst *call : calls) {
    IRBuilder<> b(call);
    auto scalar = [&](Value *left, Value *right, Value *addend) {
      CallInst *result =
          b.CreateCall(callee, {b.CreateBitCast(left, bits), b.CreateBitCast(right, bits),
                                b.CreateBitCast(addend, bits)});
      result->setAttributes(declaration->getAttributes());
      return b.CreateBitCast(result, b.getHalfTy());
    };
    Value *result = nullptr;
    if (auto *vector = dyn_cast<FixedVectorType>(call->getType())) {
      result = PoisonValue::get(vector);
      for (unsigned i = 0; i < vector->getNumElements(); ++i)
        result = b.CreateInsertElement(result,
                                       scalar(b.CreateExtractElement(call->getArgOperand(0), i),
                                              b.CreateExtractElement(call->getArgOperand(1), i),
                                              b.CreateExtractElement(call->getArgOperand(2), i)),
                                       i);
    } else {
      result = scalar(call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2));
    }
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
}

Expected<std::unique_ptr<orc::LLJIT>> makeJit() {
  static const bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)once;
  StringMap<bool> features = sys::getHostCPUFeatures();
  for (const char *feature : {"avx2", "fma", "f16c", "bmi2"})
    if (!features.lookup(feature))
      return createStringError("the host must be x86-64-v3; its CPU lacks " + Twine(feature));
  orc::JITTargetMachineBuilder target{Triple(sys::getProcessTriple())};
  target.setCPU("x86-64-v3").setCodeGenOptLevel(CodeGenOptLevel::None);
  return orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(target)).create();
}

} // namespace

HostPrograms::HostPrograms(std::unique_ptr<orc::LLJIT> jit) : jit(std::move(jit)) {}
HostPrograms::HostPrograms(HostPrograms &&) = default;
HostPrograms::~HostPrograms() = default;

Expected<HostPrograms> HostPrograms::compile(const Module &programs) {
  auto jit = makeJit();
  if (!jit)
    return jit.takeError();
  // The JIT owns its module and the context of it.
  auto context = std::make_unique<LLVMContext>();
  auto copy = copyTo(*context, programs);
  if (!copy)
    return copy.takeError();
  (*copy)->setTargetTriple((*jit)->getTargetTriple());
  (*copy)->setDataLayout((*jit)->getDataLayout());
  dropCanonicalize(**copy);
  replaceHalfFma(**copy);

  orc::JITDylib &library = (*jit)->getMainJITDylib();
  auto symbol = [](auto *function) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported);
  };
  orc::SymbolMap own{{(*jit)->mangleAndIntern(HalfFma), symbol(fmaHalf)},
                     {(*jit)->mangleAndIntern("__truncdfhf2"), symbol(truncDoubleHalf)},
                     {(*jit)->mangleAndIntern("__truncsfbf2"), symbol(truncFloatBrain)},
                     {(*jit)->mangleAndIntern("__truncdfbf2"), symbol(truncDoubleBrain)}};
  if (Error error = library.define(orc::absoluteSymbols(std::move(own))))
    return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (Error error = (*jit)->addIRModule(
          orc::ThreadSafeModule(std::move(*copy), orc::ThreadSafeContext(std::move(context)))))
    return error;
  return HostPrograms(std::move(*jit));
}

Expected<HostFunction> HostPrograms::find(StringRef name) const {
  auto address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<HostFunction>();
}

} // namespace irfuzz
