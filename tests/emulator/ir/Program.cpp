//===- Program.cpp - random programs from seeds ----------------------------===//
#include "tests/emulator/ir/Program.h"

#include "tests/emulator/ir/Emitter.h"

#include "fmt/format.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"

using namespace llvm;

namespace irfuzz {
namespace {

constexpr unsigned GlobalSpace = 1, LdsSpace = 3, ConstantSpace = 4, PrivateSpace = 5;

/// Statements, blocks and helper functions of one program.
class ProgramBuilder {
public:
  ProgramBuilder(Module &module, uint64_t seed)
      : module(module), random(mixed(seed, 0)), builder(module.getContext()),
        name(("p" + Twine(seed)).str()), config(configOf(seed)) {}

  Function *build();

private:
  Function *helper(unsigned number);
  void statements(Emitter &e, unsigned count, unsigned depth);
  void statement(Emitter &e, unsigned depth);
  void operation(Emitter &e);
  void diamond(Emitter &e, unsigned depth);
  void switchOver(Emitter &e, unsigned depth);
  void loop(Emitter &e, unsigned depth);
  void makeArray(Emitter &e);
  void useArray(Emitter &e);
  void callHelper(Emitter &e);

  /// Values of types `wanted` computed in a block of its own that goes on to `join`.
  SmallVector<Value *, 3> arm(Emitter &e, BasicBlock *block, BasicBlock *join,
                              ArrayRef<Type *> wanted, unsigned depth);
  SmallVector<Type *, 3> carriedTypes(Emitter &e, bool booleans = true);
  /// Phis of `incoming` (one list of values for each predecessor) at the start of `join`.
  void joinArms(Emitter &e, BasicBlock *join, ArrayRef<Type *> types,
                ArrayRef<std::pair<BasicBlock *, SmallVector<Value *, 3>>> incoming);
  BasicBlock *block(const char *label) {
    return BasicBlock::Create(module.getContext(), label, builder.GetInsertBlock()->getParent());
  }
  /// An array in the entry block of the current function.
  Value *privateArray(Type *element, unsigned count);
  /// Forget what was made since, storing some of what nothing used.
  void leaveScope(Emitter &e, size_t poolSize, size_t arrayCount);

  Module &module;
  Random random;
  IRBuilder<> builder;
  std::string name;
  Config config;
  std::vector<Function *> helpers;
  int budget = 0; ///< operations left
};

void ProgramBuilder::operation(Emitter &e) {
  --budget;
  unsigned roll = e.below(100);
  e.add(roll < 42   ? emitInteger(e)
        : roll < 76 ? emitFloat(e)
        : roll < 91 ? emitConversion(e)
                    : emitVector(e));
}

void ProgramBuilder::statements(Emitter &e, unsigned count, unsigned depth) {
  for (unsigned i = 0; i < count && budget > 0; ++i)
    statement(e, depth);
}

void ProgramBuilder::statement(Emitter &e, unsigned depth) {
  unsigned roll = e.below(100);
  if (depth < 3) {
    if (roll < 4)
      return diamond(e, depth + 1);
    // At O0, after GlobalISel, values that live across a loop are reloaded before EXEC is restored.
    if (roll < 7 && (!config.globalISel || config.level > 0))
      return loop(e, depth + 1);
    if (roll < 9)
      return switchOver(e, depth + 1);
  }
  if (roll < 11)
    return makeArray(e);
  if (roll < 16 && !e.arrays.empty())
    return useArray(e);
  if (roll < 19 && !e.helpers.empty())
    return callHelper(e);
  if (roll < 22 && e.canStore() && !e.pool.empty()) // under the mask of the moment
    return e.store(e.pool.back());
  operation(e);
}

SmallVector<Type *, 3> ProgramBuilder::carriedTypes(Emitter &e, bool booleans) {
  SmallVector<Type *, 3> types;
  for (unsigned i = 0, count = 1 + e.below(3); i < count; ++i)
    types.push_back(booleans && e.chance(10) ? e.b.getInt1Ty() : e.anyType());
  return types;
}

void ProgramBuilder::leaveScope(Emitter &e, size_t poolSize, size_t arrayCount) {
  for (size_t i = poolSize; i < e.pool.size(); ++i)
    if (e.pool[i]->use_empty() && e.canStore() && e.chance(60))
      e.store(e.pool[i]);
  e.pool.resize(poolSize);
  e.arrays.resize(arrayCount);
}

SmallVector<Value *, 3> ProgramBuilder::arm(Emitter &e, BasicBlock *block, BasicBlock *join,
                                            ArrayRef<Type *> wanted, unsigned depth) {
  size_t poolSize = e.pool.size(), arrayCount = e.arrays.size();
  builder.SetInsertPoint(block);
  statements(e, 1 + e.below(5), depth);
  SmallVector<Value *, 3> results;
  for (Type *type : wanted)
    results.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
  leaveScope(e, poolSize, arrayCount);
  builder.CreateBr(join);
  return results;
}

void ProgramBuilder::joinArms(Emitter &e, BasicBlock *join, ArrayRef<Type *> types,
                              ArrayRef<std::pair<BasicBlock *, SmallVector<Value *, 3>>> incoming) {
  builder.SetInsertPoint(join);
  for (unsigned i = 0; i < types.size(); ++i) {
    PHINode *phi = builder.CreatePHI(types[i], unsigned(incoming.size()));
    for (const auto &[from, values] : incoming)
      phi->addIncoming(values[i], from);
    e.add(phi);
  }
}

void ProgramBuilder::diamond(Emitter &e, unsigned depth) {
  SmallVector<Type *, 3> types = carriedTypes(e);
  BasicBlock *yes = block("then"), *no = e.chance(60) ? block("else") : nullptr;
  BasicBlock *join = block("join");
  SmallVector<std::pair<BasicBlock *, SmallVector<Value *, 3>>, 2> incoming;
  SmallVector<Value *, 3> direct;
  if (!no)
    for (Type *type : types)
      direct.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
  Value *test = e.condition(e.b.getInt32Ty());
  BasicBlock *from = builder.GetInsertBlock();
  builder.CreateCondBr(test, yes, no ? no : join);
  if (!no)
    incoming.push_back({from, direct});
  for (BasicBlock *side : {yes, no})
    if (side) {
      SmallVector<Value *, 3> values = arm(e, side, join, types, depth);
      incoming.push_back({builder.GetInsertBlock(), values});
    }
  joinArms(e, join, types, incoming);
}

void ProgramBuilder::switchOver(Emitter &e, unsigned depth) {
  SmallVector<Type *, 3> types = carriedTypes(e);
  Type *type = e.scalarIntegerType();
  Value *selector = e.b.CreateAnd(e.pick(type), 7);
  BasicBlock *fallback = block("default"), *join = block("join");
  unsigned cases = 2 + e.below(4);
  SwitchInst *terminator = builder.CreateSwitch(selector, fallback, cases);
  SmallVector<std::pair<BasicBlock *, SmallVector<Value *, 3>>, 6> incoming;
  unsigned stride = e.chance(70) ? 1 : 2;
  for (unsigned i = 0; i <= cases; ++i) {
    BasicBlock *side = i < cases ? block("case") : fallback;
    if (i < cases)
      terminator->addCase(ConstantInt::get(cast<IntegerType>(type), i * stride), side);
    SmallVector<Value *, 3> values = arm(e, side, join, types, depth);
    incoming.push_back({builder.GetInsertBlock(), values});
  }
  joinArms(e, join, types, incoming);
}

void ProgramBuilder::loop(Emitter &e, unsigned depth) {
  // The branch that leaves at the bound has the exit as its second successor: the reducer may
  // only fold it that way.
  // GlobalISel makes illegal copies of an i1 that a loop carries out.
  SmallVector<Type *, 3> types = carriedTypes(e, /*booleans=*/!config.globalISel);
  SmallVector<Value *, 3> initial;
  for (Type *type : types)
    initial.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
  Value *trips = e.chance(25) ? (Value *)builder.getInt32(1 + e.below(6))
                              : e.kept(e.b.CreateAdd(e.index(8), builder.getInt32(1)));
  BasicBlock *before = builder.GetInsertBlock();
  BasicBlock *body = block("loop"), *exit = block("exit");
  builder.CreateBr(body);

  builder.SetInsertPoint(body);
  size_t poolSize = e.pool.size(), arrayCount = e.arrays.size();
  auto *counter = cast<PHINode>(e.kept(builder.CreatePHI(builder.getInt32Ty(), 2)));
  counter->addIncoming(builder.getInt32(0), before);
  SmallVector<PHINode *, 3> carried;
  for (unsigned i = 0; i < types.size(); ++i) {
    carried.push_back(builder.CreatePHI(types[i], 2));
    carried.back()->addIncoming(initial[i], before);
    e.add(carried.back());
  }
  e.add(counter);

  SmallVector<std::pair<BasicBlock *, SmallVector<Value *, 3>>, 2> leaving;
  statements(e, 1 + e.below(5), depth);
  if (e.chance(35)) { // break
    SmallVector<Value *, 3> values;
    for (Type *type : types)
      values.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
    Value *test = e.condition(e.b.getInt32Ty());
    BasicBlock *rest = block("rest");
    leaving.push_back({builder.GetInsertBlock(), values});
    builder.CreateCondBr(test, rest, exit);
    builder.SetInsertPoint(rest);
    statements(e, 1 + e.below(3), depth);
  }
  SmallVector<Value *, 3> next;
  for (Type *type : types)
    next.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
  leaveScope(e, poolSize, arrayCount);
  Value *advanced = e.kept(builder.CreateAdd(counter, builder.getInt32(1)));
  Value *again = e.kept(builder.CreateICmpULT(advanced, trips));
  BasicBlock *latch = builder.GetInsertBlock();
  for (unsigned i = 0; i < types.size(); ++i)
    carried[i]->addIncoming(next[i], latch);
  counter->addIncoming(advanced, latch);
  e.kept(builder.CreateCondBr(again, body, exit));
  leaving.push_back({latch, next});
  joinArms(e, exit, types, leaving);
}

Value *ProgramBuilder::privateArray(Type *element, unsigned count) {
  BasicBlock &entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> top(&entry, entry.begin());
  auto *slot = new AllocaInst(ArrayType::get(element, count), PrivateSpace, nullptr,
                              module.getDataLayout().getPrefTypeAlign(element), "array");
  return top.Insert(slot);
}

void ProgramBuilder::makeArray(Emitter &e) {
  Array array;
  array.element = e.chance(75) ? Emitter::integerLike(e.anyType()) : e.scalarIntegerType();
  unsigned bytes = unsigned(array.element->getPrimitiveSizeInBits().getFixedValue() / 8);
  array.count = e.chance(60) ? 4 : 8;
  unsigned slots = (array.count * bytes + 7) / 8;
  if (e.ports.lds && e.chance(40) && e.ports.usedLds + slots <= LdsSlots) {
    array.pointer =
        e.kept(e.b.CreateConstGEP1_32(e.b.getInt8Ty(), e.ports.lds, e.ports.usedLds * 8));
    e.ports.usedLds += slots;
  } else {
    array.pointer = privateArray(array.element, array.count);
  }
  e.kept(array.pointer);
  for (unsigned i = 0; i < array.count; ++i) {
    Value *pointer = e.kept(e.b.CreateConstGEP1_32(array.element, array.pointer, i));
    e.kept(e.b.CreateAlignedStore(e.pick(array.element), pointer, Align(bytes < 8 ? bytes : 8)));
  }
  e.arrays.push_back(array);
}

void ProgramBuilder::useArray(Emitter &e) {
  --budget;
  const Array array = e.arrays[e.below(unsigned(e.arrays.size()))];
  Align align(std::min<uint64_t>(array.element->getPrimitiveSizeInBits().getFixedValue() / 8, 8));
  Value *index = e.chance(25) ? (Value *)e.b.getInt32(e.below(array.count)) : e.index(array.count);
  Value *pointer = e.kept(e.b.CreateGEP(array.element, array.pointer, index));
  if (e.chance(45)) {
    e.b.CreateAlignedStore(e.pick(array.element), pointer, align);
    return;
  }
  e.add(e.b.CreateAlignedLoad(array.element, pointer, align));
}

void ProgramBuilder::callHelper(Emitter &e) {
  --budget;
  Function *callee = e.helpers[e.below(unsigned(e.helpers.size()))];
  SmallVector<Value *, 6> arguments;
  for (Type *type : callee->getFunctionType()->params())
    arguments.push_back(type->isIntegerTy(1) ? e.condition(type) : e.pick(type));
  SmallVector<Function *, 4> alike; // called through a pointer when there is a choice
  for (Function *other : e.helpers)
    if (other->getFunctionType() == callee->getFunctionType())
      alike.push_back(other);
  Value *target = callee;
  if (alike.size() > 1 && e.chance(50))
    target = e.kept(e.b.CreateSelect(e.condition(e.b.getInt32Ty()), alike[0], alike[1]));
  e.add(e.b.CreateCall(callee->getFunctionType(), target, arguments));
}

Function *ProgramBuilder::helper(unsigned number) {
  Ports none;
  Emitter e(builder, random, none, config.globalISel);
  FunctionType *type = nullptr;
  if (!helpers.empty() && e.chance(60)) {
    type = helpers.back()->getFunctionType();
  } else {
    SmallVector<Type *, 6> parameters;
    for (unsigned i = 0, count = 1 + e.below(6); i < count; ++i)
      parameters.push_back(e.chance(10) ? e.b.getInt1Ty() : e.anyType());
    type = FunctionType::get(e.anyType(), parameters, false);
  }
  Function *function = Function::Create(type, GlobalValue::InternalLinkage,
                                        "h" + Twine(number) + "." + name, module);
  function->addFnAttr(Attribute::NoInline);
  builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
  for (Argument &argument : function->args())
    e.add(&argument);
  e.helpers = helpers;
  budget = 14;
  statements(e, 3 + e.below(8), 2);
  e.kept(builder.CreateRet(e.pick(type->getReturnType())));
  return function;
}

Function *ProgramBuilder::build() {
  LLVMContext &context = module.getContext();
  if (random.next32() % 4 == 0)
    for (unsigned i = 0, count = 1 + random.next32() % 3; i < count; ++i)
      helpers.push_back(helper(i));

  Function *function =
      Function::Create(programType(context), GlobalValue::ExternalLinkage, name, module);
  for (unsigned i : {0u, 2u})
    function->addParamAttr(i, Attribute::NoAlias);
  Ports ports{function->getArg(0), function->getArg(1), function->getArg(2), function->getArg(3)};
  function->getArg(0)->setName("input");
  function->getArg(1)->setName("uniform");
  function->getArg(2)->setName("output");
  function->getArg(3)->setName("lds");

  builder.SetInsertPoint(BasicBlock::Create(context, "entry", function));
  Emitter e(builder, random, ports, config.globalISel);
  e.helpers = helpers;
  for (unsigned i = 0, count = 3 + e.below(5); i < count; ++i)
    e.load(e.anyType());
  budget = int(10 + e.below(e.chance(15) ? 90 : 45));
  while (budget > 0)
    statement(e, 0);
  for (size_t i = e.pool.size(); i-- > 0;)
    if (e.pool[i]->use_empty())
      e.store(e.pool[i]);
  // What goes into a condition or under a mask shows better by itself.
  for (unsigned i = 0; i < 24 && ports.usedOutput < OutputSlots - 8; ++i)
    e.store(e.pool[e.below(unsigned(e.pool.size()))]);
  builder.CreateRetVoid();

  // How the device compiler is to treat the program; the host does not read these.
  function->addFnAttr(e.chance(75) ? Attribute::AlwaysInline : Attribute::NoInline);
  SmallVector<std::pair<StringRef, StringRef>, 2> attributes;
  if (e.chance(25))
    attributes.push_back({"amdgpu-ieee", "false"});
  unsigned roll = e.below(100);
  if (roll < 12)
    attributes.push_back({"amdgpu-num-vgpr", "24"}); // spills
  else if (roll < 20)
    attributes.push_back({"amdgpu-waves-per-eu", "8,8"});
  helpers.push_back(function);
  for (Function *part : helpers)
    for (auto [key, value] : attributes)
      part->addFnAttr(key, value);
  return function;
}

} // namespace

std::unique_ptr<Module> emptyModule(LLVMContext &context) {
  auto module = std::make_unique<Module>("programs", context);
  Triple triple("amdgcn-amd-amdhsa");
  module->setTargetTriple(triple);
  module->setDataLayout(triple.computeDataLayout());
  return module;
}

std::string Config::text() const {
  return fmt::format("O{} {} code object V{}", level, globalISel ? "GlobalISel" : "SelectionDAG",
                     codeObjectVersion / 100);
}

Config configOf(uint64_t seed) {
  const uint64_t module = seed / ProgramsPerModule;
  Config config;
  config.level = module % 3 == 2 ? 3 : module % 3;
  config.globalISel = module / 3 % 2;
  config.codeObjectVersion = module / 6 % 2 ? 500 : 600;
  return config;
}

Function *addProgram(Module &module, uint64_t seed) { return ProgramBuilder(module, seed).build(); }

FunctionType *programType(LLVMContext &context) {
  Type *global = PointerType::get(context, GlobalSpace);
  return FunctionType::get(Type::getVoidTy(context),
                           {global, PointerType::get(context, ConstantSpace), global,
                            PointerType::get(context, LdsSpace)},
                           false);
}

Expected<std::unique_ptr<Module>> copyTo(LLVMContext &context, const Module &module) {
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  return parseBitcodeFile(MemoryBufferRef(StringRef(bitcode.data(), bitcode.size()), "programs"),
                          context);
}

std::optional<uint64_t> seedOf(StringRef name) {
  uint64_t seed = 0;
  if (!name.consume_front("p") || name.getAsInteger(10, seed))
    return std::nullopt;
  return seed;
}

uint64_t mixed(uint64_t seed, uint64_t use) {
  return Random(seed * 0x9e3779b97f4a7c15 + use * 0xd1342543de82ef95 + 1).next();
}

} // namespace irfuzz
