//===- FatalErrors.h - LLVM's fatal errors as errors ------------------------===//
//
// LLVM ends the process when code generation cannot go on. A generator that
// lives in someone else's process must not.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_SUPPORT_FATALERRORS_H
#define NVFP4GEN_COMPILER_SUPPORT_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace nvfp4gen {

/// While one exists, a fatal error of LLVM inside catchFatalErrors() is an error of it. LLVM has
/// one handler a process: it is taken by the first and given back by the last.
class FatalErrorScope {
public:
  FatalErrorScope();
  ~FatalErrorScope();
  FatalErrorScope(const FatalErrorScope &) = delete;
  FatalErrorScope &operator=(const FatalErrorScope &) = delete;
};

/// Run `body` on this thread; a fatal error of LLVM or an exception in it becomes the result. What
/// LLVM had allocated by then is lost: its frames are left without their destructors.
llvm::Error catchFatalErrors(llvm::function_ref<llvm::Error()> body);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_SUPPORT_FATALERRORS_H
