//===- StepMap.cpp - the checks of step_map ---------------------------------===//
//
// Owns: which launches a step_map variant must get right (S1..S5): every byte of
// the row map, the segments and the work partition, and its balance (K4).
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Arena.h"
#include "tools/verify/IndexSteps.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify {

using namespace index;

namespace {

template <typename Entry> uint64_t bytesOf(const std::vector<Entry> &entries) {
  return entries.size() * sizeof(Entry);
}

std::string entryText(const nvfp4rt_step_row &e) {
  return fmt::format("request {} causal_len {} segment {} row_in_segment {}", e.request,
                     e.causal_len, e.segment, e.row_in_segment);
}

std::string entryText(const nvfp4rt_segment &e) {
  return fmt::format("request {} first_row {} rows {} blocks {} first_block {} min_causal_len {} "
                     "first_worker {} worker_count {}",
                     e.request, e.first_row, e.rows, e.blocks, e.first_block, e.min_causal_len,
                     e.first_worker, e.worker_count);
}

std::string entryText(const nvfp4rt_work &e) {
  return fmt::format("segment {} block {}", e.segment, e.block);
}

/// Words for the entry that holds a byte.
template <typename Entry>
std::string entryWords(const Arena &arena, Arena::Buffer buffer, uint64_t offset, const char *what,
                       const char *rules) {
  const uint64_t index = offset / sizeof(Entry);
  return fmt::format("{} {}: expected {}; found {}; rule {}", what, index,
                     entryText(arena.expected<Entry>(buffer)[index]),
                     entryText(arena.found<Entry>(buffer, index * sizeof(Entry))), rules);
}

class StepMapLaunch {
public:
  StepMapLaunch(Job &job, const Config &config, const Step &step, uint32_t workers)
      : job(job), config(config), step(step), map(mapOf(config, step, workers)),
        arena(job, fmt::format("{} ({} requests, Q {}, {} rows, {} live, {} workers)", step.name,
                               config.requests, config.queryLen, step.rows, step.live, workers)) {}

  bool run() {
    const Arena::Buffer seqLens = arena.input("seq_lens", step.seqLens);
    const Arena::Buffer starts = arena.input("cu_seqlens_q", step.starts);
    const Arena::Buffer live = arena.input("live_requests", &step.live, sizeof(step.live));
    rows = arena.output("step_rows", bytesOf(map.rows));
    segments = arena.output("segments", static_cast<uint64_t>(segmentCapacity(config, step)) *
                                            sizeof(nvfp4rt_segment));
    work = arena.output("work", bytesOf(map.work));

    nvfp4rt_step_map_args args = stepMapArgs(step, map.workers());
    args.seq_lens = arena.device<const int32_t>(seqLens);
    args.cu_seqlens_q = arena.device<const int32_t>(starts); // null outside of prefill
    args.live_requests = arena.device<const int32_t>(live);
    args.step_rows = arena.device<nvfp4rt_step_row>(rows);
    args.segments = arena.device<nvfp4rt_segment>(segments);
    args.work = arena.device<nvfp4rt_work>(work);
    if (!arena.launch(job.variant, config.request, args))
      return false;

    expect(rows, map.rows);
    expect(segments, map.segments);
    expect(work, map.work);
    const bool same = arena.compare([&](Arena::Buffer buffer, uint64_t offset) -> std::string {
      if (buffer == rows && offset < bytesOf(map.rows))
        return entryWords<nvfp4rt_step_row>(arena, buffer, offset, "row", "S1, S2, S5");
      if (buffer == segments && offset < bytesOf(map.segments))
        return entryWords<nvfp4rt_segment>(arena, buffer, offset, "segment", "S3, S4");
      if (buffer == work)
        return entryWords<nvfp4rt_work>(arena, buffer, offset, "worker", "S4, K4");
      return {};
    });
    job.report.values += map.rows.size() + map.segments.size() + map.work.size();
    if (!same)
      job.report.worstError = std::numeric_limits<double>::infinity();
    return same && balanced();
  }

private:
  Job &job;
  const Config &config;
  const Step &step;
  const StepMap map;
  Arena arena;
  Arena::Buffer rows = 0, segments = 0, work = 0;

  template <typename Entry> void expect(Arena::Buffer buffer, const std::vector<Entry> &entries) {
    if (!entries.empty())
      std::memcpy(arena.expected<Entry>(buffer), entries.data(), bytesOf(entries));
  }

  /// K4, from what the device wrote: no worker has two blocks more than another.
  bool balanced() {
    auto begin = [&](uint64_t worker) {
      const auto at = arena.found<nvfp4rt_work>(work, worker * sizeof(nvfp4rt_work));
      if (at.segment >= static_cast<int64_t>(map.segments.size()))
        return map.blocks();
      const auto segment = arena.found<nvfp4rt_segment>(
          segments, static_cast<uint64_t>(at.segment) * sizeof(nvfp4rt_segment));
      return int64_t{segment.first_block} + at.block;
    };
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t worker = 0; worker < map.workers(); ++worker) {
      const int64_t blocks = begin(worker + 1) - begin(worker);
      least = std::min(least, blocks);
      most = std::max(most, blocks);
    }
    if (most - least > 1 || least < 0)
      arena.fault(fmt::format("K4: expected every worker to have the same number of blocks within "
                              "one, found {} to {}",
                              least, most));
    return most - least <= 1 && least >= 0;
  }
};

} // namespace

void verifyStepMap(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, {.step = true, .blocks = true}, configs))
    return;
  for (const Config &config : configs) {
    size_t turn = 0;
    for (const Step &step : mapSteps(config)) {
      // One of the usual counts, and one past 32 bits in worker * blocks or more than blocks.
      const int64_t blocks = mapOf(config, step, 1).blocks();
      const uint32_t usual[] = {256, 7, 512, 1, 304};
      std::vector<uint32_t> workers = {usual[turn++ % std::size(usual)]};
      workers.push_back(blocks < 600         ? static_cast<uint32_t>(blocks) + 3
                        : blocks > 2'000'000 ? 2048
                                             : usual[turn % std::size(usual)]);
      for (uint32_t count : workers)
        if (!StepMapLaunch(job, config, step, count).run())
          return;
    }
  }
}

} // namespace verify
