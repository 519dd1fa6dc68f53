//===- IndexRuns.cpp - checked launches of the block selectors --------------===//
//
// Owns: index_score, topk and index_topk_merge of IndexRuns.h.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexRuns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace verify::index {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Where entries of (row, head) are in a buffer.
struct Strides {
  int64_t row = 0, head = 0; ///< bytes
  Arena::Margins margins;
  uint64_t at(size_t r, size_t h) const {
    return static_cast<uint64_t>(static_cast<int64_t>(r) * row + static_cast<int64_t>(h) * head);
  }
};

/// `width` entries of 4 bytes a (row, head): head by head, the same with gaps, or row by row.
Strides stridesOf(const Config &config, size_t rows, int64_t width, Layout layout) {
  Strides strides;
  switch (layout) {
  case Layout::Dense:
    strides.row = width * 4;
    strides.head = static_cast<int64_t>(rows) * strides.row;
    break;
  case Layout::Gapped:
    strides.row = (width + 3) * 4;
    strides.head = static_cast<int64_t>(rows) * strides.row + 20;
    strides.margins.lead = 4;
    break;
  case Layout::Interleaved:
    strides.head = (width + 1) * 4;
    strides.row = config.shape.indexHeads * strides.head + 12;
    strides.margins.lead = 36;
    break;
  }
  return strides;
}

/// Bytes from the first entry to the last.
uint64_t extent(const Config &config, const Strides &strides, size_t rows, int64_t width) {
  return rows == 0 ? 0
                   : strides.at(rows - 1, static_cast<size_t>(config.shape.indexHeads) - 1) +
                         static_cast<uint64_t>(width) * 4;
}

template <typename T> int64_t widest(const PerBlock<T> &values, size_t rows) {
  size_t most = 1;
  for (size_t row = 0; row < rows; ++row)
    most = std::max(most, values.of(row, 0).size());
  return static_cast<int64_t>(most);
}

/// Share of the bound; infinite past it.
double errorShare(const oracle::Score &score, float found) {
  if (!score.allows(found))
    return kInfinity;
  const double bound = std::max(score.high - score.value, score.value - score.low);
  return bound > 0 && std::isfinite(bound) ? std::fabs(double(found) - score.value) / bound : 0;
}

/// An output of id lists that should hold `expected`.
class IdsOutput {
public:
  IdsOutput(Job &job, const Config &config, Arena &arena, IdLists lists, Layout layout)
      : job(job), config(config), arena(arena), expected(std::move(lists)),
        rows(expected.size() / static_cast<size_t>(config.shape.indexHeads)),
        strides(stridesOf(config, rows, config.shape.topK, layout)),
        buffer(arena.output("ids", extent(config, strides, rows, config.shape.topK),
                            strides.margins)) {}

  template <typename Args> void setArgs(Args &args) const {
    args.ids = arena.device<int32_t>(buffer);
    args.ids_row_stride = strides.row;
    args.ids_head_stride = strides.head;
    args.rows = static_cast<uint32_t>(rows);
  }

  /// After the launch.
  bool compare(const std::function<std::string(size_t row, size_t head)> &source) {
    for (size_t i = 0; i < expected.size(); ++i)
      std::memcpy(arena.expected<std::byte>(buffer) + offsetOf(i), expected[i].data(), listBytes());
    const bool same = arena.compare([&](Arena::Buffer at, uint64_t offset) -> std::string {
      for (size_t i = 0; at == buffer && i < expected.size(); ++i)
        if (offset >= offsetOf(i) && offset < offsetOf(i) + listBytes())
          return fmt::format("row {} head {} entry {}: expected ids [{}], found [{}]; {}; rules "
                             "K2, K3",
                             i / heads(), i % heads(), (offset - offsetOf(i)) / 4,
                             fmt::join(expected[i], " "), fmt::join(found(i), " "),
                             source(i / heads(), i % heads()));
      return {};
    });
    job.report.values += expected.size() * static_cast<uint64_t>(config.shape.topK);
    if (!same)
      job.report.worstError = kInfinity;
    return same;
  }

private:
  Job &job;
  const Config &config;
  Arena &arena;
  IdLists expected;
  size_t rows;
  Strides strides;
  Arena::Buffer buffer;

  size_t heads() const { return static_cast<size_t>(config.shape.indexHeads); }
  uint64_t listBytes() const { return static_cast<uint64_t>(config.shape.topK) * 4; }
  uint64_t offsetOf(size_t list) const { return strides.at(list / heads(), list % heads()); }
  std::vector<int32_t> found(size_t list) const {
    std::vector<int32_t> ids;
    for (uint64_t at = 0; at < listBytes(); at += 4)
      ids.push_back(arena.found<int32_t>(buffer, offsetOf(list) + at));
    return ids;
  }
};

} // namespace

std::optional<Launchee> siblingOf(const Job &job, std::string_view family, const Config &config) {
  if (auto sibling = findSibling(job.manifest, family, config.request))
    return Launchee{sibling->variant, sibling->request};
  return std::nullopt;
}

Scores oracleScores(const Config &config, const Data &data, const StepMap &map, bool &exact) {
  Scores scores(config, map.rows);
  nvfp4rt_index_score_args args{};
  data.setHostArgs(args);
  exact = true;
  oracle::visitScores(config.shape, args,
                      [&](uint32_t row, int64_t head, int64_t block, const oracle::Score &score) {
                        scores.of(row, static_cast<size_t>(head))[static_cast<size_t>(block)] =
                            score;
                        exact &= score.exact;
                      });
  return scores;
}

bool runIndexScore(Job &job, const Launchee &launchee, const std::string &where,
                   const Config &config, const Data &data, const StepMap &map, Layout layout,
                   const Scores &expected, PerBlock<float> *found) {
  Arena arena(job, where);
  const Data::Placed placed = data.place(arena, map);
  const size_t rows = map.rows.size(), heads = static_cast<size_t>(config.shape.indexHeads);
  const int64_t width = widest(expected, rows);
  const Strides strides = stridesOf(config, rows, width, layout);
  const Arena::Buffer buffer =
      arena.output("scores", extent(config, strides, rows, width), strides.margins);
  nvfp4rt_index_score_args args{};
  data.setDeviceArgs(args, arena, placed, map);
  args.scores = arena.device<float>(buffer);
  args.score_row_stride = strides.row;
  args.score_head_stride = strides.head;
  if (!arena.launch(*launchee.variant, launchee.request, args))
    return false;

  bool right = true;
  for (size_t row = 0; row < rows; ++row)
    for (size_t head = 0; head < heads; ++head) {
      const auto scores = expected.of(row, head);
      for (size_t block = 0; block < scores.size(); ++block) {
        const uint64_t offset = strides.at(row, head) + block * 4;
        const auto score = arena.found<float>(buffer, offset);
        const double share = errorShare(scores[block], score);
        job.report.worstError = std::max(job.report.worstError, share);
        if (share > 1 && std::exchange(right, false))
          arena.fault(fmt::format(
              "row {} (request {}, causal_len {}) head {} block {} (page {}): expected {:.9g} in "
              "[{:.9g}, {:.9g}], found {:.9g}; rules K1, P4, P5",
              row, map.rows[row].request, map.rows[row].causal_len, head, block,
              data.pageOf(map.rows[row].request,
                          static_cast<int64_t>(block) * config.shape.blockSize),
              scores[block].value, scores[block].low, scores[block].high, score));
        job.report.mismatchingBytes += share > 1 ? 4 : 0;
        if (found)
          found->of(row, head)[block] = score;
        arena.accept(buffer, offset, 4);
      }
    }
  job.report.values += expected.total();
  return arena.compare() && right;
}

IdLists selectedIds(const Config &config, const std::vector<nvfp4rt_step_row> &rows,
                    const PerBlock<float> &scores, oracle::Forced forced) {
  IdLists lists;
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t head = 0; head < static_cast<size_t>(config.shape.indexHeads); ++head)
      lists.push_back(oracle::selectScores(scores.of(row, head), forced, config.shape.topK));
  return lists;
}

bool runTopk(Job &job, const Launchee &launchee, const std::string &where, const Config &config,
             const std::vector<nvfp4rt_step_row> &rows, const PerBlock<float> &scores,
             oracle::Forced forced, Layout layout) {
  Arena arena(job,
              fmt::format("{}, init {} local {}", where, forced.initBlocks, forced.localBlocks));
  const size_t heads = static_cast<size_t>(config.shape.indexHeads);
  const Strides strides = stridesOf(config, rows.size(), widest(scores, rows.size()), layout);
  // Scores past the valid blocks would win or are NaN; the last valid one ends the buffer (K1).
  uint64_t size = 4;
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t head = 0; head < heads; ++head)
      if (const size_t valid = scores.of(row, head).size())
        size = std::max(size, strides.at(row, head) + valid * 4);
  std::vector<float> buffer(size / 4);
  for (size_t i = 0; i < buffer.size(); ++i)
    buffer[i] = i % 3 == 0 ? std::numeric_limits<float>::quiet_NaN()
                           : std::numeric_limits<float>::infinity();
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t head = 0; head < heads; ++head)
      std::ranges::copy(scores.of(row, head), buffer.data() + strides.at(row, head) / 4);

  const Arena::Buffer input = arena.input("scores", buffer, {strides.margins.lead, 0});
  const Arena::Buffer map = arena.input("step_rows", rows, {64, 0});
  IdsOutput ids(job, config, arena, selectedIds(config, rows, scores, forced), layout);
  nvfp4rt_topk_args args{};
  args.scores = arena.device<const float>(input);
  args.score_row_stride = strides.row;
  args.score_head_stride = strides.head;
  args.step_rows = arena.device<const nvfp4rt_step_row>(map);
  args.init_blocks = forced.initBlocks;
  args.local_blocks = forced.localBlocks;
  ids.setArgs(args);
  if (!arena.launch(*launchee.variant, launchee.request, args))
    return false;
  return ids.compare([&](size_t row, size_t head) {
    const auto of = scores.of(row, head);
    return fmt::format("scores of {} blocks: {:.9g}{}", of.size(),
                       fmt::join(of.first(std::min<size_t>(of.size(), 20)), " "),
                       of.size() > 20 ? " ..." : "");
  });
}

IdLists mergedIds(const Config &config, const StepMap &map, const std::vector<uint64_t> &lists) {
  const ListPlan plan(config);
  IdLists result;
  for (const nvfp4rt_step_row &row : map.rows)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head) {
      std::vector<uint64_t> keys;
      const int64_t column = row.row_in_segment * config.shape.indexHeads + head;
      if (row.segment >= 0) {
        const nvfp4rt_segment &segment = map.segments[static_cast<size_t>(row.segment)];
        for (int64_t w = segment.first_worker; w < segment.first_worker + segment.worker_count;
             ++w) {
          const uint64_t *list = lists.data() + plan.at(w, row.segment, column);
          keys.insert(keys.end(), list, list + plan.topK);
        }
      }
      result.push_back(oracle::selectKeys(std::move(keys), config.shape.topK));
    }
  return result;
}

bool runMerge(Job &job, const Launchee &launchee, const std::string &where, const Config &config,
              const StepMap &map, const std::vector<uint64_t> &lists, Layout layout) {
  Arena arena(job, where);
  const Arena::Buffer partial = arena.input("partial", lists);
  const Arena::Buffer rows = arena.input("step_rows", map.rows);
  const Arena::Buffer segments = arena.input("segments", map.allSegments);
  IdsOutput ids(job, config, arena, mergedIds(config, map, lists), layout);
  nvfp4rt_index_topk_merge_args args{};
  args.partial = arena.device<const uint64_t>(partial);
  args.step_rows = arena.device<const nvfp4rt_step_row>(rows);
  args.segments = arena.device<const nvfp4rt_segment>(segments);
  ids.setArgs(args);
  if (!arena.launch(*launchee.variant, launchee.request, args))
    return false;
  return ids.compare([&](size_t row, size_t) {
    const nvfp4rt_step_row &of = map.rows[row];
    return of.segment < 0 ? std::string("a padded row")
                          : fmt::format("lists of {} workers from {}",
                                        map.segments[static_cast<size_t>(of.segment)].worker_count,
                                        map.segments[static_cast<size_t>(of.segment)].first_worker);
  });
}

} // namespace verify::index
