//===- Commands.h - the commands of gfx950emu -------------------------------===//
//
// main.cpp declares the options; each command does the work and returns the exit
// code. Results go to stdout, "gfx950emu: error: ..." to stderr.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CLI_COMMANDS_H
#define GFX950EMU_CLI_COMMANDS_H

#include "tools/gfx950emu/check/Switches.h"
#include "tools/gfx950emu/core/Emulator.h"

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gfx950emu::cli {

inline constexpr int exitDone = 0;
inline constexpr int exitFile = 1;    ///< a file cannot be read or written
inline constexpr int exitUsage = 2;   ///< bad command line, or it does not fit the kernel
inline constexpr int exitObject = 3;  ///< not a gfx950 code object that can be loaded
inline constexpr int exitFault = 4;   ///< the kernel faulted; no file is written
inline constexpr int exitOpen = 5;    ///< audit: the file uses semantics that are open
inline constexpr int exitFinding = 6; ///< run: a check found something; no file is written
inline constexpr int exitOrder = 7;   ///< run: seeds give different bytes; no file is written

struct RunCommand {
  std::string object;
  std::string kernel;
  std::string grid;  ///< "X[,Y[,Z]]", workgroups
  std::string block; ///< "X[,Y[,Z]]", work-items of a workgroup
  uint32_t sharedBytes = 0;
  std::vector<std::string> args;
  bool once = false;
  bool count = false;                        ///< print what was executed
  bool cost = false;                         ///< print an estimate of cycles
  bool json = false;                         ///< everything as one JSON object, in place of text
  std::optional<check::CheckOptions> checks; ///< none: no checker
  unsigned seeds = 1;                        ///< orders to run in, from RunOptions::seed upwards
  RunOptions options;
};
int runKernel(const RunCommand &command);

struct DisasmCommand {
  std::string object;
  std::string kernel; ///< empty = all
};
int runDisasm(const DisasmCommand &command);

struct AuditCommand {
  std::string object;
  std::string kernel; ///< empty = all
  bool json = false;
  bool table = false; ///< print the table of open semantics; no object
};
int runAudit(const AuditCommand &command);

/// "X[,Y[,Z]]" of positive numbers; a missing extent is 1.
llvm::Expected<std::array<uint32_t, 3>> parseExtents(llvm::StringRef option, llvm::StringRef text);

/// Read and load a code object, with its kernel of that name if one is given.
struct LoadedObject {
  std::unique_ptr<CodeObject> object;
  const KernelInfo *kernel = nullptr;
};
llvm::Expected<LoadedObject> loadObject(const std::string &path, const std::string &kernel,
                                        MemoryMap &memory);

/// Print the error and return the exit code of its kind.
int reportError(llvm::Error error);

} // namespace gfx950emu::cli

#endif // GFX950EMU_CLI_COMMANDS_H
