//===- SparseAttention.cpp - sparse_attention (rules A1..A5) ----------------===//
//
// Rules A1..A5, P4, P5, F8. A workgroup takes a (row, kv head), or one part of its list
// (AttentionParams.h). Each wave takes entries that are neighbours in the tree and joins
// them in registers; the results of the waves are joined through LDS.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "templates/fragments/ModelType.h"
#include "templates/fragments/Queries.h"
#include "templates/sparse_attention/AttentionBlock.h"
#include "templates/sparse_attention/AttentionParams.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen {

namespace {

using namespace attention;
using fragments::PartialSoftmax;
using Vals = KernelBuilder::Vals;

constexpr unsigned kWave = 64;
constexpr unsigned kAccumulators = 8; ///< of a lane, vectors of four
/// LDS of a wave for m and l; the accumulators take the place of AttentionBlock's.
constexpr unsigned kWaveStatistics = kWave * 8;
static_assert(kWaveShared == kWave * kAccumulators * 16);

class SparseAttention {
public:
  SparseAttention(KernelBuilder &kb, const AttentionParams &params)
      : kb(kb), params(params), shape(params.pages()) {}
  void run();

private:
  Val idAt(Val index);
  Val selects(Val index, Val id);
  Val occupied(Val first);
  Entry entryAt(Val index);
  PartialSoftmax runWave(const AttentionBlock &block);
  PartialSoftmax joinWaves(PartialSoftmax own);
  void leave(const PartialSoftmax &partial);
  PartialSoftmax take(Val wave);
  void storeOutput(const PartialSoftmax &total);
  void storePartial(const PartialSoftmax &total);

  KernelBuilder &kb;
  const AttentionParams &params;
  const fragments::PageShape shape;
  Val item, lane, wave, laneRow, laneGroup;
  Val row, kvHead, part;
  Val request, causal, lastPage;
  Val shared, statistics; ///< LDS
};

/// Id of entry `index` (uniform); of the last one past the list's end.
Val SparseAttention::idAt(Val index) {
  Val bytes = kb.zext(row, kb.i64Type()) * kb.arg("ids_row_stride") +
              kb.zext(kvHead, kb.i64Type()) * kb.arg("ids_head_stride");
  Val place = smin(index, params.topK - 1);
  Val address = kb.offset(kb.offset(kb.arg("ids"), bytes), kb.zext(place << 2, kb.i64Type()));
  return kb.loadConstant(kb.i32Type(), address, 4);
}

/// One past top_k, an id that is no block and a block past the row's tokens select nothing.
Val SparseAttention::selects(Val index, Val id) {
  // As a comparison of unsigned numbers this is false for negative ids.
  Val blocks = lshr(causal + (params.blockSize - 1), int64_t(llvm::Log2_64(params.blockSize)));
  Val exists = ult(id, blocks);
  if (params.leaves() != params.topK)
    exists = exists & slt(index, params.topK);
  return exists;
}

/// The wave's entries up to the last that selects anything. Lists end in ids that select nothing,
/// and a partial result that selects nothing changes no bit of another, so these are not computed.
Val SparseAttention::occupied(Val first) {
  Val count = kb.i32(0);
  for (int64_t i = 0; i < params.entriesPerWave(); ++i)
    count = kb.select(selects(first + i, idAt(first + i)), kb.i32(i + 1), count);
  return count;
}

Entry SparseAttention::entryAt(Val index) {
  Val id = idAt(index), exists = selects(index, id);
  Entry entry;
  entry.block = kb.select(exists, id, kb.i32(0));
  entry.tokens =
      kb.select(exists, smin(causal - entry.block * params.blockSize, params.blockSize), kb.i32(0));
  if (idsInScalars(shape))
    entry.ids = fragments::pageIds(kb, shape, request, entry.block, lastPage, exists);
  else
    entry.ids = {fragments::pageIdLanes(kb, shape, request, entry.block, lastPage, exists, lane)};
  return entry;
}

/// The wave's entries in tree order: pairs of leaves, and the pairs with each other.
PartialSoftmax SparseAttention::runWave(const AttentionBlock &block) {
  const int64_t entries = params.entriesPerWave();
  Val first = part * params.workgroupLeaves() + wave * entries;
  Val count = occupied(first);
  if (entries == 1)
    return PartialSoftmax::of(kb.ifElse(
        ne(count, 0),
        [&] {
          Entry entry = entryAt(first);
          AttentionBlock::Tiles tiles = block.loadKeys(entry);
          return block.run(entry, tiles, nullptr).values();
        },
        [&] { return PartialSoftmax::none(kb, kAccumulators).values(); }));

  Entry entry = entryAt(first);
  AttentionBlock::Tiles tiles = block.loadKeys(entry);
  assert(entries == 2 || entries == 4);
  // Carried: the entry, its tiles, what the pairs before have left.
  auto flatten = [&](const Entry &entry, const AttentionBlock::Tiles &tiles,
                     const PartialSoftmax &partial) {
    Vals values = {entry.block, entry.tokens};
    values.append(entry.ids);
    for (const fragments::RawTile &tile : tiles)
      values.append({tile.payload, tile.scales});
    values.append(partial.values());
    return values;
  };
  Vals result =
      kb.loop(kb.i32(0), count, 2, flatten(entry, tiles, PartialSoftmax::none(kb, kAccumulators)),
              [&](Val index, llvm::ArrayRef<Val> carried) {
                const unsigned ids = entry.ids.size();
                Entry even{carried[0], carried[1], Vals(carried.slice(2, ids))};
                AttentionBlock::Tiles tiles;
                for (unsigned tile = 0; tile < shape.tiles(); ++tile)
                  tiles.push_back({carried[2 + ids + 2 * tile], carried[3 + ids + 2 * tile]});
                PartialSoftmax before =
                    PartialSoftmax::of(carried.drop_front(2 + ids + 2 * shape.tiles()));

                Entry odd = entryAt(first + index + 1);
                PartialSoftmax left = block.run(even, tiles, &odd);
                // After the last pair there is no entry; what is loaded then selects nothing.
                Entry next = entryAt(first + index + 2);
                Val more = slt(index + 2, count);
                next.tokens = kb.select(more, next.tokens, kb.i32(0));
                for (Val &id : next.ids)
                  id = kb.select(more, id, kb.i32(-1));
                PartialSoftmax right = block.run(odd, tiles, &next);
                PartialSoftmax pair = fragments::merge(kb, left, right);
                return flatten(next, tiles, fragments::merge(kb, before, pair));
              });
  return PartialSoftmax::of(llvm::ArrayRef<Val>(result).take_back(2 + kAccumulators));
}

/// Leave a partial result in the wave's LDS.
void SparseAttention::leave(const PartialSoftmax &partial) {
  Val start = kb.offset(shared, wave * int64_t(kWaveShared));
  for (auto [i, vector] : llvm::enumerate(partial.acc))
    kb.store(vector, kb.offset(start, (lane << 4) + int64_t(i * kWave * 16)), 16);
  kb.store(kb.pack({partial.max, partial.sum}),
           kb.offset(statistics, wave * int64_t(kWaveStatistics) + (lane << 3)), 8);
}

PartialSoftmax SparseAttention::take(Val wave) {
  Val start = kb.offset(shared, wave * int64_t(kWaveShared));
  PartialSoftmax result;
  for (unsigned i = 0; i < kAccumulators; ++i)
    result.acc.push_back(kb.load(kb.vectorType(4, kb.f32Type()),
                                 kb.offset(start, (lane << 4) + int64_t(i * kWave * 16)), 16));
  Vals both =
      kb.elements(kb.load(kb.vectorType(2, kb.f32Type()),
                          kb.offset(statistics, wave * int64_t(kWaveStatistics) + (lane << 3)), 8));
  result.max = both[0];
  result.sum = both[1];
  return result;
}

/// The tree above the waves; the result is that of wave 0.
PartialSoftmax SparseAttention::joinWaves(PartialSoftmax own) {
  for (int64_t distance = 1; distance < params.waves(); distance *= 2) {
    kb.ifThen(eq(wave & (2 * distance - 1), distance), [&] { leave(own); });
    kb.barrier();
    Vals joined = kb.ifElse(
        eq(wave & (2 * distance - 1), 0),
        [&] { return fragments::merge(kb, own, take(wave + distance)).values(); },
        [&] { return own.values(); });
    own = PartialSoftmax::of(joined);
  }
  return own;
}

/// Element r of accumulator t of lane group g is dim 16 t + 4 g + r.
void SparseAttention::storeOutput(const PartialSoftmax &total) {
  kb.ifThen(slt(laneRow, params.groupHeads), [&] {
    Vals values = fragments::normalize(kb, total);
    Val head = kvHead * params.groupHeads + laneRow;
    Val bytes = kb.zext(row, kb.i64Type()) * kb.arg("out_row_stride") +
                kb.zext(head, kb.i64Type()) * kb.arg("out_head_stride") +
                kb.zext(laneGroup << 3, kb.i64Type());
    Val out = kb.offset(kb.arg("out"), bytes);
    for (unsigned i = 0; i < kAccumulators; ++i) {
      Vals rounded;
      for (unsigned r = 0; r < 4; ++r)
        rounded.push_back(fragments::roundToModel(kb, params.dtype, values[4 * i + r]));
      kb.store(kb.pack(rounded), kb.offset(out, int64_t(i * 32)), 8);
    }
  });
}

void SparseAttention::storePartial(const PartialSoftmax &total) {
  Val index = (kb.zext(row, kb.i64Type()) * params.kvHeads + kb.zext(kvHead, kb.i64Type())) *
                  params.parts() +
              kb.zext(part, kb.i64Type());
  Val record = kb.offset(kb.arg("partial"), index * params.partialBytes());
  Val accAt = kb.zext(laneRow * int64_t(params.headDim * 4) + (laneGroup << 4), kb.i64Type());
  for (auto [i, vector] : llvm::enumerate(total.acc))
    kb.store(vector, kb.offset(kb.offset(record, accAt), int64_t(i * 64)), 16);
  kb.ifThen(eq(laneGroup, 0), [&] {
    Val at = kb.offset(record, kb.zext(laneRow << 2, kb.i64Type()));
    const int64_t accBytes = kHeadColumns * params.headDim * 4;
    kb.store(total.max, kb.offset(at, accBytes), 4);
    kb.store(total.sum, kb.offset(at, accBytes + kHeadColumns * 4), 4);
  });
}

void SparseAttention::run() {
  item = kb.workitemId(0);
  lane = item & int64_t(kWave - 1);
  wave = kb.readFirstLane(lshr(item, 6));
  laneRow = lane & 15;
  laneGroup = lshr(lane, 4);
  Val group = kb.workgroupId(0);
  const int64_t parts = params.split ? params.parts() : 1;
  part = urem(group, parts);
  kvHead = urem(udiv(group, parts), params.kvHeads);
  row = udiv(group, parts * params.kvHeads);

  Vals stepRow = kb.elements(
      kb.loadConstant(kb.vectorType(2, kb.i32Type()),
                      kb.offset(kb.arg("step_rows"), kb.zext(row, kb.i64Type()) << 4), 16));
  // A padded row sees no token, and no entry of the table is read for it but request 0's first.
  request = smax(stepRow[0], 0);
  causal = stepRow[1];
  lastPage = smax(fragments::lastPageOf(shape, smax(causal, 1)), 0);

  Val queryShared = kb.shared(fragments::stagedQueryBytes(1, params.headDim));
  shared = kb.shared(unsigned(params.waves()) * kWaveShared);
  statistics = kb.shared(unsigned(params.waves()) * kWaveStatistics);
  fragments::PagedTiles keys(kb, shape, "k_payload", "k_scale", "pages", lane, kvHead);
  fragments::PagedTiles values(kb, shape, "v_payload", "v_scale", "pages", lane, kvHead);

  fragments::stageQueries(kb, params.dtype, params.headDim, 1, "q", queryShared, item,
                          params.waves() * kWave, [&](Val index) -> fragments::QueryColumn {
                            Val head =
                                kvHead * params.groupHeads + umin(index, params.groupHeads - 1);
                            return {slt(index, params.groupHeads),
                                    kb.zext(row, kb.i64Type()) * kb.arg("q.row_stride") +
                                        kb.zext(head, kb.i64Type()) * kb.arg("q.head_stride")};
                          });
  kb.barrier();
  Vals queries = fragments::readQueries(kb, params.headDim, 1, queryShared, lane)[0];

  AttentionBlock block(kb, shape, keys, values, queries, shared, wave, lane);
  PartialSoftmax total = joinWaves(runWave(block));
  kb.ifThen(eq(wave, 0), [&] {
    if (params.split)
      storePartial(total);
    else
      storeOutput(total);
  });
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  std::optional<AttentionParams> params = attentionParams(spec, cell);
  if (!params)
    return std::nullopt;
  CellPlan result;
  result.kernel.symbol = "sparse_attention_";
  result.kernel.family = "sparse_attention";
  specializeAttention(spec, result);
  specialize(result, spec, "p", nvfp4rt::Field::page_size);
  result.kernel.symbol += params->split ? "_split" : "_whole";
  result.kernel.packedFp32 = true;
  result.kernel.block[0] = uint32_t(params->waves()) * kWave;
  int64_t workgroups = params->kvHeads * (params->split ? params->parts() : 1);
  result.kernel.grid[0] = {"rows", uint32_t(workgroups), 1};
  if (params->split)
    result.workspace.perRequest =
        uint64_t(cell.queryLen * params->kvHeads * params->parts() * params->partialBytes());
  result.kernel.emit = [params = *params](KernelBuilder &kb) { SparseAttention(kb, params).run(); };
  return result;
}

} // namespace

extern const Family kSparseAttentionFamily;
const Family kSparseAttentionFamily{"sparse_attention", plan};

} // namespace nvfp4gen
