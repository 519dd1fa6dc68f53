//===- Commands.h - the commands of nvfp4gen --------------------------------===//
//
// main.cpp declares the options; each command below does the work and returns the
// exit code: 0 done, 1 refused or failed (the reason is on stderr), 2 usage,
// 3 verify found a difference.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_NVFP4GEN_COMMANDS_H
#define NVFP4GEN_TOOLS_NVFP4GEN_COMMANDS_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvfp4gen {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitDifference = 3;

struct ListOptions {
  std::string spec;
  bool json = false;
};
int runList(const ListOptions &options);

struct BuildCommandOptions {
  std::string spec;
  std::string output;
  std::string emit; ///< "", "mlir", "llvm", "asm" or "obj"
  unsigned jobs = 0;
  bool json = false;
};
int runBuild(const BuildCommandOptions &options);

struct InspectOptions {
  std::string bundle;
  bool json = false;
};
int runInspect(const InspectOptions &options);

struct VerifyCommandOptions {
  std::string bundle;
  std::string family;
  std::string hipLibrary;     ///< empty = the emulator beside this program
  std::string checks = "all"; ///< that the emulator runs the kernels under, or "none"
  bool checksAsked = false;   ///< `checks` is not the default
  unsigned orders = 1;        ///< of workgroups and waves that each launch runs in
  uint64_t seed = 1;
  bool json = false;
};
int runVerify(const VerifyCommandOptions &options);

struct BenchCommandOptions {
  std::string bundle;
  std::string family;
  std::string shape;
  int64_t sample = 1;
  bool json = false;
};
int runBench(const BenchCommandOptions &options);
/// What the figures of bench mean, for its help.
std::string benchDefinitions();

/// Print "nvfp4gen: error: ..." for an error (one line a diagnostic when it has its own positions)
/// and return kExitFailed.
int reportError(llvm::Error error);
int reportError(const std::string &message);

} // namespace nvfp4gen

#endif // NVFP4GEN_TOOLS_NVFP4GEN_COMMANDS_H
