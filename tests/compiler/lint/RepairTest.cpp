//===- RepairTest.cpp - what LLVM misses, found and mended ------------------===//

#include "tests/compiler/lint/Fixture.h"

#include "compiler/lint/Assembler.h"
#include "compiler/lint/Repair.h"

#include "llvm/ADT/StringExtras.h"

namespace nvfp4gen::lint {
namespace {

using Briefs = std::vector<std::string>;

/// llvm_misses.mir as LLVM compiles it, to an object and to assembly.
std::string missesObject() { return readFile(LINT_OBJECT_DIR "/llvm_misses.o"); }
std::string missesAssembly() { return readFile(LINT_OBJECT_DIR "/llvm_misses.s"); }

KernelLint lintFunction(const std::string &object, const std::string &name) {
  llvm::Expected<ObjectCode> code = readObjectCode(object, name);
  llvm::Expected<Decoder> decoder = Decoder::create();
  if (!code || !decoder) {
    ADD_FAILURE() << llvm::toString(llvm::joinErrors(code.takeError(), decoder.takeError()));
    return {};
  }
  llvm::StringRef text = llvm::StringRef(code->text).substr(code->entry, code->size);
  return llvm::cantFail(lintCode(*decoder, name, llvm::arrayRefFromStringRef(text), 0));
}

Briefs hazardsOf(const std::string &object, const std::string &name) {
  KernelLint lint = lintFunction(object, name);
  std::erase_if(lint.findings, [](const Finding &f) { return !f.isHazard(); });
  return briefs(lint);
}

TEST(LlvmMisses, AMatrixResultNineteenInstructionsBack) {
  EXPECT_EQ(hazardsOf(missesObject(), "distance_19"), Briefs({"mfma-ab +0x54 <- +0x0 20/19"}));
  EXPECT_EQ(hazardsOf(missesObject(), "distance_18"), Briefs()) << "LLVM inserts two wait states";
  EXPECT_EQ(hazardsOf(missesObject(), "distance_20"), Briefs());
}

TEST(LlvmMisses, TwoMatrixInstructionsOnOneAccumulator) {
  EXPECT_EQ(hazardsOf(missesObject(), "mixed_accumulator"),
            Briefs({"mfma-mixed-c +0x8 <- +0x0 5/0"}));
  EXPECT_EQ(hazardsOf(missesObject(), "same_accumulator"), Briefs());
}

TEST(Repair, InsertsTheWaitStatesThatLack) {
  struct Miss {
    const char *function;
    unsigned waitStates;
  };
  for (Miss miss : {Miss{"distance_19", 1}, Miss{"mixed_accumulator", 5}}) {
    llvm::Expected<LintedObject> linted =
        lintObject(miss.function, missesObject(), [] { return missesAssembly(); });
    ASSERT_TRUE(bool(linted)) << llvm::toString(linted.takeError());
    EXPECT_EQ(linted->repairs, 1u);
    EXPECT_EQ(linted->waitStates, miss.waitStates);
    EXPECT_EQ(hazardsOf(linted->object, miss.function), Briefs());
    EXPECT_EQ(linted->lint.instructions,
              lintFunction(missesObject(), miss.function).instructions + 1)
        << "one s_nop and nothing else";
  }
}

TEST(Repair, LeavesACleanObjectAsItIs) {
  unsigned calls = 0;
  llvm::Expected<LintedObject> linted =
      lintObject("distance_20", missesObject(), [&]() -> llvm::Expected<std::string> {
        ++calls;
        return missesAssembly();
      });
  ASSERT_TRUE(bool(linted)) << llvm::toString(linted.takeError());
  EXPECT_EQ(linted->object, missesObject());
  EXPECT_EQ(linted->repairs, 0u);
  EXPECT_EQ(linted->waitStates, 0u);
  EXPECT_EQ(calls, 0u) << "nothing to repair, nothing compiled again";
}

TEST(Repair, AssemblyGivesTheObjectThatLlvmEmits) {
  llvm::Expected<std::string> object = assemble(missesAssembly());
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  llvm::Expected<ObjectCode> ours = readObjectCode(*object, "distance_18");
  llvm::Expected<ObjectCode> llvms = readObjectCode(missesObject(), "distance_18");
  ASSERT_TRUE(bool(ours) && bool(llvms));
  EXPECT_EQ(ours->text, llvms->text);
}

/// lintObject over a body that is its own assembly.
llvm::Expected<LintedObject> repairBody(const std::string &body) {
  return lintObject("kernel", llvm::cantFail(assemble(kernelText(body))),
                    [&] { return kernelText(body); });
}

TEST(Repair, MendsEveryPathOfALoop) {
  std::string body = "  v_mfma_f32_32x32x4_2b_f16 v[0:31], v[64:65], v[66:67], 0\n"
                     "loop:\n"
                     "  v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[68:71], v[40:43]\n"
                     "  v_mfma_f32_16x16x16_f16 v[40:43], v[68:69], v[70:71], v[40:43]\n"
                     "  v_mfma_f32_16x16x32_f16 v[0:3], v[64:67], v[68:71], 0 // a comment\n"
                     "  s_cbranch_scc1 loop\n"
                     "  global_store_dwordx4 v[72:73], v[0:3], off\n";
  EXPECT_EQ(lintBody(body).findings.size(), 5u) << "four hazards, two at one place, a warning";
  llvm::Expected<LintedObject> linted = repairBody(body);
  ASSERT_TRUE(bool(linted)) << llvm::toString(linted.takeError());
  EXPECT_EQ(linted->repairs, 3u);
  // 20 before the loop (7 around it), 5 and, behind the branch, 8 less 1.
  EXPECT_EQ(linted->waitStates, 20u + 5 + 7);
  EXPECT_EQ(hazardsOf(linted->object, "kernel"), Briefs());
}

TEST(Repair, RefusesWhatWaitStatesDoNotMend) {
  llvm::Expected<LintedObject> linted =
      repairBody("  v_pk_fma_f32 v[0:1], v[64:65], v[66:67], v[68:69] op_sel:[0,1,0]\n"
                 "  v_mov_b32_e32 v4, v64\n"
                 "  v_readfirstlane_b32 s4, v4\n"
                 "  s_setpc_b64 s[4:5]\n");
  ASSERT_FALSE(bool(linted));
  Briefs rules;
  llvm::handleAllErrors(linted.takeError(), [&](const LintRefusal &refusal) {
    for (const Finding &finding : refusal.findings)
      rules.push_back(finding.rule->id.str());
  });
  EXPECT_EQ(rules, Briefs({"pk-fma-op-sel", "not-analysable"})) << "the hazard is mended";
}

TEST(Repair, RefusesAssemblyOfOtherCode) {
  const std::string body = "  v_exp_f32_e32 v0, v64\n  v_add_f32_e32 v1, v0, v64\n";
  const std::string object = llvm::cantFail(assemble(kernelText(body)));
  const std::string others[] = {
      kernelText("  v_exp_f32_e32 v0, v64\n  v_sub_f32_e32 v1, v0, v64\n"),
      kernelText("  v_exp_f32_e32 v0, v64\n  s_nop 0\n  v_add_f32_e32 v1, v0, v64\n"),
      kernelText("  v_exp_f32_e32 v0, v64\n"),
      "",
  };
  for (const std::string &other : others) {
    llvm::Expected<LintedObject> linted = lintObject("kernel", object, [&] { return other; });
    ASSERT_FALSE(bool(linted));
    EXPECT_NE(llvm::toString(linted.takeError())
                  .find("kernel 'kernel': its assembly is not that of its object: "),
              std::string::npos);
  }
}

TEST(Repair, PassesOnAFailureToCompile) {
  llvm::Expected<LintedObject> linted =
      lintObject("mixed_accumulator", missesObject(), []() -> llvm::Expected<std::string> {
        return llvm::createStringError("no assembly today");
      });
  ASSERT_FALSE(bool(linted));
  EXPECT_EQ(llvm::toString(linted.takeError()), "no assembly today");
}

} // namespace
} // namespace nvfp4gen::lint
