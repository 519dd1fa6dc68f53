//===- Shadow.h - which bits of a wave's registers nothing wrote -----------------------===//
//
// Owns one undefined-bit a register bit, with a summary a register so that the usual case,
// all defined, is a few tests.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CHECK_SHADOW_H
#define GFX950EMU_CHECK_SHADOW_H

#include "tools/gfx950emu/check/Operands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace gfx950emu::check {

class Shadow {
public:
  /// Everything undefined but what the descriptor asks for, EXEC and v0.
  explicit Shadow(const Wave &wave, const KernelInfo &kernel);

  /// Undefined bits of a vector register, one dword a lane.
  const uint32_t *vector(Operand o, unsigned d) const {
    return &bits[size_t(slot(o, d)) * waveSize];
  }
  /// Lanes of it with any undefined bit.
  uint64_t dirty(Operand o, unsigned d) const { return lanes[slot(o, d)]; }
  void setVector(Operand o, unsigned d, unsigned lane, uint32_t mask) {
    unsigned s = slot(o, d);
    bits[size_t(s) * waveSize + lane] = mask;
    uint64_t bit = uint64_t(1) << lane;
    lanes[s] = mask ? lanes[s] | bit : lanes[s] & ~bit;
  }
  void clearVector(Operand o, unsigned d, uint64_t which) {
    unsigned s = slot(o, d);
    for (uint64_t m = lanes[s] & which; m; m &= m - 1)
      bits[size_t(s) * waveSize + unsigned(std::countr_zero(m))] = 0;
    lanes[s] &= ~which;
  }

  uint32_t scalar(unsigned index) const { return scalars[index]; }
  uint64_t scalar64(unsigned index) const {
    return scalars[index] | uint64_t(scalars[index + 1]) << 32;
  }
  void setScalar(unsigned index, uint32_t mask) { scalars[index] = mask; }

  /// The instruction that last wrote a register; null when none did.
  const Inst *writer(Operand o, unsigned d) const {
    return o.bank == BankScalar ? scalarWriter[(o.index + d) % SgprFileSize]
                                : vectorWriter[slot(o, d)];
  }
  void setWriter(Operand o, unsigned d, const Inst *in) {
    (o.bank == BankScalar ? scalarWriter[(o.index + d) % SgprFileSize] : vectorWriter[slot(o, d)]) =
        in;
  }

private:
  unsigned slot(Operand o, unsigned d) const {
    return (o.index + d + (o.bank == BankAgpr ? accumOffset : 0)) % vgprFile;
  }

  unsigned accumOffset;
  std::vector<uint32_t> bits;
  std::array<uint64_t, vgprFile> lanes;
  std::array<uint32_t, SgprFileSize> scalars;
  std::array<const Inst *, vgprFile> vectorWriter{};
  std::array<const Inst *, SgprFileSize> scalarWriter{};
};

} // namespace gfx950emu::check

#endif // GFX950EMU_CHECK_SHADOW_H
