//===- MemoryTest.cpp - allocation, copies, fills ---------------------------===//

#include "tests/tools/hip/HipClient.h"

#include <cstring>

namespace {

struct Memory : testing::Test {
  void SetUp() override { HIP_OK(hipSetDevice(0)); }
};

constexpr size_t gib = size_t{1} << 30;

TEST_F(Memory, AccountOfADevice) {
  size_t before = 0, after = 0, total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  EXPECT_EQ(total, 288 * gib);
  void *pool = nullptr;
  HIP_OK(hipMalloc(&pool, 200 * gib)); // costs only the pages that are touched
  HIP_OK(hipMemGetInfo(&after, nullptr));
  EXPECT_EQ(after, before - 200 * gib);
  static_cast<char *>(pool)[200 * gib - 1] = 1;
  void *more = &more;
  EXPECT_EQ(hipMalloc(&more, 100 * gib), hipErrorOutOfMemory);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(hipMalloc(&more, SIZE_MAX), hipErrorOutOfMemory);
  HIP_OK(hipFree(pool));
  HIP_OK(hipMalloc(&more, 100 * gib));
  HIP_OK(hipFree(more));
  HIP_OK(hipMemGetInfo(&after, nullptr));
  EXPECT_EQ(after, before);
}

TEST_F(Memory, FreeTakesOnlyWhatMallocGave) {
  char *ptr = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&ptr), 4096));
  int local = 0;
  EXPECT_EQ(hipFree(&local), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(ptr + 64), hipErrorInvalidValue);
  HIP_OK(hipFree(ptr));
  EXPECT_EQ(hipFree(ptr), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(ptr), hipErrorInvalidValue);
  HIP_OK(hipFree(nullptr));
  EXPECT_EQ(hipMalloc(static_cast<void **>(nullptr), 64), hipErrorInvalidValue);
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&ptr), 0));
  EXPECT_EQ(ptr, nullptr);
}

TEST_F(Memory, HostMemory) {
  void *ptr = nullptr, *devicePtr = nullptr;
  EXPECT_EQ(hipHostMalloc(&ptr, 64, hipHostMallocCoherent | hipHostMallocNonCoherent),
            hipErrorInvalidValue);
  EXPECT_EQ(hipHostMalloc(&ptr, 64, 0x8), hipErrorInvalidValue);
  HIP_OK(hipHostMalloc(&ptr, 64, hipHostMallocMapped));
  HIP_OK(hipHostGetDevicePointer(&devicePtr, ptr, 0));
  EXPECT_EQ(devicePtr, ptr);
  hipPointerAttribute_t attributes;
  HIP_OK(hipPointerGetAttributes(&attributes, static_cast<char *>(ptr) + 10));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, static_cast<char *>(ptr) + 10);
  EXPECT_EQ(attributes.allocationFlags, unsigned{hipHostMallocMapped});
  HIP_OK(hipHostFree(ptr));
  EXPECT_EQ(hipHostFree(ptr), hipErrorInvalidValue);
}

TEST_F(Memory, PointerAttributes) {
  char *ptr = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&ptr), 100));
  hipPointerAttribute_t attributes;
  HIP_OK(hipPointerGetAttributes(&attributes, ptr + 99));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, ptr + 99);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, ptr + 100), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, &ptr), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerGetAttributes(&attributes, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerGetAttributes(nullptr, ptr), hipErrorInvalidValue);
  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  HIP_OK(hipMemGetAddressRange(&base, &size, ptr + 50));
  EXPECT_EQ(base, ptr);
  EXPECT_EQ(size, 100u);
  EXPECT_EQ(hipMemGetAddressRange(&base, &size, &ptr), hipErrorNotFound);
  HIP_OK(hipFree(ptr));
}

TEST_F(Memory, CopiesInEveryDirection) {
  std::vector<unsigned char> in(1000), out(1000);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<unsigned char>(i * 7);
  char *a = nullptr, *b = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&a), 1000));
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&b), 1000));
  hipStream_t stream;
  HIP_OK(hipStreamCreate(&stream));

  HIP_OK(hipMemcpyHtoD(a, in.data(), 1000));
  HIP_OK(hipMemcpyDtoD(b, a, 1000));
  HIP_OK(hipMemcpyDtoH(out.data(), b, 1000));
  EXPECT_EQ(out, in);
  HIP_OK(hipMemset(a, 0, 1000));
  HIP_OK(hipMemcpyHtoDAsync(a + 1, in.data() + 1, 998, stream));
  HIP_OK(hipMemcpyDtoDAsync(b, a, 1000, stream));
  HIP_OK(hipMemcpyDtoHAsync(out.data(), b, 1000, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[999], 0);
  EXPECT_EQ(memcmp(out.data() + 1, in.data() + 1, 998), 0);
  HIP_OK(hipMemcpyAsync(out.data(), in.data(), 1000, hipMemcpyDefault, stream));
  EXPECT_EQ(out, in);
  HIP_OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyHostToDevice));

  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipFree(a));
  HIP_OK(hipFree(b));
}

TEST_F(Memory, CopyRefusals) {
  std::vector<char> host(200, 1);
  char *device = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&device), 100));
  EXPECT_EQ(hipMemcpy(device, host.data(), 101, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device + 50, host.data(), 51, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), device, 101, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(nullptr, device, 10, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device, nullptr, 10, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device, host.data(), SIZE_MAX, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), host.data() + 100, 10, hipMemcpyDeviceToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device, host.data(), 10, anyEnum<hipMemcpyKind>(5)),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpy(device, host.data(), 10, anyEnum<hipMemcpyKind>(-1)),
            hipErrorInvalidMemcpyDirection);
  // Host memory that runs into an allocation.
  EXPECT_EQ(hipMemcpy(host.data(), device - 50, 100, hipMemcpyDefault), hipErrorInvalidValue);
  hipStream_t gone;
  HIP_OK(hipStreamCreate(&gone));
  HIP_OK(hipStreamDestroy(gone));
  EXPECT_EQ(hipMemcpyAsync(device, host.data(), 10, hipMemcpyHostToDevice, gone),
            hipErrorContextIsDestroyed);
  HIP_OK(hipMemcpy(device, host.data(), 100, hipMemcpyHostToDevice));
  HIP_OK(hipFree(device));
  EXPECT_EQ(hipMemcpy(host.data(), device, 10, hipMemcpyDeviceToHost), hipErrorInvalidValue);
}

TEST_F(Memory, FillsOfEveryWidth) {
  DeviceBuffer<unsigned char> buffer(std::vector<unsigned char>(16, 0xff));
  auto *device = reinterpret_cast<char *>(buffer.data);
  HIP_OK(hipMemset(device, 0x1234, 2)); // only the low byte counts
  HIP_OK(hipMemsetD8(device + 2, 0x56, 1));
  HIP_OK(hipMemsetD16(device + 3, 0x789a, 2));
  HIP_OK(hipMemsetD32(device + 7, 0x0badcafe, 2));
  EXPECT_EQ(buffer.get(),
            (std::vector<unsigned char>{0x34, 0x34, 0x56, 0x9a, 0x78, 0x9a, 0x78, 0xfe, 0xca, 0xad,
                                        0x0b, 0xfe, 0xca, 0xad, 0x0b, 0xff}));
  HIP_OK(hipMemsetAsync(device, 1, 4, nullptr));
  HIP_OK(hipMemsetD8Async(device + 4, 2, 4, nullptr));
  HIP_OK(hipMemsetD16Async(device + 8, 3, 2, nullptr));
  HIP_OK(hipMemsetD32Async(device + 12, 4, 1, nullptr));
  EXPECT_EQ(buffer.get(),
            (std::vector<unsigned char>{1, 1, 1, 1, 2, 2, 2, 2, 3, 0, 3, 0, 4, 0, 0, 0}));
  EXPECT_EQ(hipMemset(device, 0, 17), hipErrorInvalidValue);
  EXPECT_EQ(hipMemsetD32(device, 0, 5), hipErrorInvalidValue);
  EXPECT_EQ(hipMemsetD32(device, 0, SIZE_MAX / 4 + 2), hipErrorInvalidValue); // 4 in 64 bits
  EXPECT_EQ(hipMemset(nullptr, 0, 1), hipErrorInvalidValue);
  char host[4] = {9, 9, 9, 9};
  EXPECT_EQ(hipMemset(host, 0, 4), hipErrorInvalidValue);
  EXPECT_EQ(host[0], 9);
  HIP_OK(hipMemset(nullptr, 0, 0));
}

} // namespace
