//===- CoverageTest.cpp - planted gaps and overlaps, and their clean twins --===//
#include "tests/compiler/variants/FakeFamilies.h"

#include "compiler/variants/Coverage.h"

#include <random>

namespace nvfp4gen::test {
namespace {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Term;
using nvfp4rt::Variant;

std::string coverageFault(const Spec &spec, const std::vector<Variant> &variants) {
  return llvm::toString(checkCoverage(spec, variants));
}

/// Variants of the tiny spec: buckets 1, 2 and 4 of decode q1, verify q2 and prefill.
class Coverage : public testing::Test {
protected:
  Spec spec = load("tiny");
  std::vector<Variant> variants = enumerate(spec, {&kShared}).variants;

  Term &term(size_t variant, Field field) {
    for (Term &term : variants[variant].guard.terms)
      if (term.field == field)
        return term;
    ADD_FAILURE() << "no such term";
    return variants[variant].guard.terms.front();
  }
};

TEST_F(Coverage, CleanListIsCovered) { EXPECT_EQ(coverageFault(spec, variants), ""); }

TEST_F(Coverage, AMissingVariantIsAGap) {
  variants.erase(variants.begin() + 4); // verify q2, bucket 2
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: verify q2 with requests = 2 has no variant (G2); nearest is "
            "shared__hkv2__verify_q2_b1: expected requests in [1, 1], found 2");
}

TEST_F(Coverage, ARangeOneShortIsAGap) {
  term(2, Field::requests).values = {3, 3};
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: decode q1 with requests = 4 has no variant (G2); nearest is "
            "shared__hkv2__decode_q1_b1: expected requests in [1, 1], found 4");
}

TEST_F(Coverage, ARangeThatStartsLateIsAGap) {
  term(6, Field::requests).values = {2, 2}; // prefill, bucket 1
  variants.erase(variants.begin() + 7);     // prefill, bucket 2
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: prefill q0 with requests = 1 has no variant (G2); nearest is "
            "shared__hkv2__prefill_b1: expected requests in [2, 2], found 1");
}

TEST_F(Coverage, AnotherQueryLenIsAGap) {
  for (size_t i = 3; i < 6; ++i)
    term(i, Field::query_len).values = {3};
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: verify q2 with requests = 1 has no variant (G2); nearest is "
            "shared__hkv2__verify_q2_b1: expected query_len == 3, found 2");
  for (size_t i = 3; i < 6; ++i)
    term(i, Field::query_len) = {Field::query_len, Relation::OneOf, {2, 3}};
  EXPECT_EQ(coverageFault(spec, variants), "");
}

TEST_F(Coverage, ARangeOneLongIsAnOverlap) {
  term(1, Field::requests).values = {2, 3};
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: decode q1 with requests = 3 is served by shared__hkv2__decode_q1_b2 "
            "and by shared__hkv2__decode_q1_b4 (G2)");
}

TEST_F(Coverage, ATwinIsAnOverlap) {
  variants.push_back(variants.back());
  variants.back().name = "twin";
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: prefill q0 with requests = 3 is served by shared__hkv2__prefill_b4 "
            "and by twin (G2)");
}

TEST_F(Coverage, ACountPastTheLastBucketIsNotAsked) {
  term(2, Field::requests).values = {3, std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(coverageFault(spec, variants), "");
}

TEST_F(Coverage, GuardsOfAFamilyNameTheSameFields) {
  std::vector<Variant> clean = variants;
  variants[4].guard.terms.pop_back(); // kv_heads
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: the guard of shared__hkv2__decode_q1_b1 has the field kv_heads, the "
            "guard of shared__hkv2__verify_q2_b2 has not (G1)");
  variants = clean;
  variants[4].guard.terms.push_back({Field::top_k, Relation::Equal, {16}});
  EXPECT_EQ(coverageFault(spec, variants),
            "family shared: the guard of shared__hkv2__verify_q2_b2 has the field top_k, the guard "
            "of shared__hkv2__decode_q1_b1 has not (G1)");
  for (Variant &variant : clean)
    variant.guard.terms.push_back({Field::top_k, Relation::Equal, {16}});
  EXPECT_EQ(coverageFault(spec, clean), "");
}

/// One count of each interval stands for all: the verdict is that of asking every count.
TEST_F(Coverage, AgreesWithAskingEveryCount) {
  std::mt19937 random(7);
  auto upTo = [&](int64_t max) { return static_cast<int64_t>(random() % max) + 1; };
  spec.serving.requestBuckets = {12};
  spec.serving.phases = {Phase::Prefill};
  size_t covered = 0;
  for (int round = 0; round < 20000; ++round) {
    // A partition of 1..12, spoiled in half of the rounds.
    std::vector<Term> terms;
    for (int64_t low = 1; low <= 12;) {
      int64_t high = std::min<int64_t>(12, low + upTo(5) - 1);
      if (low == high && random() % 2)
        terms.push_back({Field::requests, Relation::Equal, {low}});
      else if (low + 1 == high && random() % 2)
        terms.push_back({Field::requests, Relation::OneOf, {low, high}});
      else
        terms.push_back({Field::requests, Relation::Range, {low, high}});
      low = high + 1;
    }
    if (random() % 2) {
      std::vector<int64_t> &values = terms[random() % terms.size()].values;
      values.back() = std::max(values.front(), values.back() + (random() % 2 ? 1 : -1));
    }
    std::vector<Variant> list;
    for (const Term &term : terms) {
      Variant variant;
      variant.name = term.text();
      variant.guard.terms = {
          {Field::phase, Relation::Equal, {2}}, {Field::query_len, Relation::Equal, {0}}, term};
      list.push_back(variant);
    }
    bool exactlyOne = true;
    for (int64_t count = 1; count <= 12; ++count)
      exactlyOne &= std::count_if(terms.begin(), terms.end(),
                                  [&](const Term &term) { return term.holds(count); }) == 1;
    EXPECT_EQ(coverageFault(spec, list).empty(), exactlyOne) << round;
    covered += exactlyOne;
  }
  EXPECT_GT(covered, 5000u); // both verdicts are common
  EXPECT_LT(covered, 15000u);
}

/// The largest spec the parser accepts stays quick to check.
TEST(CoverageSize, LargestSpec) {
  Spec spec = load("tiny");
  spec.serving.requestBuckets.clear();
  for (int64_t i = 1; i <= 128; ++i)
    spec.serving.requestBuckets.push_back(i * 512);
  spec.serving.queryLens.clear();
  for (int64_t i = 1; i <= 16; ++i)
    spec.serving.queryLens.push_back(i);
  EXPECT_EQ(enumerate(spec, {&kShared}).variants.size(), 17u * 128);
}

} // namespace
} // namespace nvfp4gen::test
