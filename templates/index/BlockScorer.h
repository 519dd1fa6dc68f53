//===- BlockScorer.h - scores of index key blocks (rules K1, K4, P4, P5) ----===//
//
// What index_score and index_topk share: a workgroup (a worker of the step map) walks
// its blocks segment by segment; its four waves take blocks in turn and each leaves the
// scores of a block for all columns (row, head) of the segment to a consumer.
//
// A block is S^T = K Q^T, M = token, N = column, v_mfma_f32_16x16x32_f16. The K axis is
// permuted so that lane group g (16 lanes) takes dims 32g .. 32g+31: a lane then loads 16
// contiguous bytes of a token and a wave 1,024 contiguous bytes. Every element of S is
// one chain of four MFMAs in one order, whatever the tile, so all scorers agree bit for
// bit.
//
// Keys of the next block are loaded tile by tile as those of this one are used up, so
// nearly a whole block stays in flight. Loads are bounded by buffer resources: a page
// outside the pool, or the block after the last, has a resource of 0 bytes.
//
// A token that a row must not see starts its accumulator as NaN, and the maximum takes
// NaN as missing; so does whatever a stale tail holds.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_INDEX_BLOCKSCORER_H
#define NVFP4GEN_TEMPLATES_INDEX_BLOCKSCORER_H

#include "compiler/ir/KernelBuilder.h"
#include "compiler/spec/Spec.h"

namespace nvfp4gen::index {

/// What the code of a scorer is specialized for.
struct ScorerParams {
  DType dtype;
  int64_t pageSize, blockSize, headDim;
  int64_t heads;       ///< index heads
  int64_t segmentRows; ///< rows of a full segment
  int64_t columns() const { return segmentRows * heads; }
  /// Heads of which a wave holds the queries: all, or the largest divisor that fits in registers.
  /// The others take another pass over the keys, in workgroups of another y.
  int64_t passHeads() const;
  /// 16-column tiles of a pass, a power of two.
  unsigned tiles() const;
  /// Columns that a lane owns when scores are handed over.
  unsigned sets() const { return tiles() <= 4 ? 1 : tiles() / 4; }
  /// Lanes that own a column, each 16 lanes after the one before.
  unsigned owners() const { return tiles() <= 4 ? 4 / tiles() : 1; }
};

ScorerParams scorerParams(const Spec &spec, const Cell &cell);
inline constexpr unsigned kScorerWaves = 4;

/// Whether the spec has an index cache that these templates read.
bool hasScorer(const Spec &spec);
/// Guard terms, name, workgroup and grid: whatever the code is specialized for.
void specializeScorer(const Spec &spec, const ScorerParams &params, CellPlan &plan);

/// The segment being scored.
struct Segment {
  Val worker, segment, wave, lane;
  Val request, firstRow, rows, blocks;
  Val minCausal; ///< of the segment's rows
  struct Column {
    Val inPass;      ///< its place among the columns of the pass
    Val column;      ///< in the segment; row_in_segment * heads + head
    Val row, head;   ///< of the step; clamped to the segment where the column does not exist
    Val exists;      ///< i1
    Val validBlocks; ///< S3; 0 where the column does not exist
  };
  /// The columns that this lane owns; with fewer than four tiles several lanes own one.
  llvm::SmallVector<Column> columns;
  Val owner; ///< which of the lanes that own its columns this lane is: 0 .. owners - 1
};

/// Takes the scores. `carried` are values that a wave keeps from block to block.
class ScoreConsumer {
public:
  virtual ~ScoreConsumer() = default;
  /// LDS that beforeBarrier and afterBarrier use; it holds the queries before.
  virtual unsigned sharedBytes() const { return 0; }
  virtual void setShared(Val) {}
  virtual KernelBuilder::Vals begin(const Segment &segment) = 0;
  /// `scores`: K1's score of `block` for each of the lane's columns, never -0. Uniform control
  /// flow.
  virtual KernelBuilder::Vals consume(const Segment &segment, Val block, llvm::ArrayRef<Val> scores,
                                      llvm::ArrayRef<Val> carried) = 0;
  /// Before and after a barrier of the workgroup at the end of a segment.
  virtual void beforeBarrier(const Segment &segment, llvm::ArrayRef<Val> carried) = 0;
  virtual void afterBarrier(const Segment &segment, llvm::ArrayRef<Val> carried) = 0;
};

void emitScorer(KernelBuilder &kb, const ScorerParams &params, ScoreConsumer &consumer);

} // namespace nvfp4gen::index

#endif // NVFP4GEN_TEMPLATES_INDEX_BLOCKSCORER_H
