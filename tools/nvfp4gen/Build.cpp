//===- Build.cpp - nvfp4gen build and nvfp4gen cache ------------------------===//

#include "compiler/bundle/Build.h"

#include "compiler/support/AtomicFile.h"
#include "tools/nvfp4gen/Commands.h"
#include "tools/nvfp4gen/LoadedSpec.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nvfp4gen {

namespace {

using nlohmann::ordered_json;

struct StageName {
  llvm::StringRef option;
  Stage stage;
  llvm::StringRef extension;
};

constexpr StageName kStages[] = {{"mlir", Stage::MLIR, ".mlir"},
                                 {"llvm", Stage::LLVM, ".ll"},
                                 {"asm", Stage::Assembly, ".s"},
                                 {"obj", Stage::Object, ".o"}};

const char *originName(Origin origin) {
  switch (origin) {
  case Origin::Compiled:
    return "compiled";
  case Origin::CachedObject:
    return "cached";
  case Origin::CachedBundle:
    return "cached bundle";
  }
  return "";
}

/// Columns of the terminal on stderr; 0 when it is none.
unsigned terminalColumns() {
  winsize size{};
  if (!::isatty(STDERR_FILENO))
    return 0;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

/// Progress goes to stderr, so that stdout holds the report alone: a line that is rewritten on a
/// terminal, a line a kernel elsewhere.
class Progress {
public:
  explicit Progress(size_t total) : total(total) {}
  void operator()(const KernelReport &report) {
    ++done;
    std::string time = report.origin == Origin::Compiled
                           ? fmt::format("{:.0f} ms", report.seconds * 1e3)
                           : originName(report.origin);
    std::string line = fmt::format("[{}/{}] {} {}", done, total, report.symbol, time);
    const unsigned columns = terminalColumns();
    if (!columns) {
      fmt::print(stderr, "{}\n", line);
      return;
    }
    line.resize(std::min<size_t>(line.size(), columns - 1)); // one that wraps is not rewritten
    fmt::print(stderr, "\r\x1b[K{}", line);
    open = true;
  }
  ~Progress() {
    if (open)
      fmt::print(stderr, "\n");
  }
  Progress(const Progress &) = delete;

private:
  size_t total, done = 0;
  bool open = false;
};

/// Run a build and show its progress, whose line has ended when this returns.
template <typename Builder> auto withProgress(BuildOptions options, size_t kernels, Builder build) {
  Progress progress(kernels);
  options.progress = [&](const KernelReport &report) { progress(report); };
  return build(options);
}

/// A place that cannot take what is built is refused before the kernels are compiled, not after.
llvm::Error checkFolder(const std::string &output, llvm::StringRef folder) {
  namespace sysfs = llvm::sys::fs;
  std::error_code code = sysfs::access(folder, sysfs::AccessMode::Write);
  if (!code && !sysfs::is_directory(folder))
    code = std::make_error_code(std::errc::not_a_directory);
  if (code)
    return llvm::createStringError(
        fmt::format("output '{}': expected a folder that can be written to, '{}', found: {}",
                    output, folder.str(), code.message()));
  return llvm::Error::success();
}

llvm::Error checkFile(const std::string &output) {
  if (output.empty() || llvm::sys::fs::is_directory(output))
    return llvm::createStringError(fmt::format("output '{}': expected the name of a file, found {}",
                                               output, output.empty() ? "none" : "a folder"));
  llvm::StringRef folder = llvm::sys::path::parent_path(output);
  return checkFolder(output, folder.empty() ? "." : folder);
}

int emitStage(const BuildCommandOptions &options, const LoadedSpec &loaded, const StageName &stage,
              const BuildOptions &buildOptions) {
  if (std::error_code code = llvm::sys::fs::create_directories(options.output))
    return reportError(
        fmt::format("cannot create folder '{}': {}", options.output, code.message()));
  if (llvm::Error error = checkFolder(options.output, options.output))
    return reportError(std::move(error));
  auto kernels =
      withProgress(buildOptions, loaded.list.kernels.size(), [&](const BuildOptions &shown) {
        return emitKernels(loaded.spec, loaded.list, stage.stage, shown);
      });
  if (!kernels)
    return reportError(kernels.takeError());
  ordered_json files = ordered_json::array();
  for (const auto &[symbol, text] : *kernels) {
    llvm::SmallString<128> path(options.output);
    llvm::sys::path::append(path, symbol + stage.extension);
    if (llvm::Error error = writeFileAtomically(path, text))
      return reportError(std::move(error));
    if (!options.json)
      fmt::print("{}\n", path.str().str());
    files.push_back({{"symbol", symbol}, {"file", path.str().str()}, {"bytes", text.size()}});
  }
  if (options.json)
    fmt::print("{}\n", ordered_json({{"stage", options.emit}, {"files", files}}).dump(2));
  return kExitDone;
}

void printReport(const Bundle &bundle, const Cache *cache, const std::string &output) {
  size_t width = 6;
  for (const KernelReport &kernel : bundle.kernels)
    width = std::max(width, kernel.symbol.size());
  fmt::print("{:<{}}  variants  code bytes  time ms\n", "kernel", width);
  for (const KernelReport &kernel : bundle.kernels)
    fmt::print("{:<{}}  {:>8}  {:>10}  {:>7.1f}{}\n", kernel.symbol, width, kernel.variants,
               kernel.codeBytes, kernel.seconds * 1e3,
               kernel.origin == Origin::Compiled ? "" : "  cached");
  size_t variants = bundle.manifest.variants.size();
  fmt::print("{} variants, {} kernels, {} bytes, {:.0f} a variant; link {:.1f} ms, total {:.1f} ms "
             "-> {}\n",
             variants, bundle.kernels.size(), bundle.bytes.size(),
             double(bundle.bytes.size()) / double(variants), bundle.linkSeconds * 1e3,
             bundle.totalSeconds * 1e3, output);
  if (!bundle.count(Origin::CachedBundle))
    fmt::print("lint {:.1f} ms: no hazards, {} repaired; {} warnings\n", bundle.lintSeconds * 1e3,
               bundle.repairs(), bundle.lintWarnings);
  if (!cache) {
    fmt::print("{} compiled; no cache\n", bundle.count(Origin::Compiled));
    return;
  }
  CacheCounters counters = cache->counters();
  fmt::print("{} compiled, {} from the cache{}; {} stored, {} evicted, {} damaged in {}\n",
             bundle.count(Origin::Compiled), bundle.kernels.size() - bundle.count(Origin::Compiled),
             bundle.count(Origin::CachedBundle) ? " (the whole bundle)" : "", counters.stored,
             counters.evicted, counters.damaged, cache->directory());
}

void printReportJson(const Bundle &bundle, const Cache *cache, const std::string &output) {
  ordered_json kernels = ordered_json::array();
  for (const KernelReport &kernel : bundle.kernels)
    kernels.push_back({{"symbol", kernel.symbol},
                       {"variants", kernel.variants},
                       {"code_bytes", kernel.codeBytes},
                       {"seconds", kernel.seconds},
                       {"repairs", kernel.repairs},
                       {"origin", originName(kernel.origin)}});
  size_t variants = bundle.manifest.variants.size();
  ordered_json report = {{"output", output},
                         {"build_id", bundle.manifest.buildId},
                         {"bytes", bundle.bytes.size()},
                         {"variants", variants},
                         {"bytes_per_variant", double(bundle.bytes.size()) / double(variants)},
                         {"kernels", std::move(kernels)},
                         {"kernels_compiled", bundle.count(Origin::Compiled)},
                         {"link_seconds", bundle.linkSeconds},
                         {"lint_seconds", bundle.lintSeconds},
                         {"lint_warnings", bundle.lintWarnings},
                         {"repairs", bundle.repairs()},
                         {"total_seconds", bundle.totalSeconds},
                         {"cache", nullptr}};
  if (cache) {
    CacheCounters counters = cache->counters();
    report["cache"] = {
        {"directory", cache->directory()}, {"bundle", bundle.count(Origin::CachedBundle) > 0},
        {"hits", counters.hits},           {"misses", counters.misses},
        {"stored", counters.stored},       {"evicted", counters.evicted},
        {"damaged", counters.damaged},     {"warnings", cache->warnings()}};
  }
  fmt::print("{}\n", report.dump(2));
}

/// The cache that the options and the environment name; null without one.
llvm::Expected<std::unique_ptr<Cache>> openCache(const CacheCommandOptions &options) {
  if (options.off)
    return nullptr;
  bool named = !options.directory.empty();
  std::string directory = named ? options.directory : defaultCacheDirectory();
  if (directory.empty()) {
    reportWarning("no cache: neither --cache-dir, NVFP4GEN_CACHE_DIR, XDG_CACHE_HOME nor HOME "
                  "names a folder");
    return nullptr;
  }
  llvm::Expected<std::unique_ptr<Cache>> cache = Cache::open(directory, options.maxBytes);
  if (cache || named)
    return cache;
  // A folder that nobody asked for by name is no reason to fail.
  reportWarning("no cache: " + llvm::toString(cache.takeError()));
  return nullptr;
}

std::string cacheDirectory(const CacheCommandOptions &options) {
  return options.directory.empty() ? defaultCacheDirectory() : options.directory;
}

int reportUsage(const CacheCommandOptions &options, llvm::Expected<CacheUsage> usage,
                const char *done) {
  if (!usage)
    return reportError(usage.takeError());
  std::string directory = cacheDirectory(options);
  if (options.json)
    fmt::print("{}\n", ordered_json({{"directory", directory},
                                     {"entries", usage->entries},
                                     {"bytes", usage->bytes},
                                     {"unfinished", usage->unfinished}})
                           .dump(2));
  else
    fmt::print("{}: {}{} entries, {} bytes, {} unfinished files\n", directory, done, usage->entries,
               usage->bytes, usage->unfinished);
  return kExitDone;
}

} // namespace

int runBuild(const BuildCommandOptions &options) {
  llvm::Expected<LoadedSpec> loaded = loadWithVariants(options.spec);
  if (!loaded)
    return reportError(loaded.takeError());
  BuildOptions buildOptions;
  buildOptions.jobs = options.jobs;
  buildOptions.lowering.debugLines = options.debugLines;
  buildOptions.backend = options.backend == "comgr" ? Backend::Comgr : Backend::LLD;
  for (const StageName &stage : kStages)
    if (stage.option == options.emit)
      return emitStage(options, *loaded, stage, buildOptions);

  if (llvm::Error error = checkFile(options.output))
    return reportError(std::move(error));
  llvm::Expected<std::unique_ptr<Cache>> cache = openCache(options.cache);
  if (!cache)
    return reportError(cache.takeError());
  buildOptions.cache = cache->get();
  llvm::Expected<Bundle> bundle =
      withProgress(buildOptions, loaded->list.kernels.size(), [&](const BuildOptions &shown) {
        return buildBundle(loaded->spec, loaded->list, shown);
      });
  if (!bundle)
    return reportError(bundle.takeError());
  if (llvm::Error error = writeFileAtomically(options.output, bundle->bytes))
    return reportError(std::move(error));
  if (*cache)
    for (const std::string &warning : (*cache)->warnings())
      reportWarning(warning);
  if (options.json)
    printReportJson(*bundle, cache->get(), options.output);
  else
    printReport(*bundle, cache->get(), options.output);
  return kExitDone;
}

int runCacheStat(const CacheCommandOptions &options) {
  return reportUsage(options, Cache::usage(cacheDirectory(options)), "");
}

int runCacheClear(const CacheCommandOptions &options) {
  return reportUsage(options, Cache::clear(cacheDirectory(options)), "removed ");
}

} // namespace nvfp4gen
