//===- OpTable.cpp - the table of all operations --------------------------------------------===//

#include "tools/gfx950emu/core/OpTable.h"

#include <cstdlib>

using namespace llvm;

namespace gfx950emu {

namespace baseline {
void addAll(OpTable &table);
}
#ifdef GFX950EMU_HAS_AVX2
namespace avx2 {
void addAll(OpTable &table);
}
#endif

OpInfo &OpTable::add(const OpInfo &info) {
  auto [it, fresh] = table.try_emplace(info.mnemonic, info);
  if (!fresh)
    repeated.push_back(info.mnemonic.str());
  it->second.mnemonic = it->first(); // the table owns the name
  return it->second;
}

const OpInfo *OpTable::find(StringRef mnemonic) const {
  auto it = table.find(mnemonic);
  return it == table.end() ? nullptr : &it->second;
}

SimdLevel hostSimdLevel() {
#ifdef GFX950EMU_HAS_AVX2
  static const SimdLevel level = [] {
    const char *forced = getenv("GFX950EMU_SIMD");
    if (forced && StringRef(forced) == simdLevelName(SimdLevel::Baseline))
      return SimdLevel::Baseline;
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
                __builtin_cpu_supports("popcnt");
    return fast ? SimdLevel::Avx2 : SimdLevel::Baseline;
  }();
  return level;
#else
  return SimdLevel::Baseline;
#endif
}

StringRef simdLevelName(SimdLevel level) { return level == SimdLevel::Avx2 ? "avx2" : "baseline"; }

const OpTable &opTable([[maybe_unused]] SimdLevel level) {
  auto build = [](void (*addAll)(OpTable &)) {
    OpTable table;
    addAll(table);
    return table;
  };
#ifdef GFX950EMU_HAS_AVX2
  if (level == SimdLevel::Avx2) {
    static const OpTable table = build(avx2::addAll);
    return table;
  }
#endif
  static const OpTable table = build(baseline::addAll);
  return table;
}

} // namespace gfx950emu
