//===- Fuzz.h - ranges of seeds, and reports of what failed ----------------===//
#ifndef TESTS_EMULATOR_IR_FUZZ_H
#define TESTS_EMULATOR_IR_FUZZ_H

#include "tests/emulator/ir/Compare.h"

namespace irfuzz {

struct Tally {
  uint64_t programs = 0, instructions = 0, stored = 0, fallbacks = 0;
  std::vector<std::string> failures; ///< a report each
};

struct FuzzOptions {
  bool reduce = true;
  Mutation mutation;
};

/// Run programs `first` to `first + count - 1`. What an error of the tools stopped is a failure
/// as well.
Tally fuzz(uint64_t first, uint64_t count, const FuzzOptions &options = {});

/// The module of program `seed` alone.
std::unique_ptr<llvm::Module> programAlone(llvm::LLVMContext &context, uint64_t seed);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_FUZZ_H
