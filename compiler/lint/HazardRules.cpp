//===- HazardRules.cpp ------------------------------------------------------===//

#include "compiler/lint/HazardRules.h"

#include <iterator>

namespace nvfp4gen::lint {

namespace {

//===----------------------------------------------------------------------===//
// Registers of a pair
//===----------------------------------------------------------------------===//

bool isVector(const Operand &operand) { return operand.registers.first < kScalars; }
bool isDefinition(const Operand &operand) { return operand.role == Role::Definition; }

/// Some operand of `first` that satisfies `a` shares a register with one of `second` that
/// satisfies `b`.
template <typename A, typename B>
bool share(const Instruction &first, A a, const Instruction &second, B b) {
  for (const Operand &one : first.operands)
    if (a(one))
      for (const Operand &other : second.operands)
        if (b(other) && one.registers.overlaps(other.registers))
          return true;
  return false;
}

template <typename Predicate> bool has(const Instruction &instruction, Predicate predicate) {
  for (const Operand &operand : instruction.operands)
    if (predicate(operand))
      return true;
  return false;
}

bool vectorDefinition(const Operand &o) { return isDefinition(o) && isVector(o); }
bool vectorUse(const Operand &o) { return !isDefinition(o) && isVector(o); }
bool scalarDefinition(const Operand &o) { return isDefinition(o) && !isVector(o); }
/// Of EXEC only as a number: that it masks lanes is known to the hardware.
bool scalarUse(const Operand &o) {
  return !isDefinition(o) && !isVector(o) && !(o.implicit && o.registers.overlaps(kExec));
}

bool writes(const Instruction &instruction, Registers registers) {
  return has(instruction,
             [&](const Operand &o) { return isDefinition(o) && o.registers.overlaps(registers); });
}
bool reads(const Instruction &instruction, Registers registers) {
  return has(instruction, [&](const Operand &o) {
    return !isDefinition(o) && !o.implicit && o.registers.overlaps(registers);
  });
}

bool valuWritesVector(const Instruction &i) { return i.is(Valu) && has(i, vectorDefinition); }
bool valuWritesScalar(const Instruction &i) { return i.is(Valu) && has(i, scalarDefinition); }
bool valuWritesExec(const Instruction &i) { return i.is(Valu) && writes(i, kExec); }
bool isMatrix(const Instruction &i) { return i.is(Matrix); }
bool isMemory(const Instruction &i) { return i.is(Vmem | Ds); }

/// Result of the first read by the second, through vector registers.
bool readsResult(const Instruction &first, const Instruction &second) {
  return share(first, vectorDefinition, second, vectorUse);
}
bool overwritesResult(const Instruction &first, const Instruction &second) {
  return share(first, vectorDefinition, second, vectorDefinition);
}

//===----------------------------------------------------------------------===//
// Wait states by passes of the matrix instruction
//===----------------------------------------------------------------------===//

struct ByPasses {
  unsigned two, four, eight, sixteen;
  unsigned operator()(const Instruction &matrix) const {
    switch (matrix.info->passes) {
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default: // a shape that the table does not have is taken for the slowest
      return sixteen;
    }
  }
};

constexpr ByPasses kResult{5, 8, 12, 20};    ///< until a result is in its registers
constexpr ByPasses kResultF32{4, 6, 10, 18}; ///< the same of f32 operands
constexpr ByPasses kOverlap{4, 6, 10, 18};   ///< until it can be C of another accumulator
constexpr ByPasses kOverlapF32{2, 4, 8, 16};
constexpr ByPasses kMixed{5, 5, 10, 18}; ///< the same accumulator, another instruction
constexpr ByPasses kReadC{1, 3, 7, 15};  ///< until C has been read

bool isF64Wide(const Instruction &i) { return i.is(MatrixF64) && i.info->passes == 16; }

/// How D of the first and C of the second meet.
enum class Meeting { None, Same, Overlapping };
Meeting accumulatorMeeting(const Instruction &first, const Instruction &second) {
  Meeting meeting = Meeting::None;
  for (const Operand &d : first.operands)
    if (isDefinition(d))
      for (const Operand &c : second.operands)
        if (c.role == Role::Accumulator && c.registers.overlaps(d.registers))
          meeting = c.registers == d.registers ? Meeting::Same : Meeting::Overlapping;
  return meeting;
}

unsigned sameAccumulator(const Instruction &first, const Instruction &second) {
  if (accumulatorMeeting(first, second) != Meeting::Same ||
      first.info->matrixKind != second.info->matrixKind)
    return 0;
  if (first.is(MatrixF64))
    return first.info->passes == 4 ? 4 : 0;
  return first.info->passes == 2 ? 2 : 0;
}

unsigned mixedAccumulator(const Instruction &first, const Instruction &second) {
  return accumulatorMeeting(first, second) == Meeting::Same &&
                 first.info->matrixKind != second.info->matrixKind
             ? kMixed(first)
             : 0;
}

unsigned overlappingAccumulator(const Instruction &first, const Instruction &second) {
  if (accumulatorMeeting(first, second) != Meeting::Overlapping)
    return 0;
  // An instruction on narrow operands waits for the pipelines of f32 and f64 by itself.
  if (first.is(MatrixF32 | MatrixF64) && !second.is(MatrixF32 | MatrixF64))
    return 0;
  if (first.is(MatrixF64))
    return isF64Wide(first) ? 17 : 4;
  return first.is(MatrixF32) ? kOverlapF32(first) : kOverlap(first);
}

unsigned resultStates(const Instruction &matrix, unsigned f64Narrow, unsigned f64Wide) {
  if (matrix.is(MatrixF64))
    return isF64Wide(matrix) ? f64Wide : f64Narrow;
  return matrix.is(MatrixF32) ? kResultF32(matrix) : kResult(matrix);
}

bool isWideStore(const Instruction &i) {
  return has(i, [](const Operand &o) { return o.role == Role::StoreWide; });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using I = const Instruction &;

constexpr Severity kError = Severity::Error;

constexpr HazardRule kRules[] = {
    // Matrix instructions first. A and B are held to one table, whatever the operands; LLVM waits
    // up to two states less after f32 and f64, as the rules on other readers do here.
    {{"mfma-ab", kError, "a matrix result is read as A or B before it is written"},
     20,
     true,
     isMatrix,
     isMatrix,
     [](I a, I b) -> unsigned {
       return share(a, vectorDefinition, b,
                    [](const Operand &o) { return o.role == Role::MatrixAB; })
                  ? kResult(a)
                  : 0;
     }},
    {{"mfma-mixed-c", kError, "two different matrix instructions on one accumulator"},
     18,
     true,
     isMatrix,
     isMatrix,
     mixedAccumulator},
    {{"mfma-same-c", kError, "a 2-pass or f64 matrix result is accumulated on too early"},
     4,
     true,
     isMatrix,
     isMatrix,
     sameAccumulator},
    {{"mfma-overlap-c", kError, "a matrix result is part of another accumulator too early"},
     18,
     true,
     isMatrix,
     isMatrix,
     overlappingAccumulator},
    {{"mfma-valu-read", kError, "a matrix result is read by a VALU instruction too early"},
     20,
     true,
     isMatrix,
     [](I b) { return b.is(Valu); },
     [](I a, I b) -> unsigned { return readsResult(a, b) ? resultStates(a, 6, 19) : 0; }},
    {{"mfma-memory-read", kError, "a matrix result is read by a memory instruction too early"},
     20,
     true,
     isMatrix,
     isMemory,
     [](I a, I b) -> unsigned { return readsResult(a, b) ? resultStates(a, 9, 18) : 0; }},
    {{"mfma-overwrite", kError, "the registers of a matrix result are written before it is"},
     20,
     true,
     isMatrix,
     [](I b) { return b.is(Valu | Vmem | Ds); },
     [](I a, I b) -> unsigned { return overwritesResult(a, b) ? resultStates(a, 6, 11) : 0; }},
    {{"mfma-c-overwrite", kError, "C of a matrix instruction is overwritten before it is read"},
     15,
     false,
     [](I a) { return a.is(Matrix) && !a.is(MatrixF32 | MatrixF64); },
     [](I b) { return b.is(Valu | Vmem | Ds); },
     [](I a, I b) -> unsigned {
       return share(
                  a, [](const Operand &o) { return o.role == Role::Accumulator; }, b,
                  vectorDefinition)
                  ? kReadC(a)
                  : 0;
     }},
    {{"valu-mfma", kError, "a VALU result is read by a matrix instruction too early"},
     2,
     false,
     [](I a) { return valuWritesVector(a) && !a.is(Dot); },
     isMatrix,
     [](I a, I b) -> unsigned { return readsResult(a, b) ? 2 : 0; }},
    {{"valu-exec-mfma", kError, "EXEC is written by a VALU instruction close to a matrix one"},
     4,
     false,
     valuWritesExec,
     isMatrix,
     [](I, I) { return 4u; }},
    {{"mfma-f64-fma", kError, "v_fma_f64 follows an f64 matrix instruction too early"},
     2,
     false,
     [](I a) { return a.is(MatrixF64); },
     [](I b) { return b.is(FmaF64); },
     [](I, I) { return 2u; }},
    // Dot products forward C to themselves and nothing else.
    {{"dot-read", kError, "a dot product's result is read too early"},
     3,
     false,
     [](I a) { return a.is(Dot); },
     [](I b) { return b.is(Valu | Vmem | Ds); },
     [](I a, I b) -> unsigned {
       if (!readsResult(a, b))
         return 0;
       if (a.info->mnemonic != b.info->mnemonic)
         return 3;
       // Of the same instruction the accumulator is forwarded.
       return share(a, vectorDefinition, b,
                    [](const Operand &o) { return vectorUse(o) && o.role != Role::Accumulator; })
                  ? 3
                  : 0;
     }},
    {{"dot-overwrite", kError, "a dot product's destination is written too early"},
     3,
     false,
     [](I a) { return a.is(Dot); },
     [](I b) { return b.is(Valu | Vmem | Ds); },
     [](I a, I b) -> unsigned {
       return a.info->mnemonic != b.info->mnemonic && overwritesResult(a, b) ? 3 : 0;
     }},
    // Between VALU instructions.
    {{"trans-use", kError, "a transcendental result is read by the next VALU instruction"},
     1,
     false,
     [](I a) { return a.is(Trans); },
     [](I b) { return b.is(Valu | Matrix) && !b.is(Trans); },
     [](I a, I b) -> unsigned { return readsResult(a, b) ? 1 : 0; }},
    {{"partial-write", kError,
      "a register written in part (SDWA, op_sel) is used by the next VALU instruction"},
     1,
     false,
     [](I a) { return a.selectsDestination; },
     [](I b) { return b.is(Valu | Matrix); },
     [](I a, I b) -> unsigned { return readsResult(a, b) || overwritesResult(a, b) ? 1 : 0; }},
    {{"valu-sgpr-valu", kError, "an SGPR that a VALU instruction writes is read by another"},
     2,
     false,
     valuWritesScalar,
     [](I b) { return b.is(Valu); },
     [](I a, I b) -> unsigned { return share(a, scalarDefinition, b, scalarUse) ? 2 : 0; }},
    {{"valu-lane-number", kError, "a lane number that a VALU instruction writes is used"},
     4,
     false,
     valuWritesScalar,
     [](I b) { return b.is(LaneSelect); },
     [](I a, I b) -> unsigned {
       return share(a, scalarDefinition, b,
                    [](const Operand &o) { return o.role == Role::LaneNumber; })
                  ? 4
                  : 0;
     }},
    {{"valu-readlane", kError, "a VALU result is read by the next v_readlane"},
     1,
     false,
     valuWritesVector,
     [](I b) { return b.is(ReadLane); },
     [](I a, I b) -> unsigned { return readsResult(a, b) ? 1 : 0; }},
    {{"valu-exec-lane", kError, "EXEC is written by a VALU instruction close to a lane access"},
     4,
     false,
     valuWritesExec,
     [](I b) { return b.is(ReadLane | WriteLane); },
     [](I, I) { return 4u; }},
    {{"valu-vcc-div-fmas", kError, "VCC is written by a VALU instruction close to v_div_fmas"},
     4,
     false,
     [](I a) { return a.is(Valu) && writes(a, kVcc); },
     [](I b) { return b.is(DivFmas); },
     [](I, I) { return 4u; }},
    {{"valu-dpp", kError, "a VALU result is read with DPP too early"},
     2,
     false,
     valuWritesVector,
     [](I b) { return b.is(Dpp); },
     [](I a, I b) -> unsigned { return readsResult(a, b) ? 2 : 0; }},
    {{"valu-exec-dpp", kError, "EXEC is written by a VALU instruction close to one with DPP"},
     5,
     false,
     valuWritesExec,
     [](I b) { return b.is(Dpp); },
     [](I, I) { return 5u; }},
    {{"valu-permlane", kError, "a VALU result is read by a lane permute too early"},
     2,
     false,
     valuWritesVector,
     [](I b) { return b.is(Permlane); },
     [](I a, I b) -> unsigned { return readsResult(a, b) ? 2 : 0; }},
    {{"cmpx-permlane", kError, "v_cmpx is close to a lane permute"},
     4,
     false,
     [](I a) { return a.is(CmpX); },
     [](I b) { return b.is(Permlane); },
     [](I, I) { return 4u; }},
    {{"valu-vccz", kError, "VCC or EXEC is written by a VALU instruction and tested as a number"},
     5,
     false,
     [](I a) { return a.is(Valu) && (writes(a, kVcc) || writes(a, kExec)); },
     [](I b) { return b.is(Valu) && (reads(b, kVccz) || reads(b, kExecz)); },
     [](I a, I b) -> unsigned {
       bool vcc = writes(a, kVcc) && reads(b, kVccz);
       bool exec = writes(a, kExec) && reads(b, kExecz);
       return vcc || exec ? 5 : 0;
     }},
    // Memory.
    {{"valu-sgpr-vmem", kError, "an SGPR that a VALU instruction writes is read by a VMEM one"},
     5,
     false,
     valuWritesScalar,
     [](I b) { return b.is(Vmem); },
     [](I a, I b) -> unsigned { return share(a, scalarDefinition, b, scalarUse) ? 5 : 0; }},
    {{"store-overwrite", kError, "data of a wide store is overwritten before it is read"},
     2,
     false,
     isWideStore,
     [](I b) { return b.is(Valu | Matrix); },
     [](I a, I b) -> unsigned {
       if (!share(
               a, [](const Operand &o) { return o.role == Role::StoreWide; }, b, vectorDefinition))
         return 0;
       return a.scalarOffset ? 1 : 2;
     }},
    // Scalar.
    {{"salu-m0", kError, "M0 is written and used by the next instruction"},
     1,
     false,
     [](I a) { return a.is(Salu) && writes(a, kM0); },
     [](I b) { return b.is(ReadsM0); },
     [](I, I) { return 1u; }},
    {{"setreg", kError, "a hardware register is written and accessed again too early"},
     2,
     false,
     [](I a) { return a.is(SetReg); },
     [](I b) { return b.is(SetReg | GetReg); },
     [](I a, I b) -> unsigned { return a.hardwareRegister == b.hardwareRegister ? 2 : 0; }},
};
static_assert(std::size(kRules) <= 64, "a set of rules is one word");

} // namespace

llvm::ArrayRef<HazardRule> hazardRules() { return kRules; }

} // namespace nvfp4gen::lint
