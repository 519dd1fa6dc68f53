//===- main.cpp - nvfp4gen --------------------------------------------------===//

#include "tools/nvfp4gen/CommandLine.h"
#include "tools/nvfp4gen/Commands.h"

int main(int argc, char **argv) {
  try {
    return nvfp4gen::runCommandLine(argc, argv);
  } catch (const std::exception &error) {
    return nvfp4gen::reportError(std::string("unexpected failure: ") + error.what());
  }
}
