//===- MemoryCases.h - addressing of global and flat instructions ----------===//
#ifndef TESTS_EMULATOR_ISA_MEMORYCASES_H
#define TESTS_EMULATOR_ISA_MEMORYCASES_H

#include "tests/emulator/isa/Harness.h"

namespace isatest {

/// How a global or flat instruction is told the address v8 + displacement in the wave's memory.
struct Addressing {
  std::string before;     ///< instructions that prepare registers
  std::string operands;   ///< address operands of a load, after the destination
  std::string beforeData; ///< address operand of a store or atomic, before the data
  std::string afterData;  ///< the rest, after the data
  int64_t displacement = 0;
  bool lds = false; ///< the address lies in the shared aperture
  std::string after;
};

std::vector<Addressing> globalAddressing();
std::vector<Addressing> flatAddressing();

/// 4 KiB of memory (or a 2 KiB LDS image), lanes at distinct aligned offsets from 512 on.
Case memoryCase(const std::string &mnemonic, const Addressing &mode, unsigned bytes);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_MEMORYCASES_H
