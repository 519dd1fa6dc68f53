//===- IndexCase.h - a step with an index cache, for tests of the oracle ------===//
//
// Owns: the host buffers of step_map, index_score, topk, index_topk and its merge
// for one step; an index pool of exact data behind a shuffled block table.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_ORACLE_INDEXCASE_H
#define NVFP4GEN_TESTS_ORACLE_INDEXCASE_H

#include "tools/oracle/Index.h"
#include "tools/oracle/Random.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace oracle {

struct IndexCase {
  StepMapShape mapShape;
  IndexShape shape;
  std::vector<int32_t> seqLens, cuSeqlens;
  int32_t live = 0;
  uint32_t rows = 0, workers = 1;
  Forced forced{0, 1};

  std::vector<nvfp4rt_step_row> stepRows;
  std::vector<nvfp4rt_segment> segments;
  std::vector<nvfp4rt_work> work;
  uint32_t segmentCount = 0;

  int64_t pages = 0, tableWidth = 0, scoreRow = 0;
  std::vector<int32_t> table;
  std::vector<uint8_t> payload, scale;
  std::vector<uint16_t> q;
  std::vector<float> scores;
  std::vector<uint64_t> partial;

  /// Decode and verify: rows = requests * Q unless given.
  static IndexCase dense(uint32_t queryLen, std::vector<int32_t> lens, uint32_t workers,
                         int64_t pageSize = 128, int64_t heads = 1, DType dtype = DType::BF16) {
    IndexCase c;
    c.mapShape = {queryLen > 1 ? Phase::Verify : Phase::Decode, queryLen, 128};
    c.shape = {dtype, heads, 128, 128, pageSize, 16, queryLen};
    c.rows = uint32_t(lens.size()) * queryLen;
    c.start(std::move(lens), workers);
    return c;
  }

  static IndexCase prefill(std::vector<int32_t> lens, std::vector<int32_t> queryLens,
                           uint32_t workers, int64_t pageSize = 128, int64_t heads = 1,
                           DType dtype = DType::BF16) {
    IndexCase c;
    c.mapShape = {Phase::Prefill, 0, 128};
    c.shape = {dtype, heads, 128, 128, pageSize, 16, NVFP4RT_PREFILL_SEGMENT_ROWS};
    c.cuSeqlens = {0};
    for (int32_t len : queryLens)
      c.cuSeqlens.push_back(c.cuSeqlens.back() + len);
    c.rows = uint32_t(c.cuSeqlens.back());
    c.start(std::move(lens), workers);
    return c;
  }

  void map() {
    const size_t capacity =
        seqLens.size() +
        (mapShape.phase == Phase::Prefill ? rows / NVFP4RT_PREFILL_SEGMENT_ROWS : 0);
    stepRows.assign(rows, {-7, -7, -7, -7});
    segments.assign(capacity, {-7, -7, -7, -7, -7, -7, -7, -7});
    work.assign(workers + 1, {-7, -7});
    nvfp4rt_step_map_args args{};
    args.seq_lens = seqLens.data();
    args.cu_seqlens_q = cuSeqlens.data();
    args.live_requests = &live;
    args.step_rows = stepRows.data();
    args.segments = segments.data();
    args.work = work.data();
    args.rows = rows;
    args.requests = uint32_t(seqLens.size());
    args.workers = workers;
    segmentCount = stepMap(mapShape, args);
  }

  /// Pool, table and queries of exact data; pages in random order, four of them nobody's.
  void fill(uint64_t seed) {
    const int64_t pageSize = shape.pageSize;
    const int64_t longest = *std::max_element(seqLens.begin(), seqLens.end());
    tableWidth = longest / pageSize + 1;
    pages = 4;
    for (int32_t len : seqLens)
      pages += std::max(len, 0) / pageSize + 1;
    std::vector<int32_t> order(static_cast<size_t>(pages));
    std::iota(order.begin(), order.end(), 0);
    Random random(seed);
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    // Entries that no token reaches are outside of any pool.
    table.assign(seqLens.size() * size_t(tableWidth), std::numeric_limits<int32_t>::min());
    size_t next = 0;
    for (size_t r = 0; r < seqLens.size(); ++r)
      for (int64_t p = 0; p * pageSize < seqLens[r]; ++p)
        table[r * size_t(tableWidth) + size_t(p)] = order[next++];
    payload = exactPayload(size_t(pages * pageSize * 64), seed + 1);
    scale = exactScales(size_t(pages * pageSize * 8), seed + 2);
    q = exactQueries(shape.dtype, rows * size_t(shape.indexHeads) * 128, seed + 3);
    scoreRow = longest / 128 + 1;
    scores.assign(size_t(shape.indexHeads) * rows * size_t(scoreRow), -77.0f);
    const size_t lists = (workers + segments.size()) * size_t(shape.segmentRows * shape.indexHeads);
    partial.assign(lists * size_t(shape.topK), 0xA5A5A5A5A5A5A5A5u);
  }

  nvfp4rt_index_score_args scoreArgs() {
    nvfp4rt_index_score_args args{};
    args.index_q = {q.data(), shape.indexHeads * 256, 256};
    args.index_payload = {payload.data(), shape.pageSize * 64, 64, -1};
    args.index_scale = {scale.data(), shape.pageSize * 8, 8, -1};
    args.block_table = table.data();
    args.table_stride = tableWidth * 4;
    args.step_rows = stepRows.data();
    args.segments = segments.data();
    args.work = work.data();
    args.scores = scores.data();
    args.score_head_stride = rows * scoreRow * 4;
    args.score_row_stride = scoreRow * 4;
    args.index_pages = pages;
    args.score_scale = 0.08838834764831845f * 1.4426950409f;
    args.workers = workers;
    return args;
  }
  nvfp4rt_topk_args topkArgs(std::vector<int32_t> &ids) {
    nvfp4rt_topk_args args{};
    args.scores = scores.data();
    args.score_head_stride = rows * scoreRow * 4;
    args.score_row_stride = scoreRow * 4;
    args.step_rows = stepRows.data();
    const IdLists to = lists(ids);
    args.ids = to.ids;
    args.ids_row_stride = to.rowStride;
    args.ids_head_stride = to.headStride;
    args.rows = rows;
    args.init_blocks = forced.initBlocks;
    args.local_blocks = forced.localBlocks;
    return args;
  }
  nvfp4rt_index_topk_args indexTopkArgs() {
    const nvfp4rt_index_score_args from = scoreArgs();
    nvfp4rt_index_topk_args args{};
    args.index_q = from.index_q;
    args.index_payload = from.index_payload;
    args.index_scale = from.index_scale;
    args.block_table = from.block_table;
    args.table_stride = from.table_stride;
    args.step_rows = from.step_rows;
    args.segments = from.segments;
    args.work = from.work;
    args.partial = partial.data();
    args.index_pages = from.index_pages;
    args.score_scale = from.score_scale;
    args.workers = workers;
    args.init_blocks = forced.initBlocks;
    args.local_blocks = forced.localBlocks;
    return args;
  }
  nvfp4rt_index_topk_merge_args mergeArgs(std::vector<int32_t> &ids) {
    nvfp4rt_index_topk_merge_args args{};
    args.partial = partial.data();
    args.step_rows = stepRows.data();
    args.segments = segments.data();
    const IdLists to = lists(ids);
    args.ids = to.ids;
    args.ids_row_stride = to.rowStride;
    args.ids_head_stride = to.headStride;
    args.rows = rows;
    return args;
  }
  /// Id lists [rows][heads][topK], filled with a canary.
  IdLists lists(std::vector<int32_t> &ids) const {
    ids.assign(rows * size_t(shape.indexHeads * shape.topK), -99);
    return {ids.data(), shape.indexHeads * shape.topK * 4, shape.topK * 4, rows};
  }

private:
  void start(std::vector<int32_t> lens, uint32_t workerCount) {
    seqLens = std::move(lens);
    live = int32_t(seqLens.size());
    workers = workerCount;
  }
};

} // namespace oracle

#endif // NVFP4GEN_TESTS_ORACLE_INDEXCASE_H
