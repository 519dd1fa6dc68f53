//===- HipLibraryTest.cpp - finding HIP, and what it says of devices --------===//
//
// No library, the wrong library, the real one of Debian on a machine without a GPU,
// and both layouts of the device properties: HIP 5, HIP 6 and 7, and what may follow.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"
#include "tests/runtime/LaunchFixture.h"

#include <cstring>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

void expectNoLibrary(const char *path, std::initializer_list<std::string_view> parts) {
  const HipLibrary library(path);
  const Result<HipApi> hip = HipApi::load();
  ASSERT_FALSE(hip);
  EXPECT_EQ(hip.error().code, NVFP4RT_ERROR_NO_HIP_LIBRARY);
  for (std::string_view part : parts)
    EXPECT_NE(hip.error().message.find(part), std::string::npos) << part << "\n"
                                                                 << hip.error().message;
}

} // namespace

// What the fake library writes is HIP's layout, and HipApi reads it there.
static_assert(offsetof(PropertiesR0000, gcnArchName) == hip::kArchNameOffset);
static_assert(sizeof(PropertiesR0000) == 792);
static_assert(offsetof(PropertiesR0600, gcnArchName) == hip::kArchNameOffsetR0600);
static_assert(sizeof(PropertiesR0600) == 1472);

TEST(HipLibrary, NoneAtThePath) {
  expectNoLibrary("/nonexistent/libamdhip64.so",
                  {"expected one that loads at NVFP4RT_HIP_LIBRARY, found none",
                   "/nonexistent/libamdhip64.so", "cannot open shared object file"});
}

TEST(HipLibrary, NotALibrary) { expectNoLibrary(__FILE__, {"tried ", "invalid ELF header"}); }

TEST(HipLibrary, ALibraryThatIsNotHip) {
  expectNoLibrary("libm.so.6",
                  {"HIP library libm.so.6: expected all functions of HIP's module API",
                   "hipGetDeviceCount", "hipModuleLaunchKernel", "hipGetDeviceProperties"});
}

TEST(HipLibrary, ArchitectureOfHip6And7) {
  const FakeHip fake(FAKE_HIP_R0600_PATH);
  const Result<HipApi> hip = HipApi::load();
  ASSERT_TRUE(hip) << hip.error().message;
  EXPECT_EQ(hip->archName(0).value(), "gfx950");
  EXPECT_EQ(hip->archName(1).value(), "gfx942");
  // HIP 6 keeps the old function for old programs; its layout must not be mixed up.
  EXPECT_EQ(fake->calls, (std::vector<std::string>(2, "hipGetDevicePropertiesR0600")));
}

TEST(HipLibrary, ArchitectureOfHip5) {
  const FakeHip fake(FAKE_HIP_R0000_PATH);
  const Result<HipApi> hip = HipApi::load();
  ASSERT_TRUE(hip) << hip.error().message;
  EXPECT_EQ(hip->archName(0).value(), "gfx950");
  EXPECT_EQ(fake->calls, (std::vector<std::string>(1, "hipGetDeviceProperties")));
}

TEST(HipLibrary, ArchitectureOfAHipWithoutTheOldLayout) {
  const FakeHip fake(FAKE_HIP_R0600_ONLY_PATH);
  const Result<HipApi> hip = HipApi::load();
  ASSERT_TRUE(hip) << hip.error().message;
  EXPECT_EQ(hip->archName(0).value(), "gfx950");
  EXPECT_EQ(hip->archName(1).value(), "gfx942");
}

// The whole life of a bundle is the same on every version of the library.
TEST(HipLibrary, OneBinaryForAllVersions) {
  for (const char *path : {FAKE_HIP_R0000_PATH, FAKE_HIP_R0600_PATH, FAKE_HIP_R0600_ONLY_PATH}) {
    const FakeHip fake(path);
    const ByteVector bytes = goodBundle();
    nvfp4rt_bundle *bundle = nullptr;
    nvfp4rt_plan *plan = nullptr;
    ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK);
    EXPECT_EQ(nvfp4rt_bundle_load(bundle, 1), NVFP4RT_ERROR_WRONG_ARCH) << path;
    ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK) << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK);
    const auto fields = decode(1);
    ASSERT_EQ(nvfp4rt_plan_create(bundle, 0, "kv_store", fields.data(), fields.size(), &plan),
              NVFP4RT_OK);
    const nvfp4rt_kv_store_args args = argsFor(1);
    EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_EQ(fake->launches.size(), 1u);
    nvfp4rt_plan_destroy(plan);
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_EQ(fake->loadedModules, 0u);
  }
}

TEST(HipLibrary, AnArchitectureNameThatIsNone) {
  const FakeHip fake;
  const Result<HipApi> hip = HipApi::load();
  ASSERT_TRUE(hip);
  fake->arch[0] = "";
  EXPECT_EQ(hip->archName(0).error().code, NVFP4RT_ERROR_HIP);
  fake->arch[0] = std::string(300, 'g'); // no terminator in the 256 bytes
  EXPECT_NE(hip->archName(0).error().message.find("expected an architecture name gfx"),
            std::string::npos);
  fake->failingCall = "hipGetDevicePropertiesR0600";
  EXPECT_NE(hip->archName(0).error().message.find("found error 999 hipErrorUnknown"),
            std::string::npos);
}

TEST(HipLibrary, AnEmptyVariableMeansUnset) {
  const HipLibrary library("");
  const Result<HipApi> hip = HipApi::load();
  if (hip) {
    EXPECT_TRUE(hip->library.starts_with("libamdhip64.so.")) << hip->library;
    return;
  }
  for (const char *name : {"libamdhip64.so.7 (", "libamdhip64.so.6 (", "libamdhip64.so.5 ("})
    EXPECT_NE(hip.error().message.find(name), std::string::npos) << hip.error().message;
}

// The real library, where there is one. On a machine without a GPU: a typed error, not a crash.
TEST(HipLibrary, RealLibraryWithoutADevice) {
  const HipLibrary library("libamdhip64.so.5");
  const Result<HipApi> hip = HipApi::load();
  if (!hip)
    GTEST_SKIP() << "libamdhip64.so.5 is not installed: " << hip.error().message;
  int count = 0;
  if (hip->hipGetDeviceCount(&count) == hip::kSuccess && count > 0)
    GTEST_SKIP() << "this machine has " << count << " HIP devices";
  nvfp4rt_bundle *bundle = nullptr;
  const ByteVector bytes = goodBundle();
  ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK);
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_ERROR_NO_DEVICE);
  EXPECT_NE(std::strstr(nvfp4rt_last_error(), "hipErrorNoDevice"), nullptr) << nvfp4rt_last_error();
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK);
}
