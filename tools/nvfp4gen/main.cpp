//===- main.cpp - nvfp4gen --------------------------------------------------===//

#include "tools/nvfp4gen/CommandLine.h"
#include "tools/nvfp4gen/Commands.h"
#include "tools/support/StandardFiles.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (const std::string why = support::openStandardFiles(); !why.empty())
    return nvfp4gen::reportError("stdin, stdout, stderr: " + why);
  int result = nvfp4gen::kExitFailed;
  try {
    result = nvfp4gen::runCommandLine(argc, argv);
  } catch (const std::exception &error) {
    if (!std::ferror(stdout)) // which fmt throws for
      return nvfp4gen::reportError(std::string("unexpected failure: ") + error.what());
  }
  const std::string why = support::lostOutput();
  if (why.empty())
    return result;
  nvfp4gen::reportError("stdout: expected to write every result, found: " + why);
  return result ? result : nvfp4gen::kExitFailed;
}
