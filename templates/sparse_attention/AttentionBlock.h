//===- AttentionBlock.h - attention over one list entry (rules A1, A3) ------===//
//
// What a wave does with one block of one (row, kv head): 16 columns are the q heads.
//
//   S^T = K Q^T      M = token, N = head: lane group g (16 lanes) has tokens 4g .. 4g+3 of
//                    every tile of 16, lane l % 16 is the head
//   p = 2^(z - m)    in registers; two tiles of p are the B operand below, with tokens
//                    4g .. 4g+3 of both tiles as the K axis
//   O^T = V^T P^T    M = dim, N = head. V is dequantized row by row, written to LDS as fp16
//                    and read back transposed (ds_read_b64_tr_b16), 32 tokens at a time
//
// so that m, l and the accumulators of a head are all in the lanes of that head. LDS is the
// wave's own; its accesses are in order, so nothing waits for a barrier.
//
// Tiles of V are loaded into the registers of K's as these are used up, and tiles of the
// next block's K into those of V's.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONBLOCK_H
#define NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONBLOCK_H

#include "templates/fragments/PagedTiles.h"
#include "templates/fragments/PartialSoftmax.h"

namespace nvfp4gen::attention {

inline constexpr unsigned kHeadColumns = 16; ///< q heads of a kv head, padded
/// LDS of a wave: 32 tokens of 128 fp16.
inline constexpr unsigned kWaveShared = 32 * 128 * 2;

/// A list entry; uniform but for `ids`.
struct Entry {
  Val block;
  Val tokens; ///< that the row sees of it; 0 when the entry selects nothing
  /// Page of each part, -1 when the entry selects nothing. Of many parts (idsInScalars) the ids are
  /// in one vector register (fragments::pageIdLanes): the scalar ones would not do.
  llvm::SmallVector<Val> ids;
};
/// Whether an entry's page ids are in a scalar register each.
inline bool idsInScalars(const fragments::PageShape &shape) { return shape.parts() <= 2; }

class AttentionBlock {
public:
  /// `shared` is LDS of all waves, kWaveShared each, of which `wave` (uniform) uses its own;
  /// `queries` are the B operands of K Q^T, one a step.
  AttentionBlock(KernelBuilder &kb, const fragments::PageShape &shape,
                 const fragments::PagedTiles &keys, const fragments::PagedTiles &values,
                 llvm::ArrayRef<Val> queries, Val shared, Val wave, Val lane);

  using Tiles = llvm::SmallVector<fragments::RawTile>;
  /// Start loading an entry's keys.
  Tiles loadKeys(const Entry &entry) const;
  /// The entry's partial result: 4 dims, 16 t + 4 g + r, of each dim tile t in a lane. `keys` are
  /// its keys as loaded, and become those of `next`, if there is one.
  fragments::PartialSoftmax run(const Entry &entry, Tiles &tiles, const Entry *next) const;

private:
  using Vals = KernelBuilder::Vals;
  enum class Reader { Keys, Values };
  Val pageId(const Entry &entry, unsigned part, Reader reader) const;
  Val inPool(const Entry &entry) const;
  Val limit(const Entry &entry, unsigned part) const;
  Vals scores(const Entry &entry, Tiles &tiles) const;
  void mask(const Entry &entry, Vals &scores, Tiles &tiles) const;
  void storeTile(unsigned tile, const fragments::RawTile &raw) const;
  Val loadTransposed(unsigned dimTile) const;

  KernelBuilder &kb;
  const fragments::PageShape shape;
  const fragments::PagedTiles &keys, &values;
  const llvm::SmallVector<Val> queries;
  Val lane, laneRow, laneGroup;
  Vals writeAt, readAt; ///< LDS addresses of a lane: by step of 8 dims, by dim tile
};

} // namespace nvfp4gen::attention

#endif // NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONBLOCK_H
