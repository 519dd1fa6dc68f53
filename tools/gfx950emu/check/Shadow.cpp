//===- Shadow.cpp -------------------------------------------------------------===//

#include "tools/gfx950emu/check/Shadow.h"

namespace gfx950emu::check {

Shadow::Shadow(const Wave &, const KernelInfo &kernel)
    : accumOffset(kernel.accumOffset), bits(size_t(vgprFile) * waveSize, ~0u) {
  lanes.fill(~uint64_t(0));
  scalars.fill(~0u);
  clearVector({0, 1, BankVgpr}, 0, ~uint64_t(0));
  scalars[SgprExec] = scalars[SgprExec + 1] = 0;
  unsigned initial = kernel.rsrc2 >> 1 & 0x1f; // user SGPRs, then workgroup ids
  for (unsigned dim = 0; dim < 3; ++dim)
    initial += kernel.rsrc2 >> (7 + dim) & 1;
  std::fill_n(scalars.begin(), initial, 0);
  scalars[SgprScc] = 1;
}

} // namespace gfx950emu::check
