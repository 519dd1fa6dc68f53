//===- AtomicFile.h - files that exist whole or not at all ------------------===//
#ifndef NVFP4GEN_COMPILER_SUPPORT_ATOMICFILE_H
#define NVFP4GEN_COMPILER_SUPPORT_ATOMICFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace nvfp4gen {

/// Write `bytes` to a temporary file beside `path`, sync it, rename it to `path`, and sync the
/// folder. An interrupted write leaves nothing under `path`, or what was there before; the errors
/// name the path and what the system said.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef bytes);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_SUPPORT_ATOMICFILE_H
