//===- LaunchFixture.h - a bundle on a fake HIP, through the C interface ----===//
//
// The bundle of TestBundle.h, opened; requests and arguments for it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_TESTS_RUNTIME_LAUNCHFIXTURE_H
#define NVFP4_TESTS_RUNTIME_LAUNCHFIXTURE_H

#include "tests/runtime/FakeHipClient.h"
#include "tests/runtime/TestBundle.h"

#include <cstring>

namespace nvfp4rt::test {

inline nvfp4rt_field integer(const char *name, int64_t value) { return {name, nullptr, value}; }
inline nvfp4rt_field symbol(const char *name, const char *value) { return {name, value, 0}; }

inline std::vector<nvfp4rt_field> decode(int64_t requests) {
  return {symbol("phase", "decode"), integer("query_len", 1), integer("requests", requests),
          symbol("dtype", "bf16")};
}
inline std::vector<nvfp4rt_field> verify(int64_t queryLen, int64_t requests) {
  return {symbol("phase", "verify"), integer("query_len", queryLen), integer("requests", requests),
          symbol("dtype", "bf16")};
}

/// Arguments whose every byte is known, and legal.
inline nvfp4rt_kv_store_args argsFor(uint32_t rows) {
  nvfp4rt_kv_store_args args;
  std::memset(&args, 0x5a, sizeof(args));
  args.struct_size = sizeof(args);
  args.rows = rows;
  args.reserved = 0;
  return args;
}

/// The last error of this thread holds `part`.
inline void expectMessage(std::string_view part) {
  EXPECT_NE(std::strstr(nvfp4rt_last_error(), std::string(part).c_str()), nullptr)
      << "expected: " << part << "\nfound:    " << nvfp4rt_last_error();
}

/// A fake HIP library and a bundle that is open.
class LaunchFixture : public testing::Test {
protected:
  void SetUp() override { open(testManifest(testObject("good"))); }
  void TearDown() override {
    nvfp4rt_plan_destroy(plan);
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_EQ(fake->loadedModules, 0u);
  }
  void open(const Manifest &manifest) {
    dropPlan();
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    const ByteVector bytes = bundleWith(manifest);
    ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK)
        << nvfp4rt_last_error();
    fake->calls.clear();
  }
  /// On device 0, and frozen.
  void load() {
    ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK) << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  }
  void dropPlan() {
    nvfp4rt_plan_destroy(plan);
    plan = nullptr;
  }
  nvfp4rt_status makePlan(const std::vector<nvfp4rt_field> &fields,
                          const char *family = "kv_store") {
    dropPlan();
    return nvfp4rt_plan_create(bundle, 0, family, fields.data(), fields.size(), &plan);
  }
  nvfp4rt_status launch(uint32_t rows, void *stream = nullptr) {
    const nvfp4rt_kv_store_args args = argsFor(rows);
    return nvfp4rt_launch(plan, &args, stream);
  }

  FakeHip fake;
  nvfp4rt_bundle *bundle = nullptr;
  nvfp4rt_plan *plan = nullptr;
};

} // namespace nvfp4rt::test

#endif // NVFP4_TESTS_RUNTIME_LAUNCHFIXTURE_H
