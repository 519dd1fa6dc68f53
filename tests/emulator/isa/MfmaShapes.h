//===- MfmaShapes.h - layouts of the matrix instructions' operands ---------===//
#ifndef TESTS_EMULATOR_ISA_MFMASHAPES_H
#define TESTS_EMULATOR_ISA_MFMASHAPES_H

#include "tests/emulator/isa/Harness.h"
#include "tests/emulator/isa/Numeric.h"

namespace isatest {

/// An element of A or B.
struct Element {
  const char *name;
  unsigned bits;
  bool integer;         ///< int8 with an int32 result
  const Format *format; ///< null for integers

  Wide value(uint32_t code) const { return integer ? Wide(int8_t(code)) : decode(*format, code); }
  uint32_t code(Wide x) const { return integer ? uint32_t(int32_t(x)) & 0xff : encode(*format, x); }
};

struct Place {
  unsigned block, i, k; ///< i: row of A or column of B
};
struct Cell {
  unsigned block, i, j;
};

struct Shape {
  unsigned m, k, blocks; ///< m x m results a block
  unsigned elements;     ///< of A or B in a lane
  unsigned results;      ///< registers of C and D
  Place (*place)(const Shape &s, const Element &element, unsigned lane, unsigned e);
  Cell (*cell)(const Shape &s, unsigned lane, unsigned reg);
};

struct Instruction {
  const char *name;
  const Shape &shape;
  const Element &a, &b;
};

/// Instructions whose operands have one layout, without f8f6f4.
const std::vector<Instruction> &instructions();
/// Formats of f8f6f4 by their code: fp8, bf8, fp6, bf6, fp4.
const std::vector<Element> &narrowElements();
const Shape &shape16x16x128();
const Shape &shape32x32x64();

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_MFMASHAPES_H
