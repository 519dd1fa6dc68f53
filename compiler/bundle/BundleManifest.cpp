//===- BundleManifest.cpp ---------------------------------------------------===//

#include "compiler/bundle/BundleManifest.h"

#include "compiler/bundle/CacheBytes.h"
#include "compiler/bundle/Linker.h"
#include "compiler/bundle/SourceDigests.h"
#include "compiler/lowering/Lowering.h"
#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/support/Sha256.h"

namespace nvfp4gen {

namespace {
std::string hexSha256(std::string_view text) {
  return nvfp4rt::hexText(nvfp4rt::sha256({nvfp4rt::asBytes(text)}));
}
} // namespace

nvfp4rt::Manifest planManifest(const Spec &spec, const VariantList &list,
                               const std::string &flags) {
  nvfp4rt::Manifest m;
  m.generator = "nvfp4gen " NVFP4GEN_VERSION;
  m.toolchain = toolchainVersion();
  m.flags = flags;
  m.specName = spec.name;
  m.specSha256 = spec.sha256;
  m.arch = spec.target.arch;
  m.codeObjectVersion = uint32_t(spec.target.codeObjectVersion);
  m.buildId = hexSha256(m.generator + "\n" + m.toolchain + "\n" + m.flags + "\n" + m.specSha256 +
                        "\n" + kTemplateSourcesSha256);
  m.cacheBytes = cacheBytes(spec);
  for (const KernelPlan &plan : list.kernels) {
    const nvfp4rt::ArgLayout *layout = nvfp4rt::argLayout(plan.family);
    nvfp4rt::Kernel &kernel = m.kernels.emplace_back();
    kernel.symbol = plan.symbol;
    kernel.family = plan.family;
    kernel.argsHash = hexSha256(layout->text());
    kernel.argsSize = layout->size;
    std::copy(std::begin(plan.grid), std::end(plan.grid), std::begin(kernel.grid));
    std::copy(std::begin(plan.block), std::end(plan.block), std::begin(kernel.block));
  }
  m.variants = list.variants;
  return m;
}

void addKernelFacts(nvfp4rt::Manifest &manifest, const std::vector<KernelObject> &objects) {
  for (auto [kernel, object] : llvm::zip_equal(manifest.kernels, objects)) {
    kernel.resources = object.resources;
    kernel.sha256 = object.sha256;
  }
}

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

llvm::Error checkOpens(llvm::StringRef file, const std::string &name) {
  auto opened = nvfp4rt::Bundle::open({file.begin(), file.end()}, name);
  if (opened)
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "the runtime refuses the bundle just built: " +
                                     opened.error().message);
}

} // namespace nvfp4gen
