//===- IrTests.cpp - random programs of fixed seeds, and planted faults ----===//
#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Fuzz.h"

#include "fmt/format.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace llvm;

namespace irfuzz {
namespace {

std::string textOf(const Module &module) {
  std::string text;
  raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

//===--- The programs ---===//

constexpr uint64_t ProgramsPerTest = 200;

class FixedSeeds : public testing::TestWithParam<unsigned> {};

TEST_P(FixedSeeds, EmulatorAndHostAgree) {
  Tally tally = fuzz(GetParam() * ProgramsPerTest, ProgramsPerTest);
  for (const std::string &failure : tally.failures)
    ADD_FAILURE() << failure;
  EXPECT_EQ(tally.programs, ProgramsPerTest);
  // Some ten results of each lane, and what it takes to compute them.
  EXPECT_GE(tally.stored, ProgramsPerTest * 192 * 10);
  EXPECT_GE(tally.instructions, ProgramsPerTest * 1000);
  // GlobalISel compiles half of the programs, and nearly all of those on its own.
  EXPECT_LE(tally.fallbacks, ProgramsPerTest / 10);
}

INSTANTIATE_TEST_SUITE_P(Programs, FixedSeeds, testing::Range(0u, 10u));

//===--- The generator ---===//

TEST(Generator, ASeedIsAProgram) {
  for (uint64_t seed : {3, 77, 1234}) {
    LLVMContext first, second;
    std::unique_ptr<Module> alone = programAlone(first, seed);
    std::unique_ptr<Module> again = programAlone(second, seed);
    EXPECT_EQ(textOf(*alone), textOf(*again));
    EXPECT_NE(textOf(*alone), textOf(*programAlone(second, seed + 1)));
    EXPECT_FALSE(verifyModule(*alone, &errs()));
  }
}

TEST(Generator, UsesEveryOperation) {
  const std::set<std::string> expected{"add",
                                       "sub",
                                       "mul",
                                       "udiv",
                                       "sdiv",
                                       "urem",
                                       "srem",
                                       "shl",
                                       "lshr",
                                       "ashr",
                                       "and",
                                       "or",
                                       "xor",
                                       "icmp",
                                       "fcmp",
                                       "select",
                                       "trunc",
                                       "zext",
                                       "sext",
                                       "fadd",
                                       "fsub",
                                       "fmul",
                                       "fdiv",
                                       "fneg",
                                       "fptrunc",
                                       "fpext",
                                       "fptosi",
                                       "fptoui",
                                       "sitofp",
                                       "uitofp",
                                       "bitcast",
                                       "br",
                                       "switch",
                                       "phi",
                                       "alloca",
                                       "load",
                                       "store",
                                       "call",
                                       "ret",
                                       "getelementptr",
                                       "insertelement",
                                       "extractelement",
                                       "shufflevector",
                                       "extractvalue",
                                       "llvm.smin",
                                       "llvm.smax",
                                       "llvm.umin",
                                       "llvm.umax",
                                       "llvm.ctpop",
                                       "llvm.ctlz",
                                       "llvm.cttz",
                                       "llvm.bswap",
                                       "llvm.bitreverse",
                                       "llvm.fshl",
                                       "llvm.fshr",
                                       "llvm.abs",
                                       "llvm.scmp",
                                       "llvm.ucmp",
                                       "llvm.uadd.sat",
                                       "llvm.sadd.sat",
                                       "llvm.usub.sat",
                                       "llvm.ssub.sat",
                                       "llvm.ushl.sat",
                                       "llvm.sshl.sat",
                                       "llvm.uadd.with.overflow",
                                       "llvm.sadd.with.overflow",
                                       "llvm.usub.with.overflow",
                                       "llvm.ssub.with.overflow",
                                       "llvm.umul.with.overflow",
                                       "llvm.smul.with.overflow",
                                       "llvm.fma",
                                       "llvm.sqrt",
                                       "llvm.fabs",
                                       "llvm.copysign",
                                       "llvm.minnum",
                                       "llvm.maxnum",
                                       "llvm.minimum",
                                       "llvm.maximum",
                                       "llvm.minimumnum",
                                       "llvm.maximumnum",
                                       "llvm.floor",
                                       "llvm.ceil",
                                       "llvm.trunc",
                                       "llvm.rint",
                                       "llvm.nearbyint",
                                       "llvm.round",
                                       "llvm.roundeven",
                                       "llvm.ldexp",
                                       "llvm.frexp",
                                       "llvm.is.fpclass",
                                       "llvm.canonicalize",
                                       "llvm.fptosi.sat",
                                       "llvm.fptoui.sat"};
  std::map<std::string, unsigned> seen;
  std::set<Type *> types;
  LLVMContext context;
  unsigned loops = 0, ldsArrays = 0, indirect = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::unique_ptr<Module> module = programAlone(context, seed);
    for (Function &function : *module)
      for (Instruction &instruction : instructions(function)) {
        auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        auto *call = dyn_cast<CallInst>(&instruction);
        ++seen[intrinsic ? Intrinsic::getBaseName(intrinsic->getIntrinsicID()).str()
                         : instruction.getOpcodeName()];
        types.insert(instruction.getType());
        loops += isa<BranchInst>(instruction) && instruction.hasMetadata(KeepMetadata);
        indirect += call && !call->getCalledFunction();
        auto *store = dyn_cast<StoreInst>(&instruction);
        ldsArrays += store && store->getPointerAddressSpace() == 3;
      }
  }
  for (const std::string &name : expected)
    EXPECT_GE(seen[name], 20u) << name;
  Type *half = Type::getHalfTy(context), *real = Type::getFloatTy(context);
  for (Type *type : std::initializer_list<Type *>{
           Type::getInt8Ty(context), Type::getInt16Ty(context), Type::getInt32Ty(context),
           Type::getInt64Ty(context), half, real, Type::getDoubleTy(context),
           Type::getBFloatTy(context), FixedVectorType::get(half, 2), FixedVectorType::get(half, 4),
           FixedVectorType::get(real, 2), FixedVectorType::get(Type::getDoubleTy(context), 2),
           FixedVectorType::get(Type::getInt16Ty(context), 2),
           FixedVectorType::get(Type::getInt16Ty(context), 4),
           FixedVectorType::get(Type::getInt32Ty(context), 2),
           FixedVectorType::get(Type::getInt8Ty(context), 4)})
    EXPECT_TRUE(types.count(type));
  EXPECT_GE(loops, 500u);
  EXPECT_GE(ldsArrays, 500u);
  EXPECT_GE(indirect, 50u);
}

//===--- Planted faults ---===//

const std::map<unsigned, Instruction::BinaryOps> Swaps{
    {Instruction::Add, Instruction::Sub},   {Instruction::Sub, Instruction::Add},
    {Instruction::Mul, Instruction::Add},   {Instruction::And, Instruction::Or},
    {Instruction::Or, Instruction::Xor},    {Instruction::Xor, Instruction::And},
    {Instruction::Shl, Instruction::LShr},  {Instruction::LShr, Instruction::AShr},
    {Instruction::AShr, Instruction::LShr}, {Instruction::UDiv, Instruction::URem},
    {Instruction::URem, Instruction::UDiv}, {Instruction::SDiv, Instruction::UDiv},
    {Instruction::SRem, Instruction::URem}, {Instruction::FAdd, Instruction::FSub},
    {Instruction::FSub, Instruction::FAdd}, {Instruction::FMul, Instruction::FAdd},
    {Instruction::FDiv, Instruction::FMul}};

/// Another opcode for `instruction`; false if it has none or guards something.
bool swapOpcode(Instruction &instruction) {
  auto swap = Swaps.find(instruction.getOpcode());
  if (swap == Swaps.end() || instruction.hasMetadata(KeepMetadata))
    return false;
  IRBuilder<> b(&instruction);
  Value *other = b.CreateBinOp(swap->second, instruction.getOperand(0), instruction.getOperand(1));
  instruction.replaceAllUsesWith(other);
  return true;
}

/// One program for each opcode that can be swapped.
std::unique_ptr<Module> oneOperationEach(LLVMContext &context) {
  std::unique_ptr<Module> module = emptyModule(context);
  FunctionType *type = programType(context);
  uint64_t seed = 1;
  Random random(1);
  for (const auto &[opcode, swapped] : Swaps) {
    Function *function =
        Function::Create(type, GlobalValue::ExternalLinkage, fmt::format("p{}", seed++), *module);
    IRBuilder<> b(BasicBlock::Create(context, "entry", function));
    Ports own{function->getArg(0), function->getArg(1), function->getArg(2), function->getArg(3)};
    Emitter e(b, random, own, /*globalISel=*/false);
    bool isFloat = opcode == Instruction::FAdd || opcode == Instruction::FSub ||
                   opcode == Instruction::FMul || opcode == Instruction::FDiv;
    auto load = [&](unsigned slot) {
      Value *bits =
          b.CreateLoad(b.getInt32Ty(), b.CreateConstGEP1_32(b.getInt8Ty(), own.input, slot * 8));
      return isFloat ? e.quietFloat(bits, b.getFloatTy()) : bits;
    };
    Value *left = load(isFloat ? 0 : 15), *right = load(isFloat ? 1 : 10);
    if (Instruction::isShift(opcode))
      right = e.kept(b.CreateAnd(right, 31));
    if (Instruction::isIntDivRem(opcode)) // positive and not zero
      right = e.kept(b.CreateAdd(e.kept(b.CreateAnd(right, 7)), b.getInt32(2)));
    e.store(b.CreateBinOp(Instruction::BinaryOps(opcode), left, right));
    b.CreateRetVoid();
  }
  return module;
}

TEST(PlantedFault, EveryOpcodeIsFound) {
  LLVMContext context;
  std::unique_ptr<Module> module = oneOperationEach(context);
  auto swapAll = [](Module &device) {
    for (Function &function : device)
      for (Instruction &instruction : make_early_inc_range(instructions(function)))
        swapOpcode(instruction);
  };
  for (unsigned level : {0u, 3u}) {
    Config config;
    config.level = level;
    auto planted = compare(*module, config, swapAll);
    ASSERT_TRUE(bool(planted)) << toString(planted.takeError());
    auto clean = compare(*module, config);
    ASSERT_TRUE(bool(clean)) << toString(clean.takeError());
    ASSERT_EQ(planted->verdicts.size(), Swaps.size());
    auto swap = Swaps.begin();
    for (size_t i = 0; i < Swaps.size(); ++i, ++swap) {
      const char *name = Instruction::getOpcodeName(swap->first);
      EXPECT_TRUE(planted->verdicts[i].failed()) << name;
      EXPECT_FALSE(clean->verdicts[i].failed()) << name;
    }
  }
}

TEST(PlantedFault, OneOpcodeOfARandomProgramIsFound) {
  // Some do not reach a result: dead, in an arm that no lane enters, masked away.
  auto swapOne = [](Module &device) {
    for (Function &function : device) {
      std::optional<uint64_t> seed = seedOf(function.getName());
      if (!seed)
        continue;
      std::vector<Instruction *> all;
      for (Instruction &instruction : instructions(function))
        all.push_back(&instruction);
      Random random(*seed);
      for (size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[random.next() % i]);
      for (Instruction *instruction : all)
        if (swapOpcode(*instruction))
          break;
    }
  };
  FuzzOptions options;
  options.reduce = false;
  EXPECT_EQ(fuzz(0, 150, options).failures.size(), 0u);
  options.mutation = swapOne;
  Tally tally = fuzz(0, 150, options);
  EXPECT_GE(tally.failures.size(), 75u);
  EXPECT_EQ(tally.programs, 150u);
}

TEST(PlantedFault, IsReducedToTheOperation) {
  FuzzOptions options;
  options.mutation = [](Module &device) {
    for (Function &function : device)
      for (Instruction &instruction : make_early_inc_range(instructions(function)))
        if (instruction.getOpcode() == Instruction::Xor)
          swapOpcode(instruction);
  };
  // The first program in which the fault shows.
  Tally tally;
  uint64_t seed = 0;
  for (; seed < 50 && tally.failures.empty(); ++seed)
    tally = fuzz(seed, 1, options);
  ASSERT_EQ(tally.failures.size(), 1u);
  const std::string &report = tally.failures.front();
  EXPECT_NE(report.find(fmt::format("program {} (", seed - 1)), std::string::npos);
  const size_t reduced = report.find("reduced:");
  ASSERT_NE(reduced, std::string::npos) << report;
  const std::string rest = report.substr(reduced);
  EXPECT_NE(rest.find("expected 0x"), std::string::npos) << report;
  EXPECT_NE(rest.find("s_endpgm"), std::string::npos) << report;
  // What is left: the operation, its operands and the store.
  LLVMContext context;
  const size_t whole = programAlone(context, seed - 1)->getInstructionCount();
  const std::string body = rest.substr(rest.find("define void @p"));
  const auto lines = size_t(std::count(body.begin(), body.begin() + body.find("\n}"), '\n'));
  EXPECT_NE(body.find(" xor "), std::string::npos) << report;
  EXPECT_LE(lines, 20u) << report;
  EXPECT_GE(whole, 5 * lines) << report;
}

TEST(PlantedFault, AFaultOfTheEmulatorIsAFailure) {
  FuzzOptions options;
  options.reduce = false;
  options.mutation = [](Module &device) { // a store to nowhere
    for (Function &function : device)
      if (seedOf(function.getName())) {
        IRBuilder<> b(function.getEntryBlock().getTerminator());
        b.CreateStore(b.getInt32(1), ConstantExpr::getIntToPtr(
                                         b.getInt64(16), PointerType::get(device.getContext(), 1)));
      }
  };
  Tally tally = fuzz(7, 1, options);
  ASSERT_EQ(tally.failures.size(), 1u);
  EXPECT_NE(tally.failures.front().find("the emulator: "), std::string::npos)
      << tally.failures.front();
}

} // namespace
} // namespace irfuzz
