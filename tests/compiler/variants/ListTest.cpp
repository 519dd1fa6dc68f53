//===- ListTest.cpp - what `nvfp4gen list` prints ---------------------------===//
#include "tests/compiler/variants/FakeFamilies.h"

#include "llvm/Support/raw_ostream.h"

namespace nvfp4gen::test {
namespace {

Spec smallSpec() {
  Spec spec = load("tiny");
  spec.serving.requestBuckets = {1, 4};
  return spec;
}

TEST(List, TableIsAligned) {
  Spec spec = smallSpec();
  std::string text;
  llvm::raw_string_ostream os(text);
  printList(spec, enumerate(spec, {&kShared, &kPerBucket}), os);
  EXPECT_EQ(text, R"(tiny: 12 variants, 3 kernels

family  phase    q    requests  variant
shared  decode   1    1         shared__hkv2__decode_q1_b1
shared  decode   1    2..4      shared__hkv2__decode_q1_b4
shared  verify   2    1         shared__hkv2__verify_q2_b1
shared  verify   2    2..4      shared__hkv2__verify_q2_b4
shared  prefill  any  1         shared__hkv2__prefill_b1
shared  prefill  any  2..4      shared__hkv2__prefill_b4
bucket  decode   1    1         bucket__hkv2_b1__decode_q1_b1
bucket  decode   1    2..4      bucket__hkv2_b4__decode_q1_b4
bucket  verify   2    1         bucket__hkv2_b1__verify_q2_b1
bucket  verify   2    2..4      bucket__hkv2_b4__verify_q2_b4
bucket  prefill  any  1         bucket__hkv2_b1__prefill_b1
bucket  prefill  any  2..4      bucket__hkv2_b4__prefill_b4

kernel bucket__hkv2_b1: 3 variants
kernel bucket__hkv2_b4: 3 variants
kernel shared__hkv2: 6 variants
)");
}

TEST(List, OneOfEach) {
  Spec spec = smallSpec();
  spec.serving.requestBuckets = {4};
  spec.serving.phases = {Phase::Prefill};
  std::string text;
  llvm::raw_string_ostream os(text);
  printList(spec, enumerate(spec, {&kShared}), os);
  EXPECT_EQ(text, R"(tiny: 1 variant, 1 kernel

family  phase    q    requests  variant
shared  prefill  any  1..4      shared__hkv2__prefill_b4

kernel shared__hkv2: 1 variant
)");
}

TEST(List, JsonIsTheMapOfG2) {
  Spec spec = smallSpec();
  spec.serving.phases = {Phase::Verify, Phase::Prefill};
  spec.sha256 = "abc";
  llvm::Expected<llvm::json::Value> expected = llvm::json::parse(R"({
    "spec": "tiny",
    "spec_sha256": "abc",
    "kernels": [{"symbol": "shared__hkv2", "family": "shared"}],
    "map": [
      {"family": "shared", "phase": "verify", "query_len": 2, "requests": [1, 1],
       "variant": "shared__hkv2__verify_q2_b1", "symbol": "shared__hkv2",
       "guard": "phase == verify, query_len == 2, requests in [1, 1], dtype == bf16, kv_heads == 2"},
      {"family": "shared", "phase": "verify", "query_len": 2, "requests": [2, 4],
       "variant": "shared__hkv2__verify_q2_b4", "symbol": "shared__hkv2",
       "guard": "phase == verify, query_len == 2, requests in [2, 4], dtype == bf16, kv_heads == 2"},
      {"family": "shared", "phase": "prefill", "query_len": 0, "requests": [1, 1],
       "variant": "shared__hkv2__prefill_b1", "symbol": "shared__hkv2",
       "guard": "phase == prefill, query_len == 0, requests in [1, 1], dtype == bf16, kv_heads == 2"},
      {"family": "shared", "phase": "prefill", "query_len": 0, "requests": [2, 4],
       "variant": "shared__hkv2__prefill_b4", "symbol": "shared__hkv2",
       "guard": "phase == prefill, query_len == 0, requests in [2, 4], dtype == bf16, kv_heads == 2"}
    ]})");
  ASSERT_TRUE(!!expected);
  EXPECT_EQ(listJson(spec, enumerate(spec, {&kShared})), *expected);
}

} // namespace
} // namespace nvfp4gen::test
