//===- IndexFakeStepMap.cpp - step maps that are wrong on purpose -----------===//
//
// Owns: stepMap() of IndexFakeKernels.h.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/IndexFakeKernels.h"

#include "tools/oracle/Index.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace fake {

namespace {

void repartition(const nvfp4rt_step_map_args &args, uint32_t segments, int64_t blocks,
                 const std::function<int64_t(int64_t worker)> &begin) {
  for (int64_t w = 0; w < args.workers; ++w) {
    args.work[w] = {static_cast<int32_t>(segments), 0};
    for (uint32_t s = 0; s < segments; ++s) {
      const int64_t block = std::min(begin(w), blocks) - args.segments[s].first_block;
      if (block >= 0 && block < args.segments[s].blocks)
        args.work[w] = {static_cast<int32_t>(s), static_cast<int32_t>(block)};
    }
  }
}

} // namespace

void stepMap(const Config &config, const nvfp4rt_step_map_args &args, IndexFault fault) {
  nvfp4rt_step_map_args wrong = args;
  const int32_t all = static_cast<int32_t>(args.requests);
  if (fault == IndexFault::LiveIgnored)
    wrong.live_requests = &all;
  std::vector<nvfp4rt_step_row> before(args.step_rows, args.step_rows + args.rows);
  std::vector<nvfp4rt_work> work(args.work, args.work + args.workers + 1);
  const uint32_t segments = oracle::stepMap(config.stepMapShape(), wrong);
  const int64_t blocks =
      segments == 0 ? 0
                    : args.segments[segments - 1].first_block + args.segments[segments - 1].blocks;
  for (uint32_t row = 0; row < args.rows; ++row) {
    nvfp4rt_step_row &entry = args.step_rows[row];
    if (fault == IndexFault::CausalOffByOne && entry.causal_len > 0)
      ++entry.causal_len;
    if (fault == IndexFault::NotClamped && entry.request >= 0 && entry.causal_len == 0)
      entry.causal_len = -1;
    if (fault == IndexFault::PaddedUnwritten && entry.request < 0)
      entry = before[row];
    if (fault == IndexFault::PaddedRequest && entry.request < 0)
      entry.request = static_cast<int32_t>(row);
  }
  for (uint32_t s = 0; s < segments; ++s) {
    nvfp4rt_segment &segment = args.segments[s];
    if (fault == IndexFault::BlocksOfFirstRow)
      segment.blocks = static_cast<int32_t>(blocksOf(segment.min_causal_len, config));
    if (fault == IndexFault::MinCausalOfLast && segment.blocks > 0)
      segment.min_causal_len += segment.rows - 1;
    if (fault == IndexFault::WorkersOfEmpty && segment.blocks == 0)
      segment.worker_count = 1;
  }
  switch (fault) {
  case IndexFault::SegmentPastEnd:
    args.segments[segments] = {};
    break;
  case IndexFault::WorkRoundedUp:
    repartition(args, segments, blocks,
                [&](int64_t w) { return w * ((blocks + args.workers - 1) / args.workers); });
    break;
  case IndexFault::Work32:
    repartition(args, segments, blocks,
                [&](int64_t w) { return static_cast<uint32_t>(w * blocks) / args.workers; });
    break;
  case IndexFault::WorkEndUnwritten:
    args.work[args.workers] = work[args.workers];
    break;
  case IndexFault::WorkAtSegmentEnd:
    for (uint32_t w = 1; w < args.workers; ++w)
      if (args.work[w].block == 0 && args.work[w].segment > 0) {
        --args.work[w].segment;
        args.work[w].block = args.segments[args.work[w].segment].blocks;
      }
    break;
  case IndexFault::InputChanged:
    ++const_cast<int32_t &>(args.seq_lens[0]);
    break;
  default:
    break;
  }
}

} // namespace fake
