//===- IndexFakeTopk.cpp - writers of ids that are wrong on purpose ---------===//
//
// Owns: topk() and merge() of IndexFakeKernels.h.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/IndexFakeKernels.h"

#include "tools/oracle/Index.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fake {

namespace {

int32_t *idsAt(const auto &args, uint32_t row, int64_t head) {
  return reinterpret_cast<int32_t *>(reinterpret_cast<std::byte *>(args.ids) +
                                     row * args.ids_row_stride + head * args.ids_head_stride);
}

/// Faults of any kernel that writes ids.
void bendIds(const Config &config, const auto &args, IndexFault fault) {
  const int64_t topK = config.shape.topK;
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head) {
      int32_t *ids = idsAt(args, row, head);
      const bool padded = args.step_rows[row].request < 0;
      for (int64_t i = 0; i < topK; ++i) {
        if (fault == IndexFault::ShortWithZero && ids[i] < 0 && !padded)
          ids[i] = 0;
        if (fault == IndexFault::PaddedIdsZero && padded)
          ids[i] = 0;
        if (fault == IndexFault::IdOffByOne && ids[i] >= 0)
          ++ids[i];
      }
      if (fault == IndexFault::Ascending)
        std::reverse(ids, ids + topK);
      if (fault == IndexFault::CutoffEarly)
        ids[topK - 1] = -1;
      if (fault == IndexFault::IdPastList && row == 0)
        ids[topK] = -1;
      if (fault == IndexFault::HeadIgnored && head > 0)
        std::copy(idsAt(args, row, 0), idsAt(args, row, 0) + topK, ids);
    }
}

/// Leave ids of some rows as they were.
template <typename Run>
void keepIds(const Config &config, const auto &args, IndexFault fault, Run run) {
  std::vector<std::vector<int32_t>> before;
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head)
      before.emplace_back(idsAt(args, row, head), idsAt(args, row, head) + config.shape.topK);
  run();
  bendIds(config, args, fault);
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head)
      if ((fault == IndexFault::PaddedIdsUnwritten && args.step_rows[row].request < 0) ||
          (fault == IndexFault::LastRowDropped && row + 1 == args.rows))
        std::ranges::copy(before[static_cast<size_t>(row * config.shape.indexHeads + head)],
                          idsAt(args, row, head));
}

uint64_t wrongKey(float score, int64_t block, int64_t valid, const nvfp4rt_topk_args &args,
                  IndexFault fault) {
  oracle::Forced forced{args.init_blocks, args.local_blocks};
  if (fault == IndexFault::InitDropped)
    forced.initBlocks = 0;
  if (fault == IndexFault::LocalDropped)
    forced.localBlocks = 0;
  if (std::isnan(score) && fault == IndexFault::NaNLargest)
    score = kInf;
  if (std::isnan(score) && fault == IndexFault::NaNAsMinusInf)
    score = -kInf;
  if (score == 0 && std::signbit(score) && fault == IndexFault::NegativeZeroBelow)
    score = -std::numeric_limits<float>::denorm_min();
  const float of = fault == IndexFault::LocalBeforeInit && block < forced.initBlocks
                       ? 1e30f
                       : oracle::forcedScore(score, block, valid, forced);
  return oracle::sortKey(of, static_cast<uint32_t>(block));
}

} // namespace

void topk(const Config &config, const nvfp4rt_topk_args &args, IndexFault fault) {
  keepIds(config, args, fault, [&] {
    for (uint32_t row = 0; row < args.rows; ++row)
      for (int64_t head = 0; head < config.shape.indexHeads; ++head) {
        const auto *scores = reinterpret_cast<const float *>(
            reinterpret_cast<const std::byte *>(args.scores) + head * args.score_head_stride +
            row * args.score_row_stride);
        const int64_t length = args.step_rows[row].causal_len;
        int64_t valid = blocksOf(length, config);
        if (fault == IndexFault::FloorBlocks)
          valid = length / config.shape.blockSize;
        if (fault == IndexFault::ReadsPastEnd && row + 1 < args.rows && valid > 0)
          ++valid;
        std::vector<uint64_t> keys;
        for (int64_t block = 0; block < valid; ++block) {
          uint64_t key = wrongKey(scores[block], block, valid, args, fault);
          if (fault == IndexFault::TiesToLower)
            key = (key & ~uint64_t{0xFFFF}) | (0xFFFF - static_cast<uint64_t>(block));
          keys.push_back(key);
        }
        std::vector<int32_t> ids = oracle::selectKeys(std::move(keys), config.shape.topK);
        for (int32_t &id : ids)
          if (fault == IndexFault::TiesToLower && id >= 0)
            id = 0xFFFE - id;
        std::ranges::copy(ids, idsAt(args, row, head));
      }
    if (fault == IndexFault::InputChanged)
      const_cast<float *>(args.scores)[0] = 7;
  });
}

void merge(const Config &config, const nvfp4rt_index_topk_merge_args &args, IndexFault fault) {
  keepIds(config, args, fault, [&] {
    nvfp4rt_index_topk_merge_args wrong = args;
    std::vector<nvfp4rt_step_row> rows(args.step_rows, args.step_rows + args.rows);
    int32_t segments = 0;
    for (nvfp4rt_step_row &row : rows) {
      segments = std::max(segments, row.segment + 1);
      if (fault == IndexFault::RowIgnored)
        row.row_in_segment = 0;
    }
    std::vector<nvfp4rt_segment> bent(args.segments, args.segments + segments);
    for (size_t s = 0; s < bent.size(); ++s) {
      if (fault == IndexFault::LastWorkerDropped && bent[s].worker_count > 1)
        --bent[s].worker_count;
      if (fault == IndexFault::WorkerTooMany && bent[s].worker_count > 0)
        ++bent[s].worker_count;
      if (fault == IndexFault::ListsWithoutSegment)
        bent[s].first_worker -= static_cast<int32_t>(s);
    }
    wrong.step_rows = rows.data();
    wrong.segments = bent.data();
    oracle::indexTopKMerge(config.shape, wrong);
    if (fault == IndexFault::InputChanged)
      const_cast<nvfp4rt_step_row *>(args.step_rows)[0].causal_len ^= 1;
  });
}

} // namespace fake
