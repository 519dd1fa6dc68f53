//===- DeviceTest.cpp - devices, properties, environment, error names -------===//

#include "tests/tools/hip/HipClient.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

static const int devicesSet = setenv("GFX950EMU_DEVICES", "8", 0);

// A client of ROCm 6 and later has hipGetDeviceProperties defined to this name and passes 1,472
// bytes of hipDeviceProp_tR0600; the offsets below are those of the public headers.
extern "C" hipError_t hipGetDevicePropertiesR0600(void *prop, int device);

namespace {

TEST(Device, CountAndSelection) {
  ASSERT_EQ(devicesSet, 0);
  int count = 0, current = -1;
  HIP_OK(hipInit(0));
  EXPECT_EQ(hipInit(1), hipErrorInvalidValue);
  HIP_OK(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 8);
  EXPECT_EQ(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
  HIP_OK(hipSetDevice(5));
  HIP_OK(hipGetDevice(&current));
  EXPECT_EQ(current, 5);
  std::thread([] {
    int other = -1;
    EXPECT_EQ(hipGetDevice(&other), hipSuccess);
    EXPECT_EQ(other, 0); // each thread has its own
    EXPECT_EQ(hipSetDevice(2), hipSuccess);
  }).join();
  EXPECT_EQ(hipSetDevice(8), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(-1), hipErrorInvalidDevice);
  HIP_OK(hipGetDevice(&current));
  EXPECT_EQ(current, 5);
  HIP_OK(hipSetDevice(0));
  hipDevice_t device = -1;
  HIP_OK(hipDeviceGet(&device, 7));
  EXPECT_EQ(device, 7);
  EXPECT_EQ(hipDeviceGet(&device, 8), hipErrorInvalidDevice);
}

TEST(Device, PropertiesOfBothLayouts) {
  hipDeviceProp_t old;
  HIP_OK(hipGetDeviceProperties(&old, 3));
  EXPECT_STREQ(old.gcnArchName, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(old.multiProcessorCount, 256);
  EXPECT_EQ(old.warpSize, 64);
  EXPECT_EQ(old.sharedMemPerBlock, 163840u);
  EXPECT_EQ(old.maxSharedMemoryPerMultiProcessor, 163840u);
  EXPECT_EQ(old.maxThreadsPerBlock, 1024);
  EXPECT_EQ(old.totalGlobalMem, size_t{288} << 30);
  EXPECT_EQ(hipGetDeviceProperties(&old, 8), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);

  std::vector<char> bytes(1472 + 16, 0x55);
  HIP_OK(hipGetDevicePropertiesR0600(bytes.data(), 3));
  auto at = [&]<typename T>(size_t offset, T) {
    T value;
    memcpy(&value, &bytes[offset], sizeof value);
    return value;
  };
  EXPECT_STREQ(&bytes[0], old.name);
  EXPECT_EQ(at(288, size_t{}), old.totalGlobalMem);
  EXPECT_EQ(at(296, size_t{}), 163840u);
  EXPECT_EQ(at(308, int{}), 64);
  EXPECT_EQ(at(320, int{}), 1024);
  EXPECT_EQ(at(388, int{}), 256);
  EXPECT_EQ(at(640, size_t{}), 163840u);
  EXPECT_EQ(at(696, size_t{}), 163840u);
  EXPECT_STREQ(&bytes[1160], "gfx950:sramecc+:xnack-");
  EXPECT_EQ(at(1416, size_t{}), 163840u);
  for (size_t i = 1472; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i], 0x55) << i; // nothing past the structure
  EXPECT_EQ(hipGetDevicePropertiesR0600(bytes.data(), -1), hipErrorInvalidDevice);
}

TEST(Device, Attributes) {
  const std::map<hipDeviceAttribute_t, int> expected = {
      {hipDeviceAttributeWarpSize, 64},
      {hipDeviceAttributeMultiprocessorCount, 256},
      {hipDeviceAttributeMaxThreadsPerBlock, 1024},
      {hipDeviceAttributeMaxBlockDimZ, 1024},
      {hipDeviceAttributeMaxSharedMemoryPerBlock, 163840},
      {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 163840},
      {hipDeviceAttributeComputeCapabilityMajor, 9},
      {hipDeviceAttributeComputeCapabilityMinor, 5},
      {hipDeviceAttributeMaxGridDimX, 0x7fffffff},
      {hipDeviceAttributeTotalGlobalMem, 0x7fffffff}, // saturates
      {hipDeviceAttributeIntegrated, 0}};
  for (auto [attribute, value] : expected) {
    int found = -1;
    HIP_OK(hipDeviceGetAttribute(&found, attribute, 0));
    EXPECT_EQ(found, value) << attribute;
  }
  int value;
  EXPECT_EQ(hipDeviceGetAttribute(&value, anyEnum<hipDeviceAttribute_t>(9999), 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetAttribute(&value, anyEnum<hipDeviceAttribute_t>(-1), 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 8), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
  int major = 0, minor = 0;
  HIP_OK(hipDeviceComputeCapability(&major, &minor, 0));
  EXPECT_EQ(major * 10 + minor, 95);
}

TEST(Device, NamesAndVersions) {
  char name[64], tiny[4] = "???", bus[16];
  HIP_OK(hipDeviceGetName(name, sizeof name, 0));
  EXPECT_NE(std::string(name).find("MI355X"), std::string::npos);
  HIP_OK(hipDeviceGetName(tiny, sizeof tiny, 0));
  EXPECT_EQ(std::string(tiny), std::string(name).substr(0, 3));
  EXPECT_EQ(hipDeviceGetName(name, 0, 0), hipErrorInvalidValue);
  HIP_OK(hipDeviceGetPCIBusId(bus, sizeof bus, 2));
  EXPECT_STREQ(bus, "0000:03:00.0");
  EXPECT_EQ(hipDeviceGetPCIBusId(bus, 12, 2), hipErrorInvalidValue);
  int version = 0;
  HIP_OK(hipDriverGetVersion(&version));
  EXPECT_EQ(version, HIP_VERSION);
  HIP_OK(hipRuntimeGetVersion(&version));
  EXPECT_EQ(version, HIP_VERSION);
  size_t total = 0;
  HIP_OK(hipDeviceTotalMem(&total, 0));
  EXPECT_EQ(total, size_t{288} << 30);
}

TEST(Errors, NamesAndLastError) {
  EXPECT_STREQ(hipGetErrorName(hipErrorNoBinaryForGpu), "hipErrorNoBinaryForGpu");
  EXPECT_STREQ(hipGetErrorString(hipErrorNoBinaryForGpu),
               "no kernel image is available for execution on the device");
  EXPECT_STREQ(hipGetErrorName(hipSuccess), "hipSuccess");
  EXPECT_STREQ(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory");
  EXPECT_STREQ(hipGetErrorName(anyEnum<hipError_t>(12345)), "hipErrorUnknown");
  EXPECT_STREQ(hipGetErrorName(anyEnum<hipError_t>(-1)), "hipErrorUnknown");
  EXPECT_STREQ(hipGetErrorString(anyEnum<hipError_t>(12345)), "unknown error");

  (void)hipGetLastError();
  EXPECT_EQ(hipSetDevice(99), hipErrorInvalidDevice);
  int count;
  HIP_OK(hipGetDeviceCount(&count)); // a success does not hide the failure
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(hipPeekAtLastError(), hipSuccess); }).join();
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

struct SeveralDevices : HipClientTest {};

TEST_F(SeveralDevices, AFunctionStaysOnItsDevice) {
  hipFunction_t function = kernel("no_arguments");
  hipStream_t stream0, stream1;
  HIP_OK(hipStreamCreate(&stream0));
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipStreamCreate(&stream1));
  EXPECT_EQ(launch(function, {}, stream1), hipErrorInvalidDevice);
  EXPECT_EQ(launch(function, {}), hipErrorInvalidDevice); // the null stream of device 1
  hipFunction_t other;
  EXPECT_EQ(hipModuleGetFunction(&other, module, "no_arguments"), hipErrorNotFound);
  HIP_OK(launch(function, {}, stream0)); // what counts is the stream's device

  // A graph of device 0 does not run on device 1 either.
  HIP_OK(hipStreamBeginCapture(stream0, hipStreamCaptureModeGlobal));
  HIP_OK(launch(function, {}, stream0));
  hipGraph_t graph;
  HIP_OK(hipStreamEndCapture(stream0, &graph));
  hipGraphExec_t exec;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  EXPECT_EQ(hipGraphLaunch(exec, stream1), hipErrorInvalidDevice);
  HIP_OK(hipGraphLaunch(exec, stream0));
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipStreamDestroy(stream0));
  HIP_OK(hipStreamDestroy(stream1));
}

TEST_F(SeveralDevices, MemoryOfAnotherDeviceNeedsPeerAccess) {
  HIP_OK(hipSetDevice(1));
  unsigned *far = nullptr, *farLater = nullptr, *shared = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&far), 64));
  hipPointerAttribute_t attributes;
  HIP_OK(hipPointerGetAttributes(&attributes, far));
  EXPECT_EQ(attributes.device, 1);
  HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&shared), 64, 0));
  HIP_OK(hipSetDevice(0));
  hipFunction_t store = kernel("store_at");
  uint64_t index = 2;
  HIP_OK(launch(store, {&shared, &index}));
  EXPECT_EQ(shared[2], 1u);

  EXPECT_EQ(launch(store, {&far, &index}), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  int can = 0;
  HIP_OK(hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  HIP_OK(hipDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceEnablePeerAccess(8, 0), hipErrorInvalidDevice);
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  HIP_OK(launch(store, {&far, &index}));
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&farLater), 64));
  HIP_OK(hipSetDevice(0));
  HIP_OK(launch(store, {&farLater, &index}));
  unsigned values[3] = {};
  HIP_OK(hipMemcpy(values, far, sizeof values, hipMemcpyDeviceToHost));
  EXPECT_EQ(values[2], 1u);

  HIP_OK(hipDeviceDisablePeerAccess(1));
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  EXPECT_EQ(launch(store, {&far, &index}), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  HIP_OK(hipFree(far));
  HIP_OK(hipFree(farLater));
  HIP_OK(hipHostFree(shared));
}

TEST(Environment, ABadValueRefusesEveryCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // the library reads it once a process
  for (const char *name :
       {"GFX950EMU_DEVICES", "GFX950EMU_THREADS", "GFX950EMU_SEED", "GFX950EMU_MAX_INSTRUCTIONS"})
    EXPECT_EXIT(
        {
          setenv(name, "0x8", 1);
          int count = 0;
          void *ptr = nullptr;
          bool refused = hipGetDeviceCount(&count) == hipErrorInvalidValue &&
                         hipMalloc(&ptr, 16) == hipErrorInvalidValue &&
                         hipGetLastError() == hipErrorInvalidValue;
          _exit(refused ? 0 : 1);
        },
        testing::ExitedWithCode(0), std::string(name) + ": expected .*found '0x8'");
}

} // namespace
