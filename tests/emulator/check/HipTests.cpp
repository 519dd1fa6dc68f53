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

llvm::Expected<hip::Settings> parse(const char *variable, const char *value) {
  return hip::parseSettings(
      [=](const char *name) { return llvm::StringRef(name) == variable ? value : nullptr; });
}

TEST(HipCheckSetting, NamesTheChecks) {
  for (auto [text, expected] : {std::pair("1", "all"),
                                {"all", "all"},
                                {"0", "none"},
                                {"", "none"},
                                {"races", "races"},
                                {"hazards,bounds", "bounds,hazards"}}) {
    auto settings = parse("GFX950EMU_CHECK", text);
    ASSERT_TRUE(bool(settings)) << toString(settings.takeError());
    EXPECT_EQ(settings->checks ? checkNames(*settings->checks) : "none", expected) << text;
  }
  for (const char *bad : {"2", "yes", "none", "-1", "01", " 1", "race", "races,", ",",
                          "races, waits", "Races", "all,races"}) {
    auto settings = parse("GFX950EMU_CHECK", bad);
    ASSERT_FALSE(bool(settings)) << bad;
    const std::string text = toString(settings.takeError());
    EXPECT_NE(text.find("GFX950EMU_CHECK: 0, 1 or a list: expected"), std::string::npos) << text;
    EXPECT_NE(text.find(knownChecks()), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("in '") + bad + "'"), std::string::npos) << text;
  }
}

TEST(HipCheckSetting, OrdersAreANumber) {
  auto settings = parse("GFX950EMU_ORDERS", "64");
  ASSERT_TRUE(bool(settings));
  EXPECT_EQ(settings->orders, 64u);
  for (const char *bad : {"0", "65", "two", "-1"}) {
    settings = parse("GFX950EMU_ORDERS", bad);
    ASSERT_FALSE(bool(settings)) << bad;
    EXPECT_NE(toString(settings.takeError()).find("GFX950EMU_ORDERS: expected a decimal number"),
              std::string::npos);
  }
}

} // namespace
} // namespace gfx950emu::check::test
