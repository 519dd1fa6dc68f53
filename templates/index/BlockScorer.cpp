//===- BlockScorer.cpp ------------------------------------------------------===//

#include "templates/index/BlockScorer.h"

#include "compiler/variants/Variants.h"
#include "runtime/include/nvfp4rt_args.h"
#include "templates/fragments/Dequantize.h"
#include "templates/fragments/PagedTiles.h"
#include "templates/fragments/Queries.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

namespace nvfp4gen::index {

namespace {

using Vals = KernelBuilder::Vals;
using fragments::kMfmaSteps;
using fragments::kTileColumns;
using fragments::kTileTokens;
using fragments::PagedTiles;
using fragments::PageShape;
using fragments::RawTile;

constexpr unsigned kWave = 64;
constexpr int64_t kMostColumns = 128; ///< whose queries a wave can hold in registers
constexpr unsigned kSegmentDwords = 8;

class Scorer {
public:
  Scorer(KernelBuilder &kb, const ScorerParams &params, ScoreConsumer &consumer)
      : kb(kb), params(params), consumer(consumer),
        shape{params.pageSize, params.blockSize, params.headDim}, parts(shape.parts()),
        tokenTiles(shape.tiles()) {}

  void run();

private:
  void runSegment(Val segment, Val first, Val last, llvm::ArrayRef<Val> record);
  Segment describe(Val segment, llvm::ArrayRef<Val> record);
  Segment::Column column(const Segment &segment, Val inPass);
  void stageQueries(const Segment &segment);
  Vals pageIds(const Segment &segment, Val block, Val last);
  Val factor(const PagedTiles::Source &source);
  Val startOfSum(llvm::ArrayRef<Val> limits, unsigned tile, unsigned column);
  Vals scoreBlock(const llvm::SmallVector<Vals> &queries, llvm::ArrayRef<Val> limits,
                  llvm::ArrayRef<Val> factors, llvm::ArrayRef<RawTile> tiles,
                  llvm::ArrayRef<Val> nextIds, Val nextBlock);
  Vals reduce(Vals maxima);

  KernelBuilder &kb;
  const ScorerParams &params;
  ScoreConsumer &consumer;
  const PageShape shape;
  const unsigned parts, tokenTiles; ///< pages and tiles of a block
  Val firstHead;                    ///< of the pass
  Val item, lane, wave, worker, laneRow, laneGroup;
  Val lastPage; ///< of the segment's request, as far as its rows see
  Val shared;   ///< LDS: staged queries, then what the consumer keeps there
  std::optional<PagedTiles> keys;
};

/// Page ids of `block`; -1 for a block from `last` on.
Vals Scorer::pageIds(const Segment &segment, Val block, Val last) {
  return fragments::pageIds(kb, shape, segment.request, block, lastPage, slt(block, last));
}

/// What scores of a part are multiplied by: NaN, which is no score, when its page is not in the
/// pool.
Val Scorer::factor(const PagedTiles::Source &source) {
  return kb.select(source.inPool, kb.arg("score_scale"),
                   kb.f32(std::numeric_limits<double>::quiet_NaN()));
}

Segment::Column Scorer::column(const Segment &segment, Val inPass) {
  Segment::Column result;
  result.inPass = inPass;
  Val row = udiv(inPass, params.passHeads());
  result.head = firstHead + urem(inPass, params.passHeads());
  result.column = row * params.heads + result.head;
  result.exists = ult(row, segment.rows);
  result.row = segment.firstRow + umin(row, segment.rows - 1);
  return result;
}

/// causal_len of a row of the step map.
static Val causalLength(KernelBuilder &kb, Val row) {
  Val entry = kb.offset(kb.arg("step_rows"), (kb.zext(row, kb.i64Type()) << 4) + 4);
  return kb.loadConstant(kb.i32Type(), entry, 4);
}

Segment Scorer::describe(Val segment, llvm::ArrayRef<Val> record) {
  Segment result;
  result.worker = worker;
  result.segment = segment;
  result.wave = wave;
  result.lane = lane;
  result.request = record[0];
  result.firstRow = record[1];
  result.rows = record[2];
  result.blocks = record[3];
  result.minCausal = record[5];
  // Which tile of four a lane owns; see reduce().
  unsigned tiles = params.tiles();
  Val tile = tiles == 1 ? kb.i32(0) : tiles == 2 ? lshr(laneGroup, 1) : laneGroup;
  for (unsigned set = 0; set < params.sets(); ++set) {
    Segment::Column owned =
        column(result, (tile + int64_t(4 * set)) * int64_t(kTileColumns) + laneRow);
    Val causal = causalLength(kb, owned.row);
    int64_t block = params.blockSize;
    owned.validBlocks = kb.select(
        owned.exists, lshr(causal + (block - 1), int64_t(llvm::Log2_64(block))), kb.i32(0));
    result.columns.push_back(owned);
  }
  result.owner = laneGroup & int64_t(params.owners() - 1);
  return result;
}

/// The segment's queries (K1); columns that do not exist are 0.
void Scorer::stageQueries(const Segment &segment) {
  fragments::stageQueries(
      kb, params.dtype, params.headDim, params.tiles(), "index_q", shared, item,
      kScorerWaves * kWave, [&](Val index) -> fragments::QueryColumn {
        Segment::Column col = column(segment, index);
        Val offset = kb.sext(col.row, kb.i64Type()) * kb.arg("index_q.row_stride");
        if (params.heads > 1)
          offset = offset + kb.zext(col.head, kb.i64Type()) * kb.arg("index_q.head_stride");
        return {col.exists, offset};
      });
}

/// 0 for tokens that the column sees, NaN for the others.
Val Scorer::startOfSum(llvm::ArrayRef<Val> limits, unsigned tile, unsigned column) {
  if (limits.empty())
    return kb.zero(kb.vectorType(4, kb.f32Type()));
  Val limit = limits[(tile / shape.tilesPerPart()) * params.tiles() + column];
  Vals start;
  for (unsigned r = 0; r < 4; ++r) {
    // Token 4 * laneGroup + r of the tile; the limit has the lane group's part in it.
    int64_t place = int64_t(tile % shape.tilesPerPart()) * kTileTokens + r;
    start.push_back(kb.select(slt(kb.i32(place), limit), kb.f32(0),
                              kb.f32(std::numeric_limits<double>::quiet_NaN())));
  }
  return kb.pack(start);
}

/// The lane's maxima of one block, one a column tile, then factors and raw tiles of the next block.
/// `limits`, one a part and column tile, are what the token's place in its part must be below;
/// none when every column sees every token.
Vals Scorer::scoreBlock(const llvm::SmallVector<Vals> &queries, llvm::ArrayRef<Val> limits,
                        llvm::ArrayRef<Val> factors, llvm::ArrayRef<RawTile> tiles,
                        llvm::ArrayRef<Val> nextIds, Val nextBlock) {
  Vals maxima(params.tiles()), ofPart(params.tiles()), loaded, nextFactors, previous;
  PagedTiles::Source next;
  auto join = [&](Val &into, Val score) { into = into.get() ? kb.fmax(into, score) : score; };
  auto takeSums = [&](unsigned tile, const Vals &sums) {
    for (auto [c, sum] : llvm::enumerate(sums)) {
      for (Val score : kb.elements(sum))
        join(ofPart[c], score);
      if ((tile + 1) % shape.tilesPerPart() != 0)
        continue;
      // The added +0 makes -0 and +0 one score. Rounding is monotone: scaled before the maximum or
      // after it, the score is the same.
      join(maxima[c], kb.fma(ofPart[c], factors[tile / shape.tilesPerPart()], kb.f32(0)));
      ofPart[c] = Val();
    }
  };
  for (unsigned tile = 0; tile < tokenTiles; ++tile) {
    llvm::SmallVector<Val, 4> tokens =
        fragments::dequantize32(kb, tiles[tile].payload, tiles[tile].scales);
    // The tile's registers are free from here on, and the next block's tile is loaded into them.
    kb.schedulingFence();
    // Each part's resources only where they are needed: all at once do not fit in registers.
    if (tile % shape.tilesPerPart() == 0) {
      next = keys->source(nextIds[tile / shape.tilesPerPart()], nextBlock);
      nextFactors.push_back(factor(next));
    }
    RawTile nextTile = keys->load(tile, next);
    loaded.append({nextTile.payload, nextTile.scales});
    Vals sums;
    for (unsigned c = 0; c < params.tiles(); ++c) {
      Val sum = startOfSum(limits, tile, c);
      for (unsigned step = 0; step < kMfmaSteps; ++step)
        sum = kb.mfma16x16x32(tokens[step], queries[c][step], sum);
      sums.push_back(sum);
    }
    // Sums are looked at a tile later, when they have come out of the matrix pipe.
    if (tile > 0)
      takeSums(tile - 1, previous);
    previous = sums;
  }
  takeSums(tokenTiles - 1, previous);
  maxima.append(nextFactors);
  maxima.append(loaded);
  return maxima;
}

/// Maxima over the lane groups. With four tiles or more, group g of the result has tile 4s + g of
/// set s; with two, groups 0 and 1 have tile 0; with one, all have it.
Vals Scorer::reduce(Vals maxima) {
  auto join = [&](std::pair<Val, Val> halves) { return kb.fmax(halves.first, halves.second); };
  if (params.tiles() == 1) {
    Val half = join(kb.swapHalves(maxima[0], maxima[0]));
    return {join(kb.swapRows16(half, half))};
  }
  if (params.tiles() == 2) {
    Val half = join(kb.swapHalves(maxima[0], maxima[1]));
    return {join(kb.swapRows16(half, half))};
  }
  Vals result;
  for (unsigned set = 0; set < params.sets(); ++set) {
    const Val *tile = &maxima[4 * set];
    Val even = join(kb.swapHalves(tile[0], tile[2]));
    Val odd = join(kb.swapHalves(tile[1], tile[3]));
    result.push_back(join(kb.swapRows16(even, odd)));
  }
  return result;
}

void Scorer::runSegment(Val segmentIndex, Val first, Val last, llvm::ArrayRef<Val> record) {
  Segment segment = describe(segmentIndex, record);
  lastPage = fragments::lastPageOf(shape, causalLength(kb, segment.firstRow + segment.rows - 1));
  // The consumer and the queries share LDS: what was there of the segment before is done with.
  kb.barrier();
  stageQueries(segment);
  kb.barrier();
  llvm::SmallVector<Vals> queries =
      fragments::readQueries(kb, params.headDim, params.tiles(), shared, lane);

  // Causal length of this lane's column in each tile, less the lane's first token.
  Vals causal;
  for (unsigned tile = 0; tile < params.tiles(); ++tile) {
    Segment::Column col = column(segment, laneRow + int64_t(tile * kTileColumns));
    causal.push_back(kb.select(col.exists, causalLength(kb, col.row), kb.i32(0)) -
                     (laneGroup << 2));
  }

  const int64_t step = kScorerWaves;
  Val start = first + wave;
  Vals firstIds = pageIds(segment, start, last), firstTiles, init;
  PagedTiles::Source part;
  for (unsigned tile = 0; tile < tokenTiles; ++tile) {
    if (tile % shape.tilesPerPart() == 0) {
      part = keys->source(firstIds[tile / shape.tilesPerPart()], start);
      init.push_back(factor(part));
    }
    RawTile loaded = keys->load(tile, part);
    firstTiles.append({loaded.payload, loaded.scales});
  }
  init.append(pageIds(segment, start + step, last));
  init.append(firstTiles);
  Vals consumed = consumer.begin(segment);
  init.append(consumed);

  // Blocks that every row sees whole come first and need no mask.
  auto walk = [&](Val from, Val to, bool masked, llvm::ArrayRef<Val> init) {
    return kb.loop(from, to, step, init, [&](Val block, llvm::ArrayRef<Val> carried) {
      llvm::ArrayRef<Val> factors = carried.take_front(parts);
      llvm::ArrayRef<Val> nextIds = carried.slice(parts, parts);
      llvm::ArrayRef<Val> raw = carried.slice(2 * parts, 2 * tokenTiles);
      llvm::ArrayRef<Val> kept = carried.drop_front(2 * (parts + tokenTiles));
      llvm::SmallVector<RawTile> tiles;
      for (unsigned tile = 0; tile < tokenTiles; ++tile)
        tiles.push_back({raw[2 * tile], raw[2 * tile + 1]});

      Val nextBlock = block + step;
      Vals following = pageIds(segment, nextBlock + step, last);

      Vals limits;
      if (masked)
        for (unsigned part = 0; part < parts; ++part)
          for (Val length : causal)
            limits.push_back(length - block * params.blockSize -
                             int64_t(part) * (params.blockSize / parts));
      Vals scored = scoreBlock(queries, limits, factors, tiles, nextIds, nextBlock);
      llvm::ArrayRef<Val> maxima = llvm::ArrayRef<Val>(scored).take_front(params.tiles());
      llvm::ArrayRef<Val> loaded = llvm::ArrayRef<Val>(scored).drop_front(params.tiles());
      Vals scores = reduce(Vals(maxima));
      Vals result(loaded.take_front(parts));
      result.append(following);
      result.append(loaded.begin() + parts, loaded.end());
      result.append(consumer.consume(segment, block, scores, kept));
      return result;
    });
  };
  Val whole = smin(lshr(segment.minCausal, int64_t(llvm::Log2_64(params.blockSize))), last);
  Val taken = lshr(smax(whole - start, 0) + (step - 1), int64_t(llvm::Log2_64(step)));
  Vals result = walk(start, whole, /*masked=*/false, init);
  result = walk(start + taken * step, last, /*masked=*/true, result);
  llvm::ArrayRef<Val> kept = llvm::ArrayRef<Val>(result).drop_front(2 * (parts + tokenTiles));
  kb.barrier();
  consumer.beforeBarrier(segment, kept);
  kb.barrier();
  consumer.afterBarrier(segment, kept);
}

void Scorer::run() {
  item = kb.workitemId(0);
  lane = item & int64_t(kWave - 1);
  wave = kb.readFirstLane(lshr(item, 6));
  worker = kb.workgroupId(0);
  firstHead =
      params.passHeads() == params.heads ? kb.i32(0) : kb.workgroupId(1) * params.passHeads();
  laneRow = lane & 15;
  laneGroup = lshr(lane, 4);
  shared = kb.shared(std::max(fragments::stagedQueryBytes(params.tiles(), params.headDim),
                              consumer.sharedBytes()));
  consumer.setShared(shared);
  keys.emplace(kb, shape, "index_payload", "index_scale", "index_pages", lane, std::nullopt);

  auto workEntry = [&](Val index) {
    Val address = kb.offset(kb.arg("work"), kb.zext(index, kb.i64Type()) << 3);
    return kb.elements(kb.loadConstant(kb.vectorType(2, kb.i32Type()), address, 8));
  };
  Vals from = workEntry(worker), to = workEntry(worker + 1);
  // The last segment is one that the next worker begins in, unless it begins with its first block.
  Val end = kb.select(slt(kb.i32(0), to[1]), to[0] + 1, to[0]);
  kb.loop(from[0], end, 1, {}, [&](Val segment, llvm::ArrayRef<Val>) {
    Val address =
        kb.offset(kb.arg("segments"), kb.zext(segment, kb.i64Type()) * int64_t(kSegmentDwords * 4));
    Vals record =
        kb.elements(kb.loadConstant(kb.vectorType(kSegmentDwords, kb.i32Type()), address, 4));
    Val first = kb.select(eq(segment, from[0]), from[1], kb.i32(0));
    Val last = kb.select(eq(segment, to[0]), to[1], record[3]);
    kb.ifThen(slt(first, last), [&] { runSegment(segment, first, last, record); });
    return Vals();
  });
}

} // namespace

ScorerParams scorerParams(const Spec &spec, const Cell &cell) {
  return {spec.model.dtype,
          spec.cache.pageSize,
          spec.model.blockSize,
          spec.model.indexHeadDim,
          spec.model.indexHeads,
          cell.phase == Phase::Prefill ? NVFP4RT_PREFILL_SEGMENT_ROWS : cell.queryLen};
}

bool hasScorer(const Spec &spec) {
  return spec.hasPlane(Plane::IndexK) && spec.cache.indexFormat == CacheFormat::NVFP4;
}

void specializeScorer(const Spec &spec, const ScorerParams &params, CellPlan &plan) {
  using nvfp4rt::Field;
  specialize(plan, spec, "", Field::index_format);
  specialize(plan, spec, "", Field::dtype);
  specialize(plan, spec, "hi", Field::index_heads);
  specialize(plan, spec, "id", Field::index_head_dim);
  specialize(plan, spec, "b", Field::block_size);
  specialize(plan, spec, "p", Field::page_size);
  plan.kernel.symbol += "_s" + std::to_string(params.segmentRows);
  plan.kernel.block[0] = kScorerWaves * kWave;
  plan.kernel.grid[0] = {"workers", 1, 1};
  plan.kernel.grid[1] = {"", uint32_t(params.heads / params.passHeads()), 1};
}

int64_t ScorerParams::passHeads() const {
  int64_t most = heads;
  while (most > 1 && (heads % most != 0 || segmentRows * most > kMostColumns))
    --most;
  return most;
}

unsigned ScorerParams::tiles() const {
  return llvm::PowerOf2Ceil(llvm::divideCeil(segmentRows * passHeads(), int64_t(kTileColumns)));
}

void emitScorer(KernelBuilder &kb, const ScorerParams &params, ScoreConsumer &consumer) {
  Scorer(kb, params, consumer).run();
}

} // namespace nvfp4gen::index
