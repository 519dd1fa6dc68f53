//===- CacheBytesTest.cpp - rule P6's figures -------------------------------===//

#include "compiler/bundle/CacheBytes.h"

#include "tests/SpecFixture.h"

#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

using test::specOf;

TEST(CacheBytes, MiniMaxAtTp4) {
  nvfp4rt::CacheBytes bytes = cacheBytes(specOf("minimax_m3_1_tp4_bf16"));
  EXPECT_EQ(bytes.kvPerBlock, 18432u);
  EXPECT_EQ(bytes.indexPerBlock, 9216u);
  EXPECT_EQ(bytes.draftPerBlock, 33792u);
  EXPECT_EQ(bytes.layers * (bytes.kvPerBlock + bytes.indexPerBlock), 1658880u);
  EXPECT_EQ(bytes.layers * (bytes.kvPerBlock + bytes.indexPerBlock) +
                bytes.draftLayers * bytes.draftPerBlock,
            1827840u);
  EXPECT_EQ(bytes.layers * (bytes.fp8KvPerBlock + bytes.fp8IndexPerBlock) +
                bytes.draftLayers * bytes.draftPerBlock,
            3179520u);
}

// KV heads scale K and V, not the index key, which has one head (P1).
TEST(CacheBytes, ScalesWithKvHeads) {
  nvfp4rt::CacheBytes tp4 = cacheBytes(specOf("minimax_m3_1_tp4_bf16"));
  nvfp4rt::CacheBytes tp1 = cacheBytes(specOf("minimax_m3_1_tp1_bf16"));
  EXPECT_EQ(tp1.kvPerBlock, 4 * tp4.kvPerBlock);
  EXPECT_EQ(tp1.indexPerBlock, tp4.indexPerBlock);
}

TEST(CacheBytes, CountsOnlyStoredPlanes) {
  Spec spec = specOf("minimax_m3_1_tp4_bf16");
  spec.cache.planes = {Plane::IndexK};
  EXPECT_EQ(cacheBytes(spec).kvPerBlock, 0u);
  EXPECT_EQ(cacheBytes(spec).indexPerBlock, 9216u);
  spec.cache.planes = {Plane::V};
  EXPECT_EQ(cacheBytes(spec).kvPerBlock, 9216u);
  EXPECT_EQ(cacheBytes(spec).indexPerBlock, 0u);
}

} // namespace
} // namespace nvfp4gen
