//===- Workarounds.cpp - what LLVM 22 gets wrong for gfx950 ----------------===//
#include "tests/emulator/ir/Workarounds.h"

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace irfuzz {
namespace {

constexpr unsigned PrivateSpace = 5;

/// `value`, as vector registers that nothing is known of.
Value *opaque(IRBuilder<> &b, Value *value) {
  Type *type = value->getType();
  if (auto *structure = dyn_cast<StructType>(type)) {
    Value *result = PoisonValue::get(type);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      result = b.CreateInsertValue(result, opaque(b, b.CreateExtractValue(value, i)), i);
    return result;
  }
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
  if (auto *structure = dyn_cast<StructType>(type))
    return all_of(structure->elements(), isCarried);
  unsigned bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  return type->isPointerTy() || (bits > 0 && bits <= 32) || bits == 64 || bits == 128;
}

/// All uses of `value` see it opaque.
void hide(Instruction &value) {
  IRBuilder<> b(value.getParent(), *value.getInsertionPointAfterDef());
  SmallVector<Use *> uses(make_pointer_range(value.uses()));
  Value *hidden = opaque(b, &value);
  for (Use *use : uses)
    use->set(hidden);
}

/// GlobalISel's register banks follow the operands of a phi: where all are uniform, a phi that
/// joins divergent control flow becomes a scalar register.
void hidePhiOperands(Function &function, const UniformityInfo &uniformity) {
  for (BasicBlock &block : function)
    for (PHINode &phi : block.phis()) {
      if (!uniformity.isDivergent(&phi) || !isCarried(phi.getType()))
        continue;
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        IRBuilder<> b(phi.getIncomingBlock(i)->getTerminator());
        phi.setIncomingValue(i, opaque(b, phi.getIncomingValue(i)));
      }
    }
}

/// LLVM's binary trees of compares reach the default block on several ways, and StructurizeCFG
/// loses the values that come on some of them. A chain of compares reaches it on one.
void lowerSwitch(SwitchInst &branch) {
  BasicBlock *from = branch.getParent(), *at = from;
  Function *function = from->getParent();
  // The values of phis on an edge from `from`; each compare gives the edge another source.
  auto addEdge = [&](BasicBlock *to, BasicBlock *source) {
    if (source != from)
      for (PHINode &phi : to->phis())
        phi.addIncoming(phi.getIncomingValueForBlock(from), source);
  };
  SmallPtrSet<BasicBlock *, 8> targets(succ_begin(from), succ_end(from));
  SmallPtrSet<BasicBlock *, 8> stillFrom;
  Value *selector = branch.getCondition();
  BasicBlock *fallback = branch.getDefaultDest();
  SmallVector<std::pair<ConstantInt *, BasicBlock *>, 8> cases;
  for (auto &handle : branch.cases())
    if (handle.getCaseSuccessor() != fallback)
      cases.push_back({handle.getCaseValue(), handle.getCaseSuccessor()});
  IRBuilder<> b(&branch);
  for (auto [value, target] : cases) {
    BasicBlock *next =
        BasicBlock::Create(function->getContext(), "compare", function, at->getNextNode());
    b.CreateCondBr(b.CreateICmpEQ(selector, value), target, next);
    addEdge(target, at);
    if (at == from)
      stillFrom.insert(target);
    b.SetInsertPoint(next);
    at = next;
  }
  b.CreateBr(fallback);
  addEdge(fallback, at);
  if (at == from)
    stillFrom.insert(fallback);
  branch.eraseFromParent();
  for (BasicBlock *target : targets)
    for (PHINode &phi : target->phis()) {
      // One entry for each edge there was; at most one is left.
      bool keep = stillFrom.contains(target);
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
        if (phi.getIncomingBlock(i) == from) {
          if (keep)
            keep = false;
          else
            phi.removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
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

/// The negation of an element of a vector whose bits are then taken as 16-bit integers becomes a
/// float modifier of an integer instruction.
bool mayNegateIntegers(const Instruction &instruction) {
  return instruction.getOpcode() == Instruction::FNeg &&
         any_of(instruction.users(),
                [](const User *user) { return isa<InsertElementInst, BitCastInst>(user); });
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
  const bool shifts = instruction.isShift() || instruction.getOpcode() == Instruction::Mul ||
                      isIntrinsic(&instruction, {Intrinsic::sshl_sat, Intrinsic::ushl_sat});
  if (!shifts || !instruction.getType()->isIntegerTy(64) ||
      !isa<ConstantInt>(instruction.getOperand(1)))
    return;
  IRBuilder<> b(&instruction);
  instruction.setOperand(1, opaque(b, instruction.getOperand(1)));
}

/// A uniform index into an array of 64-bit elements in registers becomes s_movrels_b64, whose M0
/// counts registers of 32 bits, and not elements as GlobalISel has it.
void hideIndex(Instruction &instruction) {
  auto *address = dyn_cast<GetElementPtrInst>(&instruction);
  if (!address || address->getPointerAddressSpace() != PrivateSpace)
    return;
  IRBuilder<> b(address);
  for (Use &index : address->indices())
    if (isa<Instruction, Argument>(index))
      index.set(opaque(b, index));
}

/// The expansion of a division of a power of two has such shifts.
void hideDividend(Instruction &instruction) {
  if (!instruction.isIntDivRem() || !isa<Constant>(instruction.getOperand(0)) ||
      !isCarried(instruction.getType()))
    return;
  IRBuilder<> b(&instruction);
  instruction.setOperand(0, opaque(b, instruction.getOperand(0)));
}

/// An unsigned division of 32 bits is done in 24 bits when the operands have eight sign bits, even
/// where those may be ones.
void hideNarrowDividend(Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::UDiv && instruction.getOpcode() != Instruction::URem)
    return;
  const SimplifyQuery query(instruction.getDataLayout(), &instruction);
  for (Use &operand : instruction.operands())
    if (isCarried(operand->getType()) && !isKnownNonNegative(operand, query) &&
        (isa<CallInst, ExtractValueInst>(operand) || ComputeNumSignBits(operand, query.DL) > 1)) {
      IRBuilder<> b(&instruction);
      operand.set(opaque(b, operand));
    }
}

/// v_perm_b32 made from an arithmetic shift by whole bytes takes a byte of the value for one of its
/// sign.
bool mayBecomeSignByte(const Instruction &instruction) {
  const APInt *amount = nullptr;
  return instruction.getOpcode() == Instruction::AShr && instruction.getType()->isIntegerTy(32) &&
         match(instruction.getOperand(1), m_APInt(amount)) && amount->urem(8) == 0;
}

/// GlobalISel's v_bitop3_b32 has wrong truth tables with a not among its inputs.
bool mayBecomeBitop(const Instruction &instruction) {
  return match(&instruction, m_Not(m_Value()));
}

/// GlobalISel takes the wrong register for the upper half of a shuffled pair of 16-bit values, also
/// where elements are extracted and inserted one by one. The pair is put together from values that
/// it cannot see.
void unshuffle(Instruction &instruction) {
  if (isa<InsertElementInst>(instruction) && isa<ExtractElementInst>(instruction.getOperand(1)) &&
      instruction.getType()->getScalarSizeInBits() == 16) {
    IRBuilder<> b(&instruction);
    instruction.setOperand(1, opaque(b, instruction.getOperand(1)));
  }
  auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
  if (!shuffle || shuffle->getType()->getScalarSizeInBits() != 16 ||
      shuffle->getType()->isScalableTy())
    return;
  IRBuilder<> b(shuffle);
  const int width = int(cast<FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
  Value *result = PoisonValue::get(shuffle->getType());
  for (auto [to, from] : enumerate(shuffle->getShuffleMask())) {
    if (from < 0)
      continue;
    Value *element =
        b.CreateExtractElement(shuffle->getOperand(from >= width), uint64_t(from % width));
    result = b.CreateInsertElement(result, opaque(b, element), to);
  }
  shuffle->replaceAllUsesWith(result);
}

/// Stores of one 16-bit value side by side become a store of such pairs.
bool mayBecomePair(const Instruction &instruction) {
  auto stores = [&](const User *user) {
    auto *store = dyn_cast<StoreInst>(user);
    return store && store->getValueOperand() == &instruction;
  };
  return isCarried(instruction.getType()) &&
         instruction.getType()->getPrimitiveSizeInBits() == 16 &&
         count_if(instruction.users(), stores) > 1;
}

/// An or with 32 ones, of which there can be some in wider types, becomes its other operand. A
/// choice between all ones and a constant becomes such an or.
void hideOnes(Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::Or && !isa<SelectInst>(instruction))
    return;
  if (!isCarried(instruction.getType()) ||
      instruction.getType()->getPrimitiveSizeInBits().getFixedValue() < 64)
    return;
  IRBuilder<> b(&instruction);
  for (unsigned i = instruction.getNumOperands() - 2; i < instruction.getNumOperands(); ++i)
    if (isa<Constant>(instruction.getOperand(i)))
      instruction.setOperand(i, opaque(b, instruction.getOperand(i)));
}

/// +0 - x is taken for -x, also where x is +0.
void hideZeroMinuend(Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::FSub || !isa<Constant>(instruction.getOperand(0)))
    return;
  IRBuilder<> b(&instruction);
  instruction.setOperand(0, opaque(b, instruction.getOperand(0)));
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
    for (BasicBlock &block : make_early_inc_range(function))
      if (auto *branch = dyn_cast<SwitchInst>(block.getTerminator()))
        lowerSwitch(*branch);
    analyses.invalidate(function, PreservedAnalyses::none());
    if (config.globalISel)
      hidePhiOperands(function, analyses.getResult<UniformityInfoAnalysis>(function));
    SmallVector<Instruction *> hidden;
    for (Instruction &instruction : instructions(function)) {
      hideNegativeZeros(instruction);
      hideOnes(instruction);
      hideZeroMinuend(instruction);
      convertThroughDouble(instruction);
      hideNarrowDividend(instruction);
      if (config.globalISel) {
        hideWideConstants(instruction);
        hideDividend(instruction);
        hideIndex(instruction);
        unshuffle(instruction);
      }
      if (Instruction *rounded = mixedProduct(instruction))
        hidden.push_back(rounded);
      if (mayBeNegatedBitcast(instruction) || mayBecomeSignByte(instruction) ||
          (config.globalISel && (mayBecomeClamp(instruction) || mayBecomeWideField(instruction) ||
                                 mayBecomeBitop(instruction) || mayBecomePair(instruction) ||
                                 mayNegateIntegers(instruction))))
        hidden.push_back(&instruction);
    }
    SmallPtrSet<Instruction *, 16> done;
    for (Instruction *instruction : hidden)
      if (isCarried(instruction->getType()) && done.insert(instruction).second)
        hide(*instruction);
  }
}

} // namespace irfuzz
