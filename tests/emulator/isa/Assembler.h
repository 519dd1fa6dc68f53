//===- Assembler.h - gfx950 assembly text to a loadable code object --------===//
//
// Owns the way from text to bytes: LLVM's AMDGPU assembly parser writes a
// relocatable object, lld links it. Nothing of the emulator is used, so a
// snippet means what LLVM says it means.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_ISA_ASSEMBLER_H
#define TESTS_EMULATOR_ISA_ASSEMBLER_H

#include <cstdint>
#include <string>
#include <vector>

namespace isatest {

struct Assembled {
  std::vector<uint8_t> image; ///< ELF code object; empty when `error` is not
  std::string error;          ///< diagnostics of the parser or of the linker
};

/// Assemble and link `text` (all sections, symbols and directives included).
Assembled assemble(const std::string &text);

} // namespace isatest

#endif // TESTS_EMULATOR_ISA_ASSEMBLER_H
