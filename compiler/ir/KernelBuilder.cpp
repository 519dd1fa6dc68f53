//===- KernelBuilder.cpp ----------------------------------------------------===//

#include "compiler/ir/KernelBuilder.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace nvfp4gen {

//===------------------------------------------------------------------------===//
// Module, function, arguments
//===------------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(MLIRContext &context, const KernelPlan &plan,
                             const nvfp4rt::ArgLayout &layout)
    : b(&context), location(UnknownLoc::get(&context)), layout(layout), block(plan.block) {
  context.loadDialect<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, ROCDL::ROCDLDialect,
                      scf::SCFDialect>();
  module = ModuleOp::create(b, location, plan.symbol);
  b.setInsertionPointToEnd(module->getBody());
  auto gpuModule = gpu::GPUModuleOp::create(b, location, "kernels");
  b.setInsertionPointToEnd(gpuModule.getBody());

  auto globalPointer = LLVM::LLVMPointerType::get(&context, 1);
  SmallVector<Type> types;
  for (const nvfp4rt::ArgField &field : layout.fields)
    types.push_back(field.type == nvfp4rt::ArgType::Pointer ? Type(globalPointer)
                    : field.type == nvfp4rt::ArgType::I64   ? Type(b.getI64Type())
                                                            : Type(b.getI32Type()));
  function = gpu::GPUFuncOp::create(b, location, plan.symbol, b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSize(
      ArrayRef<int32_t>{int32_t(plan.block[0]), int32_t(plan.block[1]), int32_t(plan.block[2])});
  b.setInsertionPointToEnd(&function.getBody().front());
  gpu::ReturnOp::create(b, location);
  b.setInsertionPointToStart(&function.getBody().front());
}

OwningOpRef<ModuleOp> KernelBuilder::takeModule() { return std::move(module); }

Val KernelBuilder::arg(std::string_view path) {
  std::optional<size_t> index = layout.indexOf(path);
  if (!index)
    llvm::report_fatal_error(llvm::Twine("template asks for kernel argument '") +
                             llvm::StringRef(path) + "', which the struct of family '" +
                             llvm::StringRef(layout.family) + "' does not have");
  return wrap(function.getArgument(*index));
}

OpBuilder &KernelBuilder::at(const std::source_location &where) {
  location = FileLineColLoc::get(b.getContext(), where.file_name(), where.line(), where.column());
  return b;
}

Location KernelBuilder::loc() { return location; }

//===------------------------------------------------------------------------===//
// Constants and operators
//===------------------------------------------------------------------------===//

Value KernelBuilder::materialize(const Operand &operand, Type type) {
  if (operand.value.get())
    return operand.value.get();
  if (isa<FloatType>(type)) {
    double value = operand.isReal ? operand.real : double(operand.integer);
    return arith::ConstantOp::create(b, location, b.getFloatAttr(type, value));
  }
  assert(!operand.isReal && "a real literal beside an integer value");
  return arith::ConstantOp::create(b, location, b.getIntegerAttr(type, operand.integer));
}

Val KernelBuilder::i32(int64_t value, Where where) {
  return wrap(arith::ConstantOp::create(at(where), loc(), b.getI32IntegerAttr(int32_t(value))));
}
Val KernelBuilder::i64(int64_t value, Where where) {
  return wrap(arith::ConstantOp::create(at(where), loc(), b.getI64IntegerAttr(value)));
}
Val KernelBuilder::f32(double value, Where where) {
  return wrap(arith::ConstantOp::create(at(where), loc(), b.getF32FloatAttr(float(value))));
}

namespace {

template <typename Op> Val integerOp(Val a, const Operand &o) {
  KernelBuilder &kb = a.kb();
  OpBuilder &b = kb.at(o.where);
  return Val(kb, Op::create(b, kb.loc(), a.get(), kb.materialize(o, a.type())));
}

template <typename IntOp, typename FloatOp> Val arithmeticOp(Val a, const Operand &o) {
  return isa<FloatType>(a.type()) ? integerOp<FloatOp>(a, o) : integerOp<IntOp>(a, o);
}

Val compare(arith::CmpIPredicate predicate, Val a, const Operand &o) {
  KernelBuilder &kb = a.kb();
  OpBuilder &b = kb.at(o.where);
  return Val(kb,
             arith::CmpIOp::create(b, kb.loc(), predicate, a.get(), kb.materialize(o, a.type())));
}

} // namespace

Val operator+(Val a, Operand b) { return arithmeticOp<arith::AddIOp, arith::AddFOp>(a, b); }
Val operator-(Val a, Operand b) { return arithmeticOp<arith::SubIOp, arith::SubFOp>(a, b); }
Val operator*(Val a, Operand b) { return arithmeticOp<arith::MulIOp, arith::MulFOp>(a, b); }
Val operator&(Val a, Operand b) { return integerOp<arith::AndIOp>(a, b); }
Val operator|(Val a, Operand b) { return integerOp<arith::OrIOp>(a, b); }
Val operator^(Val a, Operand b) { return integerOp<arith::XOrIOp>(a, b); }
Val operator<<(Val a, Operand b) { return integerOp<arith::ShLIOp>(a, b); }
Val lshr(Val a, Operand b) { return integerOp<arith::ShRUIOp>(a, b); }
Val ashr(Val a, Operand b) { return integerOp<arith::ShRSIOp>(a, b); }
Val udiv(Val a, Operand b) { return integerOp<arith::DivUIOp>(a, b); }
Val urem(Val a, Operand b) { return integerOp<arith::RemUIOp>(a, b); }
Val eq(Val a, Operand b) { return compare(arith::CmpIPredicate::eq, a, b); }
Val ne(Val a, Operand b) { return compare(arith::CmpIPredicate::ne, a, b); }
Val ult(Val a, Operand b) { return compare(arith::CmpIPredicate::ult, a, b); }
Val slt(Val a, Operand b) { return compare(arith::CmpIPredicate::slt, a, b); }

//===------------------------------------------------------------------------===//
// Geometry, conversions, memory, control flow
//===------------------------------------------------------------------------===//

Val KernelBuilder::workgroupId(unsigned axis, Where where) {
  OpBuilder &builder = at(where);
  Type type = i32Type();
  switch (axis) {
  case 0:
    return wrap(ROCDL::BlockIdXOp::create(builder, loc(), type, nullptr));
  case 1:
    return wrap(ROCDL::BlockIdYOp::create(builder, loc(), type, nullptr));
  default:
    return wrap(ROCDL::BlockIdZOp::create(builder, loc(), type, nullptr));
  }
}

Val KernelBuilder::workitemId(unsigned axis, Where where) {
  OpBuilder &builder = at(where);
  Type type = i32Type();
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, int32_t(block[axis]));
  switch (axis) {
  case 0:
    return wrap(ROCDL::ThreadIdXOp::create(builder, loc(), type, range));
  case 1:
    return wrap(ROCDL::ThreadIdYOp::create(builder, loc(), type, range));
  default:
    return wrap(ROCDL::ThreadIdZOp::create(builder, loc(), type, range));
  }
}

Val KernelBuilder::zext(Val value, Type to, Where where) {
  return wrap(arith::ExtUIOp::create(at(where), loc(), to, value.get()));
}
Val KernelBuilder::trunc(Val value, Type to, Where where) {
  return wrap(arith::TruncIOp::create(at(where), loc(), to, value.get()));
}
Val KernelBuilder::bitcast(Val value, Type to, Where where) {
  return wrap(arith::BitcastOp::create(at(where), loc(), to, value.get()));
}
Val KernelBuilder::fpext(Val value, Where where) {
  return wrap(arith::ExtFOp::create(at(where), loc(), f32Type(), value.get()));
}
Val KernelBuilder::select(Val condition, Val ifTrue, Val ifFalse, Where where) {
  return wrap(
      arith::SelectOp::create(at(where), loc(), condition.get(), ifTrue.get(), ifFalse.get()));
}

SmallVector<Val> KernelBuilder::elements(Val vector, Where where) {
  SmallVector<Val> result;
  for (int64_t i = 0, n = cast<VectorType>(vector.type()).getNumElements(); i < n; ++i) {
    Val index = i32(i, where);
    result.push_back(
        wrap(LLVM::ExtractElementOp::create(at(where), loc(), vector.get(), index.get())));
  }
  return result;
}

Val KernelBuilder::offset(Val pointer, Operand bytes) {
  OpBuilder &builder = at(bytes.where);
  Value index = materialize(bytes, i64Type());
  return wrap(LLVM::GEPOp::create(builder, loc(), pointer.type(), i8Type(), pointer.get(),
                                  ArrayRef<LLVM::GEPArg>{index}));
}

Val KernelBuilder::load(Type type, Val pointer, unsigned alignment, Where where) {
  return wrap(LLVM::LoadOp::create(at(where), loc(), type, pointer.get(), alignment));
}

void KernelBuilder::store(Val value, Val pointer, unsigned alignment, Where where) {
  LLVM::StoreOp::create(at(where), loc(), value.get(), pointer.get(), alignment);
}

void KernelBuilder::ifThen(Val condition, llvm::function_ref<void()> body, Where where) {
  auto op = scf::IfOp::create(at(where), loc(), condition.get(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

//===------------------------------------------------------------------------===//
// Instructions
//===------------------------------------------------------------------------===//

Val KernelBuilder::callIntrinsic(llvm::StringRef name, Type result, ValueRange operands,
                                 const Where &where) {
  OpBuilder &builder = at(where);
  return wrap(
      LLVM::CallIntrinsicOp::create(builder, loc(), result, builder.getStringAttr(name), operands)
          .getResult(0));
}

Val KernelBuilder::fma(Val a, Val c, Val d, Where where) {
  return wrap(LLVM::FMAOp::create(at(where), loc(), a.get(), c.get(), d.get()));
}
Val KernelBuilder::fabs(Val value, Where where) {
  return wrap(LLVM::FAbsOp::create(at(where), loc(), value.get()));
}
Val KernelBuilder::fneg(Val value, Where where) {
  return wrap(arith::NegFOp::create(at(where), loc(), value.get()));
}
Val KernelBuilder::copysign(Val magnitude, Val sign, Where where) {
  return wrap(LLVM::CopySignOp::create(at(where), loc(), magnitude.get(), sign.get()));
}
Val KernelBuilder::fmax(Val a, Val c, Where where) {
  return wrap(LLVM::MaxNumOp::create(at(where), loc(), a.get(), c.get()));
}
Val KernelBuilder::fmed3(Val a, Val low, Val high, Where where) {
  return wrap(ROCDL::FMed3Op::create(at(where), loc(), f32Type(), a.get(), low.get(), high.get()));
}
Val KernelBuilder::rcp(Val value, Where where) {
  return callIntrinsic("llvm.amdgcn.rcp.f32", f32Type(), value.get(), where);
}
Val KernelBuilder::toE4M3(Val value, Where where) {
  Val old = i32(0, where);
  return wrap(ROCDL::CvtPkFp8F32Op::create(at(where), loc(), i32Type(), value.get(), value.get(),
                                           old.get(), /*wordSel=*/false)) &
         Operand(0xFF, where);
}
Val KernelBuilder::fromE4M3(Val byte, Where where) {
  return wrap(ROCDL::CvtF32Fp8Op::create(at(where), loc(), f32Type(), byte.get(), /*byteSel=*/0));
}
Val KernelBuilder::packE2M1(Val old, Val low, Val high, unsigned index, Where where) {
  Val one = f32(1.0, where);
  return wrap(ROCDL::CvtScaleF32PkFp4F32Op::create(at(where), loc(), i32Type(), old.get(),
                                                   low.get(), high.get(), one.get(), index));
}
Val KernelBuilder::dpp(Val value, Dpp control, Where where) {
  Val bits = isa<FloatType>(value.type()) ? bitcast(value, i32Type(), where) : value;
  Val moved = wrap(ROCDL::DPPUpdateOp::create(at(where), loc(), i32Type(), bits.get(), bits.get(),
                                              uint32_t(control), /*rowMask=*/0xF,
                                              /*bankMask=*/0xF, /*boundCtrl=*/true));
  return isa<FloatType>(value.type()) ? bitcast(moved, f32Type(), where) : moved;
}

} // namespace nvfp4gen
