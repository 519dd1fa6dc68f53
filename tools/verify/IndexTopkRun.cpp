//===- IndexTopkRun.cpp - a checked launch of index_topk --------------------===//
//
// Owns: runIndexTopk of IndexRuns.h: partial lists against the oracle's scores.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexRuns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace verify::index {

namespace {

/// The score in a key: the inverse of K3's ordered().
float scoreIn(uint64_t key) {
  const auto ordered = static_cast<uint32_t>(key >> 16);
  if (ordered == 0)
    return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(ordered >> 31 ? ordered & 0x7FFF'FFFFu : ~ordered);
}

int64_t blockIn(uint64_t key) { return static_cast<int64_t>(key & 0xFFFF) - 1; }

/// The least float >= x, or the greatest <= x.
float roundedUp(double x) {
  const auto f = static_cast<float>(x);
  return double{f} < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}
float roundedDown(double x) { return -roundedUp(-x); }

std::string keysText(std::span<const uint64_t> keys) {
  std::string text;
  for (uint64_t key : keys)
    text += key == 0 ? " 0" : fmt::format(" {}:{:.9g}", blockIn(key), scoreIn(key));
  return text;
}

/// A worker's list for one (row, head), against what it may hold.
class ListCheck {
public:
  /// Blocks [first, end) are the worker's; `scores` are those of the row and head.
  ListCheck(std::span<const oracle::Score> scores, int64_t first, int64_t end,
            oracle::Forced forced)
      : scores(scores), first(first), end(std::min(end, static_cast<int64_t>(scores.size()))),
        forced(forced) {}

  /// Empty, or what is wrong.
  std::string run(std::span<const uint64_t> list) {
    std::vector<char> seen(static_cast<size_t>(blocks()), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      const uint64_t key = list[i];
      if (i > 0 && (list[i - 1] == 0 ? key != 0 : key >= list[i - 1]))
        return fmt::format("entry {} is not in strictly descending order", i);
      if (key == 0)
        continue;
      const int64_t block = blockIn(key);
      if (block < first || block >= end)
        return fmt::format("block {} is not one of the worker's valid ones, [{}, {})", block, first,
                           end);
      const KeyBounds bounds = boundsOf(block);
      if (key < bounds.least || key > bounds.greatest)
        return fmt::format("key 0x{:x} of block {}: expected 0x{:x} to 0x{:x}", key, block,
                           bounds.least, bounds.greatest);
      if (seen[static_cast<size_t>(block - first)]++)
        return fmt::format("block {} is in two places", block);
      if (bounds.least != bounds.greatest) {
        const oracle::Score &score = scores[static_cast<size_t>(block)];
        worst = std::max(worst, std::fabs(double{scoreIn(key)} - score.value) /
                                    std::max(score.high - score.value, score.value - score.low));
      }
    }
    for (int64_t block = first; block < end; ++block)
      if (!seen[static_cast<size_t>(block - first)] && boundsOf(block).least >= list.back())
        return fmt::format("block {} is missing", block);
    return {};
  }

  double worstError() const { return worst; }
  int64_t blocks() const { return std::max<int64_t>(end - first, 0); }

private:
  std::span<const oracle::Score> scores;
  int64_t first, end;
  oracle::Forced forced;
  double worst = 0;

  KeyBounds boundsOf(int64_t block) const {
    return keyBounds(scores[static_cast<size_t>(block)], block, static_cast<int64_t>(scores.size()),
                     forced);
  }
};

} // namespace

KeyBounds keyBounds(const oracle::Score &score, int64_t block, int64_t validBlocks,
                    oracle::Forced forced) {
  auto key = [&](float of) {
    return oracle::sortKey(oracle::forcedScore(of, block, validBlocks, forced),
                           static_cast<uint32_t>(block));
  };
  return {key(roundedUp(score.low)), key(roundedDown(score.high))};
}

std::pair<int64_t, int64_t> blocksOf(const StepMap &map, int64_t worker, int64_t segment) {
  const nvfp4rt_segment &of = map.segments[static_cast<size_t>(segment)];
  auto begin = [&](int64_t w) -> int64_t {
    const nvfp4rt_work &at = map.work[static_cast<size_t>(w)];
    return at.segment < segment ? 0 : at.segment > segment ? of.blocks : at.block;
  };
  return {begin(worker), begin(worker + 1)};
}

bool runIndexTopk(Job &job, const Launchee &launchee, const std::string &where,
                  const Config &config, const Data &data, const StepMap &map,
                  const Scores &expected, oracle::Forced forced, std::vector<uint64_t> *found) {
  Arena arena(job, fmt::format("{}, {} workers, init {} local {}", where, map.workers(),
                               forced.initBlocks, forced.localBlocks));
  const Data::Placed placed = data.place(arena, map);
  const ListPlan plan(config);
  const auto listBytes = static_cast<uint64_t>(plan.topK) * 8;
  const Arena::Buffer partial = arena.output("partial", static_cast<uint64_t>(plan.size(map)) * 8);
  nvfp4rt_index_topk_args args{};
  data.setDeviceArgs(args, arena, placed, map);
  args.partial = arena.device<uint64_t>(partial);
  args.init_blocks = forced.initBlocks;
  args.local_blocks = forced.localBlocks;
  if (!arena.launch(*launchee.variant, launchee.request, args))
    return false;

  bool right = true;
  auto wrong = [&](const std::string &what) {
    if (std::exchange(right, false))
      arena.fault(what);
    job.report.worstError = std::numeric_limits<double>::infinity();
    job.report.mismatchingBytes += listBytes;
  };
  std::vector<uint64_t> list(static_cast<size_t>(plan.topK));
  for (size_t s = 0; s < map.segments.size(); ++s) {
    const nvfp4rt_segment &segment = map.segments[s];
    for (int64_t w = segment.first_worker; w < segment.first_worker + segment.worker_count; ++w)
      for (int64_t column = 0; column < segment.rows * config.shape.indexHeads; ++column) {
        const int64_t row = segment.first_row + column / config.shape.indexHeads;
        const auto head = static_cast<size_t>(column % config.shape.indexHeads);
        const auto [first, end] = blocksOf(map, w, static_cast<int64_t>(s));
        const auto offset = static_cast<uint64_t>(plan.at(w, static_cast<int64_t>(s), column)) * 8;
        for (size_t i = 0; i < list.size(); ++i)
          list[i] = arena.found<uint64_t>(partial, offset + i * 8);
        arena.accept(partial, offset, listBytes);
        ListCheck check(expected.of(static_cast<size_t>(row), head), first, end, forced);
        if (const std::string what = check.run(list); !what.empty())
          wrong(fmt::format("segment {} (request {}) row {} head {} worker {} (blocks {} to {}): "
                            "{}; found{}; rules K1, K2, K3, K4",
                            s, segment.request, row, head, w, first, end - 1, what,
                            keysText(list)));
        job.report.worstError = std::max(job.report.worstError, check.worstError());
        job.report.values += static_cast<uint64_t>(check.blocks());
      }
  }
  if (found) {
    found->resize(static_cast<size_t>(plan.size(map)));
    for (size_t i = 0; i < found->size(); ++i)
      (*found)[i] = arena.found<uint64_t>(partial, i * 8);
  }
  return arena.compare() && right;
}

} // namespace verify::index
