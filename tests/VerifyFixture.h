//===- VerifyFixture.h - bundles verified on the emulator -------------------===//
#ifndef NVFP4GEN_TESTS_VERIFYFIXTURE_H
#define NVFP4GEN_TESTS_VERIFYFIXTURE_H

#include "tests/BundleFixture.h"
#include "tools/verify/Verify.h"

#include <utility>

namespace nvfp4gen::test {

/// Build `list` as the bundle of `spec` and verify it; the binary defines EMULATOR_LIBRARY. The
/// bundle and the library of `options` are not used.
inline verify::Report verified(const Spec &spec, const VariantList &list,
                               verify::VerifyOptions options = {}) {
  const BundleFile bundle(spec, list);
  options.bundlePath = bundle.path();
  options.hipLibrary = EMULATOR_LIBRARY;
  verify::Result<verify::Report> report = verify::verifyBundle(options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return std::move(*report);
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_VERIFYFIXTURE_H
