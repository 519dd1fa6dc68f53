//===- main.cpp - nvfp4gen --------------------------------------------------===//

#include "tools/nvfp4gen/CommandLine.h"
#include "tools/nvfp4gen/Commands.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

/// Why not all that was printed reached stdout; empty when it did.
std::string lostOutput() {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (out.has_error()) {
    const std::string why = out.error().message();
    out.clear_error(); // LLVM's own report of it would end the process
    return why;
  }
  if (std::fflush(stdout) != 0)
    return std::strerror(errno);
  return std::ferror(stdout) ? "an earlier write failed" : "";
}

} // namespace

int main(int argc, char **argv) {
  // The next file opened would take the place of a closed stdin, stdout or stderr.
  if (std::error_code code = llvm::sys::Process::FixupStandardFileDescriptors())
    return nvfp4gen::reportError("stdin, stdout, stderr: " + code.message());
  int result = nvfp4gen::kExitFailed;
  try {
    result = nvfp4gen::runCommandLine(argc, argv);
  } catch (const std::exception &error) {
    if (!std::ferror(stdout))
      return nvfp4gen::reportError(std::string("unexpected failure: ") + error.what());
  }
  const std::string why = lostOutput();
  if (why.empty())
    return result;
  nvfp4gen::reportError("stdout: expected to write every result, found: " + why);
  return result ? result : nvfp4gen::kExitFailed;
}
