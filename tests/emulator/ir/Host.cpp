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

constexpr char HalfFma[] = "irfuzz_fma_f16", ToHalf[] = "irfuzz_f16", ToBrain[] = "irfuzz_bf16";

APFloat halfOf(uint16_t bits) { return APFloat(APFloat::IEEEhalf(), APInt(16, bits)); }

/// x86 would round the f32 result once more.
uint16_t fmaHalf(uint16_t left, uint16_t right, uint16_t addend) {
  APFloat result = halfOf(left);
  result.fusedMultiplyAdd(halfOf(right), halfOf(addend), APFloat::rmNearestTiesToEven);
  return uint16_t(result.bitcastToAPInt().getZExtValue());
}

uint16_t narrowed(double value, const fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}
uint16_t toHalf(double value) { return narrowed(value, APFloat::IEEEhalf()); }
uint16_t toBrain(double value) { return narrowed(value, APFloat::BFloat()); }

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

/// `instruction` computed by `function`, element by element: from its operands (halves as their
/// bits, other floats as f64) to the bits of the result.
void callInstead(Instruction &instruction, const char *function) {
  IRBuilder<> b(&instruction);
  Type *bits = b.getInt16Ty();
  const unsigned operands = isa<CallInst>(instruction) ? instruction.getNumOperands() - 1 : 1;
  auto scalar = [&](ArrayRef<Value *> values) {
    SmallVector<Value *, 3> arguments;
    SmallVector<Type *, 3> types;
    for (Value *value : values) {
      arguments.push_back(value->getType()->isHalfTy() ? b.CreateBitCast(value, bits)
                                                       : b.CreateFPCast(value, b.getDoubleTy()));
      types.push_back(arguments.back()->getType());
    }
    FunctionCallee callee = instruction.getModule()->getOrInsertFunction(
        function, FunctionType::get(bits, types, /*isVarArg=*/false));
    CallInst *result = b.CreateCall(callee, arguments);
    result->addRetAttr(Attribute::ZExt);
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (types[i] == bits)
        result->addParamAttr(i, Attribute::ZExt);
    return b.CreateBitCast(result, instruction.getType()->getScalarType());
  };
  SmallVector<Value *, 3> values(instruction.op_begin(), instruction.op_begin() + operands);
  Value *result = nullptr;
  if (auto *vector = dyn_cast<FixedVectorType>(instruction.getType())) {
    result = PoisonValue::get(vector);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      SmallVector<Value *, 3> elements;
      for (Value *value : values)
        elements.push_back(b.CreateExtractElement(value, i));
      result = b.CreateInsertElement(result, scalar(elements), i);
    }
  } else {
    result = scalar(values);
  }
  instruction.replaceAllUsesWith(result);
  instruction.eraseFromParent();
}

/// What x86 cannot do with one rounding.
void replaceNarrowOperations(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      Type *element = instruction.getType()->getScalarType();
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == Intrinsic::fma && element->isHalfTy())
        callInstead(instruction, HalfFma);
      else if (isa<FPTruncInst>(instruction) && element->isBFloatTy())
        callInstead(instruction, ToBrain);
      else if (isa<FPTruncInst>(instruction) && element->isHalfTy() &&
               instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy())
        callInstead(instruction, ToHalf);
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
  replaceNarrowOperations(**copy);

  orc::JITDylib &library = (*jit)->getMainJITDylib();
  auto symbol = [](auto *function) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported);
  };
  orc::SymbolMap own{{(*jit)->mangleAndIntern(HalfFma), symbol(fmaHalf)},
                     {(*jit)->mangleAndIntern(ToHalf), symbol(toHalf)},
                     {(*jit)->mangleAndIntern(ToBrain), symbol(toBrain)}};
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
