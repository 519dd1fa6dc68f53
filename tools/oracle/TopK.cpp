//===- TopK.cpp - host reference of the selectors ---------------------------===//
//
// Owns: rules K2 and K3, id lists from scores, from q and cache, and from partial
// lists; the check of a kernel's partial lists.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

namespace oracle {

namespace {

constexpr float kInitScore = 1e30f, kLocalScore = 1e29f; // K2

int64_t validBlocks(int64_t causalLen, const IndexShape &shape) { // S3
  return (causalLen + shape.blockSize - 1) / shape.blockSize;
}

void putIds(const IdLists &lists, uint32_t row, int64_t head, const std::vector<int32_t> &ids) {
  std::byte *to = reinterpret_cast<std::byte *>(lists.ids) + int64_t{row} * lists.rowStride +
                  head * lists.headStride;
  std::memcpy(to, ids.data(), ids.size() * sizeof(int32_t));
}

nvfp4rt_index_score_args scorePart(const nvfp4rt_index_topk_args &args) {
  nvfp4rt_index_score_args part{};
  part.index_q = args.index_q;
  part.index_payload = args.index_payload;
  part.index_scale = args.index_scale;
  part.block_table = args.block_table;
  part.table_stride = args.table_stride;
  part.step_rows = args.step_rows;
  part.segments = args.segments;
  part.work = args.work;
  part.index_pages = args.index_pages;
  part.score_scale = args.score_scale;
  part.workers = args.workers;
  return part;
}

/// Offset in keys of the list of (worker, segment, column).
int64_t listAt(const IndexShape &shape, int64_t worker, int64_t segment, int64_t column) {
  return ((worker + segment) * shape.segmentRows * shape.indexHeads + column) * shape.topK;
}

/// The worker that has a block, from where the workers begin.
int64_t workerOf(const nvfp4rt_index_topk_args &args, int32_t segment, int64_t block) {
  int64_t worker = -1;
  for (int64_t w = 0; w < args.workers; ++w)
    if (args.work[w].segment < segment ||
        (args.work[w].segment == segment && args.work[w].block <= block))
      worker = w;
  return worker;
}

/// Keys 0 that fill a list to topK entries.
std::vector<uint64_t> largestKeys(std::vector<uint64_t> keys, int64_t topK) {
  std::sort(keys.begin(), keys.end(), std::greater<>());
  keys.resize(size_t(topK), 0);
  return keys;
}

} // namespace

float forcedScore(float score, int64_t block, int64_t validBlocks, Forced forced) {
  if (block < forced.initBlocks)
    score = kInitScore;
  if (block >= validBlocks - int64_t{forced.localBlocks})
    score = kLocalScore;
  return score;
}

uint64_t sortKey(float score, uint32_t block) {
  uint64_t ordered = 0; // NaN
  if (!std::isnan(score)) {
    const uint32_t bits = std::bit_cast<uint32_t>(score == 0 ? 0.0f : score);
    ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
  }
  return uint64_t{1} << 48 | ordered << 16 | (uint64_t{block} + 1);
}

std::vector<int32_t> selectKeys(std::vector<uint64_t> keys, int64_t topK) {
  std::vector<int32_t> ids;
  for (uint64_t key : largestKeys(std::move(keys), topK))
    ids.push_back(key ? int32_t(key & 0xFFFF) - 1 : -1);
  return ids;
}

std::vector<int32_t> selectScores(std::span<const float> scores, Forced forced, int64_t topK) {
  std::vector<uint64_t> keys;
  for (size_t b = 0; b < scores.size(); ++b)
    keys.push_back(
        sortKey(forcedScore(scores[b], int64_t(b), int64_t(scores.size()), forced), uint32_t(b)));
  return selectKeys(std::move(keys), topK);
}

void topK(const IndexShape &shape, const nvfp4rt_topk_args &args) {
  const IdLists lists{args.ids, args.ids_row_stride, args.ids_head_stride, args.rows};
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < shape.indexHeads; ++head) {
      const auto *scores = reinterpret_cast<const float *>(
          reinterpret_cast<const std::byte *>(args.scores) + head * args.score_head_stride +
          int64_t{row} * args.score_row_stride);
      const int64_t valid = validBlocks(args.step_rows[row].causal_len, shape);
      putIds(
          lists, row, head,
          selectScores({scores, size_t(valid)}, {args.init_blocks, args.local_blocks}, shape.topK));
    }
}

namespace {

using KeyVisitor = std::function<void(uint32_t row, int64_t head, int64_t block, uint64_t low,
                                      uint64_t key, uint64_t high)>;

/// visitScores in keys, K2 applied. True when all scores are exact.
bool visitKeys(const IndexShape &shape, const nvfp4rt_index_topk_args &args,
               const KeyVisitor &visit) {
  bool exact = true;
  visitScores(
      shape, scorePart(args), [&](uint32_t row, int64_t head, int64_t block, const Score &score) {
        const int64_t valid = validBlocks(args.step_rows[row].causal_len, shape);
        auto key = [&](float value) {
          return sortKey(forcedScore(value, block, valid, {args.init_blocks, args.local_blocks}),
                         uint32_t(block));
        };
        // The fp32 numbers next to the bounds: what lies within them is within the keys.
        visit(row, head, block, key(float(score.low)), key(float(score.value)),
              key(float(score.high)));
        exact &= score.exact;
      });
  return exact;
}

} // namespace

bool selectBlocks(const IndexShape &shape, const nvfp4rt_index_topk_args &args,
                  const IdLists &lists) {
  std::vector<std::vector<uint64_t>> keys(size_t(lists.rows * shape.indexHeads));
  const bool exact = visitKeys(
      shape, args, [&](uint32_t row, int64_t head, int64_t, uint64_t, uint64_t key, uint64_t) {
        keys[size_t(row * shape.indexHeads + head)].push_back(key);
      });
  for (uint32_t row = 0; row < lists.rows; ++row)
    for (int64_t head = 0; head < shape.indexHeads; ++head)
      putIds(lists, row, head, selectKeys(keys[size_t(row * shape.indexHeads + head)], shape.topK));
  return exact;
}

namespace {

/// What the list of one (worker, segment, column) is made of.
struct Candidate {
  int64_t block;
  uint64_t low, key, high;
};

using ListVisitor = std::function<void(int64_t worker, int64_t segment, int64_t column,
                                       const std::vector<Candidate> &)>;

/// Every (worker, segment) with a common block, every column of the segment's rows. Candidates are
/// the row's valid blocks among them.
bool visitLists(const IndexShape &shape, const nvfp4rt_index_topk_args &args,
                const ListVisitor &visit) {
  const int32_t segments = args.work[args.workers].segment;
  std::vector<std::vector<std::vector<Candidate>>> lists(static_cast<size_t>(segments));
  for (int32_t s = 0; s < segments; ++s)
    if (args.segments[s].blocks > 0)
      lists[size_t(s)].resize(size_t(args.segments[s].rows * shape.indexHeads));
  const bool exact = visitKeys(
      shape, args,
      [&](uint32_t row, int64_t head, int64_t block, uint64_t low, uint64_t key, uint64_t high) {
        const nvfp4rt_step_row &map = args.step_rows[row];
        lists[size_t(map.segment)][size_t(map.row_in_segment * shape.indexHeads + head)].push_back(
            {block, low, key, high});
      });
  for (int32_t s = 0; s < segments; ++s) {
    int64_t begin = 0;
    while (begin < args.segments[s].blocks) {
      const int64_t worker = workerOf(args, s, begin);
      int64_t end = begin + 1;
      while (end < args.segments[s].blocks && workerOf(args, s, end) == worker)
        ++end;
      for (size_t c = 0; c < lists[size_t(s)].size(); ++c) {
        std::vector<Candidate> part;
        for (const Candidate &candidate : lists[size_t(s)][c])
          if (candidate.block >= begin && candidate.block < end)
            part.push_back(candidate);
        visit(worker, s, int64_t(c), part);
      }
      begin = end;
    }
  }
  return exact;
}

} // namespace

bool indexTopK(const IndexShape &shape, const nvfp4rt_index_topk_args &args) {
  return visitLists(shape, args,
                    [&](int64_t worker, int64_t segment, int64_t column,
                        const std::vector<Candidate> &candidates) {
                      std::vector<uint64_t> keys;
                      keys.reserve(candidates.size());
                      for (const Candidate &candidate : candidates)
                        keys.push_back(candidate.key);
                      keys = largestKeys(std::move(keys), shape.topK);
                      std::copy(keys.begin(), keys.end(),
                                args.partial + listAt(shape, worker, segment, column));
                    });
}

namespace {

/// The list of one (worker, segment, column) against its candidates.
const char *listFault(std::span<const uint64_t> list, const std::vector<Candidate> &candidates) {
  std::vector<char> seen(candidates.size(), 0);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && (list[i - 1] == 0 ? list[i] != 0 : list[i] >= list[i - 1]))
      return "not strictly descending";
    if (list[i] == 0)
      continue;
    const int64_t block = int64_t(list[i] & 0xFFFF) - 1;
    auto candidate = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &c) { return c.block == block; });
    if (candidate == candidates.end())
      return "a block that is not valid or not the worker's";
    if (list[i] < candidate->low || list[i] > candidate->high)
      return "a key outside the bounds";
    if (seen[size_t(candidate - candidates.begin())]++)
      return "a block twice";
  }
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!seen[i] && candidates[i].low >= list.back())
      return "a block is missing";
  return nullptr;
}

} // namespace

std::optional<std::string> checkPartials(const IndexShape &shape,
                                         const nvfp4rt_index_topk_args &args) {
  std::optional<std::string> fault;
  visitLists(shape, args,
             [&](int64_t worker, int64_t segment, int64_t column,
                 const std::vector<Candidate> &candidates) {
               if (fault)
                 return;
               const char *what = listFault(
                   {args.partial + listAt(shape, worker, segment, column), size_t(shape.topK)},
                   candidates);
               if (!what)
                 return;
               std::ostringstream text;
               text << "worker " << worker << " segment " << segment << " column " << column << ": "
                    << what;
               fault = text.str();
             });
  return fault;
}

void indexTopKMerge(const IndexShape &shape, const nvfp4rt_index_topk_merge_args &args) {
  const IdLists lists{args.ids, args.ids_row_stride, args.ids_head_stride, args.rows};
  for (uint32_t row = 0; row < args.rows; ++row) {
    const nvfp4rt_step_row &map = args.step_rows[row];
    for (int64_t head = 0; head < shape.indexHeads; ++head) {
      std::vector<uint64_t> keys;
      for (int64_t i = 0; map.segment >= 0 && i < args.segments[map.segment].worker_count; ++i) {
        const uint64_t *list =
            args.partial + listAt(shape, args.segments[map.segment].first_worker + i, map.segment,
                                  map.row_in_segment * shape.indexHeads + head);
        keys.insert(keys.end(), list, list + shape.topK);
      }
      putIds(lists, row, head, selectKeys(std::move(keys), shape.topK));
    }
  }
}

} // namespace oracle
