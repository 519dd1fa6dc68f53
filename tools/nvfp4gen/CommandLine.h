//===- CommandLine.h - the options of nvfp4gen, declared once ---------------===//
//
// Parsing, --help, the manual and shell completion all come from one CLI11 tree.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_NVFP4GEN_COMMANDLINE_H
#define NVFP4GEN_TOOLS_NVFP4GEN_COMMANDLINE_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nvfp4gen {

/// Parse and run; the exit code.
int runCommandLine(int argc, const char *const *argv);

/// A command as the documents name it: "build", "cache stat"; the root is "".
struct CommandEntry {
  std::string name;
  const CLI::App *app;
};
/// Every command that can be run, in order of declaration.
std::vector<CommandEntry> commandsOf(const CLI::App &root);

/// The values that an option is restricted to; empty for any.
std::vector<std::string> choicesOf(const CLI::Option &option);
/// Does it name a file or a folder?
bool takesPath(const CLI::Option &option);

/// A completion script for "bash" or "zsh".
std::string completionScript(const CLI::App &root, const std::string &shell);
/// nvfp4gen(1) as roff.
std::string manualPage(const CLI::App &root);

} // namespace nvfp4gen

#endif // NVFP4GEN_TOOLS_NVFP4GEN_COMMANDLINE_H
