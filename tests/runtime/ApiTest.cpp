//===- ApiTest.cpp - the C interface: null arguments, explain, names --------===//
//
// What does not need a device.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/TestBundle.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

class Api : public testing::Test {
protected:
  void SetUp() override {
    const ByteVector bytes = goodBundle();
    ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK)
        << nvfp4rt_last_error();
  }
  void TearDown() override { EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK); }
  nvfp4rt_bundle *bundle = nullptr;
};

void expectNull(nvfp4rt_status status, const char *message) {
  EXPECT_EQ(status, NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(nvfp4rt_last_error(), message);
}

} // namespace

TEST_F(Api, NullArguments) {
  const nvfp4rt_field field = {"requests", nullptr, 1};
  const uint8_t byte = 0;
  nvfp4rt_bundle *other = nullptr;
  nvfp4rt_plan *plan = nullptr;
  char text[8];
  size_t length = 0;
  expectNull(nvfp4rt_bundle_open_file(nullptr, &other),
             "nvfp4rt_bundle_open_file: path: expected a pointer, found NULL");
  expectNull(nvfp4rt_bundle_open_file("x", nullptr),
             "nvfp4rt_bundle_open_file: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_bundle_open_memory(nullptr, 1, &other),
             "nvfp4rt_bundle_open_memory: data: expected a pointer, found NULL");
  expectNull(nvfp4rt_bundle_open_memory(&byte, 1, nullptr),
             "nvfp4rt_bundle_open_memory: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_bundle_load(nullptr, 0),
             "nvfp4rt_bundle_load: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_plan_create(nullptr, 0, "kv_store", &field, 1, &plan),
             "nvfp4rt_plan_create: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_plan_create(bundle, 0, nullptr, &field, 1, &plan),
             "nvfp4rt_plan_create: family: expected a pointer, found NULL");
  expectNull(nvfp4rt_plan_create(bundle, 0, "kv_store", &field, 1, nullptr),
             "nvfp4rt_plan_create: plan: expected a pointer, found NULL");
  expectNull(nvfp4rt_bundle_freeze(nullptr),
             "nvfp4rt_bundle_freeze: bundle: expected a pointer, found NULL");
  const char *names[] = {"requests"};
  nvfp4rt_selector *selector = nullptr;
  expectNull(nvfp4rt_selector_create(nullptr, "kv_store", &field, 1, names, 1, &selector),
             "nvfp4rt_selector_create: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_selector_create(bundle, nullptr, &field, 1, names, 1, &selector),
             "nvfp4rt_selector_create: family: expected a pointer, found NULL");
  expectNull(nvfp4rt_selector_create(bundle, "kv_store", &field, 1, nullptr, 1, &selector),
             "nvfp4rt_selector_create: names: expected a pointer, found NULL");
  expectNull(nvfp4rt_selector_create(bundle, "kv_store", &field, 1, names, 1, nullptr),
             "nvfp4rt_selector_create: selector: expected a pointer, found NULL");
  const int64_t one = 1;
  int64_t value = 0;
  expectNull(nvfp4rt_selector_plan(nullptr, 0, &one, &plan),
             "nvfp4rt_selector_plan: selector: expected a pointer, found NULL");
  expectNull(nvfp4rt_symbol_value(nullptr, "decode", &value),
             "nvfp4rt_symbol_value: field: expected a pointer, found NULL");
  expectNull(nvfp4rt_symbol_value("phase", nullptr, &value),
             "nvfp4rt_symbol_value: symbol: expected a pointer, found NULL");
  expectNull(nvfp4rt_symbol_value("phase", "decode", nullptr),
             "nvfp4rt_symbol_value: value: expected a pointer, found NULL");
  expectNull(nvfp4rt_explain(nullptr, "kv_store", &field, 1, text, 8, &length),
             "nvfp4rt_explain: bundle: expected a pointer, found NULL");
  expectNull(nvfp4rt_explain(bundle, nullptr, &field, 1, text, 8, &length),
             "nvfp4rt_explain: family: expected a pointer, found NULL");
  expectNull(nvfp4rt_explain(bundle, "kv_store", nullptr, 1, text, 8, &length),
             "nvfp4rt_explain: fields: expected a pointer, found NULL");
  expectNull(nvfp4rt_explain(bundle, "kv_store", &field, 1, nullptr, 8, &length),
             "nvfp4rt_explain: buffer: expected a pointer, found NULL");
  expectNull(nvfp4rt_explain(bundle, "kv_store", &field, 1, text, 8, nullptr),
             "nvfp4rt_explain: length: expected a pointer, found NULL");
  EXPECT_EQ(nvfp4rt_bundle_close(nullptr), NVFP4RT_OK);
  nvfp4rt_plan_destroy(nullptr);
  nvfp4rt_selector_destroy(nullptr);
  EXPECT_STREQ(nvfp4rt_plan_variant(nullptr), "");
  EXPECT_STREQ(nvfp4rt_plan_symbol(nullptr), "");
  EXPECT_EQ(nvfp4rt_plan_workspace_bytes(nullptr), 0u);
}

TEST_F(Api, OpenErrorsLeaveNoBundle) {
  auto *other = reinterpret_cast<nvfp4rt_bundle *>(1);
  const uint8_t byte = 0;
  EXPECT_EQ(nvfp4rt_bundle_open_memory(&byte, 1, &other), NVFP4RT_ERROR_BAD_ELF);
  EXPECT_EQ(other, nullptr);
  EXPECT_STREQ(nvfp4rt_last_error(),
               "bundle in memory (1 bytes): ELF header: expected 64 bytes, found a file of 1");
  EXPECT_EQ(nvfp4rt_bundle_open_memory(&byte, (size_t{1} << 31) + 1, &other),
            NVFP4RT_ERROR_BAD_ELF); // refused before a byte is read
  EXPECT_EQ(nvfp4rt_bundle_open_file("/nonexistent", &other), NVFP4RT_ERROR_IO);
  EXPECT_EQ(other, nullptr);
}

TEST_F(Api, TheCallersBytesAreCopied) {
  ByteVector bytes = goodBundle();
  nvfp4rt_bundle *other = nullptr;
  ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &other), NVFP4RT_OK);
  std::fill(bytes.begin(), bytes.end(), 0xff);
  const nvfp4rt_field field = {"requests", nullptr, 1};
  size_t length = 0;
  EXPECT_EQ(nvfp4rt_explain(other, "kv_store", &field, 1, nullptr, 0, &length), NVFP4RT_OK);
  nvfp4rt_bundle_close(other);
}

TEST_F(Api, Explain) {
  const nvfp4rt_field fields[] = {{"phase", "decode", 0},
                                  {"query_len", nullptr, 1},
                                  {"requests", nullptr, 5},
                                  {"dtype", "bf16", 0}};
  const std::string expected = "decode_b1: expected requests in [1, 1], found 5\n"
                               "decode_b8: match\n"
                               "decode_b48: expected requests in [9, 48], found 5\n"
                               "verify_b48: expected phase == verify, found decode\n";
  size_t length = 0;
  ASSERT_EQ(nvfp4rt_explain(bundle, "kv_store", fields, 4, nullptr, 0, &length), NVFP4RT_OK);
  EXPECT_EQ(length, expected.size());
  for (size_t size : {size_t{1}, size_t{2}, size_t{40}, length, length + 1, length + 9}) {
    std::string buffer(size + 1, '#');
    size_t again = 0;
    ASSERT_EQ(nvfp4rt_explain(bundle, "kv_store", fields, 4, buffer.data(), size, &again),
              NVFP4RT_OK);
    EXPECT_EQ(again, length);
    EXPECT_EQ(std::string(buffer.c_str()), expected.substr(0, size - 1));
    EXPECT_EQ(buffer[size], '#'); // the byte after the buffer
  }
  EXPECT_EQ(nvfp4rt_explain(bundle, "topk", fields, 4, nullptr, 0, &length),
            NVFP4RT_ERROR_NO_MATCH);
}

TEST_F(Api, ExplainsOddRequests) {
  const auto explain = [&](std::vector<nvfp4rt_field> fields) {
    char buffer[1024] = "";
    size_t length = 0;
    EXPECT_EQ(nvfp4rt_explain(bundle, "kv_store", fields.data(), fields.size(), buffer,
                              sizeof(buffer), &length),
              NVFP4RT_OK);
    return std::string(buffer).substr(0, std::string(buffer).find('\n'));
  };
  EXPECT_EQ(explain({}), "decode_b1: expected phase == decode, the request has no phase");
  EXPECT_EQ(explain({{"phase", "decode", 0},
                     {"query_len", nullptr, 1},
                     {"requests", nullptr, 1},
                     {"dtype", "bf16", 0},
                     {"top_k", nullptr, 16}}),
            "decode_b1: top_k = 16 is not a field of this guard");
}

TEST(ApiNames, ValuesOfSymbols) {
  int64_t value = -1;
  ASSERT_EQ(nvfp4rt_symbol_value("phase", "verify", &value), NVFP4RT_OK);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(nvfp4rt_symbol_value("plane_order", "hnd", &value), NVFP4RT_OK);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(nvfp4rt_symbol_value("phases", "verify", &value), NVFP4RT_ERROR_UNKNOWN_FIELD);
  EXPECT_EQ(nvfp4rt_symbol_value("phase", "verified", &value), NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvfp4rt_symbol_value("requests", "1", &value), NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(value, 1);
}

TEST(ApiNames, VersionAndStatus) {
  EXPECT_STREQ(nvfp4rt_version(), NVFP4GEN_VERSION);
  EXPECT_STREQ(nvfp4rt_status_name(NVFP4RT_OK), "NVFP4RT_OK");
  EXPECT_EQ(nvfp4rt_version_number(), static_cast<uint32_t>(NVFP4RT_VERSION_NUMBER));
  EXPECT_STREQ(nvfp4rt_status_name(NVFP4RT_ERROR_INTERNAL), "NVFP4RT_ERROR_INTERNAL");
  for (int status = NVFP4RT_OK; status <= NVFP4RT_ERROR_ENVIRONMENT; ++status)
    EXPECT_STRNE(nvfp4rt_status_name(static_cast<nvfp4rt_status>(status)), "NVFP4RT_ERROR_UNKNOWN");
}
