//===- VerifyBundle.cpp - a bundle file on HIP ------------------------------===//
//
// Owns: verifyBundle.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Bundle.h"
#include "tools/verify/HipTarget.h"
#include "tools/verify/Verify.h"

namespace verify {

Result<Report> verifyBundle(const VerifyOptions &options) {
  auto bundle = nvfp4rt::Bundle::openFile(options.bundlePath);
  if (!bundle)
    return tl::unexpected(std::move(bundle.error()));
  auto target = makeHipTarget(options.bundlePath, options.hipLibrary, options.device);
  if (!target)
    return tl::unexpected(std::move(target.error()));
  return verifyManifest(bundle->manifest(), **target, options);
}

} // namespace verify
