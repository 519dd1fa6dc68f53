//===- PagedTiles.h - tiles of NVFP4 rows out of a paged pool (P1..P5) ------===//
//
// A block (the sparse block) is loaded by one wave in tiles of 16 tokens: lane l takes
// token l % 16 of a tile and dims 32 (l / 16) .. + 31, one 16-byte load of payload and
// one 2-byte load of scales, contiguous over the wave. A block is a part of a page,
// one page, or several (parts), whichever page_size says.
//
// Loads are bounded by buffer resources: a page outside the pool has a resource of 0
// bytes, so nothing is loaded through its id (P4).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_PAGEDTILES_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_PAGEDTILES_H

#include "compiler/ir/KernelBuilder.h"

#include <optional>

namespace nvfp4gen::fragments {

inline constexpr unsigned kTileTokens = 16;
inline constexpr unsigned kLaneDims = 32; ///< dims of a lane

/// One tile as loaded.
struct RawTile {
  Val payload; ///< four dwords
  Val scales;  ///< i16: the bytes of both groups
};

struct PageShape {
  int64_t pageSize, blockSize, headDim;
  /// Pages that a block spans; 1 when a page holds whole blocks.
  unsigned parts() const { return blockSize > pageSize ? unsigned(blockSize / pageSize) : 1; }
  unsigned tiles() const { return unsigned(blockSize / kTileTokens); }
  unsigned tilesPerPart() const { return tiles() / parts(); }
};

/// Page ids of a block, one a part, from the arguments block_table and table_stride; all operands
/// are uniform. Entries past `lastPage`, the page of the request's last token, are not read:
/// whatever stands in for them holds no token that a row sees. With `exists` false the ids are -1.
llvm::SmallVector<Val> pageIds(KernelBuilder &kb, const PageShape &shape, Val request, Val block,
                               Val lastPage, Val exists);
/// The same in one vector register: lane p has the id of part p. For who cannot spare a scalar
/// register a part.
Val pageIdLanes(KernelBuilder &kb, const PageShape &shape, Val request, Val block, Val lastPage,
                Val exists, Val lane);
/// lastPage of a request that has `tokens` > 0.
Val lastPageOf(const PageShape &shape, Val tokens);

/// Tiles of one tensor, a payload and a scale plane with the argument names given. One page's bytes
/// are below 2^31 and page strides below 2^32.
class PagedTiles {
public:
  /// `lane` is the lane in its wave; `pages` an i64 argument; `head` the head's index, nothing for
  /// planes of one head.
  PagedTiles(KernelBuilder &kb, const PageShape &shape, std::string payload, std::string scale,
             std::string_view pages, Val lane, std::optional<Val> head);

  /// Where a part of a block is loaded from.
  struct Source {
    Val payload, scale; ///< buffer resources
    Val inPool;         ///< i1, uniform
  };
  /// P4.
  Val inPool(Val id) const;
  /// The part of `block` that is in page `id`.
  Source source(Val id, Val block) const;
  /// Tile `tile` of a block, out of the part that has it.
  RawTile load(unsigned tile, const Source &source) const;

private:
  struct Plane {
    std::string name;
    Val lane;       ///< offset of the lane in a page
    Val bytes;      ///< of a page that a block uses
    Val tokenBytes; ///< token stride, i32
  };
  Plane plane(std::string name, unsigned laneBytes, int64_t rowBytes, Val lane);
  Val resource(const Plane &plane, Val id, Val block, Val inPool) const;

  KernelBuilder &kb;
  const PageShape shape;
  Val pages; ///< u32: ids are below 2^31
  std::optional<Val> head;
  Plane payload, scale;
};

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_PAGEDTILES_H
