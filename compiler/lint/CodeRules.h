//===- CodeRules.h - rules on the instructions of one kernel ----------------===//
//
// Hazards, instructions that kernels must not have, and code that cannot be
// followed. Knows nothing of files.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_CODERULES_H
#define NVFP4GEN_COMPILER_LINT_CODERULES_H

#include "compiler/lint/Decoder.h"
#include "compiler/lint/Finding.h"

#include <vector>

namespace nvfp4gen::lint {

/// What was looked at in one kernel, and what was found.
struct KernelLint {
  std::string kernel;
  uint64_t instructions = 0;     ///< reached from the entry
  uint64_t codeBytes = 0;        ///< of these instructions, or what the file says
  std::vector<Finding> findings; ///< by place; those of the whole kernel first
};

/// `entry` is an offset into `code`, which may hold other code too. An error when the kernel is too
/// large to be one.
llvm::Expected<KernelLint> lintCode(Decoder &decoder, llvm::StringRef kernel,
                                    llvm::ArrayRef<uint8_t> code, uint64_t entry);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_CODERULES_H
