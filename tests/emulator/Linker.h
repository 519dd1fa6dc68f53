//===- Linker.h - relocatable AMDGPU objects to loadable code objects ------===//
//
// Owns the in-process use of lld by the emulator's tests.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_LINKER_H
#define TESTS_EMULATOR_LINKER_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu::test {

struct Linked {
  std::vector<uint8_t> image; ///< ELF code object; empty when `error` is not
  std::string error;          ///< diagnostics of the linker
};

/// Link one relocatable object. Not thread-safe: lld keeps global state.
Linked linkCodeObject(llvm::ArrayRef<char> object);

} // namespace gfx950emu::test

#endif // TESTS_EMULATOR_LINKER_H
