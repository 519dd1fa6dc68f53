//===- Reduce.cpp - the smallest program that still fails ------------------===//
//
// Every attempt edits a clone: instructions are named by their number in the
// module, which a clone keeps.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/ir/Reduce.h"

#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Program.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace irfuzz {
namespace {

std::vector<Instruction *> instructionsOf(Module &module) {
  std::vector<Instruction *> all;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      all.push_back(&instruction);
  return all;
}

bool isKept(const Instruction &instruction) { return instruction.hasMetadata(KeepMetadata); }

/// Remove what an edit left dead.
void sweep(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    removeUnreachableBlocks(function);
    for (bool changed = true; changed;) {
      changed = false;
      for (Instruction &instruction : make_early_inc_range(instructions(function)))
        if (isInstructionTriviallyDead(&instruction)) {
          instruction.eraseFromParent();
          changed = true;
        }
    }
    for (BasicBlock &block : make_early_inc_range(function))
      MergeBlockIntoPredecessor(&block);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Function &function : make_early_inc_range(module))
      if (function.use_empty() && !seedOf(function.getName())) {
        function.eraseFromParent();
        changed = true;
      }
  }
}

/// Instructions that only compute addresses from `pointer` or write there; false if there are
/// others.
bool collectWriters(Instruction &pointer, SmallVectorImpl<Instruction *> &writers) {
  for (User *user : pointer.users()) {
    auto *instruction = cast<Instruction>(user);
    if (auto *address = dyn_cast<GetElementPtrInst>(instruction)) {
      if (!collectWriters(*address, writers))
        return false;
    } else if (auto *store = dyn_cast<StoreInst>(instruction)) {
      if (store->getValueOperand() == &pointer)
        return false;
      writers.push_back(store);
    } else {
      return false;
    }
  }
  return true;
}

/// Apply edit number `number` of `instruction`; false if there is none of that number. Every edit
/// leaves something dead, so reduction ends.
bool edit(Instruction &instruction, unsigned number) {
  if (auto *branch = dyn_cast<BranchInst>(&instruction)) {
    if (branch->isUnconditional())
      return false;
    // A kept branch is a loop's; its second successor leaves.
    if (number >= (isKept(*branch) ? 1u : 2u))
      return false;
    bool first = !isKept(*branch) && number == 1;
    branch->setCondition(ConstantInt::getBool(branch->getContext(), first));
    return ConstantFoldTerminator(branch->getParent(), /*DeleteDeadConditions=*/true);
  }
  if (auto *branch = dyn_cast<SwitchInst>(&instruction)) {
    if (number > branch->getNumCases())
      return false;
    auto *type = cast<IntegerType>(branch->getCondition()->getType());
    ConstantInt *value = ConstantInt::get(type, 100); // no case has it
    if (number < branch->getNumCases())
      value = std::next(branch->case_begin(), number)->getCaseValue();
    branch->setCondition(value);
    return ConstantFoldTerminator(branch->getParent(), /*DeleteDeadConditions=*/true);
  }
  if (instruction.isTerminator())
    return false;
  if (isa<StoreInst>(instruction)) {
    if (isKept(instruction) || number > 0)
      return false;
    instruction.eraseFromParent();
    return true;
  }
  if (instruction.getType()->isPointerTy()) {
    // A whole array or the place of a result; part of an array may be read through other pointers.
    auto *address = dyn_cast<GetElementPtrInst>(&instruction);
    bool isRoot =
        isa<AllocaInst>(instruction) || (address && isa<Argument>(address->getPointerOperand()));
    SmallVector<Instruction *> writers;
    if (!isRoot || number > 0 || !collectWriters(instruction, writers) || writers.empty())
      return false;
    for (Instruction *writer : writers)
      writer->eraseFromParent();
    return true;
  }
  if (instruction.use_empty())
    return false;
  if (Constant *folded =
          ConstantFoldInstruction(&instruction, instruction.getModule()->getDataLayout())) {
    if (number > 0)
      return false;
    instruction.replaceAllUsesWith(folded);
    return true;
  }
  if (isKept(instruction) || isa<StructType>(instruction.getType()))
    return false;
  if (number == 0) {
    instruction.replaceAllUsesWith(Constant::getNullValue(instruction.getType()));
    return true;
  }
  unsigned seen = 0;
  for (Value *operand : instruction.operand_values())
    if (operand->getType() == instruction.getType() && operand != &instruction &&
        ++seen == number) {
      instruction.replaceAllUsesWith(operand);
      return true;
    }
  return false;
}

class Reducer {
public:
  Reducer(const Module &module, const std::function<bool(const Module &)> &fails)
      : current(CloneModule(module)), fails(fails) {
    sweep(*current);
  }

  std::unique_ptr<Module> run() {
    dropStores();
    while (pass()) {
    }
    return std::move(current);
  }

private:
  bool accept(std::unique_ptr<Module> trial) {
    sweep(*trial);
    if (verifyModule(*trial) || !fails(*trial))
      return false;
    current = std::move(trial);
    return true;
  }

  /// Stores of results in chunks that get smaller.
  void dropStores() {
    for (size_t chunk = 64; chunk > 0; chunk /= 2)
      for (size_t start = 0;; start += chunk) {
        std::unique_ptr<Module> trial = CloneModule(*current);
        std::vector<Instruction *> stores;
        for (Instruction *instruction : instructionsOf(*trial))
          if (isa<StoreInst>(instruction) && !isKept(*instruction))
            stores.push_back(instruction);
        if (start >= stores.size())
          break;
        for (size_t i = start; i < std::min(start + chunk, stores.size()); ++i)
          stores[i]->eraseFromParent();
        if (accept(std::move(trial)))
          start -= chunk; // the next ones moved here
      }
  }

  /// Every edit of every instruction, the last first; true if one was accepted.
  bool pass() {
    bool progress = false;
    for (size_t at = instructionsOf(*current).size(); at-- > 0;) {
      for (unsigned number = 0;; ++number) {
        std::vector<Instruction *> before = instructionsOf(*current);
        if (at >= before.size())
          break;
        std::unique_ptr<Module> trial = CloneModule(*current);
        if (!edit(*instructionsOf(*trial)[at], number))
          break;
        if (accept(std::move(trial))) {
          progress = true;
          break;
        }
      }
    }
    return progress;
  }

  std::unique_ptr<Module> current;
  const std::function<bool(const Module &)> &fails;
};

} // namespace

std::unique_ptr<Module> reduce(const Module &module,
                               const std::function<bool(const Module &)> &fails) {
  return Reducer(module, fails).run();
}

} // namespace irfuzz
