//===- StepMap.cpp - host reference of step_map -----------------------------===//
//
// Owns: rules S1..S5 and the work partition of K4.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Index.h"

#include <algorithm>

namespace oracle {

namespace {

class StepMap {
public:
  StepMap(const StepMapShape &shape, const nvfp4rt_step_map_args &args)
      : shape(shape), args(args),
        live(std::clamp<int64_t>(*args.live_requests, 0, int64_t{args.requests})) {}

  uint32_t run() {
    for (uint32_t row = 0; row < args.rows; ++row)
      args.step_rows[row] = {-1, 0, -1, 0};
    if (shape.phase == Phase::Prefill)
      mapPrefill();
    else
      mapDense();
    partition();
    return segments;
  }

private:
  const StepMapShape &shape;
  const nvfp4rt_step_map_args &args;
  const int64_t live;
  uint32_t segments = 0;
  int64_t blocks = 0; ///< of all segments so far

  bool isLive(int64_t request) const { return request < live && args.seq_lens[request] > 0; }

  /// The segment of rows [first, first + count), of which row `first` is token `token` of the
  /// request's `queryLen`.
  void addSegment(int64_t request, int64_t first, int64_t count, int64_t token, int64_t queryLen) {
    nvfp4rt_segment segment{};
    segment.request = int32_t(request);
    segment.first_row = int32_t(first);
    segment.rows = int32_t(count);
    segment.first_block = int32_t(blocks);
    if (isLive(request) && count > 0) {
      int64_t shortest = INT32_MAX, longest = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t causal = std::max<int64_t>( // S1, S2
            int64_t{args.seq_lens[request]} - queryLen + (token + i) + 1, 0);
        args.step_rows[first + i] = {int32_t(request), int32_t(causal), int32_t(segments),
                                     int32_t(i)};
        shortest = std::min(shortest, causal);
        longest = std::max(longest, causal);
      }
      segment.blocks = int32_t((longest + shape.blockSize - 1) / shape.blockSize); // S3
      segment.min_causal_len = int32_t(shortest);
    }
    blocks += segment.blocks;
    args.segments[segments++] = segment;
  }

  void mapDense() {
    const int64_t q = shape.queryLen;
    for (int64_t request = 0; request < args.requests; ++request)
      addSegment(request, request * q, std::clamp<int64_t>(args.rows - request * q, 0, q), 0, q);
  }

  void mapPrefill() {
    for (int64_t request = 0; request < args.requests; ++request) {
      if (!isLive(request))
        continue;
      const int64_t begin = args.cu_seqlens_q[request];
      const int64_t queryLen = args.cu_seqlens_q[request + 1] - begin;
      const int64_t end = std::min<int64_t>(begin + queryLen, args.rows);
      for (int64_t row = begin; row < end; row += shape.segmentRows)
        addSegment(request, row, std::min<int64_t>(end - row, shape.segmentRows), row - begin,
                   queryLen);
    }
  }

  /// First of the concatenated blocks that is worker w's; w = workers is the end.
  int64_t workerBegin(int64_t w) const {
    const int64_t busy = std::min<int64_t>(args.workers, blocks);
    return w < busy ? w * blocks / busy : blocks;
  }

  void partition() {
    for (int64_t w = 0; w <= args.workers; ++w) {
      args.work[w] = {int32_t(segments), 0};
      for (uint32_t s = 0; s < segments; ++s) {
        const int64_t block = workerBegin(w) - args.segments[s].first_block;
        if (block >= 0 && block < args.segments[s].blocks)
          args.work[w] = {int32_t(s), int32_t(block)};
      }
    }
    for (uint32_t s = 0; s < segments; ++s) {
      nvfp4rt_segment &segment = args.segments[s];
      const int64_t begin = segment.first_block, end = begin + segment.blocks;
      for (int64_t w = 0; w < args.workers; ++w)
        if (std::max(workerBegin(w), begin) < std::min(workerBegin(w + 1), end)) {
          if (segment.worker_count == 0)
            segment.first_worker = int32_t(w);
          ++segment.worker_count;
        }
    }
  }
};

} // namespace

uint32_t stepMap(const StepMapShape &shape, const nvfp4rt_step_map_args &args) {
  return StepMap(shape, args).run();
}

} // namespace oracle
