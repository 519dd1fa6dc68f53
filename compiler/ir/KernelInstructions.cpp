//===- KernelInstructions.cpp - instructions with a meaning of their own ------------===//

#include "compiler/ir/KernelBuilder.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace nvfp4gen {

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
Val KernelBuilder::isNaN(Val value, Where where) {
  return wrap(
      arith::CmpFOp::create(at(where), loc(), arith::CmpFPredicate::UNO, value.get(), value.get()));
}
Val KernelBuilder::notLess(Val a, Val c, Where where) {
  return wrap(arith::CmpFOp::create(at(where), loc(), arith::CmpFPredicate::UGE, a.get(), c.get()));
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
namespace {

template <typename Op> Op ofNumbers(OpBuilder &builder, Location loc, Val a, Val c) {
  // Without the flag each operand is first quieted by an instruction of its own.
  return Op::create(builder, loc, a.type(), a.get(), c.get(), LLVM::FastmathFlags::nnan);
}

} // namespace

Val KernelBuilder::fmaxNumber(Val a, Val c, Where where) {
  return wrap(ofNumbers<LLVM::MaxNumOp>(at(where), loc(), a, c));
}
Val KernelBuilder::fminNumber(Val a, Val c, Where where) {
  return wrap(ofNumbers<LLVM::MinNumOp>(at(where), loc(), a, c));
}
Val KernelBuilder::fmed3(Val a, Val low, Val high, Where where) {
  return wrap(ROCDL::FMed3Op::create(at(where), loc(), f32Type(), a.get(), low.get(), high.get()));
}
Val KernelBuilder::exp2(Val value, Where where) {
  return callIntrinsic("llvm.amdgcn.exp2.f32", f32Type(), value.get(), where);
}
Val KernelBuilder::loadTransposed16(Val pointer, Where where) {
  return callIntrinsic("llvm.amdgcn.ds.read.tr16.b64.v4f16", vectorType(4, f16Type()),
                       pointer.get(), where);
}
Val KernelBuilder::rcp(Val value, Where where) {
  return callIntrinsic("llvm.amdgcn.rcp.f32", f32Type(), value.get(), where);
}
Val KernelBuilder::rsq(Val value, Where where) {
  return callIntrinsic("llvm.amdgcn.rsq.f32", f32Type(), value.get(), where);
}
Val KernelBuilder::packRounded(DType dtype, Val low, Val high, Where where) {
  Type element = dtype == DType::BF16 ? Type(b.getBF16Type()) : f16Type();
  Val pair = pack({low, high}, where);
  Val rounded = wrap(LLVM::FPTruncOp::create(at(where), loc(), vectorType(2, element), pair.get()));
  return bitcast(rounded, i32Type(), where);
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

Val KernelBuilder::unpackE2M1(Val codes, unsigned index, Where where) {
  Val one = f32(1.0, where), byte = i32(index, where);
  return callIntrinsic("llvm.amdgcn.cvt.scalef32.pk.f16.fp4", vectorType(2, f16Type()),
                       {codes.get(), one.get(), byte.get()}, where);
}
Val KernelBuilder::unpackE4M3(Val bytes, Where where) {
  Val one = f32(1.0, where);
  Value low = arith::ConstantOp::create(at(where), loc(), b.getBoolAttr(false));
  return callIntrinsic("llvm.amdgcn.cvt.scalef32.pk.f16.fp8", vectorType(2, f16Type()),
                       {bytes.get(), one.get(), low}, where);
}
Val KernelBuilder::mfma16x16x32(Val a, Val c, Val sum, Where where) {
  Val none = i32(0, where);
  return callIntrinsic("llvm.amdgcn.mfma.f32.16x16x32.f16", sum.type(),
                       {a.get(), c.get(), sum.get(), none.get(), none.get(), none.get()}, where);
}
Val KernelBuilder::funnelShiftRight(Val high, Val low, Operand shift) {
  OpBuilder &builder = at(shift.where);
  return wrap(LLVM::FshrOp::create(builder, loc(), i32Type(), high.get(), low.get(),
                                   materialize(shift, i32Type())));
}

//===------------------------------------------------------------------------===//
// Across lanes
//===------------------------------------------------------------------------===//

SmallVector<Val> KernelBuilder::dwords(Val value, const Where &where) {
  Type type = value.type();
  if (type == i32Type())
    return {value};
  if (type.getIntOrFloatBitWidth() == 32)
    return {bitcast(value, i32Type(), where)};
  assert(type.getIntOrFloatBitWidth() == 64 && "a value of one or two dwords");
  Val words =
      wrap(LLVM::BitcastOp::create(at(where), loc(), vectorType(2, i32Type()), value.get()));
  return elements(words, where);
}

Val KernelBuilder::ofDwords(ArrayRef<Val> words, Type type, const Where &where) {
  if (words.size() == 2)
    return bits64(words[0], words[1], type, where);
  return type == i32Type() ? words[0] : bitcast(words[0], type, where);
}

Val KernelBuilder::mapDwords(Val value, llvm::function_ref<Val(Val)> map, const Where &where) {
  return ofDwords(llvm::map_to_vector(dwords(value, where), map), value.type(), where);
}

Val KernelBuilder::readFirstLane(Val value, Where where) {
  return mapDwords(
      value,
      [&](Val word) {
        return wrap(ROCDL::ReadfirstlaneOp::create(at(where), loc(), i32Type(), word.get()));
      },
      where);
}
Val KernelBuilder::readLane(Val value, Operand lane) {
  return mapDwords(
      value,
      [&](Val word) {
        OpBuilder &builder = at(lane.where);
        return wrap(ROCDL::ReadlaneOp::create(builder, loc(), i32Type(), word.get(),
                                              materialize(lane, i32Type())));
      },
      lane.where);
}
Val KernelBuilder::ballot(Val condition, Where where) {
  return wrap(ROCDL::BallotOp::create(at(where), loc(), i64Type(), condition.get()));
}
Val KernelBuilder::dpp(Val value, Dpp control, Where where) {
  return mapDwords(
      value,
      [&](Val word) {
        return wrap(ROCDL::DPPUpdateOp::create(at(where), loc(), i32Type(), word.get(), word.get(),
                                               uint32_t(control), /*rowMask=*/0xF,
                                               /*bankMask=*/0xF, /*boundCtrl=*/true));
      },
      where);
}
Val KernelBuilder::shuffle(Val value, Val lane, Where where) {
  Val address = lane << Operand(2, where);
  return mapDwords(
      value,
      [&](Val word) {
        return wrap(
            ROCDL::DsBpermuteOp::create(at(where), loc(), i32Type(), address.get(), word.get()));
      },
      where);
}

std::pair<Val, Val> KernelBuilder::swap(llvm::StringRef name, Val a, Val c, const Where &where) {
  Type pair = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32Type(), i32Type()});
  SmallVector<Val> words = dwords(a, where), others = dwords(c, where);
  SmallVector<Val> first, second;
  for (auto [word, other] : llvm::zip_equal(words, others)) {
    Value no = arith::ConstantOp::create(at(where), loc(), b.getBoolAttr(false));
    Val both = callIntrinsic(name, pair, {word.get(), other.get(), no, no}, where);
    first.push_back(wrap(LLVM::ExtractValueOp::create(at(where), loc(), both.get(), int64_t(0))));
    second.push_back(wrap(LLVM::ExtractValueOp::create(at(where), loc(), both.get(), int64_t(1))));
  }
  return {ofDwords(first, a.type(), where), ofDwords(second, a.type(), where)};
}
std::pair<Val, Val> KernelBuilder::swapRows16(Val a, Val c, Where where) {
  return swap("llvm.amdgcn.permlane16.swap", a, c, where);
}
std::pair<Val, Val> KernelBuilder::swapHalves(Val a, Val c, Where where) {
  return swap("llvm.amdgcn.permlane32.swap", a, c, where);
}

void KernelBuilder::barrier(Where where) {
  // Fences of LDS alone: loads from global memory stay in flight over the barrier.
  OpBuilder &builder = at(where);
  auto local = LLVM::MMRATagAttr::get(b.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(builder, loc(), ordering, "workgroup");
    op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), local);
  };
  fence(LLVM::AtomicOrdering::release);
  ROCDL::SBarrierOp::create(builder, loc());
  fence(LLVM::AtomicOrdering::acquire);
}
void KernelBuilder::schedulingFence(Where where) {
  ROCDL::SchedBarrier::create(at(where), loc(), 0);
}

} // namespace nvfp4gen
