//===- Build.cpp ------------------------------------------------------------===//

#include "compiler/bundle/Build.h"

#include "compiler/bundle/BundleManifest.h"
#include "compiler/bundle/Comgr.h"
#include "compiler/bundle/Linker.h"
#include "compiler/bundle/ObjectInfo.h"
#include "compiler/bundle/SourceDigests.h"
#include "compiler/lint/Repair.h"
#include "compiler/lint/ResourceGate.h"
#include "compiler/support/BuildIdentity.h"
#include "compiler/support/FatalErrors.h"
#include "runtime/args/ArgLayout.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <chrono>
#include <mutex>

namespace nvfp4gen {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

size_t variantsOf(const VariantList &list, const std::string &symbol) {
  return llvm::count_if(list.variants, [&](const auto &v) { return v.symbol == symbol; });
}

/// Do `work` for each kernel on `options.jobs` threads: one report a kernel, in the order of the
/// kernels, or all failures in that order.
llvm::Expected<std::vector<KernelReport>>
forEachKernel(const VariantList &list, const BuildOptions &options,
              llvm::function_ref<llvm::Error(size_t index, KernelReport &report)> work) {
  std::vector<KernelReport> reports(list.kernels.size());
  std::mutex mutex;
  std::vector<std::optional<llvm::Error>> errors(list.kernels.size());
  bool cancelled = false;
  FatalErrorScope fatalErrors;
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.jobs));
    for (size_t i = 0; i < list.kernels.size(); ++i) {
      pool.async([&, i] {
        if (options.cancelled && options.cancelled()) {
          std::lock_guard lock(mutex);
          cancelled = true;
          return;
        }
        const std::string &symbol = list.kernels[i].symbol;
        Clock::time_point start = Clock::now();
        KernelReport &report = reports[i];
        report.symbol = symbol;
        report.variants = variantsOf(list, symbol);
        llvm::Error error = catchFatalErrors([&] { return work(i, report); });
        report.seconds = secondsSince(start);
        std::lock_guard lock(mutex);
        if (!error && options.progress)
          options.progress(report);
        errors[i] = std::move(error);
      });
    }
    pool.wait();
  }
  llvm::Error result = llvm::Error::success();
  for (std::optional<llvm::Error> &error : errors)
    if (error)
      result = llvm::joinErrors(std::move(result), std::move(*error));
  if (cancelled) {
    llvm::consumeError(std::move(result));
    return llvm::createStringError(std::errc::operation_canceled, "the build was cancelled");
  }
  if (result)
    return std::move(result);
  return reports;
}

/// Lint the object of a kernel, and compile it again with wait states where it has hazards.
llvm::Error lintKernel(const KernelPlan &plan, const TargetSpec &target,
                       const LoweringOptions &lowering, std::string &object, KernelReport &report) {
  llvm::Expected<lint::LintedObject> linted = lint::lintObject(plan.symbol, std::move(object), [&] {
    return lowerKernel(plan, target, Stage::Assembly, lowering);
  });
  if (!linted)
    return linted.takeError();
  report.repairs = linted->repairs;
  object = std::move(linted->object);
  return llvm::Error::success();
}

/// Every gate that a kernel's object passes before it may be in a bundle, compiled now or taken
/// from the cache. Runs on several threads.
llvm::Error passGates(const KernelPlan &plan, llvm::StringRef object, KernelReport &report) {
  llvm::Expected<std::vector<KernelObject>> kernels = readKernels(object);
  if (!kernels)
    return kernels.takeError();
  if (kernels->size() != 1)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "kernel '" + plan.symbol +
                                       "': expected one kernel in its object, found " +
                                       llvm::Twine(kernels->size()));
  report.codeBytes = kernels->front().resources.codeBytes;
  return checkResources(plan, *nvfp4rt::argLayout(plan.family), kernels->front());
}

llvm::Expected<std::string> linkThroughComgr(llvm::ArrayRef<std::string> objects,
                                             llvm::StringRef arch, const VariantList &list) {
  llvm::Expected<Comgr> comgr = Comgr::load();
  if (!comgr)
    return comgr.takeError();
  llvm::Expected<std::string> code = comgr->link(objects, arch);
  if (!code)
    return code;
  llvm::Expected<std::vector<std::string>> names = comgr->kernelNames(*code);
  if (!names)
    return names.takeError();
  if (!llvm::equal(*names, list.kernels, [](const std::string &name, const KernelPlan &plan) {
        return name == plan.symbol;
      }))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   comgr->description() +
                                       ": expected the metadata of every kernel, found " +
                                       llvm::join(*names, ", "));
  return code;
}

/// One build, with what it looks up in the cache by.
class Builder {
public:
  Builder(const Spec &spec, const VariantList &list, const BuildOptions &options)
      : spec(spec), list(list), options(options),
        flags(loweringFlags(spec.target, options.lowering)) {
    if (options.backend == Backend::Comgr)
      linkFlags = " linker=comgr";
  }

  llvm::Expected<Bundle> build();

private:
  std::optional<Bundle> cachedBundle(const CacheKey &key);
  llvm::Error buildKernel(size_t index, KernelReport &report);
  llvm::Expected<Bundle> link();

  /// An object is a function of its MLIR, the flags, and what lowers it.
  CacheKey objectKey(const KernelPlan &plan, const EmittedKernel &kernel) const {
    return cacheKey({"object", plan.symbol, kernelFlags(plan), flags, toolchainVersion(),
                     identity.toolchain, kLoweringSourcesSha256,
                     kernel.text(options.lowering.debugLines)});
  }
  /// Comgr's version is not known before it is asked, so only objects are kept of its bundles.
  bool keepsBundle() const { return options.cache && options.backend == Backend::LLD; }
  /// A bundle is a function of the spec and of all that this program does.
  CacheKey bundleKey() const {
    return cacheKey({"bundle", identity.generator, identity.toolchain, printManifest(manifest)});
  }

  const Spec &spec;
  const VariantList &list;
  const BuildOptions &options;
  std::string flags; ///< of the objects
  std::string linkFlags;
  BuildIdentity identity;
  nvfp4rt::Manifest manifest;
  std::vector<std::string> objects;
};

llvm::Expected<Bundle> Builder::build() {
  manifest = planManifest(spec, list, flags + linkFlags);
  CacheKey key;
  if (options.cache) {
    llvm::Expected<BuildIdentity> found = buildIdentity();
    if (!found)
      return found.takeError();
    identity = std::move(*found);
    if (keepsBundle()) {
      key = bundleKey();
      if (std::optional<Bundle> cached = cachedBundle(key))
        return std::move(*cached);
    }
  }

  objects.assign(list.kernels.size(), {});
  llvm::Expected<std::vector<KernelReport>> reports = forEachKernel(
      list, options, [&](size_t i, KernelReport &report) { return buildKernel(i, report); });
  if (!reports)
    return reports.takeError();
  llvm::Expected<Bundle> bundle = link();
  if (!bundle)
    return bundle;
  bundle->kernels = std::move(*reports);
  if (options.cache) {
    if (keepsBundle())
      options.cache->store(key, bundle->bytes);
    options.cache->trim();
  }
  return bundle;
}

std::optional<Bundle> Builder::cachedBundle(const CacheKey &key) {
  std::optional<std::string> bytes = options.cache->load(key);
  if (!bytes)
    return std::nullopt;
  // Every check of it was made by this program, before the digest that load() has compared.
  llvm::Expected<std::vector<KernelObject>> kernels = readKernels(*bytes);
  if (!kernels || kernels->size() != manifest.kernels.size()) {
    llvm::consumeError(kernels.takeError());
    return std::nullopt;
  }
  Bundle bundle;
  bundle.bytes = std::move(*bytes);
  bundle.manifest = std::move(manifest);
  addKernelFacts(bundle.manifest, *kernels);
  for (const nvfp4rt::Kernel &kernel : bundle.manifest.kernels) {
    bundle.kernels.push_back({kernel.symbol, 0, variantsOf(list, kernel.symbol),
                              kernel.resources.codeBytes, Origin::CachedBundle, 0});
    if (options.progress)
      options.progress(bundle.kernels.back());
  }
  return bundle;
}

llvm::Error Builder::buildKernel(size_t index, KernelReport &report) {
  const KernelPlan &plan = list.kernels[index];
  llvm::Expected<EmittedKernel> kernel = EmittedKernel::emit(plan);
  if (!kernel)
    return kernel.takeError();
  std::optional<CacheKey> key;
  std::optional<std::string> object;
  if (options.cache) {
    key = objectKey(plan, *kernel);
    object = options.cache->load(*key);
  }
  report.origin = object ? Origin::CachedObject : Origin::Compiled;
  if (!object) {
    llvm::Expected<std::string> lowered =
        kernel->lower(spec.target, Stage::Object, options.lowering);
    if (!lowered)
      return lowered.takeError();
    object = std::move(*lowered);
  }
  // The gates say "spills" in one line, the lint would list every access to scratch. What the lint
  // repairs is another object.
  if (llvm::Error refused = passGates(plan, *object, report))
    return refused;
  if (llvm::Error refused = lintKernel(plan, spec.target, options.lowering, *object, report))
    return refused;
  if (report.repairs > 0)
    if (llvm::Error refused = passGates(plan, *object, report))
      return refused;
  if (key && report.origin == Origin::Compiled)
    options.cache->store(*key, *object);
  objects[index] = std::move(*object);
  return llvm::Error::success();
}

llvm::Expected<Bundle> Builder::link() {
  Clock::time_point start = Clock::now();
  Bundle bundle;
  llvm::Expected<std::string> code = options.backend == Backend::LLD
                                         ? linkObjects(objects)
                                         : linkThroughComgr(objects, spec.target.arch, list);
  if (!code)
    return code.takeError();
  Clock::time_point lintStart = Clock::now();
  llvm::Expected<lint::LintReport> lint = lint::requireClean(*code);
  if (!lint)
    return lint.takeError();
  bundle.lintWarnings = lint->count(lint::Severity::Warning);
  bundle.lintSeconds = secondsSince(lintStart);
  llvm::Expected<std::vector<KernelObject>> linked = readKernels(*code);
  if (!linked)
    return linked.takeError();
  bundle.manifest = std::move(manifest);
  addKernelFacts(bundle.manifest, *linked);
  llvm::Expected<std::string> bytes = addManifest(*code, bundle.manifest);
  if (!bytes)
    return bytes.takeError();
  bundle.bytes = std::move(*bytes);

  if (llvm::Error error = checkOpens(bundle.bytes, spec.name))
    return std::move(error);
  bundle.linkSeconds = secondsSince(start) - bundle.lintSeconds;
  return bundle;
}

} // namespace

size_t Bundle::count(Origin origin) const {
  return llvm::count_if(kernels,
                        [&](const KernelReport &kernel) { return kernel.origin == origin; });
}

unsigned Bundle::repairs() const {
  unsigned count = 0;
  for (const KernelReport &kernel : kernels)
    count += kernel.repairs;
  return count;
}

llvm::Expected<Bundle> buildBundle(const Spec &spec, const VariantList &list,
                                   const BuildOptions &options) {
  Clock::time_point start = Clock::now();
  if (options.backend == Backend::Comgr) { // refused before the kernels are compiled, not after
    llvm::Expected<Comgr> comgr = Comgr::load();
    if (!comgr)
      return comgr.takeError();
    if (llvm::Error unknown = comgr->checkArch(spec.target.arch))
      return std::move(unknown);
  }
  llvm::Expected<Bundle> bundle = Builder(spec, list, options).build();
  if (bundle)
    bundle->totalSeconds = secondsSince(start);
  return bundle;
}

llvm::Expected<std::vector<std::pair<std::string, std::string>>>
emitKernels(const Spec &spec, const VariantList &list, Stage stage, const BuildOptions &options) {
  std::vector<std::pair<std::string, std::string>> result(list.kernels.size());
  auto emit = [&](size_t i, KernelReport &report) -> llvm::Error {
    const KernelPlan &plan = list.kernels[i];
    llvm::Expected<std::string> text = lowerKernel(plan, spec.target, stage, options.lowering);
    if (!text)
      return text.takeError();
    if (stage == Stage::Object)
      if (llvm::Error refused = lintKernel(plan, spec.target, options.lowering, *text, report))
        return refused;
    result[i] = {plan.symbol, std::move(*text)};
    return llvm::Error::success();
  };
  if (llvm::Expected<std::vector<KernelReport>> reports = forEachKernel(list, options, emit);
      !reports)
    return reports.takeError();
  return result;
}

} // namespace nvfp4gen
