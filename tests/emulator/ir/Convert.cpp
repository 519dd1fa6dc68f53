//===- Convert.cpp - random conversions and vector operations --------------===//
#include "tests/emulator/ir/Emitter.h"

using namespace llvm;

namespace irfuzz {
namespace {

/// A pair of types with the same number of elements.
struct Shapes {
  Type *integer, *real;
};

Shapes shapes(Emitter &e) {
  if (e.chance(75))
    return {e.scalarIntegerType(), e.scalarFloatType()};
  Type *integer = e.oneOf<Type *>({e.b.getInt16Ty(), e.b.getInt32Ty()});
  Type *real = e.oneOf<Type *>({e.b.getHalfTy(), e.b.getFloatTy(), e.b.getDoubleTy()});
  return {e.vectorOf(integer, 2), e.vectorOf(real, 2)};
}

Value *toFloat(Emitter &e) {
  auto [integer, real] = shapes(e);
  Value *value = e.pick(integer);
  return e.chance(50) ? e.b.CreateSIToFP(value, real) : e.b.CreateUIToFP(value, real);
}

Value *byteToFloat(Emitter &e) {
  Value *byte = e.b.CreateAnd(e.b.CreateLShr(e.pick(e.b.getInt32Ty()), e.below(4) * 8), 255);
  return e.b.CreateUIToFP(byte, e.b.getFloatTy());
}

Value *toIntegerGuarded(Emitter &e) {
  auto [integer, real] = shapes(e);
  bool isSigned = e.chance(50);
  unsigned bits = Emitter::elementBits(integer) - (isSigned ? 1 : 0);
  bool narrow = real->getScalarType()->isHalfTy() && bits > 15;
  Value *limit = e.real(real, narrow ? 65504.0 : double(1ull << (bits - 1)) * 2.0);
  Value *value = e.pick(real);
  Value *inRange = e.kept(e.b.CreateFCmpOLT(e.kept(e.call(Intrinsic::fabs, real, {value})), limit));
  if (!isSigned)
    inRange = e.kept(e.b.CreateAnd(inRange, e.kept(e.b.CreateFCmpOGE(value, e.real(real, 0.0)))));
  Value *guarded = e.kept(e.b.CreateSelect(inRange, value, e.real(real, 1.0)));
  return isSigned ? e.b.CreateFPToSI(guarded, integer) : e.b.CreateFPToUI(guarded, integer);
}

Value *toIntegerSaturating(Emitter &e) {
  auto [integer, real] = shapes(e);
  auto id = e.oneOf<Intrinsic::ID>({Intrinsic::fptosi_sat, Intrinsic::fptoui_sat});
  return e.b.CreateIntrinsic(id, {integer, real}, {e.pick(real)});
}

Value *resize(Emitter &e) {
  Type *from =
      e.chance(75)
          ? e.scalarFloatType()
          : e.vectorOf(e.oneOf<Type *>({e.b.getHalfTy(), e.b.getFloatTy(), e.b.getDoubleTy()}), 2);
  Type *to = Emitter::shaped(from, e.scalarFloatType());
  return e.b.CreateFPCast(e.pick(from), to);
}

/// Through bf16, which exists only as bits of the pool.
Value *brain(Emitter &e) {
  bool pair = e.chance(40);
  auto shape = [&](Type *element) { return pair ? e.vectorOf(element, 2) : element; };
  Type *bits = shape(e.b.getInt16Ty()), *narrow = shape(e.b.getBFloatTy());
  switch (e.below(3)) {
  case 0:
    return e.canonicalBits(e.b.CreateFPTrunc(e.pick(shape(e.b.getFloatTy())), narrow));
  case 1:
    return e.canonicalBits(e.b.CreateFPTrunc(e.pick(shape(e.b.getDoubleTy())), narrow));
  default:
    return e.b.CreateFPExt(e.quietFloat(e.pick(bits), narrow), shape(e.b.getFloatTy()));
  }
}

Value *reinterpret(Emitter &e) {
  Type *to = e.anyType();
  return e.coerce(e.pick(e.chance(50) ? e.integerType() : e.floatType()), to);
}

Type *vectorType(Emitter &e) {
  for (;;) {
    Type *type = e.anyType();
    if (type->isVectorTy())
      return type;
  }
}

/// An element number; half of them are not constants.
Value *element(Emitter &e, Type *type) {
  unsigned count = Emitter::lanes(type); // 2 or 4
  return e.chance(50) ? (Value *)e.b.getInt32(e.below(count)) : e.index(count);
}

Value *extract(Emitter &e) {
  Type *type = vectorType(e);
  Value *vector = e.pick(type);
  return e.b.CreateExtractElement(vector, element(e, type));
}

Value *insert(Emitter &e) {
  Type *type = vectorType(e);
  Value *vector = e.pick(type), *value = e.pick(type->getScalarType());
  return e.b.CreateInsertElement(vector, value, element(e, type));
}

Value *build(Emitter &e) {
  Type *type = vectorType(e);
  Value *result = PoisonValue::get(type);
  for (unsigned i = 0; i < Emitter::lanes(type); ++i)
    result = e.kept(e.b.CreateInsertElement(result, e.pick(type->getScalarType()), i));
  return result;
}

Value *shuffle(Emitter &e) {
  Type *type = vectorType(e);
  unsigned count = Emitter::lanes(type);
  Value *left = e.pick(type), *right = e.pick(type);
  SmallVector<int, 4> mask;
  for (unsigned i = 0; i < count; ++i)
    mask.push_back(int(e.below(2 * count)));
  return e.b.CreateShuffleVector(left, right, mask);
}

} // namespace

Value *emitConversion(Emitter &e) {
  switch (e.below(16)) {
  case 0:
  case 1:
  case 2:
    return toFloat(e);
  case 3:
    return byteToFloat(e);
  case 4:
  case 5:
  case 6:
    return e.globalISel ? toIntegerGuarded(e) : toIntegerSaturating(e);
  case 7:
    return toIntegerGuarded(e);
  case 8:
  case 9:
  case 10:
    return resize(e);
  case 11:
  case 12:
    return e.globalISel ? byteToFloat(e) : brain(e);
  default:
    return reinterpret(e);
  }
}

Value *emitVector(Emitter &e) {
  switch (e.below(5)) {
  case 0:
    return extract(e);
  case 1:
    return insert(e);
  case 2:
    return build(e);
  default:
    return shuffle(e);
  }
}

} // namespace irfuzz
