//===- GuardTest.cpp - relations, requests and mismatches (G1) --------------===//
//
// Every relation at both sides of each bound; every way in which a request and a
// guard can fail to meet.
//
//===------------------------------------------------------------------------===//
#include "runtime/guard/Guard.h"

#include <gtest/gtest.h>
#include <limits>

using namespace nvfp4rt;

namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

nvfp4rt_field integer(const char *name, int64_t value) { return {name, nullptr, value}; }
nvfp4rt_field symbol(const char *name, const char *value) { return {name, value, 0}; }

Guard testGuard() {
  return {{{Field::phase, Relation::Equal, {0}},
           {Field::query_len, Relation::OneOf, {1, 8}},
           {Field::requests, Relation::Range, {33, 48}}}};
}

Request request(std::optional<int64_t> phase, std::optional<int64_t> queryLen,
                std::optional<int64_t> requests) {
  Request result;
  if (phase)
    result.set(Field::phase, *phase);
  if (queryLen)
    result.set(Field::query_len, *queryLen);
  if (requests)
    result.set(Field::requests, *requests);
  return result;
}

std::string why(const Guard &guard, const Request &request) {
  const std::optional<Mismatch> miss = mismatch(guard, request);
  return miss ? miss->text() : "match";
}

} // namespace

TEST(Term, EqualHoldsForOneValueOnly) {
  const Term term{Field::head_dim, Relation::Equal, {128}};
  EXPECT_TRUE(term.holds(128));
  for (int64_t value : {kMin, int64_t{-128}, int64_t{0}, int64_t{127}, int64_t{129}, kMax})
    EXPECT_FALSE(term.holds(value)) << value;
}

TEST(Term, OneOfHoldsForListedValuesOnly) {
  const Term term{Field::query_len, Relation::OneOf, {kMin, 1, 4, 8, kMax}};
  for (int64_t value : {kMin, int64_t{1}, int64_t{4}, int64_t{8}, kMax})
    EXPECT_TRUE(term.holds(value)) << value;
  for (int64_t value : {kMin + 1, int64_t{0}, int64_t{2}, int64_t{7}, int64_t{9}, kMax - 1})
    EXPECT_FALSE(term.holds(value)) << value;
}

TEST(Term, RangeHoldsFromLowToHighInclusive) {
  const Term term{Field::requests, Relation::Range, {33, 48}};
  for (int64_t value : {33, 34, 47, 48})
    EXPECT_TRUE(term.holds(value)) << value;
  for (int64_t value : {kMin, int64_t{-40}, int64_t{0}, int64_t{32}, int64_t{49}, kMax})
    EXPECT_FALSE(term.holds(value)) << value;
  const Term all{Field::requests, Relation::Range, {kMin, kMax}};
  EXPECT_TRUE(all.holds(kMin) && all.holds(0) && all.holds(kMax));
}

TEST(Term, Text) {
  EXPECT_EQ((Term{Field::phase, Relation::Equal, {0}}.text()), "phase == decode");
  EXPECT_EQ((Term{Field::query_len, Relation::OneOf, {1, 8}}.text()), "query_len in {1, 8}");
  EXPECT_EQ((Term{Field::requests, Relation::Range, {33, 48}}.text()), "requests in [33, 48]");
  EXPECT_EQ((Term{Field::kv_format, Relation::OneOf, {0, 2}}.text()),
            "kv_format in {nvfp4, fp8_e4m3}");
  EXPECT_EQ(testGuard().text(), "phase == decode, query_len in {1, 8}, requests in [33, 48]");
}

TEST(Fields, NamesAndSymbolsGoBothWays) {
  for (size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    EXPECT_EQ(fieldByName(fieldName(field)), field);
    const auto symbols = fieldSymbols(field);
    for (size_t value = 0; value < symbols.size(); ++value) {
      EXPECT_EQ(valueText(field, static_cast<int64_t>(value)), symbols[value]);
      EXPECT_EQ(symbolValue(field, symbols[value]).value(), static_cast<int64_t>(value));
    }
    EXPECT_EQ(valueText(field, -1), "-1");
    EXPECT_EQ(valueText(field, 1'000'000), "1000000");
  }
  EXPECT_FALSE(fieldByName("Phase"));
  EXPECT_FALSE(fieldByName(""));
  const auto unknown = symbolValue(Field::kv_format, "fp4"); // F9: no such format
  EXPECT_EQ(unknown.error().code, NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(unknown.error().message,
            "field 'kv_format': expected one of nvfp4, mxfp4, fp8_e4m3, found 'fp4'");
}

TEST(Request, FromCFields) {
  const nvfp4rt_field fields[] = {symbol("phase", "verify"), integer("requests", 48),
                                  symbol("dtype", "fp16")};
  const Result<Request> made = makeRequest(fields);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->get(Field::phase), 1);
  EXPECT_EQ(made->get(Field::requests), 48);
  EXPECT_EQ(made->get(Field::query_len), std::nullopt);
  EXPECT_EQ(made->text(), "phase = verify, requests = 48, dtype = fp16");
  EXPECT_EQ(makeRequest({})->text(), "");
}

TEST(Request, BadCFieldsAreTypedErrors) {
  struct Case {
    std::vector<nvfp4rt_field> fields;
    nvfp4rt_status code;
    std::string_view part;
  };
  const Case cases[] = {
      {{integer(nullptr, 1)}, NVFP4RT_ERROR_INVALID_ARGUMENT, "field 0: expected a name"},
      {{integer("requests", 1), integer("batch", 1)},
       NVFP4RT_ERROR_UNKNOWN_FIELD,
       "request field 1: expected one of phase, query_len"},
      {{integer("batch", 1)}, NVFP4RT_ERROR_UNKNOWN_FIELD, "found 'batch'"},
      {{integer("", 1)}, NVFP4RT_ERROR_UNKNOWN_FIELD, "found ''"},
      {{integer("requests", 1), integer("requests", 1)},
       NVFP4RT_ERROR_INVALID_ARGUMENT,
       "'requests' is given twice"},
      {{integer("phase", 0)},
       NVFP4RT_ERROR_INVALID_ARGUMENT,
       "expected one of the symbols decode, verify, prefill, found the integer 0"},
      {{symbol("requests", "many")},
       NVFP4RT_ERROR_INVALID_ARGUMENT,
       "expected an integer, found the symbol 'many'"},
      {{symbol("phase", "encode")},
       NVFP4RT_ERROR_INVALID_ARGUMENT,
       "expected one of decode, verify, prefill, found 'encode'"},
  };
  for (const Case &test : cases) {
    const Result<Request> made = makeRequest(test.fields);
    ASSERT_FALSE(made) << test.part;
    EXPECT_EQ(made.error().code, test.code) << made.error().message;
    EXPECT_NE(made.error().message.find(test.part), std::string::npos) << made.error().message;
  }
}

TEST(Mismatch, AllTermsMustHold) {
  const Guard guard = testGuard();
  EXPECT_EQ(why(guard, request(0, 1, 33)), "match");
  EXPECT_EQ(why(guard, request(0, 8, 48)), "match");
  EXPECT_EQ(why(guard, request(1, 8, 48)), "expected phase == decode, found verify");
  EXPECT_EQ(why(guard, request(0, 2, 48)), "expected query_len in {1, 8}, found 2");
  EXPECT_EQ(why(guard, request(0, 1, 49)), "expected requests in [33, 48], found 49");
  EXPECT_EQ(why(guard, request(0, 1, 32)), "expected requests in [33, 48], found 32");
}

TEST(Mismatch, ReportsTheFirstFailedTermInGuardOrder) {
  const Guard guard = testGuard();
  EXPECT_EQ(mismatch(guard, request(1, 2, 49))->passed, 0u);
  EXPECT_EQ(mismatch(guard, request(0, 2, 49))->passed, 1u);
  EXPECT_EQ(mismatch(guard, request(0, 1, 49))->passed, 2u);
  EXPECT_EQ(mismatch(guard, request(0, 2, 49))->term, &guard.terms[1]);
}

TEST(Mismatch, AFieldTheRequestLacksNeverPasses) {
  const Guard guard = testGuard();
  EXPECT_EQ(why(guard, request(std::nullopt, 1, 33)),
            "expected phase == decode, the request has no phase");
  EXPECT_EQ(why(guard, request(0, std::nullopt, 33)),
            "expected query_len in {1, 8}, the request has no query_len");
  EXPECT_EQ(why(guard, request(0, 1, std::nullopt)),
            "expected requests in [33, 48], the request has no requests");
}

TEST(Mismatch, AFieldTheGuardLacksIsNeverIgnored) {
  const Guard guard = testGuard();
  Request more = request(0, 1, 33);
  more.set(Field::dtype, 1);
  const std::optional<Mismatch> miss = mismatch(guard, more);
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->extra, Field::dtype);
  EXPECT_EQ(miss->term, nullptr);
  EXPECT_EQ(miss->passed, 3u);
  EXPECT_EQ(miss->text(), "dtype = fp16 is not a field of this guard");
  EXPECT_EQ(why({}, request(0, {}, {})), "phase = decode is not a field of this guard");
  EXPECT_EQ(why({}, {}), "match");
}
