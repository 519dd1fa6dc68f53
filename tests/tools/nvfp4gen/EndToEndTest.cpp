//===- EndToEndTest.cpp - spec to emulator to oracle, end to end --------------===//
//
// Every axis of kv_store that a spec can turn is built, run on the emulator and
// compared; bundles whose code does not do what their guard says must not pass.
//
//===------------------------------------------------------------------------===//

#include "tests/VerifyFixture.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace nvfp4gen {
namespace {

using test::variantsOf;

/// Verify under the runtime's checks of the argument structs too, which find nothing in launches
/// that are right.
verify::Report verified(const Spec &spec, const VariantList &list) {
  EXPECT_EQ(setenv("NVFP4RT_CHECK", "1", 1), 0);
  return test::verified(spec, list);
}

using Planes = std::vector<Plane>;
const Planes kAll = {Plane::K, Plane::V, Plane::IndexK};

struct Shape {
  const char *name;
  DType dtype;
  int64_t kvHeads, pageSize;
  PlaneOrder order;
  Planes planes;
};

class EveryShape : public testing::TestWithParam<Shape> {};

TEST_P(EveryShape, IsExact) {
  const Shape &shape = GetParam();
  Spec spec = test::specOf("tiny");
  spec.model.dtype = shape.dtype;
  spec.model.kvHeads = spec.model.indexHeads = shape.kvHeads;
  spec.model.qHeads = 8 * shape.kvHeads;
  spec.cache.pageSize = shape.pageSize;
  spec.cache.planeOrder = shape.order;
  spec.cache.planes = shape.planes;
  VariantList list = variantsOf(spec, "kv_store");
  verify::Report report = verified(spec, list);
  ASSERT_EQ(report.variants.size(), list.variants.size());
  for (const verify::VariantReport &variant : report.variants) {
    EXPECT_TRUE(variant.passed()) << *variant.firstFault;
    EXPECT_GT(variant.values, 0u);
    // Pools of 8,401,239 pages of several heads do not fit the emulated device's 288 GB; verify
    // says so and takes the smaller pools that still pass 2^32 bytes. With one head nothing is
    // skipped.
    for (const std::string &skipped : variant.skipped)
      EXPECT_THAT(skipped, testing::StartsWith("pools of 8401239 pages: needs "));
    if (shape.kvHeads == 1)
      EXPECT_THAT(variant.skipped, testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    KvStore, EveryShape,
    testing::Values(Shape{"bf16", DType::BF16, 1, 128, PlaneOrder::NHD, kAll},
                    Shape{"fp16", DType::FP16, 1, 128, PlaneOrder::NHD, kAll},
                    Shape{"heads2", DType::BF16, 2, 128, PlaneOrder::HND, kAll},
                    Shape{"heads3", DType::BF16, 3, 128, PlaneOrder::NHD, kAll},
                    Shape{"heads3_fp16_hnd", DType::FP16, 3, 64, PlaneOrder::HND, kAll},
                    Shape{"heads4", DType::BF16, 4, 128, PlaneOrder::NHD, kAll},
                    Shape{"page16", DType::BF16, 1, 16, PlaneOrder::HND, kAll},
                    Shape{"page32", DType::BF16, 1, 32, PlaneOrder::NHD, kAll},
                    Shape{"page256", DType::FP16, 2, 256, PlaneOrder::NHD, kAll},
                    Shape{"only_k", DType::BF16, 2, 128, PlaneOrder::NHD, {Plane::K}},
                    Shape{"only_v", DType::BF16, 2, 128, PlaneOrder::NHD, {Plane::V}},
                    Shape{"only_index", DType::BF16, 1, 128, PlaneOrder::NHD, {Plane::IndexK}},
                    Shape{"no_index", DType::BF16, 4, 128, PlaneOrder::HND, {Plane::K, Plane::V}},
                    Shape{"no_v", DType::BF16, 3, 16, PlaneOrder::NHD, {Plane::K, Plane::IndexK}},
                    Shape{"no_k", DType::FP16, 1, 128, PlaneOrder::NHD, {Plane::V, Plane::IndexK}}),
    [](const auto &info) { return info.param.name; });

// Planted faults: the code of one spec under the name and guard of another. The bundle is in order,
// so the runtime loads it; only running it can show the fault.
struct WrongCode {
  const char *name;
  void (*change)(Spec &);
};

class PlantedFault : public testing::TestWithParam<WrongCode> {};

TEST_P(PlantedFault, IsFound) {
  Spec spec = test::specOf("tiny"), other = spec;
  GetParam().change(other);
  VariantList list = variantsOf(spec, "kv_store");
  VariantList wrong = variantsOf(other, "kv_store");
  ASSERT_EQ(list.kernels.size(), 1u);
  list.kernels[0].emit = wrong.kernels[0].emit;
  verify::Report report = verified(spec, list);
  EXPECT_FALSE(report.passed());
  uint64_t wrongBytes = 0;
  for (const verify::VariantReport &variant : report.variants)
    wrongBytes += variant.mismatchingBytes;
  EXPECT_GT(wrongBytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    KvStore, PlantedFault,
    testing::Values(WrongCode{"dtype", [](Spec &spec) { spec.model.dtype = DType::FP16; }},
                    WrongCode{"page_size", [](Spec &spec) { spec.cache.pageSize *= 2; }},
                    WrongCode{"kv_heads",
                              [](Spec &spec) {
                                spec.model.kvHeads += 1;
                                spec.model.indexHeads += 1;
                                spec.model.qHeads = 8 * spec.model.kvHeads;
                              }},
                    WrongCode{"planes",
                              [](Spec &spec) { spec.cache.planes = {Plane::K, Plane::V}; }}),
    [](const auto &info) { return info.param.name; });

// The twin: the same exchange with the spec's own code passes.
TEST(PlantedFault, CleanTwin) {
  Spec spec = test::specOf("tiny");
  VariantList list = variantsOf(spec, "kv_store");
  list.kernels[0].emit = variantsOf(spec, "kv_store").kernels[0].emit;
  EXPECT_TRUE(verified(spec, list).passed());
}

} // namespace
} // namespace nvfp4gen
