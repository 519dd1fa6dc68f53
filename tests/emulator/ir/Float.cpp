//===- Float.cpp - random operations on floats -----------------------------===//
//
// Only operations that IEEE 754 or the LangRef define to the bit, NaN payloads
// and signs apart; where the sign of a zero is free (minnum, maxnum) it is made
// positive.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/ir/Emitter.h"

using namespace llvm;

namespace irfuzz {
namespace {

Value *arithmetic(Emitter &e) {
  Type *type = e.floatType();
  auto opcode = e.oneOf({Instruction::FAdd, Instruction::FSub, Instruction::FMul});
  Value *left = e.pick(type), *right = e.pick(type);
  // Modifiers of source operands.
  if (e.chance(20))
    left = e.b.CreateFNeg(left);
  if (e.chance(15))
    right = e.call(Intrinsic::fabs, type, {right});
  return e.b.CreateBinOp(opcode, left, right);
}

/// LLVM's division of f64 by Newton iterations is exact whatever seed v_rcp_f64 gives, but for
/// divisors with a mantissa of ones, where it depends on the seed's bits. Those are not public.
Value *divisorOf(Emitter &e, Value *value) {
  if (!value->getType()->isDoubleTy())
    return value;
  Value *bits = e.kept(e.b.CreateBitCast(value, e.b.getInt64Ty()));
  Value *mask = e.b.getInt64((1ull << 52) - 1);
  Value *ones = e.kept(e.b.CreateICmpEQ(e.kept(e.b.CreateAnd(bits, mask)), mask));
  return e.kept(e.b.CreateSelect(ones, e.real(value->getType(), 3.0), value));
}

/// Vectors rarely: they are expanded element by element.
Type *divisibleType(Emitter &e) {
  return e.chance(85) ? e.scalarFloatType() : e.vectorOf(e.b.getHalfTy(), 2);
}

Value *division(Emitter &e) {
  Type *type = divisibleType(e);
  Value *left = e.chance(20) ? e.real(type, 1.0) : e.pick(type);
  return e.b.CreateFDiv(left, divisorOf(e, e.pick(type)));
}

Value *squareRoot(Emitter &e) { return e.unary(Intrinsic::sqrt, divisibleType(e)); }

Value *fusedMultiply(Emitter &e) {
  Type *type = e.floatType();
  Value *left = e.pick(type), *right = e.pick(type), *addend = e.pick(type);
  if (e.chance(20))
    left = e.b.CreateFNeg(left);
  if (e.chance(20))
    addend = e.b.CreateFNeg(addend);
  return e.call(Intrinsic::fma, type, {left, right, addend});
}

/// fma on halves widened to f32: v_fma_mix.
Value *mixedMultiply(Emitter &e) {
  auto operand = [&]() -> Value * {
    return e.chance(60) ? e.b.CreateFPExt(e.pick(e.b.getHalfTy()), e.b.getFloatTy())
                        : e.pick(e.b.getFloatTy());
  };
  Value *left = operand(), *right = operand(), *addend = operand();
  Value *result = e.call(Intrinsic::fma, e.b.getFloatTy(), {left, right, addend});
  return e.chance(40) ? e.b.CreateFPTrunc(result, e.b.getHalfTy()) : result;
}

Value *sign(Emitter &e) {
  Type *type = e.floatType();
  switch (e.below(3)) {
  case 0:
    return e.b.CreateFNeg(e.pick(type));
  case 1:
    return e.unary(Intrinsic::fabs, type);
  default: {
    Value *magnitude = e.pick(type);
    Value *from = e.pick(type); // its sign is seen, which a NaN has none of
    Value *isNan = e.kept(e.b.CreateFCmpUNO(from, from));
    from = e.kept(e.b.CreateSelect(isNan, e.real(type, 1.0), from));
    return e.call(Intrinsic::copysign, type, {magnitude, from});
  }
  }
}

Value *minMax(Emitter &e) {
  Type *type = e.floatType();
  auto one = [&](Value *left, Value *right) {
    auto id =
        e.oneOf<Intrinsic::ID>({Intrinsic::minnum, Intrinsic::maxnum, Intrinsic::minimum,
                                Intrinsic::maximum, Intrinsic::minimumnum, Intrinsic::maximumnum});
    // GlobalISel loses the NaN of an f16 minimum.
    if (e.globalISel && (type->isVectorTy() || type->isHalfTy()))
      id = e.oneOf<Intrinsic::ID>({Intrinsic::minnum, Intrinsic::maxnum});
    Value *result = e.call(id, type, {left, right});
    bool anyZero = id == Intrinsic::minnum || id == Intrinsic::maxnum;
    return anyZero ? e.plusZero(result) : result;
  };
  Value *left = e.pick(type), *right = e.pick(type);
  Value *result = one(left, right);
  return e.chance(30) ? one(result, e.pick(type)) : result;
}

/// min(max(x, low), high): clamp and med3.
Value *clamp(Emitter &e) {
  Type *type = e.floatType();
  Value *value = e.pick(type);
  if (e.chance(50)) // a clamp folds into the instruction that feeds it
    value = e.b.CreateFAdd(value, e.pick(type));
  bool unit = e.chance(65);
  Value *low = unit ? e.real(type, 0.0) : e.real(type, -2.0);
  Value *high = unit ? e.real(type, 1.0) : e.real(type, 4.0);
  bool lowFirst = e.chance(60);
  bool number = e.chance(50);
  auto least = number ? Intrinsic::minnum : Intrinsic::minimumnum;
  auto most = number ? Intrinsic::maxnum : Intrinsic::maximumnum;
  Value *result = lowFirst ? e.call(least, type, {e.call(most, type, {value, low}), high})
                           : e.call(most, type, {e.call(least, type, {value, high}), low});
  return e.plusZero(result);
}

Value *rounding(Emitter &e) {
  Type *type = e.floatType();
  auto id =
      e.oneOf<Intrinsic::ID>({Intrinsic::floor, Intrinsic::ceil, Intrinsic::trunc, Intrinsic::rint,
                              Intrinsic::nearbyint, Intrinsic::roundeven, Intrinsic::round});
  return e.unary(id, type);
}

Value *fraction(Emitter &e) {
  Type *type = e.scalarFloatType();
  Value *value = e.pick(type);
  return e.b.CreateFSub(value, e.call(Intrinsic::floor, type, {value}));
}

Value *scale(Emitter &e) {
  Type *type = e.scalarFloatType();
  Value *value = e.pick(type);
  Value *exponent = e.pick(e.b.getInt32Ty());
  if (e.chance(70)) // else nearly always infinite or zero
    exponent = e.b.CreateSub(e.b.CreateAnd(exponent, 63), e.b.getInt32(32));
  return e.b.CreateLdexp(value, exponent);
}

Value *split(Emitter &e) {
  Type *type = e.scalarFloatType();
  Value *value = e.pick(type);
  // The exponent of infinities and NaN is unspecified.
  Value *finite = e.kept(e.b.createIsFPClass(value, fcFinite));
  Value *guarded = e.kept(e.b.CreateSelect(finite, value, e.real(type, 0.75)));
  Value *pair = e.b.CreateIntrinsic(Intrinsic::frexp, {type, e.b.getInt32Ty()}, {guarded});
  return e.firstOfTwo(pair);
}

Value *select(Emitter &e) { return e.select(e.floatType()); }

Value *canonicalize(Emitter &e) { return e.unary(Intrinsic::canonicalize, e.floatType()); }

} // namespace

Value *emitFloat(Emitter &e) {
  static constexpr Choice choices[] = {
      {24, arithmetic}, {3, division}, {3, squareRoot}, {12, fusedMultiply}, {4, mixedMultiply},
      {6, sign},        {9, minMax},   {5, clamp},      {6, rounding},       {2, fraction},
      {4, scale},       {3, split},    {8, select},     {2, canonicalize},
  };
  return emitOneOf(e, choices);
}

} // namespace irfuzz
