//===- IndexScore.cpp - the checks of index_score ---------------------------===//
//
// Owns: which launches an index_score variant must get right (K1, P1, P4, P5).
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexCases.h"

#include <fmt/format.h>

namespace verify {

using namespace index;

namespace {

class ScoreChecker {
public:
  ScoreChecker(Job &job, const Config &config)
      : job(job), config(config), launchee{&job.variant, config.request} {}

  bool run(const Case &of, Layout scores) {
    const StepMap map = mapOf(config, of.step, of.workers.front());
    const std::optional<Data> data = makeData(job, config, of, map);
    if (!data)
      return false;
    bool exact = false;
    const Scores expected = oracleScores(config, *data, map, exact);
    for (uint32_t workers : of.workers) {
      const std::string where = fmt::format("{}, {} workers", caseText(config, of), workers);
      if (!runIndexScore(job, launchee, where, config, *data, mapOf(config, of.step, workers),
                         scores, expected, nullptr))
        return false;
    }
    return true;
  }

  /// P5: the same bits whatever lies past the causal lengths.
  bool poison() {
    Case of = poisonCase(config);
    const StepMap map = mapOf(config, of.step, of.workers.front());
    PerBlock<float> found[2] = {{config, map.rows}, {config, map.rows}};
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
      if (!data || !runIndexScore(job, launchee, caseText(config, of), config, *data, map,
                                  Layout::Dense, *expected, &found[poisoned]))
        return false;
    }
    for (size_t row = 0; row < map.rows.size(); ++row)
      for (size_t head = 0; head < static_cast<size_t>(config.shape.indexHeads); ++head)
        if (const auto clean = found[0].of(row, head), dirty = found[1].of(row, head);
            std::memcmp(clean.data(), dirty.data(), clean.size_bytes()) != 0) {
          job.fault(fmt::format("{}: row {} head {}: expected the bits of the clean twin, found "
                                "others; rule P5",
                                caseText(config, of), row, head));
          return false;
        }
    return true;
  }

private:
  Job &job;
  const Config &config;
  Launchee launchee;
};

} // namespace

void verifyIndexScore(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, {.step = true, .scorer = true}, configs))
    return;
  size_t turn = 0;
  for (const Config &config : configs) {
    for (const Case &of : cornerCases(config, turn))
      if (!ScoreChecker(job, config).run(of, static_cast<Layout>(turn % 3)))
        return;
    ++turn;
  }
  if (!job.kernelReport)
    return;
  const Config &config = configs.back();
  ScoreChecker checker(job, config);
  if (!checker.poison())
    return;
  for (const Case &of : kernelCases(config)) {
    const uint64_t before = job.report.values;
    if (!checker.run(of, Layout::Interleaved))
      return;
    job.kernelReport->pinnedSets.push_back(
        {fmt::format("{}, {}", of.name, of.step.name), job.report.values - before});
    job.report.pinnedValues += job.report.values - before;
  }
  job.kernelReport->usesPools = true;
  if (const std::optional<Case> huge = hugePoolCase(job, config);
      huge && checker.run(*huge, Layout::Dense)) {
    const PoolPlan plan = planPool(config.shape, Layout::Dense, huge->options.pages);
    job.kernelReport->poolPages = huge->options.pages;
    job.kernelReport->poolBytes = plan.sizes[0] + plan.sizes[1];
  }
}

} // namespace verify
