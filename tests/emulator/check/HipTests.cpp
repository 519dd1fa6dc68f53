//===- HipTests.cpp - GFX950EMU_CHECK=1 seen from a HIP client ------------------------------===//

#include "tests/emulator/check/Harness.h"
#include "tests/emulator/isa/Assembler.h"
#include "tools/gfx950emu/hip/Settings.h"
#include "tools/gfx950emu/hip/gfx950emu_hip.h"

#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace gfx950emu::check::test {
namespace {

// The library reads its environment once, at the first call.
const int environment = setenv("GFX950EMU_CHECK", "1", 1);

class HipCheck : public ::testing::Test {
protected:
  /// Copies its input to its output, one wave.
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    isatest::Assembled code =
        isatest::assemble(moduleText("global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
                                     "global_store_dword v1, v2, s[6:7]",
                                     {}));
    ASSERT_EQ(code.error, "");
    ASSERT_EQ(hipModuleLoadData(&module, code.image.data()), hipSuccess);
    ASSERT_EQ(hipModuleGetFunction(&function, module, "checked"), hipSuccess);
    ASSERT_EQ(hipMalloc(&in, 256), hipSuccess);
    ASSERT_EQ(hipMalloc(&middle, 256), hipSuccess);
    ASSERT_EQ(hipMalloc(&out, 256), hipSuccess);
  }
  void TearDown() override {
    for (void *p : {in, middle, out})
      EXPECT_EQ(hipFree(p), hipSuccess);
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  }
  hipError_t copyByKernel(void *from, void *to) {
    void *args[] = {&from, &to};
    return hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr);
  }
  std::string fault() { return gfx950emu_last_fault(); }

  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  void *in = nullptr, *middle = nullptr, *out = nullptr;
};

TEST_F(HipCheck, FreshMemoryIsUndefined) {
  EXPECT_EQ(copyByKernel(in, out), hipErrorLaunchFailure);
  EXPECT_NE(fault().find("undefined value: kernel checked"), std::string::npos) << fault();
  (void)hipDeviceSynchronize(); // says it once more
}

TEST_F(HipCheck, FillsAndCopiesDefine) {
  ASSERT_EQ(hipMemset(in, 1, 256), hipSuccess);
  EXPECT_EQ(copyByKernel(in, middle), hipSuccess) << fault();
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(copyByKernel(middle, out), hipSuccess) << fault();
  uint32_t host[64] = {};
  ASSERT_EQ(hipMemcpy(middle, host, 256, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(copyByKernel(middle, out), hipSuccess) << fault();
}

TEST_F(HipCheck, PartialFillAndDeviceCopyCarryWhatIsUndefined) {
  ASSERT_EQ(hipMemset(in, 1, 252), hipSuccess);
  ASSERT_EQ(hipMemcpy(middle, in, 256, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(copyByKernel(middle, out), hipErrorLaunchFailure);
  EXPECT_NE(fault().find("lane 63"), std::string::npos) << fault();
  (void)hipDeviceSynchronize();
}

TEST(HipCheckSetting, IsZeroOrOne) {
  auto parse = [](const char *value) {
    return hip::parseSettings([=](const char *name) {
      return llvm::StringRef(name) == "GFX950EMU_CHECK" ? value : nullptr;
    });
  };
  for (auto [text, expected] : {std::pair("1", true), {"0", false}, {"", false}}) {
    auto settings = parse(text);
    ASSERT_TRUE(bool(settings));
    EXPECT_EQ(settings->check, expected);
  }
  for (const char *bad : {"2", "yes", "true", "-1", "01x", " 1"}) {
    auto settings = parse(bad);
    ASSERT_FALSE(bool(settings)) << bad;
    EXPECT_NE(toString(settings.takeError()).find("GFX950EMU_CHECK: expected"), std::string::npos);
  }
}

} // namespace
} // namespace gfx950emu::check::test
