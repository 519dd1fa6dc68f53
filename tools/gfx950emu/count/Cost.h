//===- Cost.h - an estimate of cycles from counts -----------------------------------===//
//
// Owns the estimate: what each resource alone would need, in cycles, for the busiest
// compute unit or for the part of the device that is shared. The greatest is binding and
// is the estimate, as if all others overlapped with it completely; latencies of memory and
// of dependent instructions are not in the model, so real times are longer. The counts of
// a dispatch are taken as spread evenly over its workgroups. Not in the LDS limit, for want
// of a published rate: permutes and swizzles through the LDS unit, LDS DMA, flat accesses.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_COUNT_COST_H
#define GFX950EMU_COUNT_COST_H

#include "tools/gfx950emu/count/CostModel.h"
#include "tools/gfx950emu/count/Counts.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace gfx950emu::count {

/// What of a dispatch fits into a compute unit at a time.
struct Occupancy {
  unsigned wavesPerGroup = 0;
  unsigned wavesPerSimd = 0;      ///< that the registers allow
  unsigned groupsByRegisters = 0; ///< workgroups of a compute unit
  unsigned groupsByLds = 0;       ///< as many as the waves allow when no LDS is used
  unsigned groups = 0;            ///< the lesser
};

struct Limit {
  std::string name;
  std::string what; ///< how it is computed
  double cycles = 0;
  bool binding = false;
};

struct Cost {
  std::string kernel;
  Occupancy occupancy;
  uint64_t groupsOnBusiestUnit = 0;
  unsigned simdsUsed = 0;
  std::vector<Limit> limits;
  double cycles = 0; ///< of the binding limit
  double microseconds = 0;
};

Occupancy occupancyOf(const KernelInfo &kernel, unsigned wavesPerGroup, uint64_t ldsBytes,
                      const CostModel &model = {});
/// `counts` of one dispatch of `kernel`; `dynamicLdsBytes` as launched.
Cost estimateCost(const Counts &counts, const KernelInfo &kernel, uint64_t dynamicLdsBytes,
                  const CostModel &model = {});

void printCost(const Cost &cost, llvm::raw_ostream &os);
/// With the constants of the model.
llvm::json::Object toJson(const Cost &cost);

} // namespace gfx950emu::count

#endif // GFX950EMU_COUNT_COST_H
