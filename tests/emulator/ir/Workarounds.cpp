//===- Workarounds.cpp - what LLVM 22 gets wrong for gfx950 ----------------===//
#include "tests/emulator/ir/Workarounds.h"

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace irfuzz {
namespace {

/// `value`, as vector registers that nothing is known of.
Value *opaque(IRBuilder<> &b, Value *value) {
  Type *type = value->getType();
  const DataLayout &layout = b.GetInsertBlock()->getModule()->getDataLayout();
  if (type->isPointerTy())
    return b.CreateIntToPtr(opaque(b, b.CreatePtrToInt(value, layout.getIntPtrType(type))), type);
  unsigned bits = unsigned(layout.getTypeSizeInBits(type).getFixedValue());
  Type *integer = b.getIntNTy(bits);
  if (bits < 32) {
    Value *wide = b.CreateZExt(b.CreateBitCast(value, integer), b.getInt32Ty());
    return b.CreateBitCast(b.CreateTrunc(opaque(b, wide), integer), type);
  }
  Type *carrier = bits == 128 ? FixedVectorType::get(b.getInt32Ty(), 4) : integer;
  InlineAsm *nothing =
      InlineAsm::get(FunctionType::get(carrier, {carrier}, false), "", "=v,0", false);
  return b.CreateBitCast(b.CreateCall(nothing, b.CreateBitCast(value, carrier)), type);
}

bool isCarried(Type *type) {
  unsigned bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  return type->isPointerTy() || bits <= 32 || bits == 64 || bits == 128;
}

/// All uses of `value` see it opaque.
void hide(Instruction &value) {
  IRBuilder<> b(value.getParent(), std::next(value.getIterator()));
  SmallVector<Use *> uses(make_pointer_range(value.uses()));
  Value *hidden = opaque(b, &value);
  for (Use *use : uses)
    use->set(hidden);
}

/// Two faults make the operands of phis that join divergent control flow be hidden where they come
/// from. GlobalISel's register banks follow the operands of a phi: where all are uniform, the phi
/// becomes a scalar register. And StructurizeCFG, which hoists operands that cost nothing, loses
/// those of a switch's default block on some of the ways there.
void hidePhiOperands(Function &function, const UniformityInfo &uniformity, bool globalISel) {
  for (BasicBlock &block : function)
    for (PHINode &phi : block.phis()) {
      if (!uniformity.isDivergent(&phi) || !isCarried(phi.getType()))
        continue;
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        if (!globalISel && !isa<CastInst, ExtractValueInst, ExtractElementInst, FreezeInst>(
                               phi.getIncomingValue(i)))
          continue;
        IRBuilder<> b(phi.getIncomingBlock(i)->getTerminator());
        Value *hidden = opaque(b, phi.getIncomingValue(i));
        // A block may come several times, by the cases of a switch.
        for (unsigned j = i; j < phi.getNumIncomingValues(); ++j)
          if (phi.getIncomingBlock(j) == phi.getIncomingBlock(i))
            phi.setIncomingValue(j, hidden);
      }
    }
}

bool isIntrinsic(const Value *value, std::initializer_list<Intrinsic::ID> ids) {
  auto *call = dyn_cast<IntrinsicInst>(value);
  return call && is_contained(ids, call->getIntrinsicID());
}

/// A product that is rounded to f16 is selected as v_fma_mixlo_f16 a, b, +0, which turns -0 to +0.
/// Other arithmetic may become a product on the way (fma with -0, x + x). The rounded value, or
/// null.
Instruction *mixedProduct(const Instruction &instruction) {
  if (!isa<FPTruncInst>(instruction) || !instruction.getType()->getScalarType()->isHalfTy())
    return nullptr;
  auto *rounded = dyn_cast<Instruction>(instruction.getOperand(0));
  if (!rounded || !rounded->getType()->getScalarType()->isFloatTy() ||
      isa<FPExtInst, SIToFPInst, UIToFPInst, PHINode, BitCastInst>(rounded))
    return nullptr;
  if (isIntrinsic(rounded, {Intrinsic::fma}) &&
      none_of(rounded->operand_values(), [](const Value *v) { return isa<ConstantData>(v); }))
    return nullptr; // a v_fma_mixlo_f16 of its own
  return rounded;
}

/// The negation of a bitcast of a vector negates its last element only.
bool mayBeNegatedBitcast(const Instruction &instruction) {
  return isa<BitCastInst>(instruction) && instruction.getType()->isVectorTy() &&
         instruction.getType()->isFPOrFPVectorTy();
}

/// -0.0 put before the upper half of a register is taken for a zero and becomes a mask.
bool isNegativeZero(const Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  if (!constant || !constant->getType()->getScalarType()->isHalfTy())
    return false;
  if (auto *vector = dyn_cast<FixedVectorType>(constant->getType())) {
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      if (isNegativeZero(constant->getAggregateElement(i)))
        return true;
    return false;
  }
  auto *number = dyn_cast<ConstantFP>(constant);
  return number && number->isZero() && number->isNegative();
}

void hideNegativeZeros(Instruction &instruction) {
  if (!isa<InsertElementInst, ShuffleVectorInst>(instruction))
    return;
  IRBuilder<> b(&instruction);
  for (Use &operand : instruction.operands())
    if (isNegativeZero(operand))
      operand.set(opaque(b, operand));
}

/// GlobalISel's combiner crashes on a clamp.
bool mayBecomeClamp(const Instruction &instruction) {
  return isIntrinsic(&instruction, {Intrinsic::minimumnum, Intrinsic::maximumnum, Intrinsic::minnum,
                                    Intrinsic::maxnum});
}

/// GlobalISel makes a field of 64 bits and a width of 32 or more from shifts by constants and from
/// extensions of low halves; v_bfe has the width modulo 32, and sign extension starts from the low
/// half.
bool mayBecomeWideField(const Instruction &instruction) {
  return isa<TruncInst>(instruction) && instruction.getOperand(0)->getType()->isIntegerTy(64) &&
         any_of(instruction.users(),
                [](const User *user) { return isa<SExtInst, ZExtInst>(user); });
}

void hideWideConstants(Instruction &instruction) {
  if (!instruction.getType()->isIntegerTy(64) || !isa<BinaryOperator>(instruction) ||
      !isa<ConstantInt>(instruction.getOperand(1)))
    return;
  IRBuilder<> b(&instruction);
  if (instruction.isShift() || instruction.getOpcode() == Instruction::Mul)
    instruction.setOperand(1, opaque(b, instruction.getOperand(1)));
}

/// An or with 32 ones, of which there can be some in wider types, becomes its other operand.
void hideOnes(Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::Or || !isa<Constant>(instruction.getOperand(1)) ||
      instruction.getType()->getPrimitiveSizeInBits().getFixedValue() < 64)
    return;
  IRBuilder<> b(&instruction);
  instruction.setOperand(1, opaque(b, instruction.getOperand(1)));
}

/// A conversion of an integer to bf16 rounds to f32 first; through f64, which is exact, it is
/// right. (The optimizer makes it from exactly that.)
void convertThroughDouble(Instruction &instruction) {
  if (!isa<SIToFPInst, UIToFPInst>(instruction) ||
      !instruction.getType()->getScalarType()->isBFloatTy())
    return;
  IRBuilder<> b(&instruction);
  auto *conversion = cast<CastInst>(&instruction);
  Type *wide = b.getDoubleTy();
  if (auto *vector = dyn_cast<FixedVectorType>(instruction.getType()))
    wide = FixedVectorType::get(wide, vector->getNumElements());
  Value *exact = b.CreateCast(conversion->getOpcode(), conversion->getOperand(0), wide);
  instruction.replaceAllUsesWith(b.CreateFPTrunc(opaque(b, exact), instruction.getType()));
}

} // namespace

void avoidKnownMiscompiles(Module &module, FunctionAnalysisManager &analyses,
                           const Config &config) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    hidePhiOperands(function, analyses.getResult<UniformityInfoAnalysis>(function),
                    config.globalISel);
    SmallVector<Instruction *> hidden;
    for (Instruction &instruction : instructions(function)) {
      hideNegativeZeros(instruction);
      hideOnes(instruction);
      convertThroughDouble(instruction);
      if (config.globalISel)
        hideWideConstants(instruction);
      if (Instruction *rounded = mixedProduct(instruction))
        hidden.push_back(rounded);
      if (mayBeNegatedBitcast(instruction) ||
          (config.globalISel && (mayBecomeClamp(instruction) || mayBecomeWideField(instruction))))
        hidden.push_back(&instruction);
    }
    SmallPtrSet<Instruction *, 16> done;
    for (Instruction *instruction : hidden)
      if (isCarried(instruction->getType()) && done.insert(instruction).second)
        hide(*instruction);
  }
}

} // namespace irfuzz
