//===- Build.cpp ------------------------------------------------------------===//

#include "compiler/bundle/Build.h"

#include "compiler/bundle/CacheBytes.h"
#include "compiler/bundle/Linker.h"
#include "compiler/bundle/ObjectInfo.h"
#include "compiler/bundle/TemplateSources.h"
#include "compiler/lint/ResourceGate.h"
#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/support/Sha256.h"

#include "llvm/Support/ThreadPool.h"

#include <chrono>
#include <mutex>

namespace nvfp4gen {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string hexSha256(std::string_view text) {
  return nvfp4rt::hexText(nvfp4rt::sha256({nvfp4rt::asBytes(text)}));
}

size_t variantsOf(const VariantList &list, const std::string &symbol) {
  return llvm::count_if(list.variants, [&](const auto &v) { return v.symbol == symbol; });
}

/// Lower all kernels on `options.jobs` threads; `finish` runs after each one, on its thread.
llvm::Error lowerAll(const Spec &spec, const VariantList &list, Stage stage,
                     const BuildOptions &options, std::vector<std::string> &outputs,
                     llvm::function_ref<llvm::Error(size_t index, KernelReport &report)> finish) {
  outputs.assign(list.kernels.size(), {});
  std::mutex mutex;
  llvm::Error errors = llvm::Error::success();
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.jobs));
  for (size_t i = 0; i < list.kernels.size(); ++i) {
    pool.async([&, i] {
      const KernelPlan &plan = list.kernels[i];
      Clock::time_point start = Clock::now();
      llvm::Expected<std::string> lowered = lowerKernel(plan, spec.target, stage);
      KernelReport report{plan.symbol, secondsSince(start), variantsOf(list, plan.symbol), 0};
      std::lock_guard lock(mutex);
      llvm::Error error = lowered.takeError();
      if (!error) {
        outputs[i] = std::move(*lowered);
        error = finish(i, report);
      }
      if (!error && options.progress)
        options.progress(report);
      errors = llvm::joinErrors(std::move(errors), std::move(error));
    });
  }
  pool.wait();
  return errors;
}

nvfp4rt::Manifest makeManifest(const Spec &spec, const VariantList &list,
                               const std::vector<KernelObject> &objects) {
  nvfp4rt::Manifest m;
  m.generator = "nvfp4gen " NVFP4GEN_VERSION;
  m.toolchain = toolchainVersion();
  m.flags = loweringFlags(spec.target);
  m.specName = spec.name;
  m.specSha256 = spec.sha256;
  m.arch = spec.target.arch;
  m.codeObjectVersion = uint32_t(spec.target.codeObjectVersion);
  m.buildId = hexSha256(m.generator + "\n" + m.toolchain + "\n" + m.flags + "\n" + m.specSha256 +
                        "\n" + kTemplateSourcesSha256);
  m.cacheBytes = cacheBytes(spec);
  for (const auto &[plan, object] : llvm::zip_equal(list.kernels, objects)) {
    const nvfp4rt::ArgLayout *layout = nvfp4rt::argLayout(plan.family);
    nvfp4rt::Kernel &kernel = m.kernels.emplace_back();
    kernel.symbol = plan.symbol;
    kernel.family = plan.family;
    kernel.argsHash = hexSha256(layout->text());
    kernel.argsSize = layout->size;
    std::copy(std::begin(plan.grid), std::end(plan.grid), std::begin(kernel.grid));
    std::copy(std::begin(plan.block), std::end(plan.block), std::begin(kernel.block));
    kernel.resources = object.resources;
    kernel.sha256 = object.sha256;
  }
  m.variants = list.variants;
  return m;
}

/// The linked code object with the manifest and the digest of the whole file.
llvm::Expected<std::string> addManifest(llvm::StringRef code, const nvfp4rt::Manifest &manifest) {
  llvm::Expected<std::string> bytes =
      addSections(code, {{std::string(nvfp4rt::kManifestSection), printManifest(manifest)},
                         {std::string(nvfp4rt::kDigestSection), std::string(32, '\0')}});
  if (!bytes)
    return bytes;
  llvm::Expected<uint64_t> offset = sectionOffset(*bytes, llvm::StringRef(nvfp4rt::kDigestSection));
  if (!offset)
    return offset.takeError();
  nvfp4rt::Sha256Digest digest = nvfp4rt::sha256({nvfp4rt::asBytes(*bytes)});
  std::copy(digest.begin(), digest.end(), bytes->begin() + ptrdiff_t(*offset));
  return bytes;
}

} // namespace

llvm::Expected<Bundle> buildBundle(const Spec &spec, const VariantList &list,
                                   const BuildOptions &options) {
  Clock::time_point start = Clock::now();
  Bundle bundle;
  std::vector<std::string> objects;
  llvm::Error error =
      lowerAll(spec, list, Stage::Object, options, objects,
               [&](size_t i, KernelReport &report) -> llvm::Error {
                 const KernelPlan &plan = list.kernels[i];
                 llvm::Expected<std::vector<KernelObject>> kernels = readKernels(objects[i]);
                 if (!kernels)
                   return kernels.takeError();
                 if (kernels->size() != 1)
                   return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                                  "kernel '" + plan.symbol +
                                                      "': expected one kernel in its "
                                                      "object, found " +
                                                      llvm::Twine(kernels->size()));
                 if (llvm::Error refused =
                         checkResources(plan, *nvfp4rt::argLayout(plan.family), kernels->front()))
                   return refused;
                 report.codeBytes = kernels->front().resources.codeBytes;
                 bundle.kernels.push_back(report);
                 return llvm::Error::success();
               });
  if (error)
    return std::move(error);
  llvm::sort(bundle.kernels, [](const auto &a, const auto &b) { return a.symbol < b.symbol; });

  Clock::time_point linkStart = Clock::now();
  llvm::Expected<std::string> code = linkObjects(objects);
  if (!code)
    return code.takeError();
  llvm::Expected<std::vector<KernelObject>> linked = readKernels(*code);
  if (!linked)
    return linked.takeError();
  bundle.manifest = makeManifest(spec, list, *linked);
  llvm::Expected<std::string> bytes = addManifest(*code, bundle.manifest);
  if (!bytes)
    return bytes.takeError();
  bundle.bytes = std::move(*bytes);

  // What the runtime would refuse is not worth writing.
  auto opened = nvfp4rt::Bundle::open({bundle.bytes.begin(), bundle.bytes.end()}, spec.name);
  if (!opened)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the runtime refuses the bundle just built: " +
                                       opened.error().message);
  bundle.linkSeconds = secondsSince(linkStart);
  bundle.totalSeconds = secondsSince(start);
  return bundle;
}

llvm::Expected<std::vector<std::pair<std::string, std::string>>>
emitKernels(const Spec &spec, const VariantList &list, Stage stage, const BuildOptions &options) {
  std::vector<std::string> texts;
  if (llvm::Error error =
          lowerAll(spec, list, stage, options, texts,
                   [](size_t, KernelReport &) -> llvm::Error { return llvm::Error::success(); }))
    return std::move(error);
  std::vector<std::pair<std::string, std::string>> result;
  for (auto [plan, text] : llvm::zip_equal(list.kernels, texts))
    result.emplace_back(plan.symbol, std::move(text));
  return result;
}

} // namespace nvfp4gen
