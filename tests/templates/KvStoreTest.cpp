//===- KvStoreTest.cpp - kv_store's names, guards and machine code ----------===//

#include "compiler/lowering/Lowering.h"
#include "compiler/variants/Variants.h"
#include "tests/SpecFixture.h"

#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace nvfp4gen {
namespace {

KernelPlan planOf(const Spec &spec) {
  std::optional<CellPlan> plan = families()[0]->plan(spec, cellsOf(spec).front());
  EXPECT_TRUE(plan.has_value());
  return plan->kernel;
}

std::string assemblyOf(const Spec &spec) {
  KernelPlan plan = planOf(spec);
  llvm::Expected<std::string> text = lowerKernel(plan, spec.target, Stage::Assembly);
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
  std::string result = *text;
  for (size_t at = result.find(plan.symbol); at != std::string::npos; at = result.find(plan.symbol))
    result.replace(at, plan.symbol.size(), "KERNEL");
  return result;
}

// G1: a name carries everything its code was specialized for, and nothing else: two specs have one
// name exactly when they have one code.
TEST(KvStore, OneNameIsOneCode) {
  std::vector<Spec> specs;
  for (DType dtype : {DType::BF16, DType::FP16})
    for (int64_t kvHeads : {1, 2, 3})
      for (int64_t pageSize : {16, 128})
        for (std::vector<Plane> planes : std::vector<std::vector<Plane>>{
                 {Plane::K, Plane::V, Plane::IndexK}, {Plane::K, Plane::V}, {Plane::IndexK}})
          for (PlaneOrder order : {PlaneOrder::NHD, PlaneOrder::HND}) {
            Spec spec = test::specOf("minimax_m3_1_tp4_bf16");
            spec.model.dtype = dtype;
            spec.model.kvHeads = kvHeads;
            spec.cache = {CacheFormat::NVFP4, CacheFormat::NVFP4, pageSize, order, planes};
            specs.push_back(spec);
          }
  std::map<std::string, std::string> codeOfName, nameOfCode;
  for (const Spec &spec : specs) {
    std::string name = planOf(spec).symbol;
    auto known = codeOfName.find(name);
    if (known != codeOfName.end()) {
      EXPECT_EQ(known->second, assemblyOf(spec)) << name << ": one name, two codes";
      continue;
    }
    std::string code = assemblyOf(spec);
    codeOfName.emplace(name, code);
    EXPECT_TRUE(nameOfCode.emplace(code, name).second)
        << name << " and " << nameOfCode[code] << ": one code, two names";
  }
  EXPECT_EQ(codeOfName.size(), 2u * (3 * 2 * 2 + 2));
}

// A cache without planes has no writer.
TEST(KvStore, NoPlanesNoKernel) {
  Spec spec = test::specOf("minimax_m3_1_tp4_bf16");
  spec.cache.planes.clear();
  EXPECT_FALSE(families()[0]->plan(spec, cellsOf(spec).front()).has_value());
}

// Each input byte is read by one load of the code of its plane and each output byte written by one
// store: three planes, one 16-byte load of elements, one 8-byte load of a slot, and a dword of
// codes and one of scales. (LLVM may merge the stores of several planes into one instruction.)
TEST(KvStore, OneLoadAndOneStoreAPlane) {
  std::string code = assemblyOf(test::specOf("minimax_m3_1_tp4_bf16"));
  auto count = [&](llvm::StringRef text) { return llvm::StringRef(code).count(text); };
  EXPECT_EQ(count("global_load_dwordx4"), 3u);
  EXPECT_EQ(count("global_load_dwordx2"), 3u);
  EXPECT_EQ(count("global_load_"), 6u);
  EXPECT_EQ(count("global_store_"), count("global_store_dword "));
  EXPECT_LE(count("global_store_"), 6u);
  EXPECT_EQ(count("\tflat_"), 0u);
  EXPECT_EQ(count("\tscratch_"), 0u);
}

// The grid covers every lane of the plane with the most heads.
TEST(KvStore, GridCoversTheLargestPlane) {
  Spec spec = test::specOf("minimax_m3_1_tp4_bf16");
  spec.model.kvHeads = 4;
  KernelPlan plan = planOf(spec);
  EXPECT_EQ(plan.grid[0], (nvfp4rt::GridAxis{"rows", 4 * 16, 256}));
  EXPECT_EQ(plan.grid[1], (nvfp4rt::GridAxis{"", 3, 1}));
  EXPECT_EQ(plan.grid[2], (nvfp4rt::GridAxis{"", 1, 1}));
}

} // namespace
} // namespace nvfp4gen
