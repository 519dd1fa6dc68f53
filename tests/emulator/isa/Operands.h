//===- Operands.h - operand types and the values that tables walk through --===//
#ifndef TESTS_EMULATOR_ISA_OPERANDS_H
#define TESTS_EMULATOR_ISA_OPERANDS_H

#include "tests/emulator/isa/Harness.h"

namespace isatest {

/// What an operand holds: picks its edge values, its width and how modifiers act on it.
enum class Type : uint8_t {
  B32,   ///< 32 bits or an integer
  B64,   ///< 64 bits or an integer, a register pair
  B16,   ///< one half of a register
  B16x2, ///< two halves
  Shift, ///< small integers, and some with high bits set
  F32,
  F64, ///< a register pair
  F16, ///< one half of a register
  F16x2,
  BF16x2,
  F32x2, ///< a register pair
};

bool isWide(Type type);
bool isFloat(Type type);
/// Bits that one value of the type occupies.
unsigned widthOf(Type type);
/// Sign bits that `neg` flips and `abs` clears; every half of a packed type has one.
uint64_t signMask(Type type);

/// Edge values: zeros, ones, extremes, denormals, infinities, NaNs, halfway cases.
const std::vector<uint64_t> &edges(Type type);

/// The `index`-th value of operand `operand`: the first indices pair every edge of operand 0 with
/// every edge of operand 1, later ones are random bits or random edges.
uint64_t value(Type type, unsigned operand, unsigned index, Rng &rng);

/// An edge or random bits, for operands that are the same for a whole wave.
uint64_t scalarValue(Type type, Rng &rng);

/// A constant as it is written in assembly and as the operand then reads.
struct Constant {
  const char *text;
  uint64_t bits;
};
/// Inline constants of the type.
const std::vector<Constant> &inlineConstants(Type type);
/// A literal, or null where the type has none that tests agree on.
const Constant *literal(Type type);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_OPERANDS_H
