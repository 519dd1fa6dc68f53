//===- Repair.h - no hazard leaves the compiler -----------------------------===//
//
// Lints a kernel that was just compiled. Where it has hazards it is compiled to
// assembly once more, gets the wait states it lacks, is assembled and linted
// again; what that does not mend is refused.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_REPAIR_H
#define NVFP4GEN_COMPILER_LINT_REPAIR_H

#include "compiler/lint/Lint.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nvfp4gen::lint {

/// The findings for which a kernel is refused.
class LintRefusal : public llvm::ErrorInfo<LintRefusal> {
public:
  static char ID;
  explicit LintRefusal(std::vector<Finding> findings) : findings(std::move(findings)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const std::vector<Finding> findings; ///< errors only
};

struct LintedObject {
  std::string object;      ///< as it was given, or repaired
  KernelLint lint;         ///< of that object; no errors
  unsigned repairs = 0;    ///< instructions that got wait states before them
  unsigned waitStates = 0; ///< inserted
};

/// `object` holds `kernel`; `assembly` compiles the same kernel to text and is called only when
/// there is something to repair. LintRefusal when findings remain.
llvm::Expected<LintedObject> lintObject(llvm::StringRef kernel, std::string object,
                                        llvm::function_ref<llvm::Expected<std::string>()> assembly);

/// The report on a code object just linked; LintRefusal when it has errors.
llvm::Expected<LintReport> requireClean(llvm::StringRef codeObject);

/// `assembly` of `code` with wait states inserted before the second instruction of every hazard.
/// An error when the text is not the assembly of this code.
llvm::Expected<std::string> insertWaitStates(Decoder &decoder, llvm::StringRef kernel,
                                             llvm::StringRef assembly, llvm::ArrayRef<uint8_t> code,
                                             llvm::ArrayRef<Finding> findings);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_REPAIR_H
