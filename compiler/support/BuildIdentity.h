//===- BuildIdentity.h - which binaries are at work -------------------------===//
#ifndef NVFP4GEN_COMPILER_SUPPORT_BUILDIDENTITY_H
#define NVFP4GEN_COMPILER_SUPPORT_BUILDIDENTITY_H

#include "llvm/Support/Error.h"

#include <string>

namespace nvfp4gen {

/// The linker's build ids, in hex: digests of the contents of the binaries in this process.
struct BuildIdentity {
  std::string generator; ///< the program or library that holds the generator
  std::string toolchain; ///< of LLVM and MLIR
};

/// An error when a binary was linked without one (--build-id): then nothing tells two versions of
/// it apart.
llvm::Expected<BuildIdentity> buildIdentity();

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_SUPPORT_BUILDIDENTITY_H
