//===- Build.cpp - nvfp4gen list and nvfp4gen build -------------------------===//

#include "compiler/bundle/Build.h"

#include "compiler/spec/Spec.h"
#include "compiler/support/AtomicFile.h"
#include "tools/nvfp4gen/Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <fmt/core.h>
#include <unistd.h>

namespace nvfp4gen {

namespace {

struct Loaded {
  Spec spec;
  VariantList list;
};

llvm::Expected<Loaded> load(const std::string &path) {
  llvm::Expected<Spec> spec = loadSpec(path);
  if (!spec)
    return spec.takeError();
  llvm::Expected<VariantList> list = enumerateVariants(*spec, families());
  if (!list)
    return list.takeError();
  return Loaded{std::move(*spec), std::move(*list)};
}

struct StageName {
  llvm::StringRef option;
  Stage stage;
  llvm::StringRef extension;
};

constexpr StageName kStages[] = {{"mlir", Stage::MLIR, ".mlir"},
                                 {"llvm", Stage::LLVM, ".ll"},
                                 {"asm", Stage::Assembly, ".s"},
                                 {"obj", Stage::Object, ".o"}};

/// Progress goes to stderr, so that stdout holds the report alone: a line that is rewritten on a
/// terminal, a line a kernel elsewhere.
class Progress {
public:
  explicit Progress(size_t total) : total(total), terminal(::isatty(STDERR_FILENO)) {}
  void operator()(const KernelReport &report) {
    ++done;
    fmt::print(stderr, "{}[{}/{}] {} {:.0f} ms{}", terminal ? "\r\x1b[K" : "", done, total,
               report.symbol, report.seconds * 1e3, terminal ? "" : "\n");
    if (terminal && done == total)
      fmt::print(stderr, "\n");
  }

private:
  size_t total, done = 0;
  bool terminal;
};

int emitStage(const BuildCommandOptions &options, const Loaded &loaded, const StageName &stage,
              const BuildOptions &buildOptions) {
  auto kernels = emitKernels(loaded.spec, loaded.list, stage.stage, buildOptions);
  if (!kernels)
    return reportError(kernels.takeError());
  if (std::error_code code = llvm::sys::fs::create_directories(options.output))
    return reportError(
        fmt::format("cannot create folder '{}': {}", options.output, code.message()));
  for (const auto &[symbol, text] : *kernels) {
    llvm::SmallString<128> path(options.output);
    llvm::sys::path::append(path, symbol + stage.extension);
    if (llvm::Error error = writeFileAtomically(path, text))
      return reportError(std::move(error));
    fmt::print("{}\n", path.str().str());
  }
  return kExitDone;
}

void printReport(const Bundle &bundle, const std::string &output) {
  size_t width = 6;
  for (const KernelReport &kernel : bundle.kernels)
    width = std::max(width, kernel.symbol.size());
  fmt::print("{:<{}}  variants  code bytes  time ms\n", "kernel", width);
  for (const KernelReport &kernel : bundle.kernels)
    fmt::print("{:<{}}  {:>8}  {:>10}  {:>7.1f}\n", kernel.symbol, width, kernel.variants,
               kernel.codeBytes, kernel.seconds * 1e3);
  fmt::print("{} variants, {} kernels, {} bytes; link {:.1f} ms, total {:.1f} ms -> {}\n",
             bundle.manifest.variants.size(), bundle.kernels.size(), bundle.bytes.size(),
             bundle.linkSeconds * 1e3, bundle.totalSeconds * 1e3, output);
}

void printReportJson(const Bundle &bundle, const std::string &output) {
  llvm::json::Array kernels;
  for (const KernelReport &kernel : bundle.kernels)
    kernels.push_back(llvm::json::Object{{"symbol", kernel.symbol},
                                         {"variants", kernel.variants},
                                         {"code_bytes", kernel.codeBytes},
                                         {"seconds", kernel.seconds}});
  llvm::json::Value report = llvm::json::Object{{"output", output},
                                                {"build_id", bundle.manifest.buildId},
                                                {"bytes", bundle.bytes.size()},
                                                {"variants", bundle.manifest.variants.size()},
                                                {"kernels", std::move(kernels)},
                                                {"link_seconds", bundle.linkSeconds},
                                                {"total_seconds", bundle.totalSeconds}};
  llvm::outs() << llvm::formatv("{0:2}\n", report);
}

} // namespace

int runList(const ListOptions &options) {
  llvm::Expected<Loaded> loaded = load(options.spec);
  if (!loaded)
    return reportError(loaded.takeError());
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", listJson(loaded->spec, loaded->list));
  else
    printList(loaded->spec, loaded->list, llvm::outs());
  return kExitDone;
}

int runBuild(const BuildCommandOptions &options) {
  llvm::Expected<Loaded> loaded = load(options.spec);
  if (!loaded)
    return reportError(loaded.takeError());
  Progress progress(loaded->list.kernels.size());
  BuildOptions buildOptions{options.jobs, [&](const KernelReport &report) { progress(report); }};
  for (const StageName &stage : kStages)
    if (stage.option == options.emit)
      return emitStage(options, *loaded, stage, buildOptions);

  llvm::Expected<Bundle> bundle = buildBundle(loaded->spec, loaded->list, buildOptions);
  if (!bundle)
    return reportError(bundle.takeError());
  if (llvm::Error error = writeFileAtomically(options.output, bundle->bytes))
    return reportError(std::move(error));
  if (options.json)
    printReportJson(*bundle, options.output);
  else
    printReport(*bundle, options.output);
  return kExitDone;
}

} // namespace nvfp4gen
