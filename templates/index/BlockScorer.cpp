//===- BlockScorer.cpp ------------------------------------------------------===//

#include "templates/index/BlockScorer.h"

#include "compiler/variants/Variants.h"
#include "runtime/include/nvfp4rt_args.h"
#include "templates/fragments/Dequantize.h"
#include "templates/fragments/Quantize.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

namespace nvfp4gen::index {

namespace {

using Vals = KernelBuilder::Vals;

constexpr unsigned kWave = 64;
constexpr unsigned kTileTokens = 16, kTileColumns = 16;
constexpr int64_t kMostColumns = 128; ///< whose queries a wave can hold in registers
constexpr unsigned kGroupDims = 32;   ///< dims of a lane
constexpr unsigned kMfmaSteps = 4;    ///< 32 dims of a lane in vectors of 8
constexpr unsigned kStagedPad = 16;   ///< bytes between staged columns, against bank conflicts
constexpr unsigned kSegmentDwords = 8;

/// Keys of one 16-token tile as loaded.
struct RawTile {
  Val payload, scales;
};

/// Where a part of a block is loaded from.
struct Source {
  Val payload, scale; ///< buffer resources
  Val factor;         ///< score_scale, or NaN when there is nothing to load
};

class Scorer {
public:
  Scorer(KernelBuilder &kb, const ScorerParams &params, ScoreConsumer &consumer)
      : kb(kb), params(params), consumer(consumer),
        parts(std::max<int64_t>(1, params.blockSize / params.pageSize)),
        tokenTiles(params.blockSize / kTileTokens) {}

  void run();

private:
  unsigned stagedStride() const { return unsigned(params.headDim) * 2 + kStagedPad; }
  unsigned tilesPerPart() const { return tokenTiles / parts; }

  void runSegment(Val segment, Val first, Val last, llvm::ArrayRef<Val> record);
  Segment describe(Val segment, llvm::ArrayRef<Val> record);
  Segment::Column column(const Segment &segment, Val inPass);
  void stageQueries(const Segment &segment);
  llvm::SmallVector<Vals> readQueries();
  Vals pageIds(const Segment &segment, Val block, Val last);
  Vals loadTile(unsigned tile, const Source &source);
  Source source(Val id, Val block);
  Val startOfSum(llvm::ArrayRef<Val> limits, unsigned tile, unsigned column);
  Vals scoreBlock(const llvm::SmallVector<Vals> &queries, llvm::ArrayRef<Val> limits,
                  llvm::ArrayRef<Val> factors, llvm::ArrayRef<RawTile> keys,
                  llvm::ArrayRef<Val> nextIds, Val nextBlock);
  Vals reduce(Vals maxima);

  KernelBuilder &kb;
  const ScorerParams &params;
  ScoreConsumer &consumer;
  const unsigned parts;      ///< pages that a block spans; 1 when a page holds whole blocks
  const unsigned tokenTiles; ///< of a block
  Val pages;                 ///< u32; ids are below 2^31
  Val firstHead;             ///< of the pass
  Val item, lane, wave, worker, laneRow, laneGroup;
  Val staged;
  // Bytes of a page that a block uses.
  Val payloadBytes, scaleBytes;
  // Offset of the lane in a page.
  Val payloadLane, scaleLane;
};

/// Page ids of `block`; -1 for a block from `last` on.
Vals Scorer::pageIds(const Segment &segment, Val block, Val last) {
  Val perRequest = kb.sext(segment.request, kb.i64Type()) * kb.arg("table_stride");
  // In bytes, so that the load takes the offset as it is.
  auto entryOffset = [&](Val block) {
    if (params.pageSize <= params.blockSize)
      return block * int64_t(4 * parts);
    return lshr(block, int64_t(llvm::Log2_64(params.pageSize / params.blockSize))) << 2;
  };
  Val entry = smin(entryOffset(block), entryOffset(last - 1));
  Val address =
      kb.offset(kb.offset(kb.arg("block_table"), perRequest), kb.zext(entry, kb.i64Type()));
  Vals ids = parts == 1
                 ? Vals{kb.loadConstant(kb.i32Type(), address, 4)}
                 : kb.elements(kb.loadConstant(kb.vectorType(parts, kb.i32Type()), address, 4));
  for (Val &id : ids)
    id = kb.select(slt(block, last), id, kb.i32(-1));
  return ids;
}

/// The part of a block that is in page `id`; empty when that is not in the pool (P4).
Source Scorer::source(Val id, Val block) {
  Source result;
  Val inPool = ult(id, pages);
  result.factor =
      kb.select(inPool, kb.arg("score_scale"), kb.f32(std::numeric_limits<double>::quiet_NaN()));
  // Only of ids in the pool, which are not negative.
  Val page = kb.zext(id, kb.i64Type());
  auto resource = [&](const std::string &plane, Val partBytes) {
    Val stride = kb.zext(kb.trunc(kb.arg(plane + ".page_stride"), kb.i32Type()), kb.i64Type());
    Val bytes = page * stride;
    if (params.pageSize > params.blockSize) {
      Val token = (block & (params.pageSize / params.blockSize - 1)) * params.blockSize;
      bytes = bytes + kb.zext(token, kb.i64Type()) * kb.arg(plane + ".token_stride");
    }
    return kb.bufferResource(kb.offset(kb.arg(plane + ".base"), bytes),
                             kb.select(inPool, partBytes, kb.i32(0)));
  };
  result.payload = resource("index_payload", payloadBytes);
  result.scale = resource("index_scale", scaleBytes);
  return result;
}

Vals Scorer::loadTile(unsigned tile, const Source &source) {
  int64_t firstToken = int64_t(tile % tilesPerPart()) * kTileTokens;
  auto tileOffset = [&](const char *plane) {
    return kb.trunc(kb.arg(std::string(plane) + ".token_stride"), kb.i32Type()) * firstToken;
  };
  return {kb.bufferLoad(kb.vectorType(4, kb.i32Type()), source.payload, payloadLane,
                        tileOffset("index_payload")),
          kb.bufferLoad(kb.i16Type(), source.scale, scaleLane, tileOffset("index_scale"))};
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

/// The segment's queries as fp16 (K1), one column after the other; columns that do not exist are 0.
void Scorer::stageQueries(const Segment &segment) {
  const unsigned lanesPerColumn = params.headDim / fragments::kElementsPerLane;
  const unsigned perPass = kScorerWaves * kWave / lanesPerColumn;
  Val part = urem(item, lanesPerColumn);
  for (unsigned first = 0; first < params.tiles() * kTileColumns; first += perPass) {
    Segment::Column col = column(segment, udiv(item, lanesPerColumn) + int64_t(first));
    Val bytes = kb.sext(col.row, kb.i64Type()) * kb.arg("index_q.row_stride") +
                (kb.zext(part, kb.i64Type()) << 4);
    if (params.heads > 1)
      bytes = bytes + kb.zext(col.head, kb.i64Type()) * kb.arg("index_q.head_stride");
    Val address = kb.offset(kb.arg("index_q.base"), bytes);
    Val halves = kb.ifElse(
        col.exists,
        [&]() -> Vals {
          Val words = kb.loadConstant(kb.vectorType(4, kb.i32Type()), address, 16);
          if (params.dtype == DType::FP16)
            return {words};
          Vals lifted = fragments::liftPacked(kb, params.dtype, kb.elements(words));
          Vals rounded;
          for (Val value : lifted)
            rounded.push_back(kb.toF16(value));
          return {kb.bitcast(kb.pack(rounded), kb.vectorType(4, kb.i32Type()))};
        },
        [&]() -> Vals { return {kb.zero(kb.vectorType(4, kb.i32Type()))}; })[0];
    kb.store(halves, kb.offset(staged, col.inPass * int64_t(stagedStride()) + (part << 4)), 16);
  }
}

/// B operands: [tile][step].
llvm::SmallVector<Vals> Scorer::readQueries() {
  llvm::SmallVector<Vals> result;
  for (unsigned tile = 0; tile < params.tiles(); ++tile) {
    Val column = laneRow + int64_t(tile * kTileColumns);
    Val start = column * int64_t(stagedStride()) + laneGroup * int64_t(kGroupDims * 2);
    Vals steps;
    for (unsigned step = 0; step < kMfmaSteps; ++step)
      steps.push_back(kb.load(kb.vectorType(8, kb.f16Type()),
                              kb.offset(staged, start + int64_t(step * 16)), 16));
    result.push_back(steps);
  }
  return result;
}

/// 0 for tokens that the column sees, NaN for the others.
Val Scorer::startOfSum(llvm::ArrayRef<Val> limits, unsigned tile, unsigned column) {
  if (limits.empty())
    return kb.zero(kb.vectorType(4, kb.f32Type()));
  Val limit = limits[(tile / tilesPerPart()) * params.tiles() + column];
  Vals start;
  for (unsigned r = 0; r < 4; ++r) {
    // Token 4 * laneGroup + r of the tile; the limit has the lane group's part in it.
    int64_t place = int64_t(tile % tilesPerPart()) * kTileTokens + r;
    start.push_back(kb.select(slt(kb.i32(place), limit), kb.f32(0),
                              kb.f32(std::numeric_limits<double>::quiet_NaN())));
  }
  return kb.pack(start);
}

/// The lane's maxima of one block, one a column tile, then factors and raw tiles of the next block.
/// `limits`, one a part and column tile, are what the token's place in its part must be below;
/// none when every column sees every token.
Vals Scorer::scoreBlock(const llvm::SmallVector<Vals> &queries, llvm::ArrayRef<Val> limits,
                        llvm::ArrayRef<Val> factors, llvm::ArrayRef<RawTile> keys,
                        llvm::ArrayRef<Val> nextIds, Val nextBlock) {
  Vals maxima(params.tiles()), ofPart(params.tiles()), loaded, nextFactors, previous;
  Source next;
  auto join = [&](Val &into, Val score) { into = into.get() ? kb.fmax(into, score) : score; };
  auto takeSums = [&](unsigned tile, const Vals &sums) {
    for (auto [c, sum] : llvm::enumerate(sums)) {
      for (Val score : kb.elements(sum))
        join(ofPart[c], score);
      if ((tile + 1) % tilesPerPart() != 0)
        continue;
      // The added +0 makes -0 and +0 one score. Rounding is monotone: scaled before the maximum or
      // after it, the score is the same.
      join(maxima[c], kb.fma(ofPart[c], factors[tile / tilesPerPart()], kb.f32(0)));
      ofPart[c] = Val();
    }
  };
  for (unsigned tile = 0; tile < tokenTiles; ++tile) {
    llvm::SmallVector<Val, 4> tokens =
        fragments::dequantize32(kb, keys[tile].payload, keys[tile].scales);
    // The tile's registers are free from here on, and the next block's tile is loaded into them.
    kb.schedulingFence();
    // Each part's resources only where they are needed: all at once do not fit in registers.
    if (tile % tilesPerPart() == 0) {
      next = source(nextIds[tile / tilesPerPart()], nextBlock);
      nextFactors.push_back(next.factor);
    }
    loaded.append(loadTile(tile, next));
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
  // The consumer and the queries share LDS: what was there of the segment before is done with.
  kb.barrier();
  stageQueries(segment);
  kb.barrier();
  llvm::SmallVector<Vals> queries = readQueries();

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
  Source part;
  for (unsigned tile = 0; tile < tokenTiles; ++tile) {
    if (tile % tilesPerPart() == 0) {
      part = source(firstIds[tile / tilesPerPart()], start);
      init.push_back(part.factor);
    }
    firstTiles.append(loadTile(tile, part));
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
      llvm::SmallVector<RawTile> keys;
      for (unsigned tile = 0; tile < tokenTiles; ++tile)
        keys.push_back({raw[2 * tile], raw[2 * tile + 1]});

      Val nextBlock = block + step;
      Vals following = pageIds(segment, nextBlock + step, last);

      Vals limits;
      if (masked)
        for (unsigned part = 0; part < parts; ++part)
          for (Val length : causal)
            limits.push_back(length - block * params.blockSize -
                             int64_t(part) * (params.blockSize / parts));
      Vals scored = scoreBlock(queries, limits, factors, keys, nextIds, nextBlock);
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
  assert(params.headDim == 4 * kGroupDims && "four lane groups of 32 dims");
  assert(params.blockSize % kTileTokens == 0 && llvm::isPowerOf2_64(params.pageSize));
  item = kb.workitemId(0);
  lane = item & int64_t(kWave - 1);
  wave = kb.readFirstLane(lshr(item, 6));
  worker = kb.workgroupId(0);
  firstHead =
      params.passHeads() == params.heads ? kb.i32(0) : kb.workgroupId(1) * params.passHeads();
  pages = kb.trunc(smin(kb.arg("index_pages"), int64_t(1) << 31), kb.i32Type());
  laneRow = lane & 15;
  laneGroup = lshr(lane, 4);
  staged =
      kb.shared(std::max(params.tiles() * kTileColumns * stagedStride(), consumer.sharedBytes()));
  consumer.setShared(staged);

  auto stride = [&](const char *plane) {
    return kb.trunc(kb.arg(std::string(plane) + ".token_stride"), kb.i32Type());
  };
  int64_t lastToken = std::min(params.pageSize, params.blockSize) - 1;
  payloadLane = laneRow * stride("index_payload") + (laneGroup << 4);
  scaleLane = laneRow * stride("index_scale") + (laneGroup << 1);
  payloadBytes = stride("index_payload") * lastToken + params.headDim / 2;
  scaleBytes = stride("index_scale") * lastToken + params.headDim / 16;

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
