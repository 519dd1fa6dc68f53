//===- BuildRepairTest.cpp - no hazard gets into a bundle -------------------===//
//
// A kernel through KernelBuilder and the whole compiler in which LLVM 22.1.8
// leaves a hazard: two different matrix instructions on one accumulator.
//
//===------------------------------------------------------------------------===//

#include "compiler/bundle/Build.h"

#include "compiler/ir/KernelBuilder.h"
#include "compiler/ir/Mlir.h"
#include "compiler/lint/Assembler.h"
#include "compiler/lint/Repair.h"
#include "tests/SpecFixture.h"

#include <filesystem>
#include <unistd.h>

namespace nvfp4gen {
namespace {

/// v_mfma_f32_16x16x16_f16, which KernelBuilder does not have.
Val mfma16x16x16(KernelBuilder &kb, Val a, Val c, Val sum) {
  mlir::OpBuilder builder(sum.get().getContext());
  builder.setInsertionPointAfterValue(sum.get());
  mlir::Value none = kb.i32(0).get();
  none.getDefiningOp()->moveBefore(sum.get().getDefiningOp());
  return {kb, mlir::LLVM::CallIntrinsicOp::create(
                  builder, sum.get().getLoc(), sum.type(),
                  builder.getStringAttr("llvm.amdgcn.mfma.f32.16x16x16f16"),
                  mlir::ValueRange{a.get(), c.get(), sum.get(), none, none, none})
                  .getResult(0)};
}

/// With two kinds of matrix instructions, or with one.
std::function<void(KernelBuilder &)> multiplying(bool mixed) {
  return [mixed](KernelBuilder &kb) {
    Val lane = kb.zext(kb.workitemId(0), kb.i64Type()) << 4;
    Val from = kb.offset(kb.arg("k.base"), lane);
    mlir::Type eight = kb.vectorType(8, kb.f16Type()), four = kb.vectorType(4, kb.f16Type());
    Val a = kb.load(eight, from, 16), c = kb.load(eight, kb.offset(from, 1024), 16);
    Val d = kb.load(four, kb.offset(from, 2048), 8);
    Val sum = kb.mfma16x16x32(a, c, kb.zero(kb.vectorType(4, kb.f32Type())));
    sum = mixed ? mfma16x16x16(kb, d, d, sum) : kb.mfma16x16x32(c, a, sum);
    kb.store(sum, kb.offset(kb.arg("k_payload.base"), lane), 16);
  };
}

/// A cache writer of the tiny deployment with this body.
struct Deployment {
  explicit Deployment(bool mixed)
      : spec(test::specOf("tiny")), list(test::variantsOf(spec, "kv_store")) {
    list.kernels.resize(1);
    list.kernels[0].emit = multiplying(mixed);
    std::erase_if(list.variants, [&](const auto &v) { return v.symbol != symbol(); });
  }
  const std::string &symbol() const { return list.kernels[0].symbol; }

  Spec spec;
  VariantList list;
};

std::vector<std::string> hazardsOf(const std::string &object, const std::string &kernel) {
  llvm::Expected<lint::ObjectCode> code = lint::readObjectCode(object, kernel);
  llvm::Expected<lint::Decoder> decoder = lint::Decoder::create();
  if (!code || !decoder) {
    ADD_FAILURE() << llvm::toString(llvm::joinErrors(code.takeError(), decoder.takeError()));
    return {};
  }
  llvm::StringRef text = llvm::StringRef(code->text).substr(code->entry, code->size);
  lint::KernelLint lint =
      llvm::cantFail(lint::lintCode(*decoder, kernel, llvm::arrayRefFromStringRef(text), 0));
  std::vector<std::string> rules;
  for (const lint::Finding &finding : lint.findings)
    if (finding.isHazard())
      rules.push_back(finding.rule->id.str());
  return rules;
}

llvm::Expected<Bundle> build(bool mixed, BuildOptions options = {}) {
  Deployment deployment(mixed);
  return buildBundle(deployment.spec, deployment.list, options);
}

TEST(BuildRepair, LlvmLeavesTheHazard) {
  Deployment deployment(true);
  llvm::Expected<std::string> object =
      lowerKernel(deployment.list.kernels[0], deployment.spec.target, Stage::Object);
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_EQ(hazardsOf(*object, deployment.symbol()), std::vector<std::string>({"mfma-mixed-c"}));
}

TEST(BuildRepair, TheBundleDoesNotHaveIt) {
  llvm::Expected<Bundle> bundle = build(true);
  ASSERT_TRUE(bool(bundle)) << llvm::toString(bundle.takeError());
  EXPECT_EQ(bundle->repairs(), 1u);
  EXPECT_EQ(bundle->kernels[0].repairs, 1u);
  EXPECT_GT(bundle->lintSeconds, 0);
  llvm::Expected<lint::LintReport> lint = lint::requireClean(bundle->bytes);
  ASSERT_TRUE(bool(lint)) << llvm::toString(lint.takeError());
  EXPECT_EQ(lint->count(lint::Severity::Warning), bundle->lintWarnings);
}

TEST(BuildRepair, TheCleanTwinIsNotTouched) {
  llvm::Expected<Bundle> bundle = build(false);
  ASSERT_TRUE(bool(bundle)) << llvm::toString(bundle.takeError());
  EXPECT_EQ(bundle->repairs(), 0u);
}

TEST(BuildRepair, RepairsAreReproducible) {
  llvm::Expected<Bundle> first = build(true), second = build(true);
  ASSERT_TRUE(bool(first) && bool(second));
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST(BuildRepair, WithLineTablesToo) {
  BuildOptions options;
  options.lowering.debugLines = true;
  llvm::Expected<Bundle> bundle = build(true, options);
  ASSERT_TRUE(bool(bundle)) << llvm::toString(bundle.takeError());
  EXPECT_EQ(bundle->repairs(), 1u);
}

TEST(BuildRepair, TheCacheKeepsTheRepairedObject) {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("lint-cache-" + std::to_string(::getpid()));
  auto cached = [&] {
    llvm::Expected<std::unique_ptr<Cache>> cache = Cache::open(folder, kDefaultCacheBytes);
    EXPECT_TRUE(bool(cache)) << llvm::toString(cache.takeError());
    BuildOptions options;
    options.cache = cache->get();
    return build(true, options);
  };
  llvm::Expected<Bundle> first = cached(), second = cached();
  ASSERT_TRUE(bool(first) && bool(second));
  EXPECT_EQ(first->repairs(), 1u);
  EXPECT_EQ(second->kernels[0].origin, Origin::CachedBundle);
  EXPECT_EQ(second->repairs(), 0u) << "repaired by the build before";
  EXPECT_EQ(first->bytes, second->bytes);
  std::filesystem::remove_all(folder);
}

TEST(BuildRepair, EmittedObjectsHavePassedTheLint) {
  Deployment deployment(true);
  auto objects = emitKernels(deployment.spec, deployment.list, Stage::Object, {});
  ASSERT_TRUE(bool(objects)) << llvm::toString(objects.takeError());
  EXPECT_TRUE(hazardsOf((*objects)[0].second, deployment.symbol()).empty());
}

/// Lines of `assembly`, and which of them are s_nop against a hazard.
struct Listing {
  explicit Listing(llvm::StringRef assembly) {
    assembly.split(lines, '\n');
    for (size_t i = 1; i + 1 < lines.size(); ++i)
      if (lines[i].ltrim().starts_with("s_nop ") && !(isLoad(i - 1) && isLoad(i + 1)))
        nops.push_back(i);
  }
  /// Between two loads an s_nop ends a clause that could not be replayed after a page fault
  /// (XNACK); that is no hazard between their results.
  bool isLoad(size_t at) const { return lines[at].contains("_load_"); }
  /// The text with one wait state less in line `at`.
  std::string shortened(size_t at) const {
    unsigned operand = 0;
    EXPECT_FALSE(lines[at].ltrim().substr(6).trim().getAsInteger(10, operand)) << lines[at].str();
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i)
      if (i != at)
        text += lines[i].str() + "\n";
      else if (operand > 0)
        text += "\ts_nop " + std::to_string(operand - 1) + "\n";
    return text;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  std::vector<size_t> nops;
};

// Where LLVM knows a hazard, the lint knows the same one, to the wait state.
TEST(BuildRepair, EveryWaitStateThatLlvmInsertsIsMissedWhenItGoes) {
  Spec spec = test::specOf("tiny");
  for (const char *family : {"kv_store", "step_map", "index_score"}) {
    VariantList list = test::variantsOf(spec, family);
    list.kernels.resize(1);
    auto texts = emitKernels(spec, list, Stage::Assembly, {});
    ASSERT_TRUE(bool(texts)) << llvm::toString(texts.takeError());
    const auto &[symbol, assembly] = texts->front();
    Listing listing(assembly);
    EXPECT_GT(listing.nops.size(), 5u) << symbol;
    for (size_t at : listing.nops) {
      llvm::Expected<std::string> object = lint::assemble(listing.shortened(at));
      ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
      EXPECT_FALSE(hazardsOf(*object, symbol).empty())
          << symbol << ", line " << at + 1 << ": " << listing.lines[at].str();
    }
  }
}

} // namespace
} // namespace nvfp4gen
