//===- OutOfMemoryTest.cpp - every allocation of a bundle's life, failing ---===//
//
// One after the other finds no memory: a typed error and no abort, nothing stays
// loaded, and the bundle can be closed.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/Interpose.h"
#include "tests/runtime/LaunchFixture.h"

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

/// The first status that is not OK of a life that ends at it.
nvfp4rt_status life(const ByteVector &bytes) {
  nvfp4rt_bundle *bundle = nullptr;
  nvfp4rt_selector *selector = nullptr;
  nvfp4rt_plan *plan = nullptr;
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  const char *names[] = {"phase", "query_len", "requests"};
  const int64_t values[] = {0, 1, 1};
  size_t length = 0;
  nvfp4rt_status status = nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle);
  if (status == NVFP4RT_OK)
    status = nvfp4rt_bundle_load(bundle, 0);
  if (status == NVFP4RT_OK)
    status = nvfp4rt_bundle_freeze(bundle);
  if (status == NVFP4RT_OK)
    status = nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, names, 3, &selector);
  if (status == NVFP4RT_OK)
    status = nvfp4rt_selector_plan(selector, 0, values, &plan);
  if (status == NVFP4RT_OK)
    status = nvfp4rt_explain(bundle, "kv_store", &dtype, 1, nullptr, 0, &length);
  nvfp4rt_plan_destroy(plan);
  nvfp4rt_selector_destroy(selector);
  const nvfp4rt_status closed = nvfp4rt_bundle_close(bundle);
  return status == NVFP4RT_OK ? closed : status;
}

} // namespace

TEST(OutOfMemory, EachAllocationInTurn) {
  const HipLibrary library(HIP_SHIM_PATH); // which allocates out of sight
  const ByteVector bytes = goodBundle();
  ASSERT_EQ(life(bytes), NVFP4RT_OK) << nvfp4rt_last_error();
  watchCalls();
  ASSERT_EQ(life(bytes), NVFP4RT_OK);
  const uint64_t allocations = stopWatching().allocations;
  EXPECT_GT(allocations, 100u);
  uint64_t outOfMemory = 0;
  for (uint64_t number = 1; number <= allocations; ++number) {
    failAllocation(number);
    watchCalls();
    const nvfp4rt_status status = life(bytes);
    const Calls calls = stopWatching();
    failAllocation(0);
    EXPECT_GE(calls.allocations, number);
    // A library that is open already is opened again without memory; other code does without, too.
    EXPECT_TRUE(status == NVFP4RT_ERROR_OUT_OF_MEMORY || status == NVFP4RT_OK ||
                status == NVFP4RT_ERROR_NO_HIP_LIBRARY)
        << number << ": " << nvfp4rt_status_name(status) << ": " << nvfp4rt_last_error();
    outOfMemory += status == NVFP4RT_ERROR_OUT_OF_MEMORY;
  }
  EXPECT_GT(outOfMemory, allocations / 2);
  EXPECT_EQ(life(bytes), NVFP4RT_OK) << nvfp4rt_last_error();
}
