//===- CppApiTest.cpp - nvfp4rt.hpp on a fake HIP ---------------------------===//
//
// What the C++ header adds: exceptions, owners that may go in any order, plans that
// know their family.
//
//===------------------------------------------------------------------------===//
#include "runtime/include/nvfp4rt.hpp"
#include "tests/runtime/LaunchFixture.h"

#include <gmock/gmock.h>

using namespace nvfp4rt::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

using Args = nvfp4rt_kv_store_args;

// Every family of the registry has its struct's name, and no other type has one.
#define NVFP4_FAMILY(family, CamelName)                                                            \
  static_assert(std::string_view(nvfp4::Family<nvfp4rt_##family##_args>::name) == #family);
#include "templates/Families.def"
template <typename T>
concept HasFamily = requires { nvfp4::Family<T>::name; };
static_assert(!HasFamily<nvfp4rt_plane>);

// A plan takes no other family's arguments.
template <typename T>
concept Launches = requires(const nvfp4::Plan<Args> &plan, const T &args) { plan.launch(args); };
static_assert(Launches<Args> && !Launches<nvfp4rt_topk_args>);

static_assert(!std::is_copy_constructible_v<nvfp4::Bundle> &&
              !std::is_copy_constructible_v<nvfp4::Plan<Args>> &&
              !std::is_copy_constructible_v<nvfp4::Selector<Args>>);
static_assert(std::is_nothrow_move_constructible_v<nvfp4::Bundle> &&
              std::is_nothrow_move_assignable_v<nvfp4::Plan<Args>> &&
              std::is_nothrow_move_constructible_v<nvfp4::Selector<Args>>);

class CppApi : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(fake->loadedModules, 0u); }
  nvfp4::Bundle opened() const {
    const ByteVector bytes = goodBundle();
    return nvfp4::Bundle::open_memory(bytes.data(), bytes.size());
  }
  nvfp4::Bundle frozen() const {
    nvfp4::Bundle bundle = opened();
    bundle.load(0);
    bundle.freeze();
    return bundle;
  }
  FakeHip fake;
};

const nvfp4::Fields kStays = {{"dtype", "bf16"}};
nvfp4::Fields step(int requests) {
  return kStays + nvfp4::Fields{{"phase", "decode"}, {"query_len", 1}, {"requests", requests}};
}

/// The error that `body` throws.
template <typename Body> nvfp4::Error errorOf(Body body) {
  try {
    body();
  } catch (const nvfp4::Error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {NVFP4RT_OK, ""};
}

} // namespace

TEST_F(CppApi, Launch) {
  const nvfp4::Bundle bundle = frozen();
  const nvfp4::Plan plan = bundle.plan<Args>(step(5), 0);
  EXPECT_STREQ(plan.variant(), "decode_b8");
  EXPECT_STREQ(plan.symbol(), "kernel_a");
  EXPECT_EQ(plan.workspace_bytes(), nvfp4rt_plan_workspace_bytes(plan.get()));
  int stream = 0;
  plan.launch(argsFor(4), &stream);
  ASSERT_EQ(fake->launches.size(), 1u);
  EXPECT_EQ(fake->launches[0].kernel, "kernel_a");
  EXPECT_EQ(fake->launches[0].stream, &stream);
  plan.launch(argsFor(4));
  EXPECT_EQ(fake->launches.at(1).stream, nullptr);
}

TEST_F(CppApi, ErrorsSayWhichAndWhat) {
  const nvfp4::Error missing = errorOf([] { nvfp4::Bundle::open_file("/nonexistent.hsaco"); });
  EXPECT_EQ(missing.status(), NVFP4RT_ERROR_IO);
  EXPECT_THAT(missing.what(), StartsWith("NVFP4RT_ERROR_IO: "));
  EXPECT_THAT(missing.what(), HasSubstr("/nonexistent.hsaco"));
  EXPECT_EQ(errorOf([] { nvfp4::Bundle::open_memory("no ELF", 6); }).status(),
            NVFP4RT_ERROR_BAD_ELF);

  nvfp4::Bundle bundle = opened();
  EXPECT_EQ(errorOf([&] { bundle.load(1); }).status(), NVFP4RT_ERROR_WRONG_ARCH);
  EXPECT_EQ(errorOf([&] { bundle.freeze(); }).status(), NVFP4RT_ERROR_NO_DEVICE);
  bundle.load(0);
  EXPECT_EQ(errorOf([&] { bundle.plan<Args>(step(5), 0); }).status(), NVFP4RT_ERROR_NOT_FROZEN);
  bundle.freeze();
  EXPECT_EQ(errorOf([&] { bundle.load(0); }).status(), NVFP4RT_ERROR_FROZEN);
  EXPECT_EQ(errorOf([&] { bundle.plan<Args>(step(49), 0); }).status(), NVFP4RT_ERROR_NO_MATCH);
  EXPECT_EQ(errorOf([&] { bundle.plan<nvfp4rt_topk_args>(step(5), 0); }).status(),
            NVFP4RT_ERROR_NO_MATCH);
  const nvfp4::Plan plan = bundle.plan<Args>(step(5), 0);
  Args other = argsFor(4);
  other.struct_size += 8;
  EXPECT_EQ(errorOf([&] { plan.launch(other); }).status(), NVFP4RT_ERROR_ARGS_LAYOUT);
  fake->failingCall = "hipModuleLaunchKernel";
  EXPECT_EQ(errorOf([&] { plan.launch(argsFor(4)); }).status(), NVFP4RT_ERROR_HIP);
}

TEST_F(CppApi, PlansAndSelectorsKeepTheirBundle) {
  std::optional<nvfp4::Bundle> bundle = frozen();
  std::optional<nvfp4::Plan<Args>> plan = bundle->plan<Args>(step(5), 0);
  std::optional<nvfp4::Selector<Args>> selector =
      bundle->selector<Args>(kStays, {"phase", "query_len", "requests"});
  bundle.reset();
  EXPECT_EQ(fake->loadedModules, 1u);
  plan->launch(argsFor(4));
  plan.reset();
  {
    const nvfp4::Plan again = selector->plan({nvfp4::symbol("phase", "decode"), 1, 5}, 0);
    selector.reset();
    EXPECT_EQ(fake->loadedModules, 1u);
    again.launch(argsFor(4));
  }
  EXPECT_EQ(fake->loadedModules, 0u);
  EXPECT_EQ(fake->launches.size(), 2u);
}

TEST_F(CppApi, CloseReports) {
  nvfp4::Bundle bundle = frozen();
  {
    const nvfp4::Plan plan = bundle.plan<Args>(step(5), 0);
    EXPECT_EQ(errorOf([&] { bundle.close(); }).status(), NVFP4RT_ERROR_IN_USE);
    plan.launch(argsFor(4)); // it stays as it was
  }
  bundle.close();
  bundle.close();
  EXPECT_EQ(errorOf([&] { bundle.load(0); }).status(), NVFP4RT_ERROR_INVALID_ARGUMENT);

  nvfp4::Bundle other = frozen();
  fake->failingCall = "hipModuleUnload";
  EXPECT_EQ(errorOf([&] { other.close(); }).status(), NVFP4RT_ERROR_HIP);
  EXPECT_EQ(other.get(), nullptr); // gone all the same
  fake->loadedModules = 0;         // the fake's module could not be unloaded
}

TEST_F(CppApi, MovedFromThrows) {
  nvfp4::Bundle from = frozen();
  const nvfp4::Bundle bundle = std::move(from);
  // NOLINTBEGIN(bugprone-use-after-move): what is tested.
  EXPECT_EQ(errorOf([&] { from.freeze(); }).status(), NVFP4RT_ERROR_INVALID_ARGUMENT);
  nvfp4::Plan plan = bundle.plan<Args>(step(5), 0);
  const nvfp4::Plan moved = std::move(plan);
  EXPECT_EQ(errorOf([&] { plan.launch(argsFor(4)); }).status(), NVFP4RT_ERROR_INVALID_ARGUMENT);
  // NOLINTEND(bugprone-use-after-move)
  moved.launch(argsFor(4));
}

TEST_F(CppApi, Selectors) {
  const nvfp4::Bundle bundle = frozen();
  const nvfp4::Selector selector =
      bundle.selector<Args>(kStays, {"phase", "query_len", "requests"});
  const int64_t decodePhase = nvfp4::symbol("phase", "decode");
  for (int requests : {1, 2, 8, 9, 48})
    EXPECT_STREQ(selector.plan({decodePhase, 1, requests}, 0).variant(),
                 bundle.plan<Args>(step(requests), 0).variant());
  EXPECT_EQ(errorOf([&] { selector.plan({decodePhase, 1}, 0); }).status(),
            NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_THROW(nvfp4::symbol("phase", "dance"), nvfp4::Error);
}

TEST_F(CppApi, Explain) {
  EXPECT_EQ(opened().explain<Args>(step(5)),
            "decode_b1: expected requests in [1, 1], found 5\n"
            "decode_b8: match\n"
            "decode_b48: expected requests in [9, 48], found 5\n"
            "verify_b48: expected phase == verify, found decode\n");
}

TEST_F(CppApi, FieldsOfAnyInteger) {
  const nvfp4::Fields fields = {{"rotary_dim", 0}, {"requests", size_t{48}}, {"phase", "decode"}};
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields.data()[0].symbol, nullptr);
  EXPECT_EQ(fields.data()[1].value, 48);
  EXPECT_STREQ(fields.data()[2].symbol, "decode");
}
