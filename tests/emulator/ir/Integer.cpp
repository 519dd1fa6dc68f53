//===- Integer.cpp - random integer operations -----------------------------===//
#include "tests/emulator/ir/Emitter.h"

using namespace llvm;

namespace irfuzz {
namespace {

Value *arithmetic(Emitter &e) {
  Type *type = e.integerType();
  auto opcode = e.oneOf({Instruction::Add, Instruction::Sub, Instruction::Mul, Instruction::And,
                         Instruction::Or, Instruction::Xor});
  return e.binary(opcode, type);
}

Value *shift(Emitter &e) {
  Type *type = e.integerType();
  auto opcode = e.oneOf({Instruction::Shl, Instruction::LShr, Instruction::AShr});
  Value *left = e.pick(type), *right = e.shiftAmount(type);
  return e.b.CreateBinOp(opcode, left, right);
}

Value *division(Emitter &e) {
  // A division of 64 bits expands to some 150 instructions, and vectors to one an element.
  Type *type = e.chance(15)   ? e.b.getInt64Ty()
               : e.chance(10) ? e.vectorOf(e.b.getInt16Ty(), 2)
                              : e.oneOf<Type *>({e.b.getInt32Ty(), e.b.getInt32Ty(),
                                                 e.b.getInt16Ty(), e.b.getInt8Ty()});
  auto opcode =
      e.oneOf({Instruction::UDiv, Instruction::SDiv, Instruction::URem, Instruction::SRem});
  bool isSigned = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  Value *left = e.pick(type);
  Value *right = e.divisor(type, isSigned);
  if (e.chance(25)) { // by a constant: multiplication by a magic number
    uint64_t magnitude = (e.random.next() >> e.below(56) & 0x7f) + 2;
    right = e.integer(type, int64_t(magnitude));
  }
  return e.b.CreateBinOp(opcode, left, right);
}

Value *minMax(Emitter &e) {
  Type *type = e.integerType();
  auto id = [&] {
    return e.oneOf<Intrinsic::ID>(
        {Intrinsic::smin, Intrinsic::smax, Intrinsic::umin, Intrinsic::umax});
  };
  Value *result = e.binary(id(), type);
  if (e.chance(30)) { // chains become min3, max3 and med3
    Intrinsic::ID next = id();
    result = e.call(next, type, {result, e.pick(type)});
  }
  return result;
}

Value *saturating(Emitter &e) {
  Type *type = e.integerType();
  if (e.below(5) != 0)
    return e.binary(e.oneOf<Intrinsic::ID>({Intrinsic::uadd_sat, Intrinsic::sadd_sat,
                                            Intrinsic::usub_sat, Intrinsic::ssub_sat}),
                    type);
  auto id = e.oneOf<Intrinsic::ID>({Intrinsic::ushl_sat, Intrinsic::sshl_sat});
  Value *left = e.pick(type), *right = e.shiftAmount(type);
  return e.call(id, type, {left, right});
}

Value *bitCount(Emitter &e) {
  Type *type = e.integerType();
  switch (e.below(3)) {
  case 0:
    return e.unary(Intrinsic::ctpop, type);
  case 1:
    return e.call(Intrinsic::ctlz, type, {e.pick(type), e.b.getFalse()});
  default:
    return e.call(Intrinsic::cttz, type, {e.pick(type), e.b.getFalse()});
  }
}

Value *bitOrder(Emitter &e) {
  Type *type = e.integerType();
  if (Emitter::elementBits(type) > 8 && e.chance(50))
    return e.unary(Intrinsic::bswap, type);
  return e.unary(Intrinsic::bitreverse, type);
}

Value *funnel(Emitter &e) {
  Type *type = e.integerType();
  auto id = e.oneOf<Intrinsic::ID>({Intrinsic::fshl, Intrinsic::fshr});
  Value *high = e.pick(type), *low = e.chance(25) ? high : e.pick(type);
  return e.call(id, type, {high, low, e.pick(type)});
}

Value *absolute(Emitter &e) {
  Type *type = e.integerType();
  return e.chance(50) ? e.call(Intrinsic::abs, type, {e.pick(type), e.b.getFalse()})
                      : e.b.CreateNeg(e.pick(type));
}

Value *overflow(Emitter &e) {
  Type *type = e.chance(60) ? e.b.getInt32Ty() : e.scalarIntegerType();
  auto id = e.oneOf<Intrinsic::ID>({Intrinsic::uadd_with_overflow, Intrinsic::sadd_with_overflow,
                                    Intrinsic::usub_with_overflow, Intrinsic::ssub_with_overflow,
                                    Intrinsic::umul_with_overflow, Intrinsic::smul_with_overflow});
  Value *left = e.pick(type), *right = e.pick(type);
  Value *pair = e.b.CreateIntrinsic(id, {type}, {left, right});
  return e.firstOfTwo(pair);
}

/// High half of a product of twice the width.
Value *multiplyHigh(Emitter &e) {
  Type *type = e.chance(75) || e.globalISel ? e.b.getInt32Ty() : e.b.getInt64Ty();
  unsigned bits = Emitter::elementBits(type);
  Type *wide = e.b.getIntNTy(bits * 2);
  bool isSigned = e.chance(50);
  Value *left = e.b.CreateIntCast(e.pick(type), wide, isSigned);
  Value *right = e.b.CreateIntCast(e.pick(type), wide, isSigned);
  Value *product = e.b.CreateMul(left, right);
  if (bits == 32 && e.chance(50)) { // v_mad_u64_u32 and v_mad_i64_i32
    product = e.b.CreateAdd(product, e.pick(wide));
    return product;
  }
  return e.b.CreateTrunc(e.b.CreateLShr(product, bits), type);
}

/// Products of 24-bit values.
Value *multiply24(Emitter &e) {
  Type *type = e.b.getInt32Ty();
  bool isSigned = e.chance(50);
  auto narrow = [&](Value *value) {
    return isSigned ? e.b.CreateAShr(e.b.CreateShl(value, 8), 8)
                    : e.b.CreateAnd(value, e.b.getInt32(0xffffff));
  };
  Value *left = narrow(e.pick(type)), *right = narrow(e.pick(type));
  if (e.chance(30)) {
    Type *wide = e.b.getInt64Ty();
    Value *product = e.b.CreateMul(e.b.CreateIntCast(left, wide, isSigned),
                                   e.b.CreateIntCast(right, wide, isSigned));
    return e.b.CreateTrunc(e.b.CreateLShr(product, 32), type);
  }
  Value *product = e.b.CreateMul(left, right);
  return e.chance(50) ? e.b.CreateAdd(product, e.pick(type)) : product;
}

/// Bit-field extract and insert, as C writes them.
Value *bitField(Emitter &e) {
  Type *type = e.oneOf<Type *>({e.b.getInt32Ty(), e.b.getInt32Ty(), e.b.getInt64Ty()});
  unsigned bits = Emitter::elementBits(type);
  unsigned width = 1 + e.below(bits - 1), start = e.below(bits - width + 1);
  uint64_t mask = ~0ull >> (64 - width);
  switch (e.below(4)) {
  case 0:
    return e.b.CreateAnd(e.b.CreateLShr(e.pick(type), start), e.integer(type, int64_t(mask)));
  case 1:
    return e.b.CreateAShr(e.b.CreateShl(e.pick(type), bits - width - start), bits - width);
  case 2: {
    Value *left = e.pick(type), *right = e.pick(type);
    Value *select = e.chance(50) ? e.integer(type, int64_t(mask << start)) : e.pick(type);
    return e.b.CreateOr(e.b.CreateAnd(left, select), e.b.CreateAnd(right, e.b.CreateNot(select)));
  }
  default: { // variable width and offset
    Value *source = e.pick(type), *offset = e.shiftAmount(type);
    Value *value = e.b.CreateLShr(source, offset);
    Value *one = e.integer(type, 1);
    Value *field = e.b.CreateSub(e.b.CreateShl(one, e.shiftAmount(type)), one);
    return e.b.CreateAnd(value, field);
  }
  }
}

/// Bytes of two words put together: v_perm_b32.
Value *bytes(Emitter &e) {
  Type *type = e.b.getInt32Ty();
  Value *sources[] = {e.pick(type), e.pick(type)};
  Value *result = nullptr;
  for (unsigned byte = 0; byte < 4; ++byte) {
    Value *value = e.b.CreateLShr(sources[e.below(2)], e.below(4) * 8);
    value = e.b.CreateShl(e.b.CreateAnd(value, 255), byte * 8);
    result = result ? e.b.CreateOr(result, value) : value;
  }
  return result;
}

/// Two operations that the ISA has as one (add3, lshl_add, and_or, xad, or3).
Value *fused(Emitter &e) {
  Type *type = e.b.getInt32Ty();
  Value *left = e.pick(type), *right = e.pick(type), *third = e.pick(type);
  switch (e.below(7)) {
  case 0:
    return e.b.CreateAdd(e.b.CreateAdd(left, right), third);
  case 1:
    return e.b.CreateAdd(e.b.CreateShl(left, e.below(32)), third);
  case 2:
    return e.b.CreateShl(e.b.CreateAdd(left, right), e.below(32));
  case 3:
    return e.b.CreateOr(e.b.CreateShl(left, e.below(32)), third);
  case 4:
    return e.b.CreateOr(e.b.CreateAnd(left, right), third);
  case 5:
    return e.b.CreateOr(e.b.CreateOr(left, right), third);
  default:
    return e.b.CreateAdd(e.b.CreateXor(left, right), third);
  }
}

Value *compareThreeWay(Emitter &e) {
  if (e.globalISel)
    return fused(e);
  Type *type = e.scalarIntegerType();
  auto id = e.oneOf<Intrinsic::ID>({Intrinsic::scmp, Intrinsic::ucmp});
  Value *left = e.pick(type), *right = e.pick(type);
  return e.call(id, e.scalarIntegerType(), {left, right});
}

Value *resize(Emitter &e) {
  Type *from = e.integerType();
  Type *to = Emitter::shaped(from, e.scalarIntegerType());
  // No vectors beyond those that the pool knows.
  if (from->isVectorTy() && to->getPrimitiveSizeInBits().getFixedValue() > 64)
    to = Emitter::shaped(from, e.b.getInt16Ty());
  return e.b.CreateIntCast(e.pick(from), to, e.chance(50));
}

Value *select(Emitter &e) { return e.select(e.integerType()); }

Value *boolean(Emitter &e) {
  Value *test = e.condition(e.b.getInt32Ty());
  Type *type = e.scalarIntegerType();
  return e.chance(50) ? e.b.CreateZExt(test, type) : e.b.CreateSExt(test, type);
}

} // namespace

Value *emitInteger(Emitter &e) {
  static constexpr Choice choices[] = {
      {24, arithmetic}, {8, shift},    {4, division},        {7, minMax},       {5, saturating},
      {5, bitCount},    {4, bitOrder}, {5, funnel},          {4, absolute},     {4, overflow},
      {2, bytes},       {5, fused},    {2, compareThreeWay}, {4, multiplyHigh}, {4, multiply24},
      {5, bitField},    {7, resize},   {8, select},          {3, boolean},
  };
  return emitOneOf(e, choices);
}

} // namespace irfuzz
