//===- Emitter.cpp - values and guards of a random program -----------------===//
#include "tests/emulator/ir/Emitter.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace irfuzz {
namespace {

/// The quiet NaN that stands for all.
APInt nanBits(Type *element) {
  return APFloat::getQNaN(element->getFltSemantics()).bitcastToAPInt();
}

Value *splat(Type *type, const APInt &bits) { return ConstantInt::get(type, bits); }

} // namespace

Type *Emitter::integerLike(Type *type) {
  return shaped(type, IntegerType::get(type->getContext(), type->getScalarSizeInBits()));
}

Type *Emitter::shaped(Type *type, Type *element) {
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    return FixedVectorType::get(element, vector->getNumElements());
  return element;
}

unsigned Emitter::lanes(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

Type *Emitter::scalarIntegerType() {
  unsigned roll = below(100);
  if (roll < 50)
    return b.getInt32Ty();
  return roll < 75 ? b.getInt64Ty() : roll < 90 ? b.getInt16Ty() : (Type *)b.getInt8Ty();
}

Type *Emitter::integerType() {
  unsigned roll = below(100);
  if (roll < 72)
    return scalarIntegerType();
  return roll < 87   ? vectorOf(b.getInt16Ty(), 2)
         : roll < 92 ? vectorOf(b.getInt32Ty(), 2)
         : roll < 97 ? vectorOf(b.getInt8Ty(), 4)
                     : vectorOf(b.getInt16Ty(), 4);
}

Type *Emitter::scalarFloatType() {
  unsigned roll = below(100);
  return roll < 50 ? b.getFloatTy() : roll < 75 ? b.getDoubleTy() : b.getHalfTy();
}

Type *Emitter::floatType() {
  unsigned roll = below(100);
  if (roll < 68)
    return scalarFloatType();
  return roll < 82   ? vectorOf(b.getHalfTy(), 2)
         : roll < 94 ? vectorOf(b.getFloatTy(), 2)
         : roll < 97 ? vectorOf(b.getHalfTy(), 4)
                     : vectorOf(b.getDoubleTy(), 2);
}

Type *Emitter::anyType() { return chance(55) ? integerType() : floatType(); }

Constant *Emitter::scalarConstant(Type *type) {
  if (type->isIntegerTy()) {
    unsigned bits = type->getIntegerBitWidth();
    switch (below(6)) {
    case 0:
      return ConstantInt::get(type, oneOf({0, 1, 2, 3, 7, 15, 31}), false, true);
    case 1:
      return ConstantInt::getAllOnesValue(type);
    case 2:
      return ConstantInt::get(type, APInt::getSignedMinValue(bits));
    case 3:
      return ConstantInt::get(type, APInt::getSignedMaxValue(bits));
    case 4: // an inline constant of the ISA reaches from -16 to 64
      return ConstantInt::getSigned(type, int64_t(below(83)) - 17, true);
    default:
      return ConstantInt::get(type, random.next(), false, true);
    }
  }
  const fltSemantics &semantics = type->getFltSemantics();
  auto number = [&](double value) { return ConstantFP::get(type, value); };
  switch (below(8)) {
  case 0:
    return number(oneOf({0.0, -0.0, 0.15915494309189532}));
  case 1:
    return number(oneOf({1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 4.0, -4.0}));
  case 2:
    return ConstantFP::get(type->getContext(), chance(50)
                                                   ? APFloat::getInf(semantics, chance(50))
                                                   : APFloat::getLargest(semantics, chance(50)));
  case 3:
    return ConstantFP::get(type->getContext(),
                           chance(50) ? APFloat::getSmallest(semantics, chance(50))
                                      : APFloat::getSmallestNormalized(semantics, chance(50)));
  case 4:
    return number(double(int(below(201)) - 100));
  case 5:
    return chance(20) ? ConstantFP::get(type->getContext(), APFloat::getQNaN(semantics))
                      : ConstantFP::get(type, 3.0);
  default:
    return number(std::ldexp(double(random.next32()) - 2147483648.0, -int(below(36)) - 18));
  }
}

Value *Emitter::constant(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  if (!vector)
    return scalarConstant(type);
  SmallVector<Constant *> elements;
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    elements.push_back(scalarConstant(vector->getElementType()));
  return ConstantVector::get(elements);
}

Value *Emitter::pick(Type *type) {
  if (chance(8))
    return constant(type);
  if (ports.input && chance(6))
    return load(type);
  SmallVector<Value *, 32> candidates;
  for (Value *value : pool)
    if (value->getType() == type)
      candidates.push_back(value);
  if (!candidates.empty() && !chance(4)) {
    // Recent values more often, so that results are used.
    size_t reach = chance(65) ? std::min<size_t>(candidates.size(), 4) : candidates.size();
    return candidates[candidates.size() - 1 - below(unsigned(reach))];
  }
  if (ports.input && (pool.empty() || chance(60)))
    return load(type);
  return pool.empty() ? constant(type) : coerce(pool[below(unsigned(pool.size()))], type);
}

Value *Emitter::load(Type *type) {
  Type *bits = integerLike(type);
  unsigned bytes = unsigned(type->getPrimitiveSizeInBits().getFixedValue() / 8);
  bool uniform = chance(30);
  Value *base = uniform ? ports.uniform : ports.input;
  // Inputs.cpp fills slots 0 to 3 with f32, 4 to 7 with f64, 8 and 9 with f16, the rest with
  // integers.
  Type *element = type->getScalarType();
  unsigned slot = element->isFloatTy()    ? below(4)
                  : element->isDoubleTy() ? 4 + below(4)
                  : element->isHalfTy()   ? 8 + below(2)
                                          : 10 + below(6);
  if (chance(15))
    slot = below(InputSlots);
  slot = std::min(slot, InputSlots - (bytes + 7) / 8);
  unsigned within = bytes < 8 ? below(8 / bytes) * bytes : 0;
  Value *pointer = nullptr;
  if (bytes <= 8 && chance(12)) {
    Value *offset = kept(b.CreateShl(index(InputSlots), 3));
    pointer = kept(b.CreateGEP(b.getInt8Ty(), base, kept(b.CreateAdd(offset, b.getInt32(within)))));
  } else {
    pointer = kept(b.CreateConstGEP1_32(b.getInt8Ty(), base, slot * 8 + within));
  }
  Value *loaded = b.CreateAlignedLoad(bits, pointer, Align(std::min(bytes, 8u)));
  Value *value = type->isFPOrFPVectorTy() ? quietFloat(loaded, type) : loaded;
  add(value);
  return value;
}

Value *Emitter::condition(Type *like) {
  unsigned count = lanes(like);
  if (count == 1) {
    SmallVector<Value *, 16> known;
    for (Value *value : pool)
      if (value->getType()->isIntegerTy(1))
        known.push_back(value);
    if (!known.empty() && chance(35))
      return known[below(unsigned(known.size()))];
  }
  Type *operand = nullptr;
  if (count == 1)
    operand = chance(55) ? scalarIntegerType() : scalarFloatType();
  else if (count == 2)
    operand = vectorOf(oneOf<Type *>({b.getInt16Ty(), b.getInt32Ty(), b.getHalfTy(), b.getFloatTy(),
                                      b.getDoubleTy()}),
                       2);
  else
    operand = vectorOf(oneOf<Type *>({b.getInt16Ty(), b.getInt8Ty(), b.getHalfTy()}), count);

  Value *result = nullptr;
  if (!operand->isFPOrFPVectorTy()) {
    auto predicate = CmpInst::Predicate(CmpInst::FIRST_ICMP_PREDICATE + below(10));
    Value *left = pick(operand), *right = pick(operand);
    result = b.CreateICmp(predicate, left, right);
  } else if (chance(15)) {
    // Both NaN bits or none: whether a NaN is quiet is not ours to ask. NaNs have no sign.
    unsigned mask = (1 + below(255)) << 2;
    if (chance(50))
      mask |= fcNan;
    result = b.createIsFPClass(pick(operand), mask);
  } else {
    auto predicate = CmpInst::Predicate(CmpInst::FIRST_FCMP_PREDICATE + 1 + below(14));
    Value *left = pick(operand), *right = pick(operand);
    result = b.CreateFCmp(predicate, left, right);
  }
  if (count == 1 && chance(20)) {
    Value *other = condition(like);
    result = chance(40)   ? b.CreateAnd(result, other)
             : chance(50) ? b.CreateOr(result, other)
                          : b.CreateXor(result, other);
  }
  if (count == 1)
    add(result);
  return result;
}

Value *Emitter::coerce(Value *value, Type *type) {
  if (value->getType() == type)
    return value;
  Value *bits = canonicalBits(value);
  unsigned from = unsigned(bits->getType()->getPrimitiveSizeInBits().getFixedValue());
  unsigned to = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  bits = b.CreateBitCast(bits, b.getIntNTy(from));
  bits = chance(50) ? b.CreateZExtOrTrunc(bits, b.getIntNTy(to))
                    : b.CreateSExtOrTrunc(bits, b.getIntNTy(to));
  bits = b.CreateBitCast(bits, integerLike(type));
  return type->isFPOrFPVectorTy() ? quietFloat(bits, type) : bits;
}

Value *Emitter::kept(Value *value) {
  if (auto *instruction = dyn_cast<Instruction>(value))
    instruction->setMetadata(KeepMetadata, MDNode::get(b.getContext(), {}));
  return value;
}

Value *Emitter::quietFloat(Value *bits, Type *type) {
  Type *ints = bits->getType(), *element = type->getScalarType();
  APInt infinity = APFloat::getInf(element->getFltSemantics()).bitcastToAPInt();
  APInt magnitude = APInt::getSignedMaxValue(elementBits(type));
  Value *absolute = kept(b.CreateAnd(bits, splat(ints, magnitude)));
  Value *isNan = kept(b.CreateICmpUGT(absolute, splat(ints, infinity)));
  Value *quiet = kept(b.CreateSelect(isNan, splat(ints, nanBits(element)), bits));
  return kept(b.CreateBitCast(quiet, type));
}

Value *Emitter::canonicalBits(Value *value) {
  Type *type = value->getType();
  if (!type->isFPOrFPVectorTy())
    return value;
  Type *ints = integerLike(type);
  Value *bits = kept(b.CreateBitCast(value, ints));
  Value *isNan = kept(b.CreateFCmpUNO(value, value));
  return kept(b.CreateSelect(isNan, splat(ints, nanBits(type->getScalarType())), bits));
}

Value *Emitter::plusZero(Value *value) {
  // On the bits: x + 0 is dropped where the optimizer wrongly thinks that x cannot be -0.
  Type *type = value->getType(), *ints = integerLike(type);
  Value *bits = kept(b.CreateBitCast(value, ints));
  Value *isNegative =
      kept(b.CreateICmpEQ(bits, splat(ints, APInt::getSignMask(elementBits(type)))));
  return kept(b.CreateSelect(isNegative, real(type, 0.0), value));
}

Value *Emitter::shiftAmount(Type *type) {
  return kept(b.CreateAnd(pick(type), integer(type, elementBits(type) - 1)));
}

Value *Emitter::divisor(Type *type, bool isSigned) {
  Value *value = pick(type);
  if (!isSigned && chance(50))
    return kept(b.CreateOr(value, integer(type, 1)));
  Value *bad = kept(b.CreateICmpEQ(value, integer(type, 0)));
  if (isSigned) // the least value by -1 overflows
    bad = kept(b.CreateOr(bad, kept(b.CreateICmpEQ(value, integer(type, -1)))));
  return kept(b.CreateSelect(bad, integer(type, 1), value));
}

Value *Emitter::index(unsigned count) {
  return kept(b.CreateAnd(pick(b.getInt32Ty()), b.getInt32(count - 1)));
}

Value *Emitter::binary(Intrinsic::ID id, Type *type) {
  Value *left = pick(type), *right = pick(type);
  return call(id, type, {left, right});
}

Value *Emitter::binary(Instruction::BinaryOps opcode, Type *type) {
  Value *left = pick(type), *right = pick(type);
  return b.CreateBinOp(opcode, left, right);
}

Value *Emitter::select(Type *type) {
  Value *test = condition(chance(60) ? type : b.getInt32Ty());
  Value *left = pick(type), *right = pick(type);
  return b.CreateSelect(test, left, right);
}

Value *Emitter::firstOfTwo(Value *pair) {
  add(b.CreateExtractValue(pair, 1));
  return b.CreateExtractValue(pair, 0);
}

void Emitter::store(Value *value) {
  if (value->getType()->isIntegerTy(1))
    value = b.CreateZExt(value, b.getInt32Ty());
  Value *bits = canonicalBits(value);
  unsigned bytes = unsigned(bits->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
  unsigned slots = (bytes + 7) / 8;
  if (ports.usedOutput + slots > OutputSlots)
    return;
  Value *pointer = kept(b.CreateConstGEP1_32(b.getInt8Ty(), ports.output, ports.usedOutput * 8));
  ports.usedOutput += slots;
  b.CreateAlignedStore(bits, pointer, Align(8));
}

Value *emitOneOf(Emitter &e, ArrayRef<Choice> choices) {
  unsigned total = 0;
  for (const Choice &choice : choices)
    total += choice.weight;
  unsigned roll = e.below(total);
  for (const Choice &choice : choices) {
    if (roll < choice.weight)
      return choice.emit(e);
    roll -= choice.weight;
  }
  llvm_unreachable("the roll is below the sum of weights");
}

} // namespace irfuzz
