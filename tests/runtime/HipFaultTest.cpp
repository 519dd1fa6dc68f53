//===- HipFaultTest.cpp - HIP libraries that lack or fail something ---------===//
//
// Each function missing in turn, and each call of a bundle's life failing in
// turn: a typed error, nothing half-loaded, no handle left, and it can be tried
// again.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"
#include "tests/runtime/LaunchFixture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

/// A copy of a library that exports a function under another name: its dynamic symbol is not found
/// by the right one any more.
class WithoutFunction {
public:
  WithoutFunction(const char *library, std::string_view function)
      : path(testing::TempDir() + "nvfp4rt_without_" + std::string(function) + "_" +
             std::to_string(getpid()) + ".so") {
    ByteVector bytes = readBytes(library);
    std::string name(function.size() + 2, '\0'); // whole names only
    std::ranges::copy(function, name.begin() + 1);
    for (auto at = bytes.begin();
         (at = std::search(at, bytes.end(), name.begin(), name.end())) != bytes.end(); ++at) {
      *(at + 1) = 'x';
      ++renamed;
    }
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~WithoutFunction() { std::filesystem::remove(path); }
  WithoutFunction(const WithoutFunction &) = delete;

  const std::string path;
  size_t renamed = 0;
};

constexpr const char *kFunctions[] = {
#define NVFP4_HIP_FUNCTION(name, ret, params) #name,
#include "runtime/hip/HipFunctions.def"
};

void expectMissing(const char *library, const char *function) {
  const WithoutFunction copy(library, function);
  ASSERT_GT(copy.renamed, 0u) << function;
  const HipLibrary variable(copy.path.c_str());
  const ByteVector bytes = goodBundle();
  nvfp4rt_bundle *bundle = nullptr;
  ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK);
  EXPECT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_ERROR_NO_HIP_LIBRARY) << function;
  EXPECT_TRUE(std::string_view(nvfp4rt_last_error())
                  .ends_with(std::string("expected all functions of HIP's module API, found none "
                                         "named ") +
                             function))
      << nvfp4rt_last_error();
  EXPECT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_ERROR_NO_DEVICE);
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK);
}

} // namespace

TEST(HipFault, EachFunctionMissingInTurn) {
  for (const char *function : kFunctions)
    expectMissing(FAKE_HIP_R0600_PATH, function);
  // HIP 5 has one function for the properties; of the two of HIP 6 either will do.
  expectMissing(FAKE_HIP_R0000_PATH, "hipGetDeviceProperties");
  for (const char *function : {"hipGetDeviceProperties", "hipGetDevicePropertiesR0600"}) {
    const WithoutFunction copy(FAKE_HIP_R0600_PATH, function);
    const FakeHip fake(copy.path.c_str());
    const Result<HipApi> hip = HipApi::load();
    ASSERT_TRUE(hip) << hip.error().message;
    EXPECT_EQ(hip->archName(0).value(), "gfx950");
  }
}

namespace {

/// A bundle's life on two devices. Each step that fails is reported, undone and made again.
struct Life {
  nvfp4rt_status failed = NVFP4RT_OK;
  std::string message;

  void run(const FakeHip &fake) {
    const ByteVector bytes = goodBundle();
    nvfp4rt_bundle *bundle = nullptr;
    ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK);
    for (size_t device : {0, 1})
      for (int attempt = 0; attempt < 2; ++attempt) {
        const nvfp4rt_status status = nvfp4rt_bundle_load(bundle, static_cast<int>(device));
        note(status);
        // All of it or nothing.
        const size_t loaded = device + (status == NVFP4RT_OK);
        EXPECT_EQ(fake->loadedModules, loaded);
        EXPECT_EQ(fake->functions, loaded * 2);
        if (status == NVFP4RT_OK)
          break;
        fake->currentDevice = 0; // a failed hipSetDevice may have left it anywhere
      }
    ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    nvfp4rt_plan *plan = nullptr;
    const auto fields = decode(1);
    ASSERT_EQ(nvfp4rt_plan_create(bundle, 1, "kv_store", fields.data(), fields.size(), &plan),
              NVFP4RT_OK);
    const nvfp4rt_kv_store_args args = argsFor(1);
    nvfp4rt_status launched = nvfp4rt_launch(plan, &args, nullptr);
    note(launched);
    if (launched != NVFP4RT_OK)
      launched = nvfp4rt_launch(plan, &args, nullptr);
    EXPECT_EQ(launched, NVFP4RT_OK);
    nvfp4rt_plan_destroy(plan);
    note(nvfp4rt_bundle_close(bundle));
  }

private:
  void note(nvfp4rt_status status) {
    if (status == NVFP4RT_OK)
      return;
    EXPECT_EQ(failed, NVFP4RT_OK) << "one fault, one error";
    failed = status;
    message = nvfp4rt_last_error();
  }
};

} // namespace

TEST(HipFault, EachCallFailingInTurn) {
  FakeHip fake;
  const auto fresh = [&] {
    *fake.operator->() = {};
    fake->arch[1] = "gfx950";
  };
  fresh();
  Life good;
  good.run(fake);
  EXPECT_EQ(good.failed, NVFP4RT_OK) << good.message;
  const size_t calls = fake->number;
  EXPECT_GE(calls, 2u * 8 + 1 + 2 * 4); // loads, launch, unloads

  for (size_t at = 1; at <= calls; ++at) {
    fresh();
    fake->failAt = at;
    Life life;
    life.run(fake);
    EXPECT_EQ(life.failed, NVFP4RT_ERROR_HIP) << "call " << at;
    EXPECT_NE(life.message.find("expected success, found error 999 hipErrorUnknown (injected by "
                                "the test)"),
              std::string::npos)
        << "call " << at << ": " << life.message;
    EXPECT_EQ(fake->loadedModules, 0u) << "call " << at << ": " << life.message;
    EXPECT_EQ(fake->functions, 0u) << "call " << at << ": " << life.message;
  }
}
