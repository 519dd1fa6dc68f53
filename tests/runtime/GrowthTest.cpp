//===- GrowthTest.cpp - ten thousand bundles, one after the other -----------===//
//
// The whole life of a bundle, 10,000 times: neither memory nor descriptors grow.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/LaunchFixture.h"

#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

size_t descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

#ifdef UNDER_SANITIZER // slower, and one leak is as good as many to it
constexpr int kLives = 1000;
#else
constexpr int kLives = 10000;
#endif

/// Bytes that are allocated; 0 where a sanitizer has its own allocator, which looks for leaks.
size_t allocated() { return mallinfo2().uordblks; }

size_t residentPages() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

void lifeOfABundle(const std::string &path) {
  nvfp4rt_bundle *bundle = nullptr;
  nvfp4rt_plan *plan = nullptr;
  const auto fields = decode(1);
  const nvfp4rt_kv_store_args args = argsFor(1);
  if (nvfp4rt_bundle_open_file(path.c_str(), &bundle) != NVFP4RT_OK ||
      nvfp4rt_bundle_load(bundle, 0) != NVFP4RT_OK || nvfp4rt_bundle_freeze(bundle) != NVFP4RT_OK ||
      nvfp4rt_plan_create(bundle, 0, "kv_store", fields.data(), fields.size(), &plan) !=
          NVFP4RT_OK ||
      nvfp4rt_launch(plan, &args, nullptr) != NVFP4RT_OK)
    FAIL() << nvfp4rt_last_error();
  nvfp4rt_plan_destroy(plan);
  if (nvfp4rt_bundle_close(bundle) != NVFP4RT_OK)
    FAIL() << nvfp4rt_last_error();
}

} // namespace

TEST(Growth, TenThousandBundles) {
  const FakeHip fake;
  fake->recordLaunches = false;
  const std::string path = testing::TempDir() + "nvfp4rt_growth_" + std::to_string(getpid());
  {
    const ByteVector bytes = goodBundle();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  const auto repeat = [&](int times) {
    for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
      lifeOfABundle(path);
      fake->calls.clear();
    }
  };
  repeat(100); // what is allocated once is allocated now
  const size_t bytes = allocated(), files = descriptors(), pages = residentPages();
  repeat(kLives);
  EXPECT_EQ(descriptors(), files);
  EXPECT_EQ(fake->loadedModules, 0u);
  EXPECT_LE(allocated(), bytes + 4096);
#ifndef UNDER_SANITIZER // theirs keep what was freed
  EXPECT_LE(residentPages(), pages + 256);
#else
  (void)pages;
#endif
  std::filesystem::remove(path);
}
