//===- BuildTest.cpp - bundles: reproducible, consistent, identified --------===//

#include "compiler/bundle/Build.h"

#include "runtime/bundle/Bundle.h"
#include "tests/SpecFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace nvfp4gen {
namespace {

using test::specOf;
using test::variantsOf;

Bundle build(const Spec &spec, unsigned jobs = 1) {
  llvm::Expected<Bundle> bundle = buildBundle(spec, variantsOf(spec), {jobs, {}});
  if (!bundle) {
    ADD_FAILURE() << llvm::toString(bundle.takeError());
    return {};
  }
  return std::move(*bundle);
}

TEST(Build, SameBytesEveryTime) {
  Spec spec = specOf("tiny");
  Bundle first = build(spec, 1), second = build(spec, 2);
  ASSERT_FALSE(first.bytes.empty());
  EXPECT_EQ(first.bytes, second.bytes);
}

TEST(Build, ManifestDescribesTheBytes) {
  Bundle bundle = build(specOf("minimax_m3_1_tp4_bf16"));
  auto opened = nvfp4rt::Bundle::open({bundle.bytes.begin(), bundle.bytes.end()}, "bundle");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->manifest(), bundle.manifest);
}

// Guards that lead to identical code share one kernel: phases, query lengths and buckets do not
// change a writer's code.
TEST(Build, VariantsShareKernels) {
  Spec spec = specOf("minimax_m3_1_tp4_bf16");
  Bundle bundle = build(spec);
  std::map<std::string, std::set<std::string>> kernels;
  std::map<std::string, size_t> variants;
  for (const nvfp4rt::Variant &variant : bundle.manifest.variants) {
    EXPECT_THAT(variant.name, testing::StartsWith(variant.symbol + "__"));
    kernels[variant.family].insert(variant.symbol);
    ++variants[variant.family];
  }
  EXPECT_EQ(variants.size(), families().size());
  for (const auto &[family, count] : variants)
    EXPECT_EQ(count, 3 * spec.serving.requestBuckets.size()) << family;
  // The writer's code depends on nothing in a cell, a scorer's on the rows of a segment, and
  // attention's on whether rows are few.
  EXPECT_EQ(kernels["kv_store"].size(), 1u);
  EXPECT_EQ(kernels["topk"].size(), 1u);
  EXPECT_EQ(kernels["index_topk"].size(), 3u);
  EXPECT_EQ(kernels["sparse_attention"].size(), 2u);
}

// The build id is a function of everything that decides the bytes.
TEST(Build, BuildIdFollowsItsInputs) {
  Spec spec = specOf("tiny");
  std::string base = build(spec).manifest.buildId;
  EXPECT_EQ(build(spec).manifest.buildId, base);
  Spec other = spec;
  other.sha256 = std::string(64, '0');
  EXPECT_NE(build(other).manifest.buildId, base);
  other = spec;
  other.target.codeObjectVersion = spec.target.codeObjectVersion == 5 ? 6 : 5;
  EXPECT_NE(build(other).manifest.buildId, base);
}

TEST(Build, ProgressReportsEveryKernel) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec);
  std::vector<std::string> seen;
  BuildOptions options{2, [&](const KernelReport &report) {
                         seen.push_back(report.symbol);
                         EXPECT_GT(report.seconds, 0);
                         EXPECT_GT(report.codeBytes, 0u);
                         EXPECT_GT(report.variants, 0u);
                       }};
  llvm::Expected<Bundle> bundle = buildBundle(spec, list, options);
  ASSERT_TRUE(bool(bundle)) << llvm::toString(bundle.takeError());
  EXPECT_EQ(seen.size(), list.kernels.size());
}

} // namespace
} // namespace nvfp4gen
