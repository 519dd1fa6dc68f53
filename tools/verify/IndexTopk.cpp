//===- IndexTopk.cpp - the checks of index_topk -----------------------------===//
//
// Owns: which launches an index_topk variant must get right (K1..K5): its partial
// lists against the oracle's scores, and the ids that index_topk_merge makes of them
// against those of index_score and topk of the same bundle.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexCases.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace verify {

using namespace index;

namespace {

/// Most rows of a launch of index_topk_merge or topk beside index_topk.
constexpr int64_t kRowsBeside = 128;

class IndexTopkChecker {
public:
  IndexTopkChecker(Job &job, const Config &config)
      : job(job), config(config), launchee{&job.variant, config.request},
        merge(need("index_topk_merge", "ids are the oracle's merge of the lists")),
        score(need("index_score", "keys of random values are compared with the oracle's bounds")),
        topk(need("topk", "ids are the oracle's selection of scores")) {}

  /// Every worker count; `turn` moves the forced counts.
  bool run(const Case &of, size_t turn) {
    const StepMap map = mapOf(config, of.step, of.workers.front());
    const std::optional<Data> data = makeData(job, config, of, map);
    if (!data)
      return false;
    bool exact = false;
    Scores expected = oracleScores(config, *data, map, exact);
    std::string where = caseText(config, of);
    PerBlock<float> scores(config, map.rows);
    // Which ids follow from scores that are not exact depends on their last bits: those of
    // index_score, which are within the oracle's bounds, must be in the keys (K4, K5).
    const bool compared = !exact && score;
    if (compared) {
      if (!runIndexScore(job, *score, "index_score beside it: " + where, config, *data, map,
                         Layout::Dense, expected, &scores))
        return false;
      for (size_t row = 0; row < map.rows.size(); ++row)
        for (size_t head = 0; head < static_cast<size_t>(config.shape.indexHeads); ++head)
          std::ranges::transform(
              scores.of(row, head), expected.of(row, head).begin(),
              [](float found) { return oracle::Score{found, found, found, true}; });
      where += ", against index_score";
    }
    // The selectors beside it have checks of their own: they run once a case, and not on thousands
    // of rows.
    const bool beside = of.step.rows <= kRowsBeside;
    for (size_t i = 0; i < of.workers.size(); ++i) {
      const uint32_t workers = of.workers[i];
      const bool last = beside && i + 1 == of.workers.size();
      const StepMap partition = mapOf(config, of.step, workers);
      const oracle::Forced forced =
          i == 0 && of.firstUnforced ? oracle::Forced{0, 0} : forcedAt(turn++);
      std::vector<uint64_t> lists;
      if (!runIndexTopk(job, launchee, where, config, *data, partition, expected, forced, &lists))
        return false;
      const auto layout = static_cast<Layout>(turn % 3);
      if (merge && last &&
          !runMerge(job, *merge, "index_topk_merge after it: " + where, config, partition, lists,
                    layout))
        return false;
      if (compared && topk && last &&
          !runTopk(job, *topk, "topk beside it: " + where, config, map.rows, scores, forced,
                   layout))
        return false;
      const IdLists ids = mergedIds(config, partition, lists);
      if (compared && !same(where, ids, selectedIds(config, map.rows, scores, forced),
                            "index_score and topk of this bundle", "K4, K5"))
        return false;
      if (exact && !same(where, ids, exactIds(map, expected, forced), "the oracle", "K3"))
        return false;
    }
    return true;
  }

  /// P5: the same keys whatever lies past the causal lengths.
  bool poison() {
    Case of = poisonCase(config);
    const StepMap map = mapOf(config, of.step, of.workers.front());
    std::vector<uint64_t> clean;
    std::optional<Scores> expected;
    for (bool poisoned : {false, true}) {
      of.options.poison = poisoned;
      of.name = poisoned ? "random values, poisoned" : "random values, clean";
      const uint64_t launches = std::exchange(job.report.launches, 0); // the same numbers twice
      const std::optional<Data> data = makeData(job, config, of, map);
      job.report.launches = launches;
      bool exact = false;
      if (data && !expected)
        expected = oracleScores(config, *data, map, exact);
      std::vector<uint64_t> lists;
      if (!data || !runIndexTopk(job, launchee, caseText(config, of), config, *data, map, *expected,
                                 {0, 0}, &lists))
        return false;
      const std::vector<uint64_t> keys = writtenKeys(map, lists);
      if (poisoned && keys != clean) {
        job.fault(fmt::format("{}: expected the keys of the clean twin, found others; rule P5",
                              caseText(config, of)));
        return false;
      }
      clean = keys;
    }
    return true;
  }

private:
  Job &job;
  const Config &config;
  Launchee launchee;
  std::optional<Launchee> merge, score, topk;

  /// A sibling; where the bundle has none, what is done instead is told.
  std::optional<Launchee> need(std::string_view family, std::string_view instead) {
    auto sibling = siblingOf(job, family, config);
    const std::string reason = fmt::format("no {} in this bundle: {}", family, instead);
    if (!sibling && std::ranges::find(job.report.skipped, reason) == job.report.skipped.end())
      job.report.skipped.push_back(reason);
    return sibling;
  }

  /// K2: init and local of the contract's corners that the list has room for.
  oracle::Forced forcedAt(size_t turn) const {
    const auto most = static_cast<uint32_t>(config.shape.topK);
    std::vector<oracle::Forced> all = {{0, 1}, {2, 2}, {most / 2, most / 2}};
    std::erase_if(all, [&](const oracle::Forced &forced) {
      return forced.initBlocks + forced.localBlocks > most;
    });
    return all[turn % all.size()];
  }

  IdLists exactIds(const StepMap &map, const Scores &expected, oracle::Forced forced) const {
    PerBlock<float> scores(config, map.rows);
    for (size_t row = 0; row < map.rows.size(); ++row)
      for (size_t head = 0; head < static_cast<size_t>(config.shape.indexHeads); ++head)
        std::ranges::transform(
            expected.of(row, head), scores.of(row, head).begin(),
            [](const oracle::Score &of) { return static_cast<float>(of.value); });
    return selectedIds(config, map.rows, scores, forced);
  }

  bool same(const std::string &where, const IdLists &found, const IdLists &expected,
            std::string_view by, std::string_view rules) {
    const auto heads = static_cast<size_t>(config.shape.indexHeads);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] != expected[i]) {
        job.fault(fmt::format("{}: row {} head {}: expected the ids of {}, [{}], found [{}]; rules "
                              "{}",
                              where, i / heads, i % heads, by, fmt::join(expected[i], " "),
                              fmt::join(found[i], " "), rules));
        return false;
      }
    job.report.values += found.size() * static_cast<uint64_t>(config.shape.topK);
    return true;
  }

  /// The keys that the launch had to write.
  std::vector<uint64_t> writtenKeys(const StepMap &map, const std::vector<uint64_t> &lists) const {
    const ListPlan plan(config);
    std::vector<uint64_t> result;
    for (size_t s = 0; s < map.segments.size(); ++s) {
      const nvfp4rt_segment &segment = map.segments[s];
      for (int64_t w = segment.first_worker; w < segment.first_worker + segment.worker_count; ++w) {
        const auto list = lists.begin() + plan.at(w, static_cast<int64_t>(s), 0);
        result.insert(result.end(), list,
                      list + segment.rows * config.shape.indexHeads * plan.topK);
      }
    }
    return result;
  }
};

} // namespace

void verifyIndexTopk(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, {.step = true, .scorer = true, .topK = true}, configs))
    return;
  size_t turn = 0;
  for (const Config &config : configs) {
    IndexTopkChecker checker(job, config);
    for (const Case &of : cornerCases(config, turn))
      if (!checker.run(of, turn))
        return;
    ++turn;
  }
  if (!job.kernelReport)
    return;
  const Config &config = configs.back();
  IndexTopkChecker checker(job, config);
  if (!checker.poison())
    return;
  for (const Case &of : kernelCases(config)) {
    const uint64_t before = job.report.values;
    if (!checker.run(of, turn++))
      return;
    job.kernelReport->pinnedSets.push_back(
        {fmt::format("{}, {}", of.name, of.step.name), job.report.values - before});
    job.report.pinnedValues += job.report.values - before;
  }
  job.kernelReport->usesPools = true;
  if (const std::optional<Case> huge = hugePoolCase(job, config);
      huge && checker.run(*huge, turn)) {
    const PoolPlan plan = planPool(config.shape, Layout::Dense, huge->options.pages);
    job.kernelReport->poolPages = huge->options.pages;
    job.kernelReport->poolBytes = plan.sizes[0] + plan.sizes[1];
  }
}

} // namespace verify
