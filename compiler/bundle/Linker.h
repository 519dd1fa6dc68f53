//===- Linker.h - objects to one code object, in process --------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_LINKER_H
#define NVFP4GEN_COMPILER_BUNDLE_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace nvfp4gen {

/// Link relocatable objects (their bytes) to a shared code object with lld. Thread-safe: lld has
/// one state a process, so links wait for each other.
llvm::Expected<std::string> linkObjects(llvm::ArrayRef<std::string> objects);

/// Add sections that are not loaded to the device; (name, contents) in the order given.
llvm::Expected<std::string>
addSections(llvm::StringRef elf, llvm::ArrayRef<std::pair<std::string, std::string>> sections);

/// File offset of the contents of a section.
llvm::Expected<uint64_t> sectionOffset(llvm::StringRef elf, llvm::StringRef name);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_LINKER_H
