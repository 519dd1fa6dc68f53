//===- OpTable.h - from mnemonic to handler -----------------------------------===//
//
// Owns the description of an operation and the table of all of them. exec/ fills
// the table, one file an encoding family; the decoder looks mnemonics up in it.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_OPTABLE_H
#define GFX950EMU_CORE_OPTABLE_H

#include "tools/gfx950emu/core/Inst.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu {

/// What a lane function gets. Sources are 64-lane arrays (two consecutive ones for 64 bits: low
/// dwords, then high dwords) with all modifiers applied; masks are 0 or ~0 a lane.
struct LaneArgs {
  uint32_t *out = nullptr;
  const uint32_t *src[3] = {nullptr, nullptr, nullptr};
  const uint32_t *maskIn = nullptr;
  uint32_t *maskOut = nullptr;
  const uint32_t *old = nullptr; ///< the destination before the instruction
  const Inst *inst = nullptr;
  uint32_t mode = 0;
};

/// Computes all 64 lanes; the caller merges under EXEC.
using LaneFn = void (*)(const LaneArgs &);

/// Type of a VALU operand: decides width, source modifiers, clamp, denormal flushing, SDWA selects.
enum class ValueType : uint8_t {
  None,
  B32,
  I32,
  U32,
  F32,
  B64,
  I64,
  U64,
  F64,
  I16,
  U16,
  F16,
  Pk16,  ///< two 16-bit integers
  PkF16, ///< two f16
  PkF32, ///< two f32 in a register pair
  Mix,   ///< v_fma_mix source: f32, or a half chosen by op_sel when its op_sel_hi bit is set
  B96,
  B128,
  B192,
  B256,
  B512,
  B1024,
};

constexpr unsigned dwordsOf(ValueType type) {
  switch (type) {
  case ValueType::None:
    return 0;
  case ValueType::B64:
  case ValueType::I64:
  case ValueType::U64:
  case ValueType::F64:
  case ValueType::PkF32:
    return 2;
  case ValueType::B96:
    return 3;
  case ValueType::B128:
    return 4;
  case ValueType::B192:
    return 6;
  case ValueType::B256:
    return 8;
  case ValueType::B512:
    return 16;
  case ValueType::B1024:
    return 32;
  default:
    return 1;
  }
}

constexpr bool isFloat(ValueType type) {
  return type == ValueType::F16 || type == ValueType::F32 || type == ValueType::F64 ||
         type == ValueType::PkF16 || type == ValueType::PkF32 || type == ValueType::Mix;
}

/// OpInfo::flags
enum : uint16_t {
  OpReadsMask = 1,       ///< the source after the last is a lane mask (VCC when not encoded)
  OpWritesMask = 2,      ///< second destination is a lane mask (VCC when not encoded)
  OpCompare = 4,         ///< no vector destination: only the mask
  OpWritesExec = 8,      ///< v_cmpx
  OpAccumulates = 16,    ///< the destination is also the last source
  OpKeepsHigh = 32,      ///< a 16-bit result preserves the other half of the register
  OpWritesHigh = 512,    ///< with OpKeepsHigh: the half written is the high one
  OpNearestEven = 1024,  ///< rounds to nearest even whatever MODE says
  OpKeepsDenormals = 64, ///< not an arithmetic use of its float type: never flushes
  OpReadsOld = 256,      ///< the lane function reads LaneArgs::old
  OpRawOpSel = 128,      ///< op_sel means something to the lane function, not a half of a source
};

enum class Family : uint8_t { Salu, Smem, Valu, Lane, Mfma, Ds, Flat, Mubuf, Control };

struct OpInfo {
  llvm::StringRef mnemonic;
  Family family = Family::Valu;
  Handler handler = nullptr;
  LaneFn lanes = nullptr;
  LaneFn wideLanes = nullptr;  ///< f16 results as f32, for rounding modes other than nearest-even
  LaneFn clampLanes = nullptr; ///< integer saturation; null when clamp has no meaning
  ValueType dst = ValueType::None;
  ValueType src[3] = {ValueType::None, ValueType::None, ValueType::None};
  uint8_t sources = 0;
  uint16_t flags = 0;
  uint32_t param = 0; ///< the family's own
};

class OpTable {
public:
  /// The stored row, for additions. A name added twice is a programming error (see duplicates()).
  OpInfo &add(const OpInfo &info);
  const OpInfo *find(llvm::StringRef mnemonic) const;
  size_t size() const { return table.size(); }
  /// Names added more than once.
  const std::vector<std::string> &duplicates() const { return repeated; }

private:
  llvm::StringMap<OpInfo> table;
  std::vector<std::string> repeated;
};

/// The instruction set of the host that the handlers were compiled for.
enum class SimdLevel : uint8_t { Baseline, Avx2 };

/// The best level of this machine; GFX950EMU_SIMD=baseline in the environment forces the other.
SimdLevel hostSimdLevel();
llvm::StringRef simdLevelName(SimdLevel level);
/// All operations, compiled for `level`.
const OpTable &opTable(SimdLevel level);

} // namespace gfx950emu

#endif // GFX950EMU_CORE_OPTABLE_H
