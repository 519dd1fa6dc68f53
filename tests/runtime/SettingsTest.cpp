//===- SettingsTest.cpp - environment switches, logging, checked launches ---===//
//
// Through the C interface: what each variable accepts and refuses, what goes to
// stderr at which level, and that NVFP4RT_CHECK holds a launch.
//
//===------------------------------------------------------------------------===//
#include "runtime/support/Settings.h"
#include "tests/runtime/LaunchFixture.h"

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

/// Sets a variable for the length of a scope.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name); }
  Variable(const Variable &) = delete;

private:
  const char *name;
};

class Switches : public LaunchFixture {
protected:
  /// Open again, under what the environment now says, and everything up to a launch.
  std::string logOfAStep() {
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK);
    bundle = nullptr;
    testing::internal::CaptureStderr();
    open(testManifest(testObject("good")));
    load();
    EXPECT_EQ(makePlan(decode(1)), NVFP4RT_OK);
    const nvfp4rt_kv_store_args args = rightArgs();
    EXPECT_EQ(nvfp4rt_launch(plan, &args, nullptr), NVFP4RT_OK) << nvfp4rt_last_error();
    EXPECT_EQ(nvfp4rt_launch(plan, nullptr, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
    nvfp4rt_plan_destroy(plan);
    dropPlan(); // once too often
    return testing::internal::GetCapturedStderr();
  }
  static nvfp4rt_kv_store_args rightArgs() {
    nvfp4rt_kv_store_args args = argsFor(4);
    args.slots = args.index_slots = reinterpret_cast<const int64_t *>(0x1000);
    args.pages = args.index_pages = 9;
    for (nvfp4rt_rows *rows : {&args.k, &args.v, &args.index_k})
      *rows = {reinterpret_cast<const void *>(0x1000), 256, 256};
    for (nvfp4rt_plane *plane : {&args.k_payload, &args.k_scale, &args.v_payload, &args.v_scale,
                                 &args.index_payload, &args.index_scale})
      *plane = {reinterpret_cast<void *>(0x1000), 8192, 64, 64};
    return args;
  }
};

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(Settings, WordsOfASwitch) {
  const std::pair<const char *, bool> words[] = {{"0", false},   {"1", true},    {"false", false},
                                                 {"true", true}, {"off", false}, {"on", true},
                                                 {"", false}};
  for (const auto &[word, value] : words) {
    const Variable check("NVFP4RT_CHECK", word);
    const Result<Settings> settings = Settings::fromEnvironment();
    ASSERT_TRUE(settings) << word;
    EXPECT_EQ(settings->check, value) << word;
  }
  EXPECT_FALSE(Settings::fromEnvironment()->check);
  EXPECT_EQ(Settings::fromEnvironment()->log, LogLevel::Off);
}

TEST_F(Switches, OtherWordsAreRefusedAtOpen) {
  const ByteVector bytes = goodBundle();
  const auto refused = [&](const char *name, const char *value) {
    const Variable variable(name, value);
    auto *other = reinterpret_cast<nvfp4rt_bundle *>(1);
    EXPECT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &other),
              NVFP4RT_ERROR_ENVIRONMENT)
        << value;
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(nvfp4rt_bundle_open_file("/nonexistent", &other), NVFP4RT_ERROR_ENVIRONMENT);
    expectMessage(std::string("environment variable ") + name + ": expected one of ");
    expectMessage(std::string("found \"") + value + "\"");
  };
  for (const char *value : {"2", "yes", "TRUE", "On", " 1", "1 ", "-1", "00"})
    refused("NVFP4RT_CHECK", value);
  for (const char *value : {"0", "1", "warning", "INFO", "trace", "on"})
    refused("NVFP4RT_LOG", value);
}

TEST_F(Switches, LevelsOfTheLog) {
  EXPECT_EQ(logOfAStep(), ""); // unset
  const struct {
    const char *level;
    bool error, warn, info, debug;
  } cases[] = {{"", false, false, false, false},
               {"error", true, false, false, false},
               {"warn", true, true, false, false},
               {"info", true, true, true, false},
               {"debug", true, true, true, true}};
  for (const auto &test : cases) {
    const Variable level("NVFP4RT_LOG", test.level);
    const std::string text = logOfAStep();
    EXPECT_EQ(has(text,
                  "nvfp4rt: error: NVFP4RT_ERROR_INVALID_ARGUMENT: launch of decode_b1: args: "
                  "expected the argument struct, found NULL\n"),
              test.error)
        << text;
    EXPECT_EQ(has(text, "nvfp4rt: warn: nvfp4rt_plan_destroy: decode_b1: expected a plan that is "
                        "alive, found it destroyed before\n"),
              test.warn)
        << text;
    for (const char *line : {": opened: 4 variants of 2 kernels, build bbbb", ": HIP library ",
                             ": loaded on device 0\n", ": frozen: 4 plans on 1 devices\n"})
      EXPECT_EQ(has(text, line) && has(text, "nvfp4rt: info: bundle in memory ("), test.info)
          << text;
    EXPECT_EQ(has(text, "nvfp4rt: debug: launch of decode_b1 on device 0: 3 x 1 x 1 workgroups\n"),
              test.debug)
        << text;
  }
  EXPECT_EQ(logOfAStep(), ""); // read again at every open
}

TEST_F(Switches, CheckedLaunches) {
  nvfp4rt_kv_store_args wrong = rightArgs();
  wrong.slots = nullptr;
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  EXPECT_EQ(nvfp4rt_launch(plan, &wrong, nullptr), NVFP4RT_OK); // off
  {
    const Variable check("NVFP4RT_CHECK", "1");
    EXPECT_EQ(nvfp4rt_launch(plan, &wrong, nullptr), NVFP4RT_OK); // read at open, not here
    open(testManifest(testObject("good")));
  }
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  const size_t before = fake->launches.size();
  EXPECT_EQ(nvfp4rt_launch(plan, &wrong, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
  expectMessage("launch of decode_b1: NVFP4RT_CHECK: args.slots: expected a device address, found "
                "NULL");
  EXPECT_EQ(fake->launches.size(), before);
  wrong.rows = 0; // nothing is launched, so nothing is read
  EXPECT_EQ(nvfp4rt_launch(plan, &wrong, nullptr), NVFP4RT_OK);
  const nvfp4rt_kv_store_args right = rightArgs();
  EXPECT_EQ(nvfp4rt_launch(plan, &right, nullptr), NVFP4RT_OK) << nvfp4rt_last_error();
  EXPECT_EQ(fake->launches.size(), before + 1);
}
