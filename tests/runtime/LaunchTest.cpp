//===- LaunchTest.cpp - load, plan and launch through a fake HIP ------------===//
//
// Through the C interface: what reaches HIP, what a no-match says (G4), what is
// undone when a HIP call fails, and that a launch is one HIP call (G6).
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/LaunchFixture.h"

#include <algorithm>
#include <thread>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

using Launch = LaunchFixture;

TEST_F(Launch, OpeningMakesNoHipCall) { EXPECT_TRUE(fake->calls.empty()); }

TEST_F(Launch, LoadTakesEveryKernelAndRestoresTheDevice) {
  fake->arch[1] = "gfx950";
  fake->currentDevice = 0;
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_OK) << nvfp4rt_last_error();
  EXPECT_EQ(fake->currentDevice, 0);
  EXPECT_EQ(fake->loadedModules, 1u);
  EXPECT_EQ(std::ranges::count(fake->calls, "hipModuleGetFunction"), 2);
  EXPECT_EQ(std::memcmp(fake->image.data(), ELFMAG, SELFMAG), 0);
  fake->calls.clear();
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_OK); // again: nothing to do
  EXPECT_TRUE(fake->calls.empty());
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK);
  EXPECT_EQ(fake->loadedModules, 2u);
}

TEST_F(Launch, LoadRefusesDevicesThatAreNotThere) {
  for (int device : {-1, 2, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(nvfp4rt_bundle_load(bundle, device), NVFP4RT_ERROR_NO_DEVICE);
    expectMessage("device: expected one of the 2 that");
  }
  fake->deviceCount = 0;
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_ERROR_NO_DEVICE);
}

TEST_F(Launch, LoadRefusesAnotherArchitecture) {
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_ERROR_WRONG_ARCH);
  expectMessage("architecture of device 1: expected gfx950, found gfx942");
  EXPECT_EQ(fake->loadedModules, 0u);
  fake->arch[1] = "gfx9500"; // a prefix is not a match
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_ERROR_WRONG_ARCH);
}

TEST_F(Launch, EachFailingHipCallOfALoadLeavesNothingBehind) {
  for (const char *call : {"hipGetDeviceCount", "hipGetDevicePropertiesR0600", "hipGetDevice",
                           "hipSetDevice", "hipModuleLoadData", "hipModuleGetFunction"}) {
    fake->failingCall = call;
    EXPECT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_ERROR_HIP) << call;
    expectMessage("found error 999 hipErrorUnknown (injected by the test) from ");
    EXPECT_EQ(fake->loadedModules, 0u) << call;
    EXPECT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_ERROR_NO_DEVICE) << call;
    fake->failingCall.clear();
  }
  load(); // and it can be tried again
}

TEST_F(Launch, AFailedUnloadIsReported) {
  load();
  fake->failingCall = "hipModuleUnload";
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_ERROR_HIP);
  bundle = nullptr;
  expectMessage("hipModuleUnload: expected success, found error 999");
}

TEST_F(Launch, PlanPicksTheVariantWhoseGuardHolds) {
  load();
  const struct {
    std::vector<nvfp4rt_field> fields;
    const char *variant, *kernel;
    size_t workspace;
  } cases[] = {
      {decode(1), "decode_b1", "kernel_a", 256 + 64 * 1},
      {decode(2), "decode_b8", "kernel_a", 256 + 64 * 8},
      {decode(8), "decode_b8", "kernel_a", 256 + 64 * 8},
      {decode(9), "decode_b48", "kernel_a", 256 + 64 * 48},
      {decode(48), "decode_b48", "kernel_a", 256 + 64 * 48},
      {verify(4, 1), "verify_b48", "kernel_b", 256 + 64 * 48},
      {verify(8, 48), "verify_b48", "kernel_b", 256 + 64 * 48},
  };
  for (const auto &test : cases) {
    ASSERT_EQ(makePlan(test.fields), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_STREQ(nvfp4rt_plan_variant(plan), test.variant);
    EXPECT_STREQ(nvfp4rt_plan_symbol(plan), test.kernel);
    EXPECT_EQ(nvfp4rt_plan_workspace_bytes(plan), test.workspace);
  }
}

// G4: the nearest variant is the one with the most passed terms, then the closest bound.
TEST_F(Launch, NoMatchNamesTheNearestVariant) {
  load();
  EXPECT_EQ(makePlan(decode(49)), NVFP4RT_ERROR_NO_MATCH);
  EXPECT_EQ(plan, nullptr);
  expectMessage("bundle in memory (");
  expectMessage(
      "family kv_store: no variant serves the request (phase = decode, query_len = 1, "
      "requests = 49, dtype = bf16); nearest is decode_b48: expected requests in [9, 48], "
      "found 49; of all:\n"
      "decode_b1: expected requests in [1, 1], found 49\n"
      "decode_b8: expected requests in [2, 8], found 49\n"
      "decode_b48: expected requests in [9, 48], found 49\n"
      "verify_b48: expected phase == verify, found decode\n");
  EXPECT_EQ(makePlan(decode(0)), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("nearest is decode_b1: expected requests in [1, 1], found 0");
  EXPECT_EQ(makePlan(decode(INT64_MIN)), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("nearest is decode_b1: expected requests in [1, 1], found -9223372036854775808");
  EXPECT_EQ(makePlan(verify(7, 8)), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("nearest is verify_b48: expected query_len in {4, 8}, found 7");
  std::vector<nvfp4rt_field> half = decode(3);
  half[3] = symbol("dtype", "fp16");
  EXPECT_EQ(makePlan(half), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("nearest is decode_b8: expected dtype == bf16, found fp16");
}

// G1: fields are never ignored.
TEST_F(Launch, RequestsWithOtherFieldsThanTheGuards) {
  load();
  std::vector<nvfp4rt_field> more = decode(1);
  more.push_back(integer("top_k", 16));
  EXPECT_EQ(makePlan(more), NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("expected fields that its guards know, found top_k");
  std::vector<nvfp4rt_field> fewer = decode(1);
  fewer.pop_back();
  EXPECT_EQ(makePlan(fewer), NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("expected a value of dtype, found none");
  more.back() = integer("topk", 16);
  EXPECT_EQ(makePlan(more), NVFP4RT_ERROR_UNKNOWN_FIELD);
  expectMessage("found 'topk'");
  EXPECT_EQ(makePlan({}), NVFP4RT_ERROR_UNKNOWN_FIELD);
  EXPECT_EQ(makePlan(decode(1), "attention"), NVFP4RT_ERROR_NO_MATCH);
  expectMessage("family: expected one of kv_store, found attention");
}

TEST_F(Launch, GridBlockAndArgumentsReachHip) {
  load();
  ASSERT_EQ(makePlan(decode(48)), NVFP4RT_OK);
  int stream = 0;
  ASSERT_EQ(launch(10, &stream), NVFP4RT_OK) << nvfp4rt_last_error();
  ASSERT_EQ(fake->launches.size(), 1u);
  const FakeLaunch &a = fake->launches[0];
  EXPECT_EQ(a.kernel, "kernel_a");
  EXPECT_EQ(std::vector<unsigned>(a.grid, a.grid + 3), (std::vector<unsigned>{8, 1, 1})); // 10*3/4
  EXPECT_EQ(std::vector<unsigned>(a.block, a.block + 3), (std::vector<unsigned>{256, 1, 1}));
  EXPECT_EQ(a.sharedBytes, 0u);
  EXPECT_EQ(a.stream, &stream);
  const nvfp4rt_kv_store_args sent = argsFor(10);
  ASSERT_EQ(a.args.size(), sizeof(sent) - 8); // all but struct_size
  EXPECT_EQ(std::memcmp(a.args.data(), &sent.k, a.args.size()), 0);

  ASSERT_EQ(makePlan(verify(8, 48)), NVFP4RT_OK);
  ASSERT_EQ(launch(65535), NVFP4RT_OK);
  const FakeLaunch &b = fake->launches[1];
  EXPECT_EQ(b.kernel, "kernel_b");
  EXPECT_EQ(std::vector<unsigned>(b.grid, b.grid + 3), (std::vector<unsigned>{7, 65535, 2}));
  EXPECT_EQ(std::vector<unsigned>(b.block, b.block + 3), (std::vector<unsigned>{64, 2, 1}));
}

TEST_F(Launch, GridRoundsUp) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  const std::pair<uint32_t, unsigned> cases[] = {{1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {8, 6}};
  for (const auto &[rows, expected] : cases) {
    ASSERT_EQ(launch(rows), NVFP4RT_OK);
    EXPECT_EQ(fake->launches.back().grid[0], expected) << rows; // ceil(rows * 3 / 4)
  }
}

TEST_F(Launch, NoRowsLaunchNothing) {
  load();
  for (const auto &fields : {decode(1), verify(8, 48)}) {
    ASSERT_EQ(makePlan(fields), NVFP4RT_OK);
    EXPECT_EQ(launch(0), NVFP4RT_OK);
  }
  EXPECT_TRUE(fake->launches.empty());
}

// rows * mul does not wrap at 2^32, and each axis has its limit.
TEST_F(Launch, GridLimits) {
  Manifest manifest = testManifest(testObject("good"));
  manifest.kernels[0].grid[0] = {"rows", 1, 1};
  open(manifest);
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  // 256 work-items a workgroup, 2^32 - 1 work-items in all.
  EXPECT_EQ(launch(16777215), NVFP4RT_OK);
  EXPECT_EQ(fake->launches.back().grid[0], 16777215u);
  EXPECT_EQ(launch(16777216), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage(
      "launch of decode_b1: workgroups along x: expected at most 16777215, found 16777216");
  ASSERT_EQ(makePlan(verify(8, 1)), NVFP4RT_OK);
  EXPECT_EQ(launch(65536), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("launch of verify_b48: workgroups along y: expected at most 65535, found 65536");

  manifest.kernels[0].grid[0] = {"rows", UINT32_MAX, UINT32_MAX};
  open(manifest);
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  EXPECT_EQ(launch(1000), NVFP4RT_OK);
  EXPECT_EQ(fake->launches.back().grid[0], 1000u);
  EXPECT_EQ(launch(UINT32_MAX), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("found 4294967295");

  manifest.kernels[0].grid[0] = {"rows", UINT32_MAX, 1};
  open(manifest);
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  EXPECT_EQ(launch(2), NVFP4RT_ERROR_INVALID_ARGUMENT); // 2^33 - 2, which is 2^32 - 2 if it wraps
  expectMessage("found 8589934590");
}

TEST_F(Launch, BadArguments) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  nvfp4rt_kv_store_args args = argsFor(1);
  EXPECT_EQ(nvfp4rt_launch(nullptr, &args, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("nvfp4rt_launch: plan: expected a pointer, found NULL");
  EXPECT_EQ(nvfp4rt_launch(plan, nullptr, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("launch of decode_b1: args: expected the argument struct, found NULL");
  for (uint64_t size : {uint64_t{0}, sizeof(args) - 8, sizeof(args) + 8, UINT64_MAX}) {
    args.struct_size = size;
    EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_ERROR_ARGS_LAYOUT);
    expectMessage("launch of decode_b1: args.struct_size: expected 312, found " +
                  std::to_string(size));
  }
  args = argsFor(1);
  args.reserved = 7;
  EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("args.reserved: expected 0, found 7");
  EXPECT_TRUE(fake->launches.empty());
}

TEST_F(Launch, AFailedLaunchIsReported) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  fake->failingCall = "hipModuleLaunchKernel";
  EXPECT_EQ(launch(1), NVFP4RT_ERROR_HIP);
  expectMessage("hipModuleLaunchKernel of decode_b1: expected success, found error 999 "
                "hipErrorUnknown (injected by the test)");
}

TEST_F(Launch, ALaunchMakesNoOtherHipCall) { // G6
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  fake->calls.clear();
  for (uint32_t rows = 0; rows < 100; ++rows)
    ASSERT_EQ(launch(rows), NVFP4RT_OK);
  EXPECT_TRUE(fake->calls.empty());
  EXPECT_EQ(fake->launches.size(), 99u);
}

TEST_F(Launch, LastErrorIsOfTheThread) {
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 7), NVFP4RT_ERROR_NO_DEVICE);
  std::thread([] { EXPECT_STREQ(nvfp4rt_last_error(), ""); }).join();
  expectMessage("found 7");
}
