//===- Flow.h - the instructions a kernel can reach -------------------------===//
//
// Follows control flow from the entry, so that padding and data between the
// code do not matter.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_FLOW_H
#define NVFP4GEN_COMPILER_LINT_FLOW_H

#include "compiler/lint/Decoder.h"

#include <string>
#include <vector>

namespace nvfp4gen::lint {

/// More than any kernel has; a guard against files made to exhaust memory.
inline constexpr size_t kMaxInstructions = size_t(1) << 19;

/// Where the code cannot be followed.
struct FlowFault {
  uint64_t pc = 0;
  bool decodable = false; ///< an instruction whose effect is not known, else no instruction
  std::string why;
};

struct Flow {
  std::vector<Instruction> code; ///< in the order they were met, the entry first
  std::vector<llvm::SmallVector<uint32_t, 2>> predecessors; ///< of each, as indices into `code`
  std::vector<FlowFault> faults;
};

/// `entry` is an offset into `code`. An error when more than kMaxInstructions are reached.
llvm::Expected<Flow> followFlow(Decoder &decoder, llvm::ArrayRef<uint8_t> code, uint64_t entry);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_FLOW_H
