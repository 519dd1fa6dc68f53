//===- HipSwitchTests.cpp - a list of checks and several orders, by the environment
//------------===//

#include "tests/emulator/check/Harness.h"
#include "tests/emulator/isa/Assembler.h"
#include "tools/gfx950emu/hip/gfx950emu_hip.h"

#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace gfx950emu::check::test {
namespace {

// The library reads its environment once, at the first call.
const int environment =
    setenv("GFX950EMU_CHECK", "bounds,hazards", 1) | setenv("GFX950EMU_ORDERS", "4", 1);

class HipSwitches : public ::testing::Test {
protected:
  /// Launch on 4 KiB of fresh input and output, each of which is what hipMemset made it.
  hipError_t launch(const char *code, uint32_t groups) {
    EXPECT_EQ(environment, 0);
    isatest::Assembled assembled = isatest::assemble(moduleText(code, {}));
    EXPECT_EQ(assembled.error, "");
    EXPECT_EQ(hipModuleLoadData(&module, assembled.image.data()), hipSuccess);
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&function, module, "checked"), hipSuccess);
    for (void **p : {&in, &out}) {
      EXPECT_EQ(hipMalloc(p, 4096), hipSuccess);
      EXPECT_EQ(hipMemset(*p, 0x55, 4096), hipSuccess);
    }
    void *args[] = {&in, &out};
    return hipModuleLaunchKernel(function, groups, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr);
  }
  void TearDown() override {
    (void)hipDeviceSynchronize(); // says a failure once more
    for (void *p : {in, out})
      EXPECT_EQ(hipFree(p), hipSuccess);
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  }
  static std::string fault() { return gfx950emu_last_fault(); }

  hipModule_t module = nullptr;
  void *in = nullptr, *out = nullptr;
};

TEST_F(HipSwitches, ListedChecksFind) {
  EXPECT_EQ(launch("v_readfirstlane_b32 s8, v0\n v_readlane_b32 s9, v0, s8", 1),
            hipErrorLaunchFailure);
  EXPECT_EQ(fault().find("hazard: kernel checked"), 0u) << fault();
}

// A missing wait, a race and an undefined value, all of which the list leaves out.
TEST_F(HipSwitches, OthersAreSilent) {
  EXPECT_EQ(launch("global_load_dword v2, v1, s[4:5]\n v_add_u32_e32 v3, v2, v9\n"
                   "v_and_b32_e32 v3, 0, v3\n v_add_u32_e32 v3, v3, v10\n"
                   "global_store_dword v1, v3, s[6:7]",
                   2),
            hipSuccess)
      << fault();
}

TEST_F(HipSwitches, OrdersAreCompared) {
  EXPECT_EQ(launch("s_mov_b64 exec, 1\n v_mov_b32_e32 v2, s2\n"
                   "global_store_dword v1, v2, s[6:7] offset:16",
                   8),
            hipErrorLaunchFailure);
  EXPECT_EQ(fault().find("order dependence: kernel checked: 1 bytes differ between seeds 0 and "),
            0u)
      << fault();
  EXPECT_NE(fault().find(": byte 16 of the 4096 at "), std::string::npos) << fault();
  EXPECT_NE(fault().find(" is 0x7 and 0x"), std::string::npos) << fault();
}

TEST_F(HipSwitches, RepairedTwinIsSilentAndRunsOnce) {
  EXPECT_EQ(launch("s_mov_b64 exec, 1\n v_mov_b32_e32 v2, 1\n v_mov_b32_e32 v1, 0\n"
                   "global_atomic_add v1, v2, s[6:7] offset:16",
                   8),
            hipSuccess)
      << fault();
  uint32_t sum = 0;
  ASSERT_EQ(hipMemcpy(&sum, static_cast<char *>(out) + 16, 4, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(sum, 0x55555555u + 8) << "as if there had been one order";
}

} // namespace
} // namespace gfx950emu::check::test
