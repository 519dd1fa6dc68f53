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

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr unsigned kTileRegisters = 5; ///< of a RawTile
constexpr unsigned kSteps = 4;         ///< 32 dims of a lane in vectors of 8
constexpr unsigned kDimTile = 16;      ///< dims of a tile of O^T
constexpr unsigned kRowBytes = 256;    ///< a token's 128 fp16 in LDS
constexpr unsigned kChunkBytes = 16;   ///< 8 fp16
constexpr unsigned kTilesAtOnce = 2;   ///< tiles of V in LDS, the K axis of an MFMA

/// LDS is swizzled: 16-byte chunk c of token t is at chunk c ^ swizzle(t). Eight tokens in a row
/// must differ in the low three bits, so that eight lanes that write one chunk each use all 32
/// banks, and in the upper three, so that the transposed reads, two chunks of each of eight tokens
/// in a phase, use all 64.
Val swizzle(Val token) { return ((token & 7) << 1) ^ (lshr(token, 2) & 1); }

} // namespace

AttentionBlock::AttentionBlock(KernelBuilder &kb, const fragments::PageShape &shape,
                               const PagedTiles &keys, const PagedTiles &values,
                               llvm::ArrayRef<Val> queries, Val shared, Val wave, Val lane)
    : kb(kb), shape(shape), keys(keys), values(values), queries(queries), lane(lane),
      laneRow(lane & 15), laneGroup(lshr(lane, 4)) {
  assert(shape.headDim * 2 == kRowBytes);
  // Waves, rows and chunks are powers of two of bytes, so an exclusive or of a lane's first address
  // gives its others. A lane writes dims 32 g .. of token l % 16.
  Val own = wave * int64_t(kWaveShared);
  Val first = own | (laneRow * int64_t(kRowBytes)) |
              (((laneGroup * int64_t(kSteps)) ^ swizzle(laneRow)) * int64_t(kChunkBytes));
  for (unsigned step = 0; step < kSteps; ++step)
    writeAt.push_back(kb.offset(shared, first ^ int64_t(step * kChunkBytes)));
  // For a transposed read, lane q of a group of 16 points at 4 dims of token q / 4 of the group's
  // four.
  Val quarter = laneRow & 3;
  Val token = (laneGroup << 2) | lshr(laneRow, 2);
  first = own | (token * int64_t(kRowBytes)) |
          ((lshr(quarter, 1) ^ swizzle(token)) * int64_t(kChunkBytes)) | ((quarter & 1) << 3);
  for (unsigned tile = 0; tile < shape.headDim / kDimTile; ++tile)
    readAt.push_back(kb.offset(shared, first ^ int64_t(2 * tile * kChunkBytes)));
}

Val AttentionBlock::pageId(const Entry &entry, unsigned part, Reader reader) const {
  if (idsInScalars(shape))
    return entry.ids[part];
  // Lanes past the parts have the ids once more. Each reader takes them from lanes of its own, or
  // LLVM would read all of them once, for both, and keep them.
  return kb.readLane(entry.ids[0], part + (reader == Reader::Values ? shape.parts() : 0));
}

/// Whether every part is in the pool.
Val AttentionBlock::inPool(const Entry &entry) const {
  if (!idsInScalars(shape))
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
    // In the order of their use, as all later loads: the loop's waits must hold for both.
    kb.schedulingFence();
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
  if (idsInScalars(shape))
    return limitOf(entry.ids[part], kb.i32(part));
  // Of all parts at once, a lane a part: so many page ids are not kept in scalar registers.
  return kb.readLane(limitOf(entry.ids[0], lane & int64_t(shape.parts() - 1)), part);
}

/// z without its factor, a vector of 4 tokens a tile. Tiles become those of V.
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
    result.push_back(sum);
  }
  return result;
}

/// A3: tokens that the row does not see get z = -inf, and the bytes of their values become 0,
/// whatever stands there. Only the rare block that is not whole pays for it. That both ways out
/// have bytes of their own also keeps LLVM from sinking the loads of V below the branch, behind all
/// of K Q^T.
void AttentionBlock::mask(const Entry &entry, Vals &scores, Tiles &tiles) const {
  // Through the branch go single registers: of whole vectors LLVM keeps two copies.
  Vals values;
  for (Val vector : scores)
    values.append(kb.elements(vector));
  for (const RawTile &tile : tiles) {
    values.append(kb.elements(tile.payload));
    values.push_back(tile.scales);
  }
  Val whole = eq(entry.tokens, shape.blockSize) & inPool(entry);
  values = kb.ifElse(
      whole, [&] { return values; },
      [&] {
        // Tokens of a part, or of 64 of them: places below 64 are constants that need no register.
        const unsigned tilesPerSpan = std::min(shape.tilesPerPart(), 64 / kTileTokens);
        // It is the limit that is made relative to where the lane stands, not every place.
        Vals ofScores, ofValues;
        for (unsigned tile = 0; tile < shape.tiles(); tile += tilesPerSpan) {
          Val tokens = limit(entry, tile / shape.tilesPerPart()) -
                       int64_t(tile % shape.tilesPerPart() * kTileTokens);
          ofScores.push_back(tokens - (laneGroup << 2));
          ofValues.push_back(tokens - laneRow);
        }
        auto place = [&](unsigned tile) { return int64_t(tile % tilesPerSpan * kTileTokens); };
        Vals masked;
        const Val *value = values.begin();
        for (unsigned tile = 0; tile < shape.tiles(); ++tile)
          for (unsigned i = 0; i < 4; ++i) {
            Val seen = slt(kb.i32(place(tile) + i), ofScores[tile / tilesPerSpan]);
            masked.push_back(kb.select(seen, *value++, kb.f32(-kInfinity)));
          }
        for (unsigned tile = 0; tile < shape.tiles(); ++tile) {
          Val seen = slt(kb.i32(place(tile)), ofValues[tile / tilesPerSpan]);
          for (unsigned i = 0; i < kTileRegisters; ++i, ++value)
            masked.push_back(kb.select(seen, *value, kb.zero(value->type())));
        }
        return masked;
      });
  llvm::ArrayRef<Val> rest = values;
  for (Val &vector : scores) {
    vector = kb.pack(rest.take_front(4));
    rest = rest.drop_front(4);
  }
  for (RawTile &tile : tiles) {
    tile = {kb.pack(rest.take_front(4)), rest[4]};
    rest = rest.drop_front(kTileRegisters);
  }
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
  mask(entry, z, tiles);
  PartialSoftmax result;

  // Over the lane groups too: all lanes of a head have its m and l.
  auto overGroups = [&](Val value, llvm::function_ref<Val(Val, Val)> join) {
    auto [low, high] = kb.swapHalves(value, value);
    Val half = join(low, high);
    auto [even, odd] = kb.swapRows16(half, half);
    return join(even, odd);
  };
  Val most = kb.f32(-kInfinity);
  for (Val vector : z)
    for (Val score : kb.elements(vector))
      most = kb.fmax(most, score);
  Val factor = kb.arg("score_scale");
  result.max = overGroups(most, [&](Val a, Val b) { return kb.fmax(a, b); }) * factor;
  Val base = kb.fneg(fragments::finiteMax(kb, result.max));

  Vals weights;
  Val sum;
  for (auto [tile, vector] : llvm::enumerate(z)) {
    Vals four;
    for (Val exponent :
         kb.elements(kb.fma(vector, fragments::four(kb, factor), fragments::four(kb, base))))
      four.push_back(kb.exp2(exponent));
    weights.append(four);
    // Four sums side by side: a chain of 32 dependent additions would be longer than the matrix
    // work.
    sum = tile == 0 ? kb.pack(four) : sum + kb.pack(four);
  }
  Vals sums = kb.elements(sum);
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
  result.acc = acc;
  return result;
}

} // namespace nvfp4gen::attention
