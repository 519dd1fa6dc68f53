//===- Report.cpp - how errors reach a person -------------------------------===//

#include "compiler/spec/Spec.h"
#include "tools/nvfp4gen/Commands.h"

#include <fmt/core.h>

namespace nvfp4gen {

int reportError(const std::string &message) {
  fmt::print(stderr, "nvfp4gen: error: {}\n", message);
  return kExitFailed;
}

void reportWarning(const std::string &message) {
  fmt::print(stderr, "nvfp4gen: warning: {}\n", message);
}

int reportError(llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      // A spec's diagnostics begin with their own position, as a compiler's do.
      [](const SpecError &spec) {
        spec.log(llvm::errs());
        llvm::errs() << '\n';
      },
      [](const llvm::ErrorInfoBase &other) { reportError(other.message()); });
  return kExitFailed;
}

} // namespace nvfp4gen
