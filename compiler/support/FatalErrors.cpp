//===- FatalErrors.cpp ------------------------------------------------------===//

#include "compiler/support/FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <exception>
#include <mutex>
#include <string>

namespace nvfp4gen {

namespace {

struct FatalError {
  std::string message;
};

std::mutex scopeMutex;
unsigned scopes = 0;
thread_local unsigned catching = 0;

/// Elsewhere than in catchFatalErrors() this says what LLVM would have said and returns, and LLVM
/// ends the process as it would have.
void onFatalError(void *, const char *reason, bool) {
  if (catching)
    throw FatalError{reason};
  llvm::errs() << "LLVM ERROR: " << reason << '\n';
}

} // namespace

FatalErrorScope::FatalErrorScope() {
  std::lock_guard lock(scopeMutex);
  if (scopes++ == 0)
    llvm::install_fatal_error_handler(onFatalError);
}

FatalErrorScope::~FatalErrorScope() {
  std::lock_guard lock(scopeMutex);
  if (--scopes == 0)
    llvm::remove_fatal_error_handler();
}

llvm::Error catchFatalErrors(llvm::function_ref<llvm::Error()> body) {
  struct Catching {
    Catching() { ++catching; }
    ~Catching() { --catching; }
  } depth;
  auto error = [](const std::string &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  };
  try {
    return body();
  } catch (const FatalError &fatal) {
    return error("fatal error of LLVM: " + fatal.message);
  } catch (const std::exception &exception) {
    return error(std::string("unexpected failure: ") + exception.what());
  }
}

} // namespace nvfp4gen
