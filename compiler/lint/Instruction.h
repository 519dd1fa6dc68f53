//===- Instruction.h - a gfx950 instruction as the lint sees it --------------===//
//
// What an instruction is (its opcode's traits) and which registers it touches.
// All register files share one numbering, so that overlap is one comparison.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_INSTRUCTION_H
#define NVFP4GEN_COMPILER_LINT_INSTRUCTION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nvfp4gen::lint {

/// Consecutive 32-bit registers: v0.. from 0, a0.. from kAgprs, scalar operands from kScalars by
/// their number in an instruction's encoding.
struct Registers {
  uint16_t first = 0;
  uint16_t count = 0; ///< 0 = none

  bool overlaps(const Registers &other) const {
    return first < other.first + other.count && other.first < first + count;
  }
  bool operator==(const Registers &) const = default;
};
inline constexpr uint16_t kAgprs = 256;
inline constexpr uint16_t kScalars = 512;
inline constexpr Registers kVcc{kScalars + 106, 2};
inline constexpr Registers kM0{kScalars + 124, 1};
inline constexpr Registers kExec{kScalars + 126, 2};
inline constexpr Registers kVccz{kScalars + 251, 1};
inline constexpr Registers kExecz{kScalars + 252, 1};
inline constexpr Registers kScc{kScalars + 253, 1};

/// Traits of an opcode; a bit set.
enum Trait : uint64_t {
  Valu = 1ull << 0, ///< vector ALU without the matrix instructions
  Salu = 1ull << 1,
  Smem = 1ull << 2,
  Vmem = 1ull << 3, ///< global, flat, scratch and buffer
  Ds = 1ull << 4,
  Matrix = 1ull << 5,    ///< v_mfma_* and v_smfmac_*
  MatrixF32 = 1ull << 6, ///< of them, those with f32 operands
  MatrixF64 = 1ull << 7, ///< of them, those with f64 operands
  Dot = 1ull << 8,       ///< v_dot*
  Trans = 1ull << 9,     ///< quarter-rate functions: exp, log, rcp, rsq, sqrt, sin, cos
  Dpp = 1ull << 10,
  Permlane = 1ull << 11,
  ReadLane = 1ull << 12,   ///< v_readlane, v_readfirstlane
  LaneSelect = 1ull << 13, ///< v_readlane, v_writelane
  WriteLane = 1ull << 14,
  DivFmas = 1ull << 15,
  FmaF64 = 1ull << 16,
  CmpX = 1ull << 17,
  SetReg = 1ull << 18,
  GetReg = 1ull << 19,
  ReadsM0 = 1ull << 20, ///< s_movrel*, s_sendmsg, LDS DMA, LDS by thread id, gws
  Buffer = 1ull << 21,
  Store = 1ull << 22, ///< of memory: stores and atomics
  PkFmaF32 = 1ull << 23,
  Scratch = 1ull << 24,
  IndexMode = 1ull << 25, ///< s_set_gpr_idx_*: register numbers are run-time values after it
  Nop = 1ull << 26,
  MoveRelative = 1ull << 27, ///< s_movrel*: a scalar register is chosen at run time
};

enum class Control : uint8_t {
  Next,        ///< goes on with the next instruction
  Branch,      ///< to the target
  Conditional, ///< to the target or the next instruction
  End,         ///< of the wave
  Call,        ///< to code that is not followed, then to the next instruction
  Indirect,    ///< to an address in registers
};

/// What is the same for all instructions of an opcode.
struct OpcodeInfo {
  std::string mnemonic; ///< as printed, without the encoding suffix
  /// Equal exactly for matrix instructions that forward an accumulator to each other: the mnemonic
  /// and, for f8f6f4, the formats.
  std::string matrixKind;
  uint64_t traits = 0;
  uint8_t passes = 0; ///< of a matrix instruction; 0 = a shape not in the table
  Control control = Control::Next;
  bool maySelectDestination = false; ///< SDWA, or VOP3 with op_sel
};

enum class Role : uint8_t {
  Definition,
  Use,
  MatrixAB,    ///< A, B, their scales, the index of a sparse A
  Accumulator, ///< C, of a dot product too
  LaneNumber,  ///< of v_readlane and v_writelane
  StoreWide,   ///< store data of more than 64 bits
};

struct Operand {
  Registers registers;
  Role role = Role::Use;
  bool implicit = false;
};

struct Instruction {
  uint64_t pc = 0; ///< bytes from the start of the code
  uint8_t size = 0;
  uint8_t waitStates = 1;          ///< that it puts between its neighbours
  bool selectsDestination = false; ///< writes another place of its destination than bit 0 upwards
  bool scalarOffset = false;       ///< a buffer access with its soffset in a register
  uint8_t hardwareRegister = 0;    ///< of s_setreg and s_getreg
  const OpcodeInfo *info = nullptr;
  int64_t target = 0; ///< of a branch, as pc
  llvm::SmallVector<Operand, 8> operands;

  bool is(uint64_t traits) const { return info->traits & traits; }
};

/// How often a matrix instruction holds its unit, in passes of 4 cycles; none for an unknown shape.
std::optional<uint8_t> matrixPasses(llvm::StringRef mnemonic, llvm::StringRef opcodeName);

} // namespace nvfp4gen::lint

#endif // NVFP4GEN_COMPILER_LINT_INSTRUCTION_H
