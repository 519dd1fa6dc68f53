//===- ObjectInfo.h - what an emitted object says of its kernels ------------===//
//
// Reads the AMDGPU metadata notes and symbols of an object or code object that
// LLVM has just made.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_OBJECTINFO_H
#define NVFP4GEN_COMPILER_BUNDLE_OBJECTINFO_H

#include "runtime/bundle/Manifest.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nvfp4gen {

struct KernelArgument {
  std::string kind; ///< "global_buffer", "by_value", "hidden_..."
  uint64_t offset = 0, size = 0;
};

struct KernelObject {
  std::string symbol;
  nvfp4rt::Resources resources;
  uint64_t kernargBytes = 0;
  uint64_t maxWorkgroup = 0;
  uint64_t sgprSpills = 0, vgprSpills = 0;
  bool dynamicStack = false;
  std::vector<KernelArgument> arguments;
  std::string sha256; ///< as nvfp4rt::Kernel::sha256
};

/// Where a symbol's bytes are and what they are; borrowed from the file.
struct SymbolContents {
  llvm::StringRef bytes;
  uint64_t address = 0;
};
llvm::Expected<SymbolContents> symbolContents(llvm::StringRef elf, llvm::StringRef name);

/// The metadata note of one kernel alone, as msgpack.
llvm::Expected<std::string> kernelMetadata(llvm::StringRef elf, llvm::StringRef symbol);

/// All kernels of all metadata notes of `elf`, sorted by symbol.
llvm::Expected<std::vector<KernelObject>> readKernels(llvm::StringRef elf);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_OBJECTINFO_H
