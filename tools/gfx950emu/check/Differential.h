//===- Differential.h - definedness of a result by experiment ---------------------------===//
//
// Owns the propagation through register-only instructions: the real handler runs on
// copies of its operands with the undefined bits filled in several ways; result bits
// that differ are undefined. That is exact for moves, logic, shifts and selects (x ^ x,
// x & 0, an unselected source) with all modifiers; sums spread it upwards, everything
// else over the whole element.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_DIFFERENTIAL_H
#define GFX950EMU_CHECK_DIFFERENTIAL_H

#include "tools/gfx950emu/check/Shadow.h"

#include "llvm/ADT/SmallVector.h"

namespace gfx950emu::check {

/// Registers in memory of their own, reached through the AGPR bank.
class RegisterBuffer {
public:
  static constexpr unsigned capacity = 160;
  RegisterBuffer();
  uint32_t *at(unsigned reg) { return store.get() + size_t(reg) * waveSize; }

private:
  std::unique_ptr<uint32_t[], AlignedDelete> store;
};

class Differential {
public:
  /// Undefined bits of what `in` is about to write. The wave is unchanged.
  struct Result {
    bool known = false; ///< the handler could run
    struct Vector {
      Operand reg;
      std::vector<uint32_t> bits; ///< 64 a dword
    };
    llvm::SmallVector<Vector, 2> vectors;
    llvm::SmallVector<std::pair<unsigned, uint32_t>, 6> scalars;
  };
  Result run(Wave &wave, const Inst *in, const Uses &uses, const Shadow &shadow);

private:
  RegisterBuffer buffer;
};

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_DIFFERENTIAL_H
