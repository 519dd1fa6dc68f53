//===- IndexTopkMerge.cpp - the checks of index_topk_merge ------------------===//
//
// Owns: which launches an index_topk_merge variant must get right (K3, K4): lists of
// any length and number, between lists that nobody wrote.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexRuns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

namespace verify {

using namespace index;

namespace {

/// A key in every list that nobody wrote: larger than any other.
constexpr uint64_t kUnwrittenKey = 0x1'FFFF'FFFF'FFFFu;

/// With more rows, a corner of the guard is tried with one step of two.
constexpr int64_t kManyRows = 512;

/// Lists as index_topk could have left them, of scores with ties and corners.
std::vector<uint64_t> makeLists(const Config &config, const StepMap &map, uint64_t seed) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kCorners[] = {
      kInf, -kInf, 0.0f, -0.0f, 1e30f, 1e29f, std::numeric_limits<float>::quiet_NaN()};
  const ListPlan plan(config);
  std::vector<uint64_t> lists(static_cast<size_t>(plan.size(map)), kUnwrittenKey);
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t bound) { return (random() >> 32) % bound; };
  for (size_t s = 0; s < map.segments.size(); ++s) {
    const nvfp4rt_segment &segment = map.segments[s];
    for (int64_t w = segment.first_worker; w < segment.first_worker + segment.worker_count; ++w) {
      const auto [first, end] = blocksOf(map, w, static_cast<int64_t>(s));
      for (int64_t column = 0; column < segment.rows * config.shape.indexHeads; ++column) {
        const auto &row =
            map.rows[static_cast<size_t>(segment.first_row + column / config.shape.indexHeads)];
        const int64_t valid =
            (row.causal_len + config.shape.blockSize - 1) / config.shape.blockSize;
        std::vector<uint64_t> keys;
        const uint64_t kind = below(4);
        for (int64_t block = first; block < std::min(end, valid); ++block) {
          const float score = kind == 0   ? 0.0f
                              : kind == 1 ? kCorners[below(std::size(kCorners))]
                              : kind == 2 ? static_cast<float>(below(4)) - 1.5f
                                          : std::ldexp(static_cast<float>(below(1 << 24)), -20) - 8;
          keys.push_back(oracle::sortKey(score, static_cast<uint32_t>(block)));
        }
        std::sort(keys.begin(), keys.end(), std::greater<>());
        keys.resize(static_cast<size_t>(plan.topK), 0);
        std::copy(keys.begin(), keys.end(),
                  lists.begin() + plan.at(w, static_cast<int64_t>(s), column));
      }
    }
  }
  return lists;
}

bool runLists(Job &job, const Config &config, const Step &step, uint32_t workers, size_t turn) {
  const StepMap map = mapOf(config, step, workers);
  const auto layout = static_cast<Layout>(turn % 3);
  const std::string where = fmt::format(
      "{} ({} requests, Q {}, {} rows, {} live), {} workers, {} layout", step.name, config.requests,
      config.queryLen, step.rows, step.live, workers, kLayoutNames[static_cast<size_t>(layout)]);
  return runMerge(job, {&job.variant, config.request}, where, config, map,
                  makeLists(config, map, job.seed + job.report.launches), layout);
}

} // namespace

void verifyIndexTopkMerge(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, {.step = true, .heads = true, .topK = true}, configs))
    return;
  size_t turn = 0;
  for (const Config &config : configs)
    for (const Step &step : scorerSteps(config)) {
      const uint32_t usual[] = {256, 7, 1, 64, 3};
      if (++turn % 2 == 0 && step.rows > kManyRows)
        continue;
      if (!runLists(job, config, step, usual[turn % std::size(usual)], turn))
        return;
    }
  if (!job.kernelReport)
    return;
  // Many lists, and lists of one block each.
  const Config &config = configs.back();
  for (const Step &step : blockCountSteps(config, {8192, 300, 17, 1, 129}))
    for (uint32_t workers : {300u, 512u, 37u, 2u}) {
      const uint64_t before = job.report.values;
      if (!runLists(job, config, step, workers, turn++))
        return;
      job.kernelReport->pinnedSets.push_back(
          {fmt::format("lists of {} workers, {}", workers, step.name), job.report.values - before});
      job.report.pinnedValues += job.report.values - before;
    }
}

} // namespace verify
