//===- BundleFixture.h - bundles of shipped specs, in a file ------------------===//
#ifndef NVFP4GEN_TESTS_BUNDLEFIXTURE_H
#define NVFP4GEN_TESTS_BUNDLEFIXTURE_H

#include "compiler/bundle/Build.h"
#include "compiler/support/AtomicFile.h"
#include "tests/SpecFixture.h"

#include <atomic>
#include <filesystem>
#include <set>
#include <string_view>
#include <unistd.h>

namespace nvfp4gen::test {

/// A bundle file that is gone at the end.
class BundleFile {
public:
  BundleFile(const Spec &spec, const VariantList &list) {
    static std::atomic<int> number{0};
    path_ = testing::TempDir() + "/bundle-" + std::to_string(::getpid()) + "-" +
            std::to_string(number++) + ".hsaco";
    llvm::Expected<Bundle> bundle = buildBundle(spec, list, {1, {}});
    if (!bundle)
      ADD_FAILURE() << llvm::toString(bundle.takeError());
    else if (llvm::Error error = writeFileAtomically(path_, bundle->bytes))
      ADD_FAILURE() << llvm::toString(std::move(error));
  }
  /// Only these families.
  BundleFile(const Spec &spec, const std::set<std::string_view> &families)
      : BundleFile(spec, only(variantsOf(spec), families)) {}
  ~BundleFile() { std::filesystem::remove(path_); }
  BundleFile(const BundleFile &) = delete;
  BundleFile &operator=(const BundleFile &) = delete;
  const std::string &path() const { return path_; }

  static VariantList only(VariantList list, const std::set<std::string_view> &families) {
    std::erase_if(list.kernels, [&](const auto &k) { return !families.contains(k.family); });
    std::erase_if(list.variants, [&](const auto &v) { return !families.contains(v.family); });
    return list;
  }

private:
  std::string path_;
};

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_BUNDLEFIXTURE_H
