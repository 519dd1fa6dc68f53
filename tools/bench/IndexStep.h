//===- IndexStep.h - a step of the block selectors in device memory -----------===//
//
// Owns: what the benches of step_map and of the index families share: the step's
// lengths, the bundle's step map of them (rules S1 to S4), index keys and queries, and
// the pages that a shape demands, computed here and compared with the step map's.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_INDEXSTEP_H
#define NVFP4GEN_TOOLS_BENCH_INDEXSTEP_H

#include "tools/bench/Parts.h"

#include "runtime/include/nvfp4rt_args.h"

#include <cstdint>
#include <span>

namespace bench {

/// Workgroups of the index scorers: two for each of 256 compute units.
inline constexpr uint32_t kWorkers = 2 * 256;
/// Forced blocks, as in the specs of MiniMax-M3.1; they are launch arguments, not the bundle's.
inline constexpr uint32_t kInitBlocks = 0, kLocalBlocks = 1;

/// What a selector was specialized for.
struct IndexConfig {
  int64_t dtype = 0, pageSize = 0, blockSize = 0;
  int64_t indexHeads = 0, indexHeadDim = 0;

  int64_t payloadRowBytes() const { return indexHeadDim / 2; }
  int64_t scaleRowBytes() const { return indexHeadDim / 16; }
  /// Of the keys of a block: payload and scales.
  uint64_t blockBytes() const {
    return static_cast<uint64_t>(blockSize * (payloadRowBytes() + scaleRowBytes()));
  }
};
Result<IndexConfig> indexConfigOf(const nvfp4rt::Variant &variant);

/// Lengths of a step and their map.
class StepMap {
public:
  /// Allocate; launches nothing. `blockSize` is that of the sparse blocks.
  static Result<StepMap> create(Device &device, const Shape &shape, int64_t blockSize);

  /// And launch it, see launch().
  static Result<StepMap> launched(Device &device, const Shape &shape, int64_t blockSize);

  const nvfp4rt_step_map_args &args() const { return args_; }
  /// Launch the bundle's step_map, uncounted. NVFP4RT_ERROR_NO_MATCH when it has none for the
  /// shape.
  Result<void> launch(Device &device, const Shape &shape);
  /// After a launch: whether the partition holds as many pages as the shape demands.
  Result<void> check() const;

  uint64_t rows() const { return args_.rows; }
  /// In the contract's numbering, those without rows or blocks too.
  uint64_t segments() const { return segmentCount; }
  uint64_t mostSegmentRows() const { return segmentRows; }
  /// Blocks of all segments: each is read once (K4).
  uint64_t blocks() const { return blockCount; }
  /// Blocks that rows may see, over all rows.
  uint64_t rowBlocks() const { return rowBlockCount; }
  int64_t mostBlocks() const { return longest; }
  /// Of what step_map reads and writes.
  uint64_t inputBytes() const;
  uint64_t outputBytes() const;

  std::span<const nvfp4rt_segment> segmentList() const {
    return {args_.segments, args_.segments + segmentCount};
  }
  /// Blocks of the worker with the most less those of the one with the fewest.
  uint64_t imbalance() const;

private:
  Buffers buffers;
  nvfp4rt_step_map_args args_{};
  uint64_t segmentCount = 0, segmentRows = 0, blockCount = 0, rowBlockCount = 0;
  int64_t longest = 0;
  bool prefill = false;

  uint64_t workerBegin(uint32_t worker) const;
};

/// Index keys, a block table and queries.
class IndexInputs {
public:
  static Result<IndexInputs> create(Device &device, const Shape &shape, const IndexConfig &config);

  /// Fill the members that index_score and index_topk have alike.
  template <typename Args> void apply(Args &args, const StepMap &map) const {
    args.index_q = queries;
    args.index_payload = payload;
    args.index_scale = scale;
    args.block_table = table;
    args.table_stride = tableStride;
    args.step_rows = map.args().step_rows;
    args.segments = map.args().segments;
    args.work = map.args().work;
    args.index_pages = pages;
    args.score_scale = scoreScale;
    args.workers = map.args().workers;
  }

private:
  Buffers buffers;
  nvfp4rt_rows queries{};
  nvfp4rt_plane payload{}, scale{};
  const int32_t *table = nullptr;
  int64_t tableStride = 0, pages = 0;
  float scoreScale = 0;
};

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_INDEXSTEP_H
