//===- Lint.h - the rules over every kernel of a code object ----------------===//
//
// Takes any gfx950 code object, ours or not. Files are read through the
// runtime's bounded readers only: nothing in one is believed before it is
// checked against the bytes at hand.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_LINT_H
#define NVFP4GEN_COMPILER_LINT_LINT_H

#include "compiler/lint/CodeRules.h"
#include "runtime/bundle/Elf.h"

#include <vector>

namespace nvfp4gen::lint {

/// LDS of a gfx950 compute unit, bytes; a workgroup can have all of it.
inline constexpr uint64_t kMaxLds = 163840;
/// Instruction cache that two compute units share, bytes.
inline constexpr uint64_t kInstructionCache = 32768;

struct LintReport {
  std::vector<KernelLint> kernels; ///< by name
  size_t count(Severity severity) const;
};

/// Errors are those of the readers (another processor, a malformed file), and
/// NVFP4RT_ERROR_BAD_ELF for kernels whose descriptor or code is not in the file.
nvfp4rt::Result<LintReport> lintCodeObject(nvfp4rt::Bytes file);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_LINT_H
