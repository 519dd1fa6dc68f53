//===- HazardRules.h - pairs of instructions that need wait states ----------===//
//
// gfx950 does not interlock these pairs: between the two there must be so many
// wait states (an instruction is one, s_nop N is N + 1), or the second gets old
// data. The table is made from the rules of this project for matrix
// instructions and from AMD's lists of manually inserted wait states for CDNA3
// and CDNA4, and from nothing in the emulator, whose check is a second opinion.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_HAZARDRULES_H
#define NVFP4GEN_COMPILER_LINT_HAZARDRULES_H

#include "compiler/lint/Finding.h"
#include "compiler/lint/Instruction.h"

#include "llvm/ADT/ArrayRef.h"

namespace nvfp4gen::lint {

struct HazardRule {
  Rule rule;
  unsigned most; ///< wait states that any pair needs
  /// The pair is about the result of the first, a matrix instruction: where another matrix
  /// instruction between the two writes the registers again, the second does not meet it.
  bool matrixResult;
  /// Whether an instruction can be the first or the second of a pair.
  bool (*first)(const Instruction &);
  bool (*second)(const Instruction &);
  /// Wait states that this pair needs between it; 0 = none. Called only where both of the above
  /// hold.
  unsigned (*needed)(const Instruction &first, const Instruction &second);
};

/// At most 64, so that a set of them is one word.
llvm::ArrayRef<HazardRule> hazardRules();

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_HAZARDRULES_H
