//===- LifeCycleTest.cpp - load, freeze, plan, close, in order and out of it ===//
//
// Through the C interface on a fake HIP: what is refused when, whose plans are
// whose, and that a bundle in use is not closed.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/LaunchFixture.h"

#include <algorithm>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

using LifeCycle = LaunchFixture;

const char *const kStepNames[] = {"phase", "query_len", "requests"};

struct DestroySelector {
  void operator()(nvfp4rt_selector *selector) const { nvfp4rt_selector_destroy(selector); }
};

} // namespace

TEST_F(LifeCycle, PlansNeedAFrozenBundle) {
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK);
  EXPECT_EQ(makePlan(decode(1)), NVFP4RT_ERROR_NOT_FROZEN);
  expectMessage("nvfp4rt_plan_create: expected a frozen bundle (nvfp4rt_bundle_freeze), found one "
                "that is not");
  EXPECT_EQ(plan, nullptr);
  nvfp4rt_selector *selector = nullptr;
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  EXPECT_EQ(nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, kStepNames, 3, &selector),
            NVFP4RT_ERROR_NOT_FROZEN);
  EXPECT_EQ(selector, nullptr);
  ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK);
  EXPECT_EQ(makePlan(decode(1)), NVFP4RT_OK) << nvfp4rt_last_error();
}

TEST_F(LifeCycle, FreezingNeedsADevice) {
  EXPECT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_ERROR_NO_DEVICE);
  expectMessage("freeze: expected it loaded on a device at least, found none");
  load(); // and can be made up for
}

TEST_F(LifeCycle, NothingIsLoadedAfterFreezing) {
  fake->arch[1] = "gfx950";
  load();
  fake->calls.clear();
  for (int device : {0, 1, 7}) {
    EXPECT_EQ(nvfp4rt_bundle_load(bundle, device), NVFP4RT_ERROR_FROZEN);
    expectMessage("load on device " + std::to_string(device) +
                  ": expected a bundle that is not frozen, found it frozen");
  }
  EXPECT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK); // again: nothing to do
  EXPECT_TRUE(fake->calls.empty());
  EXPECT_EQ(fake->loadedModules, 1u);
}

TEST_F(LifeCycle, EachDeviceHasItsPlans) {
  fake->arch[1] = "gfx950";
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_OK);
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  nvfp4rt_plan *other = nullptr, *again = nullptr;
  const auto fields = decode(1);
  ASSERT_EQ(nvfp4rt_plan_create(bundle, 1, "kv_store", fields.data(), fields.size(), &other),
            NVFP4RT_OK);
  ASSERT_EQ(nvfp4rt_plan_create(bundle, 1, "kv_store", fields.data(), fields.size(), &again),
            NVFP4RT_OK);
  EXPECT_NE(plan, other);
  EXPECT_EQ(other, again); // prebuilt: the same one is handed out
  EXPECT_STREQ(nvfp4rt_plan_variant(plan), nvfp4rt_plan_variant(other));
  const nvfp4rt_kv_store_args args = argsFor(4);
  ASSERT_EQ(nvfp4rt_launch(other, &args, nullptr), NVFP4RT_OK);
  ASSERT_EQ(launch(4), NVFP4RT_OK);
  ASSERT_EQ(fake->launches.size(), 2u);
  EXPECT_NE(fake->launches[0].function, fake->launches[1].function); // of the device's module
  EXPECT_EQ(fake->launches[0].kernel, fake->launches[1].kernel);
  nvfp4rt_plan_destroy(other);
  nvfp4rt_plan_destroy(again);
  EXPECT_EQ(nvfp4rt_plan_create(bundle, 2, "kv_store", fields.data(), fields.size(), &other),
            NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("device: expected one that it is loaded on (1, 0), found 2");
  EXPECT_EQ(other, nullptr);
}

TEST_F(LifeCycle, ABundleWithLivePlansIsNotClosed) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  nvfp4rt_plan *second = nullptr;
  const auto fields = decode(1);
  ASSERT_EQ(nvfp4rt_plan_create(bundle, 0, "kv_store", fields.data(), fields.size(), &second),
            NVFP4RT_OK);
  for (int live : {2, 1}) {
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_ERROR_IN_USE);
    expectMessage("close: expected no plan or selector alive, found " + std::to_string(live));
    EXPECT_EQ(fake->loadedModules, 1u);
    EXPECT_EQ(launch(3), NVFP4RT_OK) << nvfp4rt_last_error(); // and works as before
    if (live == 2)
      nvfp4rt_plan_destroy(second);
  }
  EXPECT_EQ(fake->launches.size(), 2u);
  dropPlan();
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  bundle = nullptr;
}

TEST_F(LifeCycle, APlanDestroyedTooOftenDoesNotWrapItsCount) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  nvfp4rt_plan_destroy(plan);
  nvfp4rt_plan_destroy(plan);
  plan = nullptr;
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  bundle = nullptr;
}

TEST_F(LifeCycle, ABundleThatWasNeverLoadedCloses) {
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK);
  bundle = nullptr;
  EXPECT_TRUE(fake->calls.empty());
}

TEST_F(LifeCycle, ASelectorFindsWhatARequestFinds) {
  load();
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  nvfp4rt_selector *made = nullptr;
  ASSERT_EQ(nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, kStepNames, 3, &made),
            NVFP4RT_OK)
      << nvfp4rt_last_error();
  const std::unique_ptr<nvfp4rt_selector, DestroySelector> selector(made);
  const char *phases[] = {"decode", "verify", "prefill"};
  for (int64_t phase = 0; phase < 4; ++phase)
    for (int64_t queryLen : {-1, 0, 1, 2, 4, 7, 8, 9})
      for (int64_t requests : {INT64_MIN, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{8},
                               int64_t{9}, int64_t{48}, int64_t{49}, INT64_MAX}) {
        const int64_t values[] = {phase, queryLen, requests};
        nvfp4rt_plan *found = nullptr;
        const nvfp4rt_status status = nvfp4rt_selector_plan(selector.get(), 0, values, &found);
        const std::string message = status ? nvfp4rt_last_error() : "";
        if (phase == 3) { // no symbol has this value
          EXPECT_EQ(status, NVFP4RT_ERROR_NO_MATCH);
          continue;
        }
        EXPECT_EQ(makePlan({symbol("phase", phases[phase]), integer("query_len", queryLen),
                            integer("requests", requests), dtype}),
                  status);
        EXPECT_EQ(found, plan);
        if (status)
          EXPECT_EQ(message, nvfp4rt_last_error());
        nvfp4rt_plan_destroy(found);
      }
}

TEST_F(LifeCycle, ASelectorKeepsTheBundleOpen) {
  load();
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  nvfp4rt_selector *selector = nullptr;
  ASSERT_EQ(nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, kStepNames, 3, &selector),
            NVFP4RT_OK);
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_ERROR_IN_USE);
  nvfp4rt_selector_destroy(selector);
}

TEST_F(LifeCycle, SelectorsOfWrongFields) {
  load();
  const auto create = [&](const char *family, std::vector<nvfp4rt_field> fields,
                          std::vector<const char *> names) {
    auto *selector = reinterpret_cast<nvfp4rt_selector *>(1);
    const nvfp4rt_status status = nvfp4rt_selector_create(
        bundle, family, fields.data(), fields.size(), names.data(), names.size(), &selector);
    EXPECT_EQ(selector, nullptr);
    return status;
  };
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  EXPECT_EQ(create("kv_store", {dtype}, {"phase", "query_len"}), NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("expected a value of requests, found none");
  EXPECT_EQ(create("kv_store", {dtype}, {"phase", "query_len", "requests", "top_k"}),
            NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("expected fields that its guards know, found top_k");
  EXPECT_EQ(create("kv_store", {dtype}, {"phase", "query_len", "request"}),
            NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("found 'request'");
  EXPECT_EQ(create("kv_store", {dtype}, {"phase", "query_len", "requests", "dtype"}),
            NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("names[3]: 'dtype' is given twice");
  EXPECT_EQ(create("kv_store", {dtype}, {"phase", nullptr}), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("names[1]: expected a pointer, found NULL");
  EXPECT_EQ(create("topk", {dtype}, {"phase", "query_len", "requests"}), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("family: expected one of kv_store, found topk");
}

TEST_F(LifeCycle, ASelectorWithoutNames) {
  load();
  const auto fields = verify(4, 7);
  nvfp4rt_selector *selector = nullptr;
  ASSERT_EQ(nvfp4rt_selector_create(bundle, "kv_store", fields.data(), fields.size(), nullptr, 0,
                                    &selector),
            NVFP4RT_OK)
      << nvfp4rt_last_error();
  ASSERT_EQ(nvfp4rt_selector_plan(selector, 0, nullptr, &plan), NVFP4RT_OK);
  EXPECT_STREQ(nvfp4rt_plan_variant(plan), "verify_b48");
  auto *none = reinterpret_cast<nvfp4rt_plan *>(1);
  EXPECT_EQ(nvfp4rt_selector_plan(selector, 1, nullptr, &none), NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  nvfp4rt_selector_destroy(selector);
}
