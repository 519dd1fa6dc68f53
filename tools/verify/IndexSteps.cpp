//===- IndexSteps.cpp - steps that block selectors are tried with -----------===//
//
// Owns: what IndexSteps.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexSteps.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace verify::index {

namespace {

/// What nobody writes in a step: seq_len of a padded request, entries past the last segment.
constexpr int32_t kStaleLen = 777'777;
constexpr int64_t kMillion = 1'048'576;
/// Requests with tokens in a scorer's step of many: what an emulator can run in a moment.
constexpr int64_t kBusyRequests = 10;

} // namespace

int64_t segmentCapacity(const Config &config, const Step &step) {
  const auto requests = static_cast<int64_t>(step.seqLens.size());
  return config.prefill() ? step.rows / NVFP4RT_PREFILL_SEGMENT_ROWS + requests : requests;
}

nvfp4rt_step_map_args stepMapArgs(const Step &step, uint32_t workers) {
  nvfp4rt_step_map_args args{};
  args.seq_lens = step.seqLens.data();
  args.cu_seqlens_q = step.starts.empty() ? nullptr : step.starts.data();
  args.live_requests = &step.live;
  args.rows = static_cast<uint32_t>(step.rows);
  args.requests = static_cast<uint32_t>(step.seqLens.size());
  args.workers = workers;
  return args;
}

int64_t StepMap::blocks() const {
  return segments.empty() ? 0 : segments.back().first_block + segments.back().blocks;
}

StepMap mapOf(const Config &config, const Step &step, uint32_t workers) {
  StepMap map;
  map.rows.resize(static_cast<size_t>(step.rows));
  map.segments.resize(static_cast<size_t>(segmentCapacity(config, step)));
  map.work.resize(workers + 1);
  nvfp4rt_step_map_args args = stepMapArgs(step, workers);
  args.step_rows = map.rows.data();
  args.segments = map.segments.data();
  args.work = map.work.data();
  const uint32_t count = oracle::stepMap(config.stepMapShape(), args);
  map.allSegments = map.segments;
  map.segments.resize(count);
  for (size_t s = count; s < map.allSegments.size(); ++s)
    map.allSegments[s] = {kStaleLen,  -kStaleLen, kStaleLen, kStaleLen,
                          -kStaleLen, kStaleLen,  kStaleLen, kStaleLen};
  return map;
}

namespace {

/// Query rows and earlier tokens of a request. Dense steps take the sum for the whole length.
struct Lengths {
  int64_t query = 0, prefix = 0;
};
using LengthsOf = std::function<Lengths(int64_t request)>;

/// `live` of the requests as `of` says, the others stale.
Step makeStep(const Config &config, std::string name, int64_t live, const LengthsOf &of) {
  Step step;
  step.name = std::move(name);
  step.live = static_cast<int32_t>(live);
  int64_t row = 0;
  for (int64_t r = 0; r < config.requests; ++r) {
    const Lengths lengths = r < live ? of(r) : Lengths{};
    step.seqLens.push_back(r < live ? static_cast<int32_t>(lengths.query + lengths.prefix)
                                    : kStaleLen);
    if (config.prefill())
      step.starts.push_back(static_cast<int32_t>(row));
    row += config.prefill() ? lengths.query : config.queryLen;
  }
  if (config.prefill())
    step.starts.push_back(static_cast<int32_t>(row));
  step.rows = row;
  return step;
}

/// Lengths in turn, query and prefix each with its own period.
LengthsOf cycle(std::vector<int64_t> queries, std::vector<int64_t> prefixes) {
  return [queries = std::move(queries), prefixes = std::move(prefixes)](int64_t request) {
    const auto r = static_cast<size_t>(request);
    return Lengths{queries[r % queries.size()], prefixes[r % prefixes.size()]};
  };
}

/// Lengths of the first requests; all others have none.
LengthsOf firstOnes(std::vector<Lengths> lengths) {
  return [lengths = std::move(lengths)](int64_t request) {
    const auto r = static_cast<size_t>(request);
    return r < lengths.size() ? lengths[r] : Lengths{};
  };
}

std::vector<Step> denseMapSteps(const Config &config) {
  const int64_t n = config.requests, q = config.queryLen, b = config.shape.blockSize;
  const LengthsOf mixed = cycle({0}, {b + 1, 1, q, q - 1, q + 1, b - 1, b, 2 * b, 0, 15 * b,
                                      16 * b + 1, 129 * b - 3, 100'000, b + q - 1});
  std::vector<Lengths> uneven(8, Lengths{0, 150'000});
  uneven[0].prefix = 450'000;
  std::vector<Step> steps = {
      makeStep(config, "mixed lengths", n, mixed),
      makeStep(config, "live < requests", n / 2, mixed),
      makeStep(config, "no live request", 0, mixed),
      makeStep(config, "every seq_len 0", n, cycle({0}, {0})),
      makeStep(config, "450K + 7 x 150K", n, firstOnes(uneven)),
      makeStep(config, "one at 1M", n,
               [&](int64_t r) { return Lengths{0, r == n - 1 ? kMillion : 1}; }),
      makeStep(config, "all at 1M", n, cycle({0}, {kMillion})),
      makeStep(config, "rows past the last request", n, mixed),
  };
  steps.back().rows += 2;
  if (q > 1) {
    std::vector<int64_t> shortLens;
    for (int64_t length = 0; length <= q + 1; ++length)
      shortLens.push_back(length);
    steps.push_back(makeStep(config, "seq_len < Q", n, cycle({0}, shortLens)));
    steps.push_back(makeStep(config, "last group incomplete", n, mixed));
    --steps.back().rows;
  }
  return steps;
}

std::vector<Step> prefillMapSteps(const Config &config) {
  const int64_t n = config.requests, b = config.shape.blockSize;
  const LengthsOf ragged = cycle({5, 0, 64, 65, 1, 200, 0, 63, 128, 129},
                                 {0, 100'000, 3, b - 1, b, b + 1, 0, 17 * b - 2});
  std::vector<Step> steps = {
      makeStep(config, "ragged", n, ragged),
      makeStep(config, "padded rows", n, ragged),
      makeStep(config, "live < requests", n / 2, ragged),
      makeStep(config, "no live request", 0, ragged),
      makeStep(config, "every query_len 0", n, cycle({0}, {1000, 0})),
      makeStep(config, "seq_len < query_len", n, cycle({7, 70, 3}, {-3, -65, -3})),
      makeStep(config, "prefix 100K", n, firstOnes({{1000, 100'000}, {0, 5}, {257, 0}})),
      makeStep(config, "450K + 7 x 150K", n,
               firstOnes({{64, 450'000},
                          {1, 150'000},
                          {64, 150'000},
                          {65, 150'000},
                          {0, 150'000},
                          {2, 150'000},
                          {64, 150'000},
                          {3, 150'000}})),
      makeStep(config, "1M", n, firstOnes({{65, kMillion - 65}})),
  };
  steps[1].rows += 3;
  // Rows of requests that are padding, each way: none, and some that are to be ignored.
  Step stale = makeStep(config, "rows of padded requests", n, ragged);
  stale.live = static_cast<int32_t>(n / 2);
  steps.push_back(std::move(stale));
  if (steps[3].rows == 0)
    steps[3].rows = 5;
  if (steps[4].rows == 0)
    steps[4].rows = 1;
  if (steps[2].rows == 0)
    steps[2].rows = 2;
  return steps;
}

} // namespace

std::vector<Step> mapSteps(const Config &config) {
  return config.prefill() ? prefillMapSteps(config) : denseMapSteps(config);
}

namespace {

/// Of many requests only some have tokens, the last one among them.
bool isBusy(int64_t request, int64_t requests) {
  const int64_t apart = std::max<int64_t>(requests / kBusyRequests, 1);
  return (requests - 1 - request) % apart == 0;
}

} // namespace

std::vector<Step> scorerSteps(const Config &config) {
  const int64_t n = config.requests, q = config.queryLen, b = config.shape.blockSize;
  const int64_t live = (2 * n + 2) / 3;
  // The first requests as given, then the busy ones of `count` in turn.
  auto lengths = [](int64_t count, std::vector<Lengths> first, LengthsOf rest) -> LengthsOf {
    return [count, first = std::move(first), rest = std::move(rest)](int64_t r) {
      return r < static_cast<int64_t>(first.size()) ? first[static_cast<size_t>(r)]
             : isBusy(r, count)                     ? rest(r)
                                                    : Lengths{};
    };
  };
  if (config.prefill()) {
    const LengthsOf few = cycle({1, 2, 0, 3, 1}, {0, 3, b - 1, b, 7, 1});
    std::vector<Step> steps = {
        makeStep(config, "ragged prefill", n,
                 lengths(n, {{70, 2 * b - 5}, {3, 0}, {0, 9}, {1, 17 * b}, {65, 0}}, few)),
        makeStep(config, "padded prefill", live,
                 lengths(live, {{66, b - 2}, {2, 16 * b - 1}, {64, 1}}, few)),
    };
    steps[1].rows += 3;
    return steps;
  }
  const LengthsOf few = cycle({0}, {1, b, q, 5, b + 1, 0, b / 2, q - 1, b - 1, b + q - 1});
  std::vector<Step> steps = {
      makeStep(config, "all live", n,
               lengths(n, {{0, 17 * b + 3}, {0, b}, {0, 2 * b - 1}, {0, q}, {0, 3 * b}}, few)),
      makeStep(config, "padded", live,
               lengths(live, {{0, 3 * b - 5}, {0, 16 * b + q}, {0, 2 * b}}, few)),
  };
  if (q > 1 && n % 2 == 1) // the last group is incomplete: 32 rows of 11 requests with Q = 3
    --steps[0].rows;
  ++steps[1].rows;
  return steps;
}

namespace {

/// Live requests of these lengths; in prefill the last three tokens are query rows.
Step lengthsStep(const Config &config, std::string name, const std::vector<int64_t> &tokens) {
  std::vector<Lengths> lengths;
  for (int64_t length : tokens) {
    const int64_t query = config.prefill() ? std::min<int64_t>(length, 3) : 0;
    lengths.push_back({query, length - query});
  }
  const auto live = static_cast<int64_t>(lengths.size());
  Step step = makeStep(config, std::move(name), live, firstOnes(std::move(lengths)));
  if (!config.prefill()) // rows of padded requests would make score buffers huge
    step.rows = live * config.queryLen;
  return step;
}

} // namespace

std::vector<Step> blockCountSteps(const Config &config, const std::vector<int64_t> &counts) {
  const int64_t b = config.shape.blockSize;
  std::vector<Step> steps;
  for (size_t i = 0; i < counts.size(); i += static_cast<size_t>(config.requests)) {
    std::vector<int64_t> tokens;
    std::string name;
    for (size_t j = i; j < std::min(counts.size(), i + static_cast<size_t>(config.requests)); ++j) {
      tokens.push_back(counts[j] * b - b / 2);
      name += fmt::format("{}{}", name.empty() ? "" : ", ", counts[j]);
    }
    steps.push_back(lengthsStep(config, name + " blocks", tokens));
  }
  return steps;
}

Step chunkStep(const Config &config, int64_t rows, int64_t prefix) {
  Step step = makeStep(config, fmt::format("{} rows after {} tokens", rows, prefix), 1,
                       firstOnes({{rows, prefix}}));
  if (!config.prefill())
    step.rows = config.queryLen;
  return step;
}

Step blindStep(const Config &config) {
  Step step = makeStep(config, "no live request", 0, firstOnes({}));
  step.rows = std::max<int64_t>(step.rows, 5);
  return step;
}

Step lengthStep(const Config &config, int64_t tokens) {
  return lengthsStep(config, fmt::format("{} tokens", tokens), {tokens});
}

} // namespace verify::index
