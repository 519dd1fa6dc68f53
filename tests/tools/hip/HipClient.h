//===- HipClient.h - what the HIP client tests share ------------------------===//
//
// A client written only against the HIP headers: devices, buffers and the kernels of
// kernels.c. The emulator shows nowhere but in what CMake links.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_TOOLS_HIP_HIPCLIENT_H
#define TESTS_TOOLS_HIP_HIPCLIENT_H

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define HIP_OK(call) ASSERT_EQ(call, hipSuccess)

inline std::vector<char> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline const std::vector<char> &kernelImage() {
  static const std::vector<char> image = readFile(KERNELS_GFX950);
  return image;
}

/// An enumerator that is none, as a C client can pass it.
template <typename Enum> __attribute__((no_sanitize("enum"))) Enum anyEnum(int value) {
  Enum result;
  memcpy(&result, &value, sizeof result);
  return result;
}

/// Device memory with the contents of a vector.
template <typename T> class DeviceBuffer {
public:
  explicit DeviceBuffer(const std::vector<T> &values) : count(values.size()) {
    EXPECT_EQ(hipMalloc(reinterpret_cast<void **>(&data), bytes()), hipSuccess);
    set(values);
  }
  ~DeviceBuffer() { EXPECT_EQ(hipFree(data), hipSuccess); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  void set(const std::vector<T> &values) {
    EXPECT_EQ(hipMemcpy(data, values.data(), bytes(), hipMemcpyHostToDevice), hipSuccess);
  }
  std::vector<T> get() const {
    std::vector<T> values(count);
    EXPECT_EQ(hipMemcpy(values.data(), data, bytes(), hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }
  size_t bytes() const { return count * sizeof(T); }

  T *data = nullptr;
  size_t count;
};

/// Loads the kernels on device 0.
class HipClientTest : public testing::Test {
protected:
  void SetUp() override {
    HIP_OK(hipSetDevice(0));
    (void)hipGetLastError();
    HIP_OK(hipModuleLoadData(&module, kernelImage().data()));
  }
  void TearDown() override {
    EXPECT_EQ(hipSetDevice(0), hipSuccess);
    (void)hipDeviceSynchronize(); // a fault that a failed test left must not reach the next
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  }
  hipFunction_t kernel(const char *name) {
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&function, module, name), hipSuccess) << name;
    return function;
  }
  /// One block of 64 of a kernel.
  static hipError_t launch(hipFunction_t function, std::vector<void *> params,
                           hipStream_t stream = nullptr, unsigned blockX = 64, unsigned lds = 0) {
    return hipModuleLaunchKernel(function, 1, 1, 1, blockX, 1, 1, lds, stream, params.data(),
                                 nullptr);
  }

  hipModule_t module = nullptr;
};

#endif // TESTS_TOOLS_HIP_HIPCLIENT_H
