//===- ManyTest.cpp - many devices, threads, streams and bundles ------------===//
//
// On eight emulated devices, in the binary that ThreadSanitizer runs: a frozen
// bundle is used from sixteen threads without a lock of its own.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"
#include "tests/runtime/LaunchFixture.h"

#include <atomic>
#include <functional>
#include <thread>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

constexpr int kDevices = 8, kThreads = 16;
const char *const kStepNames[] = {"phase", "query_len", "requests"};

/// The emulator with eight devices; it looks at its environment once.
class Many : public testing::Test {
protected:
  Many() : library(EMULATOR_LIBRARY) {
    setenv("GFX950EMU_DEVICES", std::to_string(kDevices).c_str(), 1);
    setenv("GFX950EMU_THREADS", "1", 1);
  }
  void SetUp() override {
    Result<HipApi> loaded = HipApi::load();
    ASSERT_TRUE(loaded) << loaded.error().message;
    hip = std::move(*loaded);
    int count = 0;
    ASSERT_EQ(hip.hipGetDeviceCount(&count), 0);
    ASSERT_EQ(count, kDevices);
  }
  /// On every device, and frozen.
  static nvfp4rt_bundle *openBundle(const Manifest &manifest) {
    const ByteVector bytes = bundleWith(manifest);
    nvfp4rt_bundle *bundle = nullptr;
    EXPECT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK)
        << nvfp4rt_last_error();
    for (int device = 0; device < kDevices; ++device)
      EXPECT_EQ(nvfp4rt_bundle_load(bundle, device), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    return bundle;
  }
  /// `body(thread, device, stream)` on every thread, the device current and the stream its own.
  void onThreads(const std::function<void(int, int, void *)> &body) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        const int device = thread % kDevices;
        void *stream = nullptr;
        EXPECT_EQ(hip.hipSetDevice(device), 0);
        EXPECT_EQ(hip.hipStreamCreate(&stream), 0);
        body(thread, device, stream);
        EXPECT_EQ(hip.hipStreamSynchronize(stream), 0);
        EXPECT_EQ(hip.hipStreamDestroy(stream), 0);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  HipLibrary library;
  HipApi hip;
};

const char *variantOf(int64_t requests) {
  return requests == 1 ? "decode_b1" : requests <= 8 ? "decode_b8" : "decode_b48";
}

} // namespace

TEST_F(Many, ThreadsPlanAndLaunchOnTheirStreamsAndDevices) {
  nvfp4rt_bundle *bundle = openBundle(testManifest(testObject("good")));
  const nvfp4rt_field dtype = symbol("dtype", "bf16");
  nvfp4rt_selector *selector = nullptr;
  ASSERT_EQ(nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, kStepNames, 3, &selector),
            NVFP4RT_OK);
  std::atomic<int> launched = 0;
  onThreads([&](int thread, int device, void *stream) {
    for (int step = 0; step < 60; ++step) {
      const int64_t requests = 1 + (step * 7 + thread) % 48;
      const int64_t values[] = {0, 1, requests};
      nvfp4rt_plan *plan = nullptr, *same = nullptr;
      const auto fields = decode(requests);
      ASSERT_EQ(nvfp4rt_selector_plan(selector, device, values, &plan), NVFP4RT_OK);
      ASSERT_EQ(
          nvfp4rt_plan_create(bundle, device, "kv_store", fields.data(), fields.size(), &same),
          NVFP4RT_OK);
      EXPECT_EQ(plan, same);
      EXPECT_STREQ(nvfp4rt_plan_variant(plan), variantOf(requests));
      const nvfp4rt_kv_store_args args = argsFor(static_cast<uint32_t>(1 + step % 3));
      EXPECT_EQ(nvfp4rt_launch(plan, &args, stream), NVFP4RT_OK) << nvfp4rt_last_error();
      // Failures are of the thread that made them.
      EXPECT_EQ(nvfp4rt_launch(plan, nullptr, stream), NVFP4RT_ERROR_INVALID_ARGUMENT);
      expectMessage(std::string("launch of ") + variantOf(requests) + ": args");
      nvfp4rt_plan_destroy(plan);
      nvfp4rt_plan_destroy(same);
      ++launched;
    }
  });
  EXPECT_EQ(launched, kThreads * 60);
  nvfp4rt_selector_destroy(selector);
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
}

TEST_F(Many, PlansOfADeviceDoNotRunOnAnother) {
  nvfp4rt_bundle *bundle = openBundle(testManifest(testObject("good")));
  const auto fields = decode(1);
  nvfp4rt_plan *plan = nullptr;
  ASSERT_EQ(nvfp4rt_plan_create(bundle, 5, "kv_store", fields.data(), fields.size(), &plan),
            NVFP4RT_OK);
  const nvfp4rt_kv_store_args args = argsFor(1);
  ASSERT_EQ(hip.hipSetDevice(5), 0);
  EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_OK) << nvfp4rt_last_error();
  EXPECT_EQ(hip.hipDeviceSynchronize(), 0);
  ASSERT_EQ(hip.hipSetDevice(4), 0);
  EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_ERROR_HIP); // the emulator says so
  (void)hip.hipGetLastError();
  ASSERT_EQ(hip.hipSetDevice(0), 0);
  nvfp4rt_plan_destroy(plan);
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
}

TEST_F(Many, TwoBundlesAtOnce) {
  Manifest second = testManifest(testObject("good"));
  for (Variant &variant : second.variants)
    variant.name = "second_" + variant.name;
  nvfp4rt_bundle *bundles[] = {openBundle(testManifest(testObject("good"))), openBundle(second)};
  onThreads([&](int thread, int device, void *stream) {
    for (int step = 0; step < 20; ++step) {
      nvfp4rt_plan *plan = nullptr;
      const auto fields = decode(3);
      const int which = (thread + step) % 2;
      ASSERT_EQ(nvfp4rt_plan_create(bundles[which], device, "kv_store", fields.data(),
                                    fields.size(), &plan),
                NVFP4RT_OK);
      EXPECT_STREQ(nvfp4rt_plan_variant(plan), which ? "second_decode_b8" : "decode_b8");
      const nvfp4rt_kv_store_args args = argsFor(1);
      EXPECT_EQ(nvfp4rt_launch(plan, &args, stream), NVFP4RT_OK) << nvfp4rt_last_error();
      nvfp4rt_plan_destroy(plan);
    }
  });
  // One goes, the other stays.
  EXPECT_EQ(nvfp4rt_bundle_close(bundles[0]), NVFP4RT_OK) << nvfp4rt_last_error();
  nvfp4rt_plan *plan = nullptr;
  const auto fields = verify(4, 3);
  ASSERT_EQ(nvfp4rt_plan_create(bundles[1], 0, "kv_store", fields.data(), fields.size(), &plan),
            NVFP4RT_OK);
  const nvfp4rt_kv_store_args args = argsFor(1);
  EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_OK) << nvfp4rt_last_error();
  EXPECT_EQ(hip.hipDeviceSynchronize(), 0);
  nvfp4rt_plan_destroy(plan);
  EXPECT_EQ(nvfp4rt_bundle_close(bundles[1]), NVFP4RT_OK) << nvfp4rt_last_error();
}

// The last thread to drop its plan lets the bundle go, and nothing of it is touched afterwards.
TEST_F(Many, ABundleClosedWhilePlansAreDropped) {
  for (int round = 0; round < 20; ++round) {
    nvfp4rt_bundle *bundle = openBundle(testManifest(testObject("good")));
    std::vector<nvfp4rt_plan *> plans(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      const auto fields = decode(1 + thread % 3);
      ASSERT_EQ(nvfp4rt_plan_create(bundle, thread % kDevices, "kv_store", fields.data(),
                                    fields.size(), &plans[static_cast<size_t>(thread)]),
                NVFP4RT_OK);
    }
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_ERROR_IN_USE);
    expectMessage("found 16");
    std::vector<std::thread> threads;
    for (nvfp4rt_plan *plan : plans)
      threads.emplace_back([plan] {
        const nvfp4rt_kv_store_args none = argsFor(0);
        EXPECT_EQ(nvfp4rt_launch(plan, &none, nullptr), NVFP4RT_OK);
        nvfp4rt_plan_destroy(plan);
      });
    nvfp4rt_status status = NVFP4RT_ERROR_IN_USE;
    while ((status = nvfp4rt_bundle_close(bundle)) == NVFP4RT_ERROR_IN_USE)
      std::this_thread::yield();
    EXPECT_EQ(status, NVFP4RT_OK) << nvfp4rt_last_error();
    for (std::thread &thread : threads)
      thread.join();
  }
}
