//===- LaunchTest.cpp - kernel launches, their refusals and their faults ----===//

#include "tests/tools/hip/HipClient.h"

#include "tools/gfx950emu/hip/gfx950emu_hip.h"

#include <cstdlib>

// The endless loop of one test ends here, and no other kernel comes near. Set before main(), as the
// library reads it at the first call.
static const int budgetSet = setenv("GFX950EMU_MAX_INSTRUCTIONS", "200000", 1);

namespace {

constexpr unsigned elements = 1000; // 15 full blocks and a partial one

struct VectorAdd : HipClientTest {
  void SetUp() override {
    HipClientTest::SetUp();
    for (unsigned i = 0; i < elements; ++i) {
      a.push_back(float(i) - 500.0f);
      b.push_back(0.25f * float(i));
      expected.push_back(3.0f * a[i] + b[i]); // exact in fp32
    }
  }
  std::vector<float> a, b, expected;
};

TEST_F(VectorAdd, KernelParams) {
  DeviceBuffer<float> da(a), db(b), out(std::vector<float>(elements, -1.0f));
  unsigned n = elements;
  float scale = 3.0f;
  void *params[] = {&da.data, &n, &db.data, &out.data, &scale};
  HIP_OK(
      hipModuleLaunchKernel(kernel("vector_add"), 16, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(out.get(), expected);
}

struct VectorAddArgs {
  const float *a;
  unsigned n;
  const float *b;
  float *out;
  float scale;
};

TEST_F(VectorAdd, ExtraBuffer) {
  DeviceBuffer<float> da(a), db(b), out(std::vector<float>(elements, -1.0f));
  VectorAddArgs args{da.data, elements, db.data, out.data, 3.0f};
  size_t size = sizeof args; // 40: four bytes of padding after the kernel's 36
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  HIP_OK(
      hipModuleLaunchKernel(kernel("vector_add"), 16, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  HIP_OK(hipStreamSynchronize(nullptr));
  EXPECT_EQ(out.get(), expected);
}

TEST_F(VectorAdd, ExtraBufferRefusals) {
  DeviceBuffer<float> da(a), db(b), out(std::vector<float>(elements, -1.0f));
  VectorAddArgs args{da.data, elements, db.data, out.data, 3.0f};
  hipFunction_t function = kernel("vector_add");
  auto launchWith = [&](std::vector<void *> extra) {
    return hipModuleLaunchKernel(function, 16, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra.data());
  };
  size_t exact = 36, tooShort = 35, tooLong = 49;
  void *pointer = HIP_LAUNCH_PARAM_BUFFER_POINTER, *size = HIP_LAUNCH_PARAM_BUFFER_SIZE,
       *end = HIP_LAUNCH_PARAM_END;
  EXPECT_EQ(launchWith({pointer, &args, size, &tooShort, end}), hipErrorInvalidValue);
  EXPECT_EQ(launchWith({pointer, &args, size, &tooLong, end}), hipErrorInvalidValue);
  EXPECT_EQ(launchWith({size, &exact, pointer, &args, end}), hipErrorInvalidValue);
  EXPECT_EQ(launchWith({pointer, &args, size, &exact, pointer}), hipErrorInvalidValue);
  EXPECT_EQ(launchWith({pointer, nullptr, size, &exact, end}), hipErrorInvalidValue);
  EXPECT_EQ(launchWith({pointer, &args, size, nullptr, end}), hipErrorInvalidValue);
  EXPECT_EQ(out.get(), std::vector<float>(elements, -1.0f));
  HIP_OK(launchWith({pointer, &args, size, &exact, end}));
  EXPECT_EQ(out.get(), expected);
}

struct Launch : HipClientTest {};

TEST_F(Launch, HiddenArgumentsAreFilled) {
  DeviceBuffer<unsigned> out({0, 0});
  void *params[] = {&out.data};
  HIP_OK(hipModuleLaunchKernel(kernel("hidden_arguments"), 7, 1, 1, 128, 1, 1, 0, nullptr, params,
                               nullptr));
  EXPECT_EQ(out.get(), (std::vector<unsigned>{7, 128}));
}

TEST_F(Launch, ArgumentsMayBeAbsentOnlyWhenThereAreNone) {
  HIP_OK(hipModuleLaunchKernel(kernel("no_arguments"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr,
                               nullptr));
  EXPECT_EQ(hipModuleLaunchKernel(kernel("add_constant"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr,
                                  nullptr),
            hipErrorInvalidValue);
  DeviceBuffer<unsigned> data({1});
  unsigned n = 1;
  EXPECT_EQ(launch(kernel("add_constant"), {&data.data, &n, nullptr}), hipErrorInvalidValue);
  EXPECT_EQ(data.get(), std::vector<unsigned>{1});
  unsigned delta = 4;
  HIP_OK(launch(kernel("add_constant"), {&data.data, &n, &delta}));
  EXPECT_EQ(data.get(), std::vector<unsigned>{5});
}

TEST_F(Launch, BothArgumentFormsAtOnceAreRefused) {
  void *params[] = {nullptr}, *extra[] = {HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(
      hipModuleLaunchKernel(kernel("no_arguments"), 1, 1, 1, 64, 1, 1, 0, nullptr, params, extra),
      hipErrorInvalidValue);
}

TEST_F(Launch, GeometryLimits) {
  hipFunction_t none = kernel("no_arguments");
  auto geometry = [&](unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz) {
    return hipModuleLaunchKernel(none, gx, gy, gz, bx, by, bz, 0, nullptr, nullptr, nullptr);
  };
  HIP_OK(geometry(1, 1, 1, 1024, 1, 1));
  HIP_OK(geometry(2, 2, 2, 16, 8, 8));
  EXPECT_EQ(geometry(1, 1, 1, 1025, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(1, 1, 1, 32, 32, 2), hipErrorInvalidValue);
  // 2^22 * 2^21 * 2^21 = 2^64 threads, which is 0 in 64 bits.
  EXPECT_EQ(geometry(1, 1, 1, 1u << 22, 1u << 21, 1u << 21), hipErrorInvalidValue);
  EXPECT_EQ(geometry(0, 1, 1, 64, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(1, 1, 0, 64, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(1, 1, 1, 64, 0, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(0x80000000u, 1, 1, 1, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(1, 65537, 1, 1, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(1, 1, 65537, 1, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(geometry(0x7fffffffu, 1, 1, 64, 1, 1), hipErrorInvalidConfiguration);
}

TEST_F(Launch, BlockAboveTheKernelsBound) {
  DeviceBuffer<unsigned> out(std::vector<unsigned>(64, 0));
  EXPECT_EQ(launch(kernel("at_most_64"), {&out.data}, nullptr, 65), hipErrorLaunchFailure);
  EXPECT_EQ(out.get(), std::vector<unsigned>(64, 0));
  HIP_OK(launch(kernel("at_most_64"), {&out.data}, nullptr, 64));
  EXPECT_EQ(out.get(), std::vector<unsigned>(64, 1));
}

TEST_F(Launch, LocalMemoryLimits) {
  std::vector<unsigned> values, reversed;
  for (unsigned i = 0; i < 64; ++i) {
    values.push_back(i);
    reversed.push_back(63 - i);
  }
  DeviceBuffer<unsigned> data(values);
  hipFunction_t function = kernel("static_lds"); // 96 KiB of its own
  EXPECT_EQ(launch(function, {&data.data}, nullptr, 64, 160 * 1024 + 1), hipErrorInvalidValue);
  EXPECT_EQ(launch(function, {&data.data}, nullptr, 64, 64 * 1024 + 1), hipErrorOutOfMemory);
  EXPECT_EQ(data.get(), values);
  HIP_OK(launch(function, {&data.data}, nullptr, 64, 64 * 1024));
  EXPECT_EQ(data.get(), reversed);
}

TEST_F(Launch, InvalidHandles) {
  hipFunction_t none = kernel("no_arguments");
  auto in = [&](hipFunction_t function, hipStream_t stream) {
    return hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr);
  };
  int object = 0;
  EXPECT_EQ(in(nullptr, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(in(reinterpret_cast<hipFunction_t>(&object), nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(in(reinterpret_cast<hipFunction_t>(module), nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(in(none, reinterpret_cast<hipStream_t>(&object)), hipErrorInvalidValue);
  hipStream_t gone;
  HIP_OK(hipStreamCreate(&gone));
  HIP_OK(in(none, gone));
  HIP_OK(hipStreamDestroy(gone));
  EXPECT_EQ(in(none, gone), hipErrorInvalidValue);
}

TEST_F(Launch, FunctionOfAnUnloadedModule) {
  hipModule_t other;
  HIP_OK(hipModuleLoadData(&other, kernelImage().data()));
  hipFunction_t function;
  HIP_OK(hipModuleGetFunction(&function, other, "no_arguments"));
  HIP_OK(launch(function, {}));
  HIP_OK(hipModuleUnload(other));
  EXPECT_EQ(launch(function, {}), hipErrorInvalidHandle);
}

TEST_F(Launch, OutOfBoundsIsAnIllegalAddress) {
  DeviceBuffer<unsigned> out({0});
  hipFunction_t function = kernel("store_at");
  uint64_t index = uint64_t{1} << 44;
  EXPECT_EQ(launch(function, {&out.data, &index}), hipErrorIllegalAddress);
  EXPECT_NE(std::string(gfx950emu_last_fault()).find("store_at"), std::string::npos)
      << gfx950emu_last_fault();
  // Who ignored the launch's answer gets it at the next synchronization, once.
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipErrorIllegalAddress);
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);

  index = 0;
  HIP_OK(launch(function, {&out.data, &index}));
  EXPECT_STREQ(gfx950emu_last_fault(), "");
  EXPECT_EQ(out.get(), std::vector<unsigned>{1});
}

TEST_F(Launch, EventAndDeviceSynchronizeReportTheFault) {
  hipStream_t stream;
  hipEvent_t event;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipEventCreate(&event));
  DeviceBuffer<unsigned> out({0});
  uint64_t index = uint64_t{1} << 44;
  EXPECT_EQ(launch(kernel("store_at"), {&out.data, &index}, stream), hipErrorIllegalAddress);
  HIP_OK(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventSynchronize(event), hipErrorIllegalAddress);
  HIP_OK(hipEventSynchronize(event));
  EXPECT_EQ(launch(kernel("store_at"), {&out.data, &index}, stream), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipEventDestroy(event));
  HIP_OK(hipStreamDestroy(stream));
}

TEST_F(Launch, FreedMemoryIsOutOfBounds) {
  unsigned *data;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&data), 256));
  uint64_t index = 0;
  HIP_OK(launch(kernel("store_at"), {&data, &index}));
  HIP_OK(hipFree(data));
  EXPECT_EQ(launch(kernel("store_at"), {&data, &index}), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
}

TEST_F(Launch, EndlessLoopIsALaunchFailure) {
  ASSERT_EQ(budgetSet, 0);
  DeviceBuffer<unsigned> flag({0});
  EXPECT_EQ(launch(kernel("spin"), {&flag.data}), hipErrorLaunchFailure);
  EXPECT_NE(std::string(gfx950emu_last_fault()).find("spin"), std::string::npos)
      << gfx950emu_last_fault();
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure);
  flag.set({1});
  HIP_OK(launch(kernel("spin"), {&flag.data}));
}

TEST_F(Launch, Occupancy) {
  int blocks = -1;
  hipFunction_t lds = kernel("static_lds"), none = kernel("no_arguments");
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, lds, 64, 0));
  EXPECT_EQ(blocks, 1); // 96 of 160 KiB
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 1024, 0));
  EXPECT_EQ(blocks, 2); // 32 waves a compute unit
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 64, 32 * 1024));
  EXPECT_EQ(blocks, 5);
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, none, 1025, 0, 0));
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 0, 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 64, 0),
            hipErrorInvalidDeviceFunction);
}

} // namespace
