//===- Extract.h - one kernel of a bundle as a code object ------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_EXTRACT_H
#define NVFP4GEN_COMPILER_BUNDLE_EXTRACT_H

#include "runtime/bundle/Manifest.h"

#include "llvm/Support/Error.h"

#include <string>

namespace nvfp4gen {

/// A bundle with `kernel` of the bundle `file`, whose manifest is `whole`, alone: the same machine
/// code, its metadata note, and the part of the manifest that speaks of it. A plain code object to
/// every other reader. Line tables are not carried over. Not thread-safe (it links).
llvm::Expected<std::string> extractKernel(llvm::StringRef file, const nvfp4rt::Manifest &whole,
                                          const nvfp4rt::Kernel &kernel);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_EXTRACT_H
