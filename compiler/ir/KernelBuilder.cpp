//===- KernelBuilder.cpp - module, arguments, operators, memory, control flow -----===//

#include "compiler/ir/KernelBuilder.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <numeric>

using namespace mlir;

namespace nvfp4gen {

static constexpr unsigned kLdsSpace = 3, kConstantSpace = 4, kBufferSpace = 8;

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
  gpuModule = gpu::GPUModuleOp::create(b, location, "kernels");
  b.setInsertionPointToEnd(gpuModule.getBody());

  auto globalPointer = LLVM::LLVMPointerType::get(&context, 1);
  SmallVector<Type> types;
  for (const nvfp4rt::ArgField &field : layout.fields)
    types.push_back(field.type == nvfp4rt::ArgType::Pointer ? Type(globalPointer)
                    : field.type == nvfp4rt::ArgType::I64   ? Type(b.getI64Type())
                    : field.type == nvfp4rt::ArgType::F32   ? Type(b.getF32Type())
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

size_t KernelBuilder::argIndex(std::string_view path) {
  std::optional<size_t> index = layout.indexOf(path);
  if (!index)
    llvm::report_fatal_error(llvm::Twine("template asks for kernel argument '") +
                             llvm::StringRef(path) + "', which the struct of family '" +
                             llvm::StringRef(layout.family) + "' does not have");
  return *index;
}

Val KernelBuilder::arg(std::string_view path) { return wrap(function.getArgument(argIndex(path))); }

Val KernelBuilder::argHere(std::string_view path, Where where) {
  size_t index = argIndex(path);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kConstantSpace);
  Val segment = callIntrinsic("llvm.amdgcn.kernarg.segment.ptr", pointer, {}, where);
  // The argument segment is the struct (nvfp4rt_args.h).
  uint32_t bytes = layout.fields[index].offset;
  Val place = wrap(LLVM::GEPOp::create(at(where), loc(), pointer, i8Type(), segment.get(),
                                       ArrayRef<LLVM::GEPArg>{int32_t(bytes)}));
  return loadConstant(function.getArgument(index).getType(), place, bytes % 8 ? 4 : 8, where);
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

Val KernelBuilder::i1(bool value, Where where) {
  return wrap(arith::ConstantOp::create(at(where), loc(), b.getBoolAttr(value)));
}
Val KernelBuilder::zero(Type type, Where where) {
  OpBuilder &builder = at(where);
  return wrap(arith::ConstantOp::create(builder, loc(), b.getZeroAttr(type)));
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

Val KernelBuilder::f64(double value, Where where) {
  return wrap(arith::ConstantOp::create(at(where), loc(), b.getF64FloatAttr(value)));
}

namespace {

bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

template <typename Op> Val integerOp(Val a, const Operand &o) {
  KernelBuilder &kb = a.kb();
  OpBuilder &b = kb.at(o.where);
  return Val(kb, Op::create(b, kb.loc(), a.get(), kb.materialize(o, a.type())));
}

template <typename IntOp, typename FloatOp> Val arithmeticOp(Val a, const Operand &o) {
  return isFloat(a.type()) ? integerOp<FloatOp>(a, o) : integerOp<IntOp>(a, o);
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
Val sle(Val a, Operand b) { return compare(arith::CmpIPredicate::sle, a, b); }
Val flt(Val a, Operand o) {
  KernelBuilder &kb = a.kb();
  OpBuilder &b = kb.at(o.where);
  return Val(kb, arith::CmpFOp::create(b, kb.loc(), arith::CmpFPredicate::OLT, a.get(),
                                       kb.materialize(o, a.type())));
}
Val smin(Val a, Operand b) { return integerOp<arith::MinSIOp>(a, b); }
Val smax(Val a, Operand b) { return integerOp<arith::MaxSIOp>(a, b); }
Val umin(Val a, Operand b) { return integerOp<arith::MinUIOp>(a, b); }

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
  if (isa<VectorType>(value.type()) || isa<VectorType>(to))
    return wrap(LLVM::BitcastOp::create(at(where), loc(), to, value.get()));
  return wrap(arith::BitcastOp::create(at(where), loc(), to, value.get()));
}
Val KernelBuilder::anyext(Val value, Where where) {
  Type pair = vectorType(2, value.type());
  Val vector = wrap(LLVM::PoisonOp::create(at(where), loc(), pair));
  Val low = i32(0, where);
  vector =
      wrap(LLVM::InsertElementOp::create(at(where), loc(), vector.get(), value.get(), low.get()));
  return bitcast(vector, i32Type(), where);
}
Val KernelBuilder::sext(Val value, Type to, Where where) {
  return wrap(arith::ExtSIOp::create(at(where), loc(), to, value.get()));
}
Val KernelBuilder::toF16(Val value, Where where) {
  return wrap(arith::TruncFOp::create(at(where), loc(), f16Type(), value.get()));
}
Val KernelBuilder::toBF16(Val value, Where where) {
  return wrap(arith::TruncFOp::create(at(where), loc(), b.getBF16Type(), value.get()));
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

Val KernelBuilder::pack(ArrayRef<Val> values, Where where) {
  Type type = vectorType(values.size(), values.front().type());
  Val vector = wrap(LLVM::PoisonOp::create(at(where), loc(), type));
  for (auto [index, value] : llvm::enumerate(values)) {
    Val at32 = i32(int64_t(index), where);
    vector = wrap(
        LLVM::InsertElementOp::create(at(where), loc(), vector.get(), value.get(), at32.get()));
  }
  return vector;
}

Val KernelBuilder::concat(ArrayRef<Val> vectors, Where where) {
  SmallVector<Val> parts(vectors);
  while (parts.size() > 1) {
    SmallVector<Val> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      int32_t count = cast<VectorType>(parts[i].type()).getNumElements();
      SmallVector<int32_t> mask(2 * count);
      std::iota(mask.begin(), mask.end(), 0);
      joined.push_back(wrap(LLVM::ShuffleVectorOp::create(at(where), loc(), parts[i].get(),
                                                          parts[i + 1].get(), mask)));
    }
    parts = joined;
  }
  return parts.front();
}

Val KernelBuilder::bits64(Val low, Val high, Type type, Where where) {
  Val words = pack({low, high}, where);
  return wrap(LLVM::BitcastOp::create(at(where), loc(), type, words.get()));
}

Val KernelBuilder::splat(Val vector, unsigned index, unsigned count, Where where) {
  SmallVector<int32_t> mask(count, int32_t(index));
  OpBuilder &builder = at(where);
  Value poison = LLVM::PoisonOp::create(builder, loc(), vector.type());
  return wrap(LLVM::ShuffleVectorOp::create(builder, loc(), vector.get(), poison, mask));
}

static unsigned addressSpace(Val pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.type()).getAddressSpace();
}

Val KernelBuilder::isNull(Val pointer, Where where) {
  OpBuilder &builder = at(where);
  Value null = LLVM::ZeroOp::create(builder, loc(), pointer.type());
  return wrap(LLVM::ICmpOp::create(builder, loc(), LLVM::ICmpPredicate::eq, pointer.get(), null));
}

Val KernelBuilder::offset(Val pointer, Operand bytes) {
  OpBuilder &builder = at(bytes.where);
  Value index = materialize(bytes, addressSpace(pointer) == kLdsSpace ? i32Type() : i64Type());
  return wrap(LLVM::GEPOp::create(builder, loc(), pointer.type(), i8Type(), pointer.get(),
                                  ArrayRef<LLVM::GEPArg>{index}));
}

Val KernelBuilder::load(Type type, Val pointer, unsigned alignment, Where where) {
  return wrap(LLVM::LoadOp::create(at(where), loc(), type, pointer.get(), alignment));
}

void KernelBuilder::store(Val value, Val pointer, unsigned alignment, Where where) {
  LLVM::StoreOp::create(at(where), loc(), value.get(), pointer.get(), alignment);
}

static SmallVector<Value> rawValues(ArrayRef<Val> values) {
  return llvm::map_to_vector(values, [](Val value) { return value.get(); });
}

KernelBuilder::Vals KernelBuilder::wrapAll(ValueRange values) {
  return llvm::map_to_vector(values, [this](Value value) { return wrap(value); });
}

Val KernelBuilder::loadConstant(Type type, Val pointer, unsigned alignment, Where where) {
  return wrap(LLVM::LoadOp::create(at(where), loc(), type, pointer.get(), alignment,
                                   /*isVolatile=*/false, /*isNonTemporal=*/false,
                                   /*isInvariant=*/true));
}

Val KernelBuilder::shared(uint32_t bytes, Where where) {
  OpBuilder &builder = at(where);
  Type type = LLVM::LLVMArrayType::get(i8Type(), bytes);
  std::string name = "shared" + std::to_string(sharedCount++);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(gpuModule.getBody());
    LLVM::GlobalOp::create(builder, loc(), type, /*isConstant=*/false, LLVM::Linkage::Internal,
                           name, Attribute(), /*alignment=*/16, kLdsSpace);
  }
  return wrap(LLVM::AddressOfOp::create(
      builder, loc(), LLVM::LLVMPointerType::get(b.getContext(), kLdsSpace), name));
}

Val KernelBuilder::bufferResource(Val base, Val bytes, Where where) {
  // Word 3 of the resource: 32-bit data format, no swizzle, no stride.
  Val flags = i32(0x00027000, where);
  OpBuilder &builder = at(where);
  Value stride = arith::ConstantOp::create(builder, loc(), b.getI16IntegerAttr(0));
  Val records = zext(bytes, i64Type(), where);
  return wrap(ROCDL::MakeBufferRsrcOp::create(
      builder, loc(), LLVM::LLVMPointerType::get(b.getContext(), kBufferSpace), base.get(), stride,
      records.get(), flags.get()));
}

Val KernelBuilder::bufferLoad(Type type, Val resource, Val laneOffset, Val uniformOffset,
                              Where where) {
  Val cachePolicy = i32(0, where);
  return callIntrinsic("llvm.amdgcn.raw.ptr.buffer.load", type,
                       {resource.get(), laneOffset.get(), uniformOffset.get(), cachePolicy.get()},
                       where);
}

KernelBuilder::Vals KernelBuilder::ifElse(Val condition, llvm::function_ref<Vals()> ifTrue,
                                          llvm::function_ref<Vals()> ifFalse, Where where) {
  auto branch = [&](llvm::function_ref<Vals()> body) {
    return [this, body, where](OpBuilder &, Location) {
      Vals values = body();
      scf::YieldOp::create(at(where), loc(), rawValues(values));
    };
  };
  OpBuilder::InsertionGuard guard(b);
  auto op = scf::IfOp::create(at(where), loc(), condition.get(), branch(ifTrue), branch(ifFalse));
  return wrapAll(op.getResults());
}

KernelBuilder::Vals KernelBuilder::loop(Val low, Val high, Operand step, ArrayRef<Val> init,
                                        llvm::function_ref<Vals(Val, ArrayRef<Val>)> body,
                                        Where where) {
  at(where);
  Value stepValue = materialize(step, low.type());
  OpBuilder::InsertionGuard guard(b);
  auto op = scf::ForOp::create(at(where), loc(), low.get(), high.get(), stepValue, rawValues(init),
                               [&](OpBuilder &, Location, Value i, ValueRange carried) {
                                 Vals next = body(wrap(i), wrapAll(carried));
                                 scf::YieldOp::create(at(where), loc(), rawValues(next));
                               });
  return wrapAll(op.getResults());
}

KernelBuilder::Vals KernelBuilder::whileLoop(ArrayRef<Val> init,
                                             llvm::function_ref<Val(ArrayRef<Val>)> condition,
                                             llvm::function_ref<Vals(ArrayRef<Val>)> body,
                                             Where where) {
  SmallVector<Value> initial = rawValues(init);
  SmallVector<Type> types;
  for (Value value : initial)
    types.push_back(value.getType());
  OpBuilder::InsertionGuard guard(b);
  auto op = scf::WhileOp::create(
      at(where), loc(), types, initial,
      [&](OpBuilder &, Location, ValueRange values) {
        Val go = condition(wrapAll(values));
        scf::ConditionOp::create(at(where), loc(), go.get(), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Vals next = body(wrapAll(values));
        scf::YieldOp::create(at(where), loc(), rawValues(next));
      });
  return wrapAll(op.getResults());
}

void KernelBuilder::ifThen(Val condition, llvm::function_ref<void()> body, Where where) {
  auto op = scf::IfOp::create(at(where), loc(), condition.get(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

} // namespace nvfp4gen
