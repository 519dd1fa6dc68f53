//===- Index.h - host reference of choosing blocks ----------------*- C++ -*-===//
//
// Owns: step_map, index_score, topk, index_topk and index_topk_merge, written
// from rules S, K and P alone: plain and slow. Every pointer of an argument struct
// is a host pointer here; the caller vouches that buffers are as large as strides
// and counts say.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_INDEX_H
#define NVFP4GEN_TOOLS_ORACLE_INDEX_H

#include "tools/oracle/Oracle.h"

#include <functional>
#include <optional>

namespace oracle {

enum class Phase : uint8_t { Decode, Verify, Prefill };

struct StepMapShape {
  Phase phase = Phase::Decode;
  uint32_t queryLen = 1; ///< Q; not used in prefill
  uint32_t blockSize = 128;
  uint32_t segmentRows = NVFP4RT_PREFILL_SEGMENT_ROWS; ///< only used in prefill
};

/// S1..S5: fills step_rows, segments and work; returns the number of segments. A live count outside
/// [0, requests] is clamped to it. What the argument header leaves open:
///  - A prefill request that is not live has no segment, as one with seq_len 0; seq_len < 0 is 0.
///  - In decode and verify every segment has first_row = request * Q and the rows that the launch
///    holds of them; blocks and min_causal_len are 0 where there is no live row.
uint32_t stepMap(const StepMapShape &shape, const nvfp4rt_step_map_args &args);

/// What the argument structs of the scorers and selectors do not say.
struct IndexShape {
  DType dtype = DType::BF16;
  int64_t indexHeads = 1;
  int64_t headDim = 128; ///< index_head_dim
  int64_t blockSize = 128;
  int64_t pageSize = 128;
  int64_t topK = 16;
  int64_t segmentRows = 1; ///< rows of a full segment: Q, or NVFP4RT_PREFILL_SEGMENT_ROWS
};

/// K1 for one (row, head, block).
struct Score {
  double value = 0;         ///< NaN when no token counts
  double low = 0, high = 0; ///< what fp32 accumulation may yield; `value` itself if not finite
  /// Every partial sum of every token is an fp32 number, in whatever order the products are added:
  /// then `value` is one fp32 multiplication by score_scale away from an exact maximum, and low =
  /// high = value.
  bool exact = false;
  /// Whether a kernel may have written `score`.
  bool allows(float score) const;
};

using ScoreVisitor = std::function<void(uint32_t row, int64_t head, int64_t block, const Score &)>;

/// Every score that index_score writes, segment by segment, block by block.
void visitScores(const IndexShape &shape, const nvfp4rt_index_score_args &args,
                 const ScoreVisitor &visit);

/// K1, K5: writes every score, each rounded to fp32. True when all of them are exact.
bool indexScore(const IndexShape &shape, const nvfp4rt_index_score_args &args);

enum class Compare : uint8_t {
  Bounded, ///< within (2K/8 + 8) * 2^-24 * sum|q k| * score_scale
  Exact,   ///< equal, and the data must be exact
};
/// Compares a kernel's score buffer; the first score that is wrong, in words. In Exact, inexact
/// data is a fault of its own.
std::optional<std::string> checkScores(const IndexShape &shape,
                                       const nvfp4rt_index_score_args &args, Compare compare);

/// K2.
struct Forced {
  uint32_t initBlocks = 0, localBlocks = 0;
};
/// K2 on one block < validBlocks. A block that is both initial and local has the local score: the
/// rule's second assignment comes after its first.
float forcedScore(float score, int64_t block, int64_t validBlocks, Forced forced);

/// K3, for a valid block.
uint64_t sortKey(float score, uint32_t block);

/// K3: the `topK` largest keys as block ids, descending, then -1. Keys 0 are no blocks.
std::vector<int32_t> selectKeys(std::vector<uint64_t> keys, int64_t topK);

/// K2, K3: ids of one row and head from its scores, one per valid block.
std::vector<int32_t> selectScores(std::span<const float> scores, Forced forced, int64_t topK);

/// K2, K3, K5 over a score buffer.
void topK(const IndexShape &shape, const nvfp4rt_topk_args &args);

/// Where id lists go, as in nvfp4rt_topk_args.
struct IdLists {
  int32_t *ids = nullptr;
  int64_t rowStride = 0, headStride = 0; ///< bytes
  uint32_t rows = 0;
};

/// K1..K5: ids straight from q and cache, for every row. True when all scores are exact, so that a
/// kernel must give the same lists.
bool selectBlocks(const IndexShape &shape, const nvfp4rt_index_topk_args &args,
                  const IdLists &lists);

/// index_topk: fills the partial lists. True when all scores are exact, so that a kernel must write
/// the same bytes.
bool indexTopK(const IndexShape &shape, const nvfp4rt_index_topk_args &args);

/// Whether args.partial holds lists that index_topk may leave for data that is not exact: every
/// list is strictly descending and then 0, holds blocks that are the worker's and valid for the
/// row, each once, under keys that Score allows, and lacks only blocks that may be smaller than all
/// of its keys. The first fault, in words.
std::optional<std::string> checkPartials(const IndexShape &shape,
                                         const nvfp4rt_index_topk_args &args);

/// index_topk_merge: ids from the partial lists of workers first_worker .. first_worker +
/// worker_count - 1 of each row's segment.
void indexTopKMerge(const IndexShape &shape, const nvfp4rt_index_topk_merge_args &args);

/// Scores of one row and head that pin a corner of K2 or K3; one score per valid block.
struct PinnedScores {
  std::string name;
  std::vector<float> scores;
  Forced forced;
};
/// Block counts 1, 2, 15, 16, 17, 127, 128, 129 and 8192 with all ties, ties at the cutoff, +-0,
/// NaN, +-inf, subnormals, scores at and around the forced ones, ascending, descending and random;
/// each with init/local 0/0, 0/1, 2/2 and half of topK each.
std::vector<PinnedScores> pinnedScores(int64_t topK);

/// Rows of small integers in model dtype, and payload and scale bytes of keys that are small
/// multiples of 1/4: a dot product of up to 512 of them is exact in any order (Score::exact).
std::vector<uint16_t> exactQueries(DType dtype, size_t elements, uint64_t seed);
std::vector<uint8_t> exactPayload(size_t bytes, uint64_t seed);
std::vector<uint8_t> exactScales(size_t bytes, uint64_t seed);

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_INDEX_H
