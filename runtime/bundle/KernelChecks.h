//===- KernelChecks.h - the manifest's kernels against the code object ------===//
//
// Internal to Bundle: the code object and the manifest must tell the same story
// of every kernel, and this runtime must lay out its arguments in the same way.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_KERNELCHECKS_H
#define NVFP4_RUNTIME_BUNDLE_KERNELCHECKS_H

#include "runtime/bundle/Elf.h"
#include "runtime/bundle/Manifest.h"

namespace nvfp4rt {

/// Same set of kernels in manifest, metadata notes and symbols; for each kernel argument layout
/// (NVFP4RT_ERROR_ARGS_LAYOUT), metadata and descriptor (NVFP4RT_ERROR_BAD_MANIFEST, G7), and
/// SHA-256 (NVFP4RT_ERROR_CHECKSUM).
Result<void> checkKernels(const ElfFile &elf, const Manifest &manifest);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_KERNELCHECKS_H
