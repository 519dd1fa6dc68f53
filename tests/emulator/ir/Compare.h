//===- Compare.h - one module on both sides, bit for bit -------------------===//
#ifndef TESTS_EMULATOR_IR_COMPARE_H
#define TESTS_EMULATOR_IR_COMPARE_H

#include "tests/emulator/ir/Device.h"

namespace irfuzz {

struct Difference {
  unsigned lane = 0, slot = 0;
  uint64_t expected = 0, found = 0;
};

/// What became of one program.
struct Verdict {
  uint64_t seed = 0;
  std::string fault;                   ///< the emulator's, else empty
  std::vector<Difference> differences; ///< every slot that differs
  bool failed() const { return !fault.empty() || !differences.empty(); }
};

struct Outcome {
  std::vector<Verdict> verdicts;
  unsigned fallbacks = 0;    ///< functions that GlobalISel did not select
  uint64_t instructions = 0; ///< wave instructions
  uint64_t stored = 0;       ///< slots that the host wrote
};

/// Compile and run the programs of `module` on both sides. An error is one of the tools: the
/// module does not verify, compile or load.
llvm::Expected<Outcome> compare(const llvm::Module &module, const Config &config,
                                const Mutation &mutation = {});

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_COMPARE_H
