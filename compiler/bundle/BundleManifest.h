//===- BundleManifest.h - what is put beside the code of a bundle -----------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_BUNDLEMANIFEST_H
#define NVFP4GEN_COMPILER_BUNDLE_BUNDLEMANIFEST_H

#include "compiler/bundle/ObjectInfo.h"
#include "compiler/variants/Variants.h"
#include "runtime/bundle/Manifest.h"

namespace nvfp4gen {

/// Everything in the manifest that is known before a kernel is compiled: all of it but resources
/// and checksums. `flags` changed the code or the file.
nvfp4rt::Manifest planManifest(const Spec &spec, const VariantList &list, const std::string &flags);

/// Fill in what `objects`, sorted by symbol, say of the kernels of `manifest`.
void addKernelFacts(nvfp4rt::Manifest &manifest, const std::vector<KernelObject> &objects);

/// `code`, a linked code object, with the manifest and the digest of the whole file.
llvm::Expected<std::string> addManifest(llvm::StringRef code, const nvfp4rt::Manifest &manifest);

/// What the runtime would refuse is not worth writing: open the finished file `name` as it does.
llvm::Error checkOpens(llvm::StringRef file, const std::string &name);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_BUNDLEMANIFEST_H
