//===- Emitter.h - values and guards of a random program -------------------===//
//
// Owns what all generators of operations share: the pool of live values, the
// choice of types, operands and constants, and the guards that keep a program's
// result fully defined on every target:
//
//   - no signaling NaN exists: bits that become a float are made quiet first;
//   - NaN payloads and signs are never seen: floats that become bits (stores,
//     bitcasts, sign operands) have NaN replaced by one fixed pattern;
//   - divisors, shift amounts, indices and trip counts are forced into range.
//
// Instructions of a guard carry metadata "irfuzz.keep" so that the reducer
// leaves them alone.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_IR_EMITTER_H
#define TESTS_EMULATOR_IR_EMITTER_H

#include "tests/emulator/Fixture.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <initializer_list>
#include <vector>

namespace irfuzz {

using Random = gfx950emu::test::Random;

constexpr char KeepMetadata[] = "irfuzz.keep";

// What a lane sees, in 8-byte slots.
constexpr unsigned InputSlots = 16, UniformSlots = 16, OutputSlots = 48, LdsSlots = 8;

/// An array of a program: scratch or LDS.
struct Array {
  llvm::Value *pointer = nullptr;
  llvm::Type *element = nullptr;
  unsigned count = 0; ///< a power of two
};

/// Pointers that a program's body has and its helpers have not.
struct Ports {
  llvm::Value *input = nullptr;   ///< the lane's own InputSlots
  llvm::Value *uniform = nullptr; ///< UniformSlots, the same for all lanes
  llvm::Value *output = nullptr;  ///< the lane's own OutputSlots
  llvm::Value *lds = nullptr;     ///< the lane's own LdsSlots
  unsigned usedOutput = 0, usedLds = 0;
};

class Emitter {
public:
  Emitter(llvm::IRBuilder<> &builder, Random &random, Ports &ports, bool globalISel)
      : b(builder), random(random), ports(ports), globalISel(globalISel) {}

  // Choices.
  unsigned below(unsigned bound) { return unsigned((uint64_t(random.next32()) * bound) >> 32); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T> T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(unsigned(list.size()))];
  }

  // Types.
  llvm::Type *integerType();       ///< scalar or vector
  llvm::Type *scalarIntegerType(); ///< i8 to i64
  llvm::Type *floatType();         ///< scalar or vector
  llvm::Type *scalarFloatType();
  llvm::Type *anyType();
  llvm::Type *vectorOf(llvm::Type *element, unsigned count) const {
    return llvm::FixedVectorType::get(element, count);
  }
  /// Integer (vector) of the same shape and width as `type`.
  static llvm::Type *integerLike(llvm::Type *type);
  /// `element` in the shape of `type`.
  static llvm::Type *shaped(llvm::Type *type, llvm::Type *element);
  static unsigned elementBits(llvm::Type *type) { return type->getScalarSizeInBits(); }
  static unsigned lanes(llvm::Type *type);

  // Operands.
  llvm::Value *pick(llvm::Type *type);      ///< a live value, a constant or a load
  llvm::Value *condition(llvm::Type *like); ///< i1, or a vector of i1 shaped as `like`
  llvm::Value *constant(llvm::Type *type);
  llvm::Value *load(llvm::Type *type);
  llvm::Value *integer(llvm::Type *type, int64_t value) const {
    return llvm::ConstantInt::getSigned(type, value, /*ImplicitTrunc=*/true);
  }
  llvm::Value *real(llvm::Type *type, double value) const {
    return llvm::ConstantFP::get(type, value);
  }
  /// Any value as any other type, through its bits.
  llvm::Value *coerce(llvm::Value *value, llvm::Type *type);
  void add(llvm::Value *value) { pool.push_back(value); }

  // Guards.
  llvm::Value *kept(llvm::Value *value);
  llvm::Value *quietFloat(llvm::Value *bits, llvm::Type *type);
  llvm::Value *canonicalBits(llvm::Value *value); ///< of a float; integers as they are
  llvm::Value *plusZero(llvm::Value *value);      ///< -0 becomes +0
  llvm::Value *shiftAmount(llvm::Type *type);
  llvm::Value *divisor(llvm::Type *type, bool isSigned);
  llvm::Value *index(unsigned count); ///< i32 below `count`, a power of two

  llvm::Value *call(llvm::Intrinsic::ID id, llvm::Type *result,
                    std::initializer_list<llvm::Value *> args) {
    return b.CreateIntrinsic(result, id, args);
  }

  // Operations on picked values.
  llvm::Value *unary(llvm::Intrinsic::ID id, llvm::Type *type) {
    return call(id, type, {pick(type)});
  }
  llvm::Value *binary(llvm::Intrinsic::ID id, llvm::Type *type);
  llvm::Value *binary(llvm::Instruction::BinaryOps opcode, llvm::Type *type);
  llvm::Value *select(llvm::Type *type);
  /// The first member of a result of two; the second goes to the pool.
  llvm::Value *firstOfTwo(llvm::Value *pair);

  // Stores.
  bool canStore() const { return ports.output && ports.usedOutput < OutputSlots; }
  void store(llvm::Value *value);

  llvm::IRBuilder<> &b;
  Random &random;
  Ports &ports;
  /// Leave out what GlobalISel cannot select, or the whole function goes to SelectionDAG.
  bool globalISel;
  std::vector<llvm::Value *> pool; ///< values that dominate the insertion point
  std::vector<Array> arrays;       ///< likewise, with every element written
  std::vector<llvm::Function *> helpers;

private:
  llvm::Constant *scalarConstant(llvm::Type *type);
};

/// A generator of one operation, drawn as often as `weight` says.
struct Choice {
  unsigned weight;
  llvm::Value *(*emit)(Emitter &e);
};
llvm::Value *emitOneOf(Emitter &e, llvm::ArrayRef<Choice> choices);

// Generators of one operation each; the result is a new value.
llvm::Value *emitInteger(Emitter &e);
llvm::Value *emitFloat(Emitter &e);
llvm::Value *emitConversion(Emitter &e);
llvm::Value *emitVector(Emitter &e);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_EMITTER_H
