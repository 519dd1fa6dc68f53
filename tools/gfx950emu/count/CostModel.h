//===- CostModel.h - the constants of the cost estimate -----------------------------===//
//
// Owns the one table of numbers that the estimate rests on, each with where it comes
// from: AMD (vendor documentation or peak), X (seen with LLVM), L (LLVM's scheduling model),
// INF (inferred), ? (sources disagree or say nothing).
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_COSTMODEL_H
#define GFX950EMU_COUNT_COSTMODEL_H

#include "llvm/ADT/StringRef.h"

namespace gfx950emu::count {

// X(field, value, unit, source, what)
#define GFX950EMU_COST_CONSTANTS(X)                                                                \
  X(computeUnits, 256, "", "AMD", "compute units, 32 in each XCD")                                 \
  X(xcds, 8, "", "AMD", "accelerator dies, each with an L2")                                       \
  X(simds, 4, "", "AMD", "SIMDs of a compute unit")                                                \
  X(clockGHz, 2.4, "GHz", "AMD", "peak clock")                                                     \
  X(valuCycles, 4, "cycles", "AMD", "VALU wave instruction on its SIMD; conversions too [?]")      \
  X(quarterRateCycles, 16, "cycles", "L", "32-bit integer multiply")                               \
  X(permlaneSwapCycles, 8, "cycles", "L", "v_permlane16_swap, v_permlane32_swap")                  \
  X(transcendentalCycles, 8, "cycles", "AMD", "exp, log, rcp, rsq, sqrt, sin, cos")                \
  X(mfmaPassCycles, 4, "cycles", "AMD", "one pass of the matrix pipe of a SIMD")                   \
  X(issueCycles, 4, "cycles", "INF", "between two instructions of one wave")                       \
  X(scalarPerCycle, 1, "a cycle", "INF", "SALU, SMEM and branches issued by a compute unit")       \
  X(vmemPerCycle, 1, "a cycle", "INF", "vector memory instructions issued by a compute unit")      \
  X(ldsBytesPerCycle, 128, "B/cycle", "?", "LDS of a compute unit; 256 has been reported")         \
  X(l1BytesPerCycle, 64, "B/cycle", "AMD", "L1 of a compute unit (CDNA3's figure)")                \
  X(l2BytesPerCycle, 2048, "B/cycle", "AMD", "L2 of an XCD (CDNA3's figure)")                      \
  X(hbmBytesPerCycle, 3333, "B/cycle", "AMD", "HBM of the device: 8 TB/s at the peak clock")       \
  X(vgprs, 512, "", "X", "VGPRs and AGPRs of a lane of a SIMD")                                    \
  X(vgprGranule, 8, "", "X", "registers are allocated in multiples")                               \
  X(wavesPerSimd, 8, "", "X", "waves that a SIMD can hold")                                        \
  X(ldsBytes, 163840, "B", "X", "LDS of a compute unit")                                           \
  X(ldsGranule, 1280, "B", "X", "LDS is allocated in multiples")

struct CostModel {
#define GFX950EMU_COST_FIELD(field, value, unit, source, what) double field = value;
  GFX950EMU_COST_CONSTANTS(GFX950EMU_COST_FIELD)
#undef GFX950EMU_COST_FIELD
};

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_COSTMODEL_H
