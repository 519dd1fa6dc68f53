//===- Cost.cpp ---------------------------------------------------------------===//

#include "tools/gfx950emu/count/Cost.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace gfx950emu::count {

namespace {

constexpr StringRef modelText =
    "estimate by a stated model, not a measurement: the greatest of the limits below, as if the "
    "others overlapped with it; no latencies";

struct Constant {
  StringRef name;
  double value;
  StringRef unit, source, what;
};

constexpr Constant constants[] = {
#define GFX950EMU_COST_ROW(field, value, unit, source, what) {#field, value, unit, source, what},
    GFX950EMU_COST_CONSTANTS(GFX950EMU_COST_ROW)
#undef GFX950EMU_COST_ROW
};

} // namespace

Occupancy occupancyOf(const KernelInfo &kernel, unsigned wavesPerGroup, uint64_t ldsBytes,
                      const CostModel &m) {
  Occupancy o;
  o.wavesPerGroup = std::max(wavesPerGroup, 1u);
  uint64_t registers = alignTo(std::max(kernel.vgprs, 1u), uint64_t(m.vgprGranule));
  o.wavesPerSimd = unsigned(std::min(uint64_t(m.wavesPerSimd), uint64_t(m.vgprs) / registers));
  // A workgroup that was launched fits, whatever the rounding here says.
  o.groupsByRegisters = std::max(unsigned(m.simds) * o.wavesPerSimd / o.wavesPerGroup, 1u);
  o.groupsByLds = unsigned(m.simds * m.wavesPerSimd) / o.wavesPerGroup;
  if (ldsBytes != 0)
    o.groupsByLds = unsigned(uint64_t(m.ldsBytes) / alignTo(ldsBytes, uint64_t(m.ldsGranule)));
  o.groupsByLds = std::max(o.groupsByLds, 1u);
  o.groups = std::min(o.groupsByRegisters, o.groupsByLds);
  return o;
}

Cost estimateCost(const Counts &counts, const KernelInfo &kernel, uint64_t dynamicLdsBytes,
                  const CostModel &m) {
  Cost cost;
  cost.kernel = counts.kernel;
  if (counts.workgroups == 0)
    return cost;
  cost.occupancy = occupancyOf(kernel, unsigned(counts.waves / counts.workgroups),
                               kernel.ldsBytes + dynamicLdsBytes, m);
  const Occupancy &o = cost.occupancy;
  cost.groupsOnBusiestUnit = divideCeil(counts.workgroups, uint64_t(m.computeUnits));
  uint64_t groupsAtOnce = std::min<uint64_t>(o.groups, cost.groupsOnBusiestUnit);
  cost.simdsUsed = unsigned(std::min<uint64_t>(groupsAtOnce * o.wavesPerGroup, uint64_t(m.simds)));
  // Of a sum over the dispatch, what the busiest compute unit has to do.
  double share = double(cost.groupsOnBusiestUnit) / double(counts.workgroups);
  double groupsOnBusiestXcd = double(divideCeil(counts.workgroups, uint64_t(m.xcds)));
  double shareOfXcd = groupsOnBusiestXcd / double(counts.workgroups);

  auto number = [&](InstClass kind) { return double(counts.of(kind).instructions); };
  auto add = [&](const char *name, const char *what, double cycles) {
    cost.limits.push_back({name, what, cycles, false});
  };
  double swaps = 0; // counted under VALU
  for (const char *name : {"v_permlane16_swap_b32", "v_permlane32_swap_b32"})
    if (auto it = counts.opcodes.find(name); it != counts.opcodes.end())
      swaps += double(it->second.instructions);
  double valu = (number(InstClass::Valu) - swaps) * m.valuCycles + swaps * m.permlaneSwapCycles +
                number(InstClass::QuarterRate) * m.quarterRateCycles +
                number(InstClass::Transcendental) * m.transcendentalCycles;
  add("VALU", "cycles of VALU instructions over the SIMDs used", valu * share / cost.simdsUsed);
  add("MFMA", "matrix passes over the SIMDs used",
      double(counts.total.mfmaPasses) * m.mfmaPassCycles * share / cost.simdsUsed);
  add("scalar issue", "SALU, SMEM and branches of the compute unit",
      (number(InstClass::Salu) + number(InstClass::Smem) + number(InstClass::Branch)) * share /
          m.scalarPerCycle);
  add("VMEM issue", "vector memory instructions of the compute unit",
      (number(InstClass::VmemLoad) + number(InstClass::VmemStore) + number(InstClass::VmemAtomic) +
       number(InstClass::Scratch)) *
          share / m.vmemPerCycle);
  const InstCounts &lds = counts.total;
  double ldsBytes = double(lds.ldsPhases32 + lds.ldsConflicts32) * 128 +
                    double(lds.ldsPhases64 + lds.ldsConflicts64) * 256;
  add("LDS", "phases and bank conflicts of the compute unit at the width of their banks",
      ldsBytes * share / m.ldsBytesPerCycle);
  double lineTraffic = double(counts.total.lines) * double(lineBytes);
  add("L1", "lines of every access of the compute unit", lineTraffic * share / m.l1BytesPerCycle);
  add("L2", "lines of every access of the XCD, as if L1 kept none",
      lineTraffic * shareOfXcd / m.l2BytesPerCycle);
  add("HBM", "distinct lines read and written, each once, of the device",
      double((counts.linesRead + counts.linesWritten) * lineBytes) / m.hbmBytesPerCycle);
  uint64_t rounds = divideCeil(cost.groupsOnBusiestUnit, uint64_t(o.groups));
  add("wave issue", "instructions of the longest wave, one after the other, in each round",
      double(counts.longestWave) * m.issueCycles * double(rounds));

  auto greatest = llvm::max_element(
      cost.limits, [](const Limit &a, const Limit &b) { return a.cycles < b.cycles; });
  greatest->binding = true;
  cost.cycles = greatest->cycles;
  cost.microseconds = cost.cycles / (m.clockGHz * 1000);
  return cost;
}

void printCost(const Cost &cost, raw_ostream &os) {
  const Occupancy &o = cost.occupancy;
  os << cost.kernel << ": " << format("%.0f", cost.cycles) << " cycles a compute unit, "
     << format("%.3f", cost.microseconds) << " us (" << modelText << ")\n";
  os << "  occupancy: " << o.wavesPerGroup << " waves a workgroup, " << o.wavesPerSimd
     << " waves a SIMD by registers; workgroups a compute unit: " << o.groupsByRegisters
     << " by registers, " << o.groupsByLds << " by LDS, " << o.groups << " at once; "
     << cost.groupsOnBusiestUnit << " on the busiest, " << cost.simdsUsed << " SIMDs used\n";
  for (const Limit &limit : cost.limits)
    os << (limit.binding ? "* " : "  ") << left_justify(limit.name, 14)
       << format("%16.1f", limit.cycles) << "  " << limit.what
       << (limit.binding ? " (binding)" : "") << '\n';
  os << "  constants of the model, with their source:\n";
  for (const Constant &c : constants)
    os << "    " << left_justify(c.name, 22) << format("%10g", c.value) << ' '
       << left_justify(c.unit, 8) << " [" << c.source << "] " << c.what << '\n';
}

json::Object toJson(const Cost &cost) {
  json::Array limits, model;
  for (const Limit &limit : cost.limits)
    limits.push_back(json::Object{{"name", limit.name},
                                  {"what", limit.what},
                                  {"cycles", limit.cycles},
                                  {"binding", limit.binding}});
  for (const Constant &c : constants)
    model.push_back(json::Object{{"name", c.name},
                                 {"value", c.value},
                                 {"unit", c.unit},
                                 {"source", c.source},
                                 {"what", c.what}});
  const Occupancy &o = cost.occupancy;
  return json::Object{{"kernel", cost.kernel},
                      {"note", modelText},
                      {"cycles_per_cu", cost.cycles},
                      {"microseconds", cost.microseconds},
                      {"waves_per_workgroup", o.wavesPerGroup},
                      {"waves_per_simd", o.wavesPerSimd},
                      {"workgroups_per_cu_by_registers", o.groupsByRegisters},
                      {"workgroups_per_cu_by_lds", o.groupsByLds},
                      {"workgroups_per_cu", o.groups},
                      {"workgroups_on_busiest_cu", cost.groupsOnBusiestUnit},
                      {"simds_used", cost.simdsUsed},
                      {"limits", std::move(limits)},
                      {"model", std::move(model)}};
}

} // namespace gfx950emu::count
