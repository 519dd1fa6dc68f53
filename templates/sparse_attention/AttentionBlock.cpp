//===- AttentionBlock.cpp ---------------------------------------------------===//

#include "templates/sparse_attention/AttentionBlock.h"

#include "templates/fragments/Dequantize.h"

#include <limits>

namespace nvfp4gen::attention {

using fragments::kLaneDims;
using fragments::kTileTokens;
using fragments::PagedTiles;
using fragments::PartialSoftmax;
using fragments::RawTile;

namespace {

constexpr unsigned kSteps = 4;       ///< 32 dims of a lane in vectors of 8
constexpr unsigned kDimTile = 16;    ///< dims of a tile of O^T
constexpr unsigned kRowBytes = 256;  ///< a token's 128 fp16 in LDS
constexpr unsigned kChunkBytes = 16; ///< 8 fp16
constexpr unsigned kTilesAtOnce = 2; ///< tiles of V in LDS, the K axis of an MFMA

/// LDS is swizzled: 16-byte chunk c of token t is at chunk c ^ swizzle(t). Eight tokens in a row
/// must differ in the low three bits, so that eight lanes that write one chunk each use all 32
/// banks, and in the upper three, so that the transposed reads, two chunks of each of eight tokens
/// in a phase, use all 64.
Val swizzle(Val token) { return ((token & 7) << 1) ^ (lshr(token, 2) & 1); }

} // namespace

AttentionBlock::AttentionBlock(KernelBuilder &kb, const fragments::PageShape &shape,
                               const PagedTiles &keys, const PagedTiles &values,
                               llvm::ArrayRef<Val> queries, Val shared, Val lane)
    : kb(kb), shape(shape), keys(keys), values(values), queries(queries), lane(lane),
      laneRow(lane & 15), laneGroup(lshr(lane, 4)) {
  assert(shape.headDim * 2 == kRowBytes);
  // A lane writes dims 32 g .. of token l % 16.
  for (unsigned step = 0; step < kSteps; ++step) {
    Val chunk = (laneGroup * int64_t(kSteps) + int64_t(step)) ^ swizzle(laneRow);
    writeAt.push_back(
        kb.offset(shared, laneRow * int64_t(kRowBytes) + chunk * int64_t(kChunkBytes)));
  }
  // For a transposed read, lane q of a group of 16 points at 4 dims of token q / 4 of the group's
  // four.
  Val quarter = laneRow & 3;
  Val token = (laneGroup << 2) + lshr(laneRow, 2);
  for (unsigned tile = 0; tile < shape.headDim / kDimTile; ++tile) {
    Val chunk = (lshr(quarter, 1) + int64_t(2 * tile)) ^ swizzle(token);
    readAt.push_back(kb.offset(shared, token * int64_t(kRowBytes) + chunk * int64_t(kChunkBytes) +
                                           ((quarter & 1) << 3)));
  }
}

Val AttentionBlock::pageId(const Entry &entry, unsigned part, Reader reader) const {
  if (shape.parts() <= kMostScalarIds)
    return entry.ids[part];
  // Lanes past the parts have the ids once more. Each reader takes them from lanes of its own, or
  // LLVM would read all of them once, for both, and keep them.
  return kb.readLane(entry.ids[0], part + (reader == Reader::Values ? shape.parts() : 0));
}

/// Whether every part is in the pool.
Val AttentionBlock::inPool(const Entry &entry) const {
  if (shape.parts() > kMostScalarIds)
    // Lanes past the parts have the ids once more.
    return eq(kb.ballot(values.inPool(entry.ids[0])), -1);
  Val all = kb.i1(true);
  for (Val id : entry.ids)
    all = all & values.inPool(id);
  return all;
}

AttentionBlock::Tiles AttentionBlock::loadKeys(const Entry &entry) const {
  Tiles tiles;
  PagedTiles::Source source;
  for (unsigned tile = 0; tile < shape.tiles(); ++tile) {
    if (tile % shape.tilesPerPart() == 0)
      source = keys.source(pageId(entry, tile / shape.tilesPerPart(), Reader::Keys), entry.block);
    tiles.push_back(keys.load(tile, source));
  }
  return tiles;
}

/// Tokens of a part that the row sees; none of a page that is not in the pool (P4). The resources
/// of such a page are empty, and its keys and values 0, but a token counts even if it is 0.
Val AttentionBlock::limit(const Entry &entry, unsigned part) const {
  int64_t partTokens = shape.blockSize / shape.parts();
  auto limitOf = [&](Val id, Val part) {
    return kb.select(values.inPool(id), entry.tokens - part * partTokens, kb.i32(0));
  };
  if (shape.parts() <= kMostScalarIds)
    return limitOf(entry.ids[part], kb.i32(part));
  // Of all parts at once, a lane a part: so many page ids are not kept in scalar registers.
  return kb.readLane(limitOf(entry.ids[0], lane & int64_t(shape.parts() - 1)), part);
}

/// z without its factor: 4 tokens a tile. Tiles become those of V.
KernelBuilder::Vals AttentionBlock::scores(const Entry &entry, Tiles &tiles) const {
  Vals result;
  PagedTiles::Source source;
  for (unsigned tile = 0; tile < shape.tiles(); ++tile) {
    llvm::SmallVector<Val, 4> tokens =
        fragments::dequantize32(kb, tiles[tile].payload, tiles[tile].scales);
    kb.schedulingFence();
    if (tile % shape.tilesPerPart() == 0)
      source =
          values.source(pageId(entry, tile / shape.tilesPerPart(), Reader::Values), entry.block);
    tiles[tile] = values.load(tile, source);
    Val sum = kb.zero(kb.vectorType(4, kb.f32Type()));
    for (unsigned step = 0; step < kSteps; ++step)
      sum = kb.mfma16x16x32(tokens[step], queries[step], sum);
    result.append(kb.elements(sum));
  }
  Val whole = eq(entry.tokens, shape.blockSize) & inPool(entry);
  return kb.ifElse(
      whole, [&] { return result; },
      [&] {
        Vals masked;
        for (auto [i, score] : llvm::enumerate(result)) {
          unsigned tile = i / 4, part = tile / shape.tilesPerPart();
          Val place =
              (laneGroup << 2) + int64_t((tile % shape.tilesPerPart()) * kTileTokens + i % 4);
          masked.push_back(kb.select(slt(place, limit(entry, part)), score,
                                     kb.f32(-std::numeric_limits<double>::infinity())));
        }
        return masked;
      });
}

/// A3: scales of tokens that the row does not see become 0, and with them the values, whatever
/// stands there.
void AttentionBlock::maskValues(const Entry &entry, Tiles &tiles) const {
  Vals scales;
  for (const RawTile &tile : tiles)
    scales.push_back(tile.scales);
  scales = kb.ifElse(
      eq(entry.tokens, shape.blockSize), [&] { return scales; },
      [&] {
        Vals masked;
        for (auto [tile, scale] : llvm::enumerate(scales)) {
          Val place = laneRow + int64_t((tile % shape.tilesPerPart()) * kTileTokens);
          Val seen = slt(place, limit(entry, tile / shape.tilesPerPart()));
          masked.push_back(kb.select(seen, scale, kb.zero(kb.i16Type())));
        }
        return masked;
      });
  for (auto [tile, scale] : llvm::zip_equal(tiles, scales))
    tile.scales = scale;
}

void AttentionBlock::storeTile(unsigned tile, const RawTile &raw) const {
  for (auto [step, vector] : llvm::enumerate(fragments::dequantize32(kb, raw.payload, raw.scales)))
    kb.store(vector,
             kb.offset(writeAt[step], int64_t(tile % kTilesAtOnce * kTileTokens * kRowBytes)), 16);
}

/// A operand of dim tile `dimTile`: row = dim, K = tokens 4g .. 4g+3 of both tiles in LDS.
Val AttentionBlock::loadTransposed(unsigned dimTile) const {
  Vals halves;
  for (unsigned tile = 0; tile < kTilesAtOnce; ++tile)
    halves.push_back(
        kb.loadTransposed16(kb.offset(readAt[dimTile], int64_t(tile * kTileTokens * kRowBytes))));
  return kb.concat(halves);
}

PartialSoftmax AttentionBlock::run(const Entry &entry, Tiles &tiles, const Entry *next) const {
  Vals z = scores(entry, tiles);
  PartialSoftmax result;

  // Over the lane groups too: all lanes of a head have its m and l.
  auto overGroups = [&](Val value, llvm::function_ref<Val(Val, Val)> join) {
    auto [low, high] = kb.swapHalves(value, value);
    Val half = join(low, high);
    auto [even, odd] = kb.swapRows16(half, half);
    return join(even, odd);
  };
  Val most = z[0];
  for (Val score : llvm::ArrayRef<Val>(z).drop_front())
    most = kb.fmax(most, score);
  Val factor = kb.arg("score_scale");
  result.max = overGroups(most, [&](Val a, Val b) { return kb.fmax(a, b); }) * factor;
  Val base = kb.fneg(fragments::finiteMax(kb, result.max));

  Vals weights;
  for (Val score : z)
    weights.push_back(kb.exp2(kb.fma(score, factor, base)));
  // Four sums side by side: a chain of 32 dependent additions would be longer than the matrix work.
  Vals sums(weights.begin(), weights.begin() + 4);
  for (size_t i = 4; i < weights.size(); ++i)
    sums[i % 4] = sums[i % 4] + weights[i];
  result.sum =
      overGroups((sums[0] + sums[1]) + (sums[2] + sums[3]), [](Val a, Val b) { return a + b; });
  // B operands of O^T: tokens 4g .. 4g+3 of two tiles.
  Vals probabilities;
  for (size_t i = 0; i < weights.size(); i += 8) {
    Vals rounded;
    for (size_t k = i; k < i + 8; ++k)
      rounded.push_back(kb.toF16(weights[k]));
    probabilities.push_back(kb.pack(rounded));
  }

  maskValues(entry, tiles);
  const unsigned dimTiles = shape.headDim / kDimTile;
  Vals acc(dimTiles, kb.zero(kb.vectorType(4, kb.f32Type())));
  PagedTiles::Source source;
  for (unsigned tile = 0; tile < shape.tiles(); ++tile) {
    storeTile(tile, tiles[tile]);
    kb.schedulingFence();
    if (next) {
      if (tile % shape.tilesPerPart() == 0)
        source = keys.source(pageId(*next, tile / shape.tilesPerPart(), Reader::Keys), next->block);
      tiles[tile] = keys.load(tile, source);
    }
    if (tile % kTilesAtOnce != kTilesAtOnce - 1)
      continue;
    for (unsigned dimTile = 0; dimTile < dimTiles; ++dimTile)
      acc[dimTile] = kb.mfma16x16x32(loadTransposed(dimTile), probabilities[tile / kTilesAtOnce],
                                     acc[dimTile]);
  }
  for (Val vector : acc)
    result.acc.append(kb.elements(vector));
  return result;
}

} // namespace nvfp4gen::attention
