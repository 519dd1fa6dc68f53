//===- ModuleTest.cpp - loading images and looking up functions -------------===//

#include "tests/tools/hip/HipClient.h"

#include "tools/gfx950emu/hip/gfx950emu_hip.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace {

hipError_t load(const void *image) {
  hipModule_t module = nullptr;
  hipError_t code = hipModuleLoadData(&module, image);
  if (code == hipSuccess)
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  return code;
}

TEST(Module, EveryWayToLoad) {
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoad(&module, KERNELS_GFX950));
  HIP_OK(hipModuleUnload(module));
  HIP_OK(hipModuleLoadDataEx(&module, kernelImage().data(), 0, nullptr, nullptr));
  HIP_OK(hipModuleUnload(module));
  EXPECT_EQ(hipModuleUnload(module), hipErrorNotFound);
  EXPECT_EQ(hipModuleUnload(nullptr), hipErrorInvalidHandle);
}

TEST(Module, WrongArchitecture) {
  EXPECT_EQ(load(readFile(KERNELS_GFX942).data()), hipErrorNoBinaryForGpu);
  std::string fault = gfx950emu_last_fault();
  EXPECT_NE(fault.find("gfx950"), std::string::npos) << fault;
  HIP_OK(load(kernelImage().data()));
  EXPECT_STREQ(gfx950emu_last_fault(), "");
}

TEST(Module, OffloadBundles) {
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoad(&module, BUNDLE_BOTH));
  hipFunction_t function;
  HIP_OK(hipModuleGetFunction(&function, module, "vector_add"));
  HIP_OK(hipModuleUnload(module));
  HIP_OK(load(readFile(BUNDLE_BOTH).data()));
  EXPECT_EQ(load(readFile(BUNDLE_GFX942).data()), hipErrorNoBinaryForGpu);
  std::string fault = gfx950emu_last_fault();
  EXPECT_NE(fault.find("gfx942"), std::string::npos) << fault;
}

TEST(Module, Garbage) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLoadData(nullptr, kernelImage().data()), hipErrorInvalidValue);
  std::vector<char> text(4096, 'x');
  EXPECT_EQ(load(text.data()), hipErrorInvalidImage);
  std::vector<char> host = readFile("/proc/self/exe"); // an ELF, but none of the device's
  EXPECT_EQ(load(host.data()), hipErrorInvalidKernelFile);
  std::vector<char> noSections = kernelImage();
  for (size_t i = 64; i < noSections.size(); ++i)
    noSections[i] = 0;
  EXPECT_NE(load(noSections.data()), hipSuccess);
}

TEST(Module, AnImageThatRunsIntoUnreadableMemory) {
  const size_t page = 4096, pages = kernelImage().size() / page + 2;
  auto *area = static_cast<char *>(
      mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(area, MAP_FAILED);
  char *end = area + (pages - 1) * page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  // Whole, it loads; with the end cut off, at any of these lengths, it is refused.
  const std::vector<char> &image = kernelImage();
  for (size_t length : {image.size(), image.size() - 1, image.size() / 2, size_t{64}, size_t{63},
                        size_t{4}, size_t{3}}) {
    char *start = end - length;
    std::copy(image.begin(), image.begin() + static_cast<long>(length), start);
    EXPECT_EQ(load(start), length == image.size() ? hipSuccess : hipErrorInvalidImage) << length;
  }
  EXPECT_EQ(load(end), hipErrorInvalidImage);
  munmap(area, pages * page);
}

TEST(Module, Files) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoad(&module, "/nonexistent/x.hsaco"), hipErrorFileNotFound);
  EXPECT_EQ(hipModuleLoad(&module, nullptr), hipErrorInvalidValue);
  char name[] = "/tmp/gfx950emu-moduleXXXXXX";
  int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(hipModuleLoad(&module, name), hipErrorInvalidValue); // empty
  ASSERT_EQ(write(fd, kernelImage().data(), 1000), 1000);
  EXPECT_EQ(hipModuleLoad(&module, name), hipErrorInvalidImage); // truncated
  close(fd);
  unlink(name);
}

TEST(Module, LoadingKeepsNoDescriptor) {
  auto nextDescriptor = [] {
    int fd = dup(0);
    close(fd);
    return fd;
  };
  HIP_OK(load(kernelImage().data()));
  int before = nextDescriptor();
  for (int i = 0; i < 50; ++i) {
    HIP_OK(load(kernelImage().data()));
    EXPECT_EQ(load("too short to be one, but long enough to look at"), hipErrorInvalidImage);
  }
  EXPECT_EQ(nextDescriptor(), before);
}

struct Function : HipClientTest {};

TEST_F(Function, LookUp) {
  hipFunction_t function = nullptr, again = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
  EXPECT_EQ(hipModuleGetFunction(&function, module, ""), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(nullptr, module, "vector_add"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, nullptr, "vector_add"), hipErrorInvalidHandle);
  EXPECT_EQ(hipModuleGetFunction(&function, reinterpret_cast<hipModule_t>(this), "vector_add"),
            hipErrorNotFound);
  HIP_OK(hipModuleGetFunction(&function, module, "vector_add"));
  HIP_OK(hipModuleGetFunction(&again, module, "vector_add"));
  EXPECT_EQ(function, again);
}

TEST_F(Function, Attributes) {
  hipFunction_t lds = kernel("static_lds"), small = kernel("at_most_64");
  int value = 0;
  HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, lds));
  EXPECT_EQ(value, 96 * 1024);
  HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, lds));
  EXPECT_EQ(value, 64 * 1024);
  HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small));
  EXPECT_EQ(value, 64);
  HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, small));
  EXPECT_GT(value, 0);
  EXPECT_EQ(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX, small), hipErrorInvalidValue);
  EXPECT_EQ(hipFuncGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, small), hipErrorInvalidValue);
  EXPECT_EQ(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
            hipErrorInvalidHandle);
  hipFuncAttributes all;
  HIP_OK(hipFuncGetAttributes(&all, small));
  EXPECT_EQ(all.maxThreadsPerBlock, 64);
  EXPECT_EQ(all.sharedSizeBytes, 0u);
  EXPECT_EQ(hipFuncGetAttributes(&all, &value), hipErrorInvalidDeviceFunction);
}

} // namespace
