//===- Inputs.h - what a program's lanes compute on ------------------------===//
#ifndef TESTS_EMULATOR_IR_INPUTS_H
#define TESTS_EMULATOR_IR_INPUTS_H

#include <cstdint>
#include <vector>

namespace irfuzz {

// The second wave of each workgroup is half empty.
constexpr unsigned BlockSize = 96, Grid = 2, Lanes = BlockSize * Grid;

struct Inputs {
  std::vector<uint64_t> lanes;   ///< InputSlots for each lane
  std::vector<uint64_t> uniform; ///< UniformSlots
};

/// Random and edge values, by the program's seed.
Inputs inputsOf(uint64_t seed);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_INPUTS_H
