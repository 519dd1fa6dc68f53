//===- Decoder.h - bytes to instructions, through LLVM's MC layer -----------===//
#ifndef NVFP4GEN_COMPILER_LINT_DECODER_H
#define NVFP4GEN_COMPILER_LINT_DECODER_H

#include "compiler/lint/Instruction.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace nvfp4gen::lint {

/// Not thread-safe; every thread makes its own.
class Decoder {
public:
  static llvm::Expected<Decoder> create();
  Decoder(Decoder &&);
  ~Decoder();

  /// The instruction at `pc`; none when the bytes are no gfx950 instruction. It refers to this
  /// object.
  std::optional<Instruction> decode(llvm::ArrayRef<uint8_t> code, uint64_t pc);
  /// The instruction at `pc` as assembly, or "".
  std::string text(llvm::ArrayRef<uint8_t> code, uint64_t pc);

private:
  Decoder();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_DECODER_H
