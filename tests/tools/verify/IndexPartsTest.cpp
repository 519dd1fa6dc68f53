//===- IndexPartsTest.cpp - steps, data and siblings of the selectors -------===//

#include "tests/tools/verify/IndexFake.h"
#include "tools/verify/IndexCases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace verify;
using namespace verify::index;

namespace {

Config configOf(std::string_view family, std::string_view phase, int64_t requests) {
  for (const nvfp4rt::Variant &variant : fake::indexManifest().variants)
    if (variant.family == family && variant.name.ends_with(phase)) {
      nvfp4rt::Request request;
      for (const nvfp4rt::Term &term : variant.guard.terms)
        request.set(term.field, term.values[0]);
      request.set(nvfp4rt::Field::requests, requests);
      return readConfig(request, {}).value();
    }
  ADD_FAILURE() << family << " " << phase;
  return {};
}

// A sibling serves the same step: fields that both guards have agree, others are filled in.
TEST(Siblings, AgreeInSharedFields) {
  const nvfp4rt::Manifest manifest = fake::indexManifest();
  const Config config = configOf("index_topk", "verify", 7);
  for (const char *family : {"step_map", "index_score", "topk", "index_topk_merge"}) {
    const auto sibling = findSibling(manifest, family, config.request);
    ASSERT_TRUE(sibling) << family;
    EXPECT_EQ(sibling->variant->name, std::string(family) + "__verify");
    EXPECT_FALSE(nvfp4rt::mismatch(sibling->variant->guard, sibling->request)) << family;
    EXPECT_EQ(sibling->request.get(nvfp4rt::Field::requests), 7);
  }
  EXPECT_FALSE(findSibling(manifest, "kv_store", config.request));
  EXPECT_FALSE(findSibling(manifest, "topk", configOf("index_topk", "verify", 10).request));
  const auto more = findSibling(manifest, "index_score", configOf("topk", "decode", 3).request);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->request.get(nvfp4rt::Field::page_size), 16);
}

TEST(IndexConfig, RefusesWhatTheOracleLacks) {
  nvfp4rt::Request request = configOf("index_topk", "verify", 7).request;
  nvfp4rt::Request missing;
  for (nvfp4rt::Field field : {nvfp4rt::Field::requests, nvfp4rt::Field::phase})
    missing.set(field, *request.get(field));
  EXPECT_NE(readConfig(missing, {.step = true}).error().message.find("query_len"),
            std::string::npos);
  request.set(nvfp4rt::Field::index_format,
              nvfp4rt::symbolValue(nvfp4rt::Field::index_format, "mxfp4").value());
  EXPECT_NE(readConfig(request, {.scorer = true}).error().message.find("mxfp4"), std::string::npos);
  request.set(nvfp4rt::Field::page_size, 48); // P3: pages and blocks of 32 do not nest
  EXPECT_FALSE(readConfig(request, {}));
}

// Issue: 450K + 7 x 150K, 1M, padding, seq_len < Q; S5: 32 rows with Q = 3.
TEST(IndexSteps, HaveTheCorners) {
  std::vector<std::string> names;
  for (const Step &step : mapSteps(configOf("step_map", "verify", 9)))
    names.push_back(step.name);
  for (const char *name :
       {"mixed lengths", "live < requests", "no live request", "every seq_len 0", "450K + 7 x 150K",
        "one at 1M", "seq_len < Q", "last group incomplete", "rows past the last request"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  const Config config = configOf("step_map", "verify", 11);
  EXPECT_EQ(scorerSteps(config)[0].rows, 32);
  const StepMap map = mapOf(config, scorerSteps(config)[0], 5);
  EXPECT_EQ(map.segments.back().rows, 2);
  EXPECT_GT(map.blocks(), 20);
}

TEST(IndexSteps, BlockCounts) {
  const std::vector<int64_t> counts = {1, 2, 15, 16, 17};
  for (const char *phase : {"decode", "verify", "prefill"})
    for (int64_t requests : {1, 3, 9}) {
      std::vector<int64_t> found;
      const Config config = configOf("step_map", phase, requests);
      for (const Step &step : blockCountSteps(config, counts))
        for (const nvfp4rt_segment &segment : mapOf(config, step, 3).segments)
          if (segment.blocks > 0)
            found.push_back(segment.blocks);
      EXPECT_EQ(found, counts) << phase << " " << requests;
    }
}

// P1: tokens of the planes share no byte, and start and step as the argument header allows.
TEST(IndexPool, PlanesAreDisjointAndAligned) {
  const oracle::IndexShape shape = configOf("index_score", "decode", 2).shape;
  constexpr int64_t kPages = 3;
  for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved}) {
    const PoolPlan plan = planPool(shape, layout, kPages);
    std::vector<std::vector<int>> owners;
    for (uint64_t size : plan.sizes)
      owners.emplace_back(size, 0);
    for (const Plane *plane : {&plan.payload, &plan.scale}) {
      const int64_t align = plane == &plan.payload ? 16 : 8;
      const int64_t bytes = shape.headDim / (plane == &plan.payload ? 2 : 16);
      EXPECT_EQ(plane->pageStride % align, 0);
      EXPECT_EQ(plane->tokenStride % align, 0);
      EXPECT_EQ((static_cast<int64_t>(plan.leads[plane->buffer]) + plane->offset) % align, 0);
      for (int64_t token = 0; token < kPages * shape.pageSize; ++token)
        for (int64_t byte = 0; byte < bytes; ++byte)
          ++owners[plane->buffer].at(
              static_cast<size_t>(plane->offset + token / shape.pageSize * plane->pageStride +
                                  token % shape.pageSize * plane->tokenStride + byte));
    }
    for (const auto &buffer : owners)
      EXPECT_LE(*std::max_element(buffer.begin(), buffer.end()), 1);
  }
}

// The numbers are what their kinds promise: exact where bits are compared, not where bounds are.
TEST(IndexData, KindsOfNumbers) {
  const Config config = configOf("index_score", "verify", 5);
  const Step step = scorerSteps(config)[0];
  const StepMap map = mapOf(config, step, 3);
  for (Values values : {Values::Exact, Values::Random, Values::OneHot, Values::Ascending,
                        Values::Zero, Values::Special})
    for (bool poison : {false, true}) {
      DataOptions options;
      options.values = values;
      options.poison = poison;
      const auto data = Data::create(config, step, map, options, 3);
      ASSERT_TRUE(data);
      bool exact = false;
      const Scores scores = oracleScores(config, *data, map, exact);
      EXPECT_EQ(exact, values != Values::Random) << kValuesNames[static_cast<size_t>(values)];
      const auto first = scores.of(0, 0);
      EXPECT_EQ(first.size(), 18u);
      if (values == Values::Zero) {
        EXPECT_EQ(first[3].value, 0);
      }
      if (values == Values::Special) { // the first query has a NaN
        EXPECT_TRUE(std::isnan(first[3].value));
      }
    }
}

// Poison past the causal lengths shows in no score of the oracle, and stale pages in none.
TEST(IndexData, PoisonIsPastWhatRowsSee) {
  const Config config = configOf("index_score", "decode", 4);
  const Case of = poisonCase(config);
  const StepMap map = mapOf(config, of.step, 3);
  std::vector<Scores> scores;
  for (bool poison : {false, true}) {
    DataOptions options = of.options;
    options.poison = poison;
    const auto data = Data::create(config, of.step, map, options, 3);
    ASSERT_TRUE(data);
    bool exact = false;
    scores.push_back(oracleScores(config, *data, map, exact));
  }
  for (size_t row = 0; row < map.rows.size(); ++row)
    for (size_t block = 0; block < scores[0].of(row, 0).size(); ++block)
      EXPECT_EQ(scores[0].of(row, 0)[block].value, scores[1].of(row, 0)[block].value);
}

// Without siblings the check says what it does instead, and keys are held to the oracle's bounds.
TEST(IndexTopk, MissingSiblingsAreTold) {
  // One fp32 number off is within the bounds; only index_score beside it would show it.
  fake::IndexFake target("index_topk", fake::IndexFault::KeyOneUlp);
  nvfp4rt::Manifest manifest = fake::indexManifest();
  std::erase_if(manifest.variants,
                [](const nvfp4rt::Variant &v) { return v.family != "index_topk"; });
  VariantReport report;
  Job job{target, manifest, manifest.variants[0], 1, report, nullptr};
  const auto entries = familyEntries();
  std::ranges::find(entries, "index_topk", &FamilyEntry::name)->check(job);
  EXPECT_TRUE(report.passed()) << report.firstFault.value_or("");
  ASSERT_EQ(report.skipped.size(), 3u);
  EXPECT_EQ(report.skipped[0].find("no index_topk_merge in this bundle"), 0u);
  EXPECT_GT(report.worstError, 0);
  EXPECT_LT(report.worstError, 0.5);
}

// The largest pools that fit are taken, and those that do not are told.
TEST(IndexPool, SmallerOnASmallerDevice) {
  fake::IndexFake target({}, fake::IndexFault::None, uint64_t{6} << 30);
  const nvfp4rt::Manifest manifest = fake::indexManifest();
  VariantReport report;
  Job job{target, manifest, manifest.variants[0], 1, report, nullptr};
  const auto of = hugePoolCase(job, configOf("index_score", "prefill", 5)); // pages of 32 tokens
  ASSERT_TRUE(of);
  EXPECT_EQ(of->options.pages, (int64_t{1} << 32) / (32 * 64) + 8);
  EXPECT_EQ(report.skipped.size(), 2u);
  fake::IndexFake none({}, fake::IndexFault::None, 4096);
  Job full{none, manifest, manifest.variants[0], 1, report, nullptr};
  EXPECT_FALSE(hugePoolCase(full, configOf("index_score", "prefill", 5)));
}

} // namespace
