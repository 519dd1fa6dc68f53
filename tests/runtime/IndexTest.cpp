//===- IndexTest.cpp - the index against the guards themselves --------------===//
//
// On random families of guards, every value around every bound: the index finds
// the variant that mismatch() finds, walking them one by one (G1).
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Index.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace nvfp4rt;

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();

uint32_t walk(const std::vector<Variant> &variants, std::string_view family,
              const Request &request) {
  for (size_t i = 0; i < variants.size(); ++i)
    if (variants[i].family == family && !mismatch(variants[i].guard, request))
      return static_cast<uint32_t>(i);
  return FamilyIndex::kNone;
}

Variant variantOf(std::string family, std::vector<Term> terms) {
  Variant variant;
  variant.family = std::move(family);
  variant.guard.terms = std::move(terms);
  return variant;
}

/// A term on `field` over small values, or one at an end of the range of int64.
Term randomTerm(std::mt19937 &random, Field field) {
  const auto small = [&] { return static_cast<int64_t>(random() % 6); };
  switch (random() % 5) {
  case 0:
    return {field, Relation::Equal, {small()}};
  case 1:
    return {field, Relation::OneOf, {small(), 7, 9 + small()}};
  case 2:
    return {field, Relation::Range, {kLeast, small()}};
  case 3:
    return {field, Relation::Range, {small() + 3, kMost}};
  default:
    return {field, Relation::Range, {small(), small() + 6}};
  }
}

} // namespace

TEST(Index, FindsWhatAWalkFinds) {
  std::mt19937 random(7);
  size_t found = 0, none = 0;
  for (int round = 0; round < 200; ++round) {
    // More than one word of variants in some rounds; guards may overlap here, the first one counts.
    std::vector<Variant> variants;
    for (size_t count = 1 + random() % 150, i = 0; i < count; ++i) {
      std::vector<Term> terms;
      for (Field field : {Field::phase, Field::requests, Field::top_k})
        if (random() % 8 != 0)
          terms.push_back(randomTerm(random, field));
      variants.push_back(variantOf(random() % 3 ? "a" : "b", std::move(terms)));
    }
    const Index index(variants);
    EXPECT_EQ(index.family("c"), nullptr);
    for (int look = 0; look < 200; ++look) {
      Request request;
      std::vector<int64_t> values;
      std::vector<Field> varying;
      Request fixed;
      for (Field field : {Field::phase, Field::requests, Field::top_k, Field::head_dim}) {
        // No guard has head_dim; a request may lack any field.
        if (field == Field::head_dim ? random() % 16 != 0 : random() % 12 == 0)
          continue;
        const int64_t edges[] = {kLeast, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, kMost};
        const int64_t value = edges[random() % std::size(edges)];
        request.set(field, value);
        if (random() % 2 && field != Field::head_dim) {
          varying.push_back(field);
          values.push_back(value);
        } else {
          fixed.set(field, value);
        }
      }
      for (const char *family : {"a", "b"}) {
        const FamilyIndex *of = index.family(family);
        const uint32_t expected = walk(variants, family, request);
        if (!of) {
          EXPECT_EQ(expected, FamilyIndex::kNone);
          continue;
        }
        EXPECT_EQ(of->find(request), expected) << request.text();
        (expected == FamilyIndex::kNone ? none : found) += 1;
        // A prepared request is of fields that the family knows.
        bool known = !request.get(Field::head_dim);
        for (Field field : varying)
          known &= of->knows(field);
        for (size_t f = 0; f < kFieldCount; ++f)
          known &= !fixed.get(static_cast<Field>(f)) || of->knows(static_cast<Field>(f));
        if (known)
          EXPECT_EQ(of->find(of->narrow(fixed, varying), values.data()), expected)
              << request.text();
      }
    }
  }
  EXPECT_GT(found, 1000u); // both outcomes are common
  EXPECT_GT(none, 1000u);
}

TEST(Index, AFamilyWithoutTerms) {
  const std::vector<Variant> variants = {variantOf("a", {})};
  const Index index(variants);
  Request request;
  EXPECT_EQ(index.family("a")->find(request), 0u);
  EXPECT_EQ(index.family("a")->find(index.family("a")->narrow(request, {}), nullptr), 0u);
  request.set(Field::requests, 1);
  EXPECT_EQ(index.family("a")->find(request), FamilyIndex::kNone);
}
