//===- Commands.h - the commands of nvfp4gen --------------------------------===//
//
// CommandLine.cpp declares the options; each command below does the work and
// returns its exit code (kExitCodes).
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
inline constexpr int kExitFindings = 4;

/// For --help and the manual.
struct ExitCode {
  int code;
  const char *meaning;
};
inline constexpr ExitCode kExitCodes[] = {
    {kExitDone, "done"},
    {kExitFailed, "refused or failed; the reason is on stderr"},
    {kExitUsage, "usage"},
    {kExitDifference, "verify found a difference, or diff one beyond --max-growth"},
    {kExitFindings, "lint found errors, or with --strict warnings"}};

/// For --help and the manual.
struct EnvironmentVariable {
  const char *name, *meaning;
};
inline constexpr EnvironmentVariable kEnvironment[] = {
    {"NVFP4GEN_CACHE_DIR",
     "the cache's folder, unless --cache-dir says another; without both it is "
     "XDG_CACHE_HOME/nvfp4gen, else HOME/.cache/nvfp4gen"},
    {"NVFP4GEN_COMGR_LIBRARY", "the comgr library of --backend=comgr; default libamd_comgr.so.3, "
                               "else libamd_comgr.so.2"},
    {"NVFP4RT_HIP_LIBRARY", "the HIP library that the runtime loads"}};

struct ListOptions {
  std::vector<std::string> specs;
  std::string coverage; ///< "", "csv" or "json"
  bool json = false;
};
int runList(const ListOptions &options);

/// Where compiled kernels are kept.
struct CacheCommandOptions {
  std::string directory; ///< empty = by the environment
  uint64_t maxBytes = uint64_t(1) << 30;
  bool off = false;
  bool json = false;
};
int runCacheStat(const CacheCommandOptions &options);
int runCacheClear(const CacheCommandOptions &options);

struct BuildCommandOptions {
  std::string spec;
  std::string output;
  std::string emit; ///< "", "mlir", "llvm", "asm" or "obj"
  std::string backend = "lld";
  unsigned jobs = 0;
  bool debugLines = false;
  bool json = false;
  CacheCommandOptions cache;
};
int runBuild(const BuildCommandOptions &options);

struct ExplainOptions {
  std::string spec;
  std::string family;
  std::string phase; ///< empty = the one that the query length implies
  int64_t requests = 0;
  int64_t queryLen = 1;
  bool json = false;
};
int runExplain(const ExplainOptions &options);

struct InspectOptions {
  std::string bundle;
  bool json = false;
};
int runInspect(const InspectOptions &options);

struct DiffOptions {
  std::string before, after;
  std::optional<double> maxGrowth; ///< percent
  bool json = false;
};
int runDiff(const DiffOptions &options);

struct DisasmOptions {
  std::string bundle;
  std::string variant; ///< name of a variant or symbol of a kernel
  std::string sourceRoot = ".";
  bool source = false;
  bool json = false;
};
int runDisasm(const DisasmOptions &options);

struct ExtractOptions {
  std::string bundle;
  std::string output;
  std::string variant; ///< as DisasmOptions::variant; empty = all kernels
  bool json = false;
};
int runExtract(const ExtractOptions &options);

struct LintOptions {
  std::string file;
  bool strict = false; ///< warnings too make it fail
  bool json = false;
};
int runLint(const LintOptions &options);
/// The rules, for its help.
std::string lintRules();

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
void reportWarning(const std::string &message);

} // namespace nvfp4gen

#endif // NVFP4GEN_TOOLS_NVFP4GEN_COMMANDS_H
