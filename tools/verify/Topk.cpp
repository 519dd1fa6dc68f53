//===- Topk.cpp - the checks of topk ----------------------------------------===//
//
// Owns: which launches a topk variant must get right (K2, K3): the pinned scores of
// the oracle, in rows of every length beside padded ones.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexRuns.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace verify {

using namespace index;

namespace {

using Sets = std::vector<const oracle::PinnedScores *>;

/// Rows with blocks in a launch of many: what an emulator can run in a moment.
constexpr size_t kBusyRows = 24;

constexpr nvfp4rt_step_row kPaddedRow{-1, 0, -1, 0};

/// Sets of pinned scores, by what K2 forces.
std::vector<Sets> byForced(const std::vector<oracle::PinnedScores> &pinned) {
  std::vector<Sets> result;
  for (const oracle::PinnedScores &set : pinned) {
    auto same = std::find_if(result.begin(), result.end(), [&](const Sets &sets) {
      return sets[0]->forced.initBlocks == set.forced.initBlocks &&
             sets[0]->forced.localBlocks == set.forced.localBlocks;
    });
    if (same == result.end())
      result.emplace_back(1, &set);
    else
      same->push_back(&set);
  }
  return result;
}

class TopkChecker {
public:
  TopkChecker(Job &job, const Config &config) : job(job), config(config) {}

  /// A launch of `rows` rows: sets in turn from `first`, turned for each head. With `padding`, some
  /// rows are padding or see nothing, and of many rows only some have blocks, the last among them.
  bool run(const std::string &what, const Sets &sets, size_t first, size_t rows, bool padding,
           Layout layout) {
    const auto heads = static_cast<size_t>(config.shape.indexHeads);
    // Sets next to each other are alike: rows next to each other shall not be.
    size_t stride = 15;
    while (std::gcd(stride, sets.size()) != 1)
      ++stride;
    auto setOf = [&](size_t row) { return sets[(first + row) * stride % sets.size()]; };
    std::vector<nvfp4rt_step_row> map;
    for (size_t row = 0; row < rows; ++row) {
      const size_t apart = std::max<size_t>(rows / kBusyRows, 1);
      if (padding && (row % 5 == 3 || (rows - 1 - row) % apart != 0)) {
        map.push_back(kPaddedRow);
        continue;
      }
      // Any position in the last block; a live row may see nothing.
      const auto blocks = static_cast<int64_t>(setOf(row)->scores.size());
      const int64_t length =
          padding && row % 7 == 2
              ? 0
              : (blocks - 1) * config.shape.blockSize + 1 +
                    static_cast<int64_t>(row * 37 % static_cast<size_t>(config.shape.blockSize));
      const auto index = static_cast<int32_t>(row);
      map.push_back({index, static_cast<int32_t>(length), index, 0});
    }
    PerBlock<float> scores(config, map);
    for (size_t row = 0; row < rows; ++row)
      for (size_t head = 0; head < heads; ++head) {
        // Heads have the same scores, turned.
        const std::vector<float> &of = setOf(row)->scores;
        const auto to = scores.of(row, head);
        for (size_t block = 0; block < to.size(); ++block)
          to[block] = of[(block + head) % of.size()];
      }
    const std::string where =
        fmt::format("{} ({} rows, {}{} layout)", what, rows, padding ? "some padded, " : "",
                    kLayoutNames[static_cast<size_t>(layout)]);
    return runTopk(job, {&job.variant, config.request}, where, config, map, scores, sets[0]->forced,
                   layout);
  }

private:
  Job &job;
  const Config &config;
};

} // namespace

void verifyTopk(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, {.heads = true, .blocks = true, .topK = true}, configs))
    return;
  const auto pinned = oracle::pinnedScores(configs.front().shape.topK);
  const std::vector<Sets> groups = byForced(pinned);
  size_t turn = 0;
  for (size_t corner = 0; corner < configs.size(); ++corner)
    for (size_t group = 0; group < groups.size(); ++group) {
      const Config &config = configs[corner];
      const auto rows = static_cast<size_t>(std::max(rowsOf(config.request), config.requests));
      // Few rows are tried more often; many with half of the forced counts at each corner.
      const size_t launches = rows < 16 ? 3 : rows < 512 || (corner + group) % 2 == 0 ? 1 : 0;
      Sets few = groups[group];
      std::erase_if(few, [](const oracle::PinnedScores *set) { return set->scores.size() > 129; });
      for (size_t launch = 0; launch < launches; ++launch, ++turn)
        if (!TopkChecker(job, config)
                 .run("rows of every length", few, turn * 11, rows + turn % 2,
                      rows > kBusyRows || turn % 2 == 1, static_cast<Layout>(turn % 3)))
          return;
    }
  if (!job.kernelReport)
    return;
  const Config &config = configs.back();
  const uint64_t before = job.report.values;
  for (const Sets &sets : groups) {
    const auto most = std::max(mostRowsOf(config.request), config.requests);
    const auto step = std::min(sets.size(), static_cast<size_t>(most));
    for (size_t first = 0; first < sets.size(); first += step)
      if (!TopkChecker(job, config)
               .run("pinned scores", sets, first, std::min(step, sets.size() - first), false,
                    Layout::Dense))
        return;
    job.kernelReport->pinnedSets.push_back(
        {fmt::format("scores with init {} local {}", sets[0]->forced.initBlocks,
                     sets[0]->forced.localBlocks),
         sets.size() * static_cast<uint64_t>(config.shape.indexHeads * config.shape.topK)});
  }
  job.report.pinnedValues += job.report.values - before;
}

} // namespace verify
