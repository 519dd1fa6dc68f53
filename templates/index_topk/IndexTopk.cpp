//===- IndexTopk.cpp - index_topk: scores and top-k in one (rules K1..K5) ---===//
//
// Rules K1..K5, P4, P5. Each wave keeps, for every column, a sorted list of the
// largest keys in registers; a block whose key enters no list costs one comparison.
// The four lists of a workgroup are merged in LDS at the end of a segment.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "templates/fragments/SortKey.h"
#include "templates/index/BlockScorer.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

namespace nvfp4gen {

namespace {

using namespace index;
using fragments::Keys;

/// The list of a column is spread over the lanes that own the column, in order.
class KeepLargest : public ScoreConsumer {
public:
  KeepLargest(KernelBuilder &kb, const ScorerParams &params, unsigned topK)
      : kb(kb), params(params), topK(topK), length(listLength(topK)),
        entries(length / params.owners()) {}

  unsigned sharedBytes() const override { return kScorerWaves * length * 8 * paddedColumns(); }
  void setShared(Val address) override { shared = address; }

  KernelBuilder::Vals begin(const Segment &segment) override {
    // Scores below which nothing enters the lists, then the lists. No key enters the list of a
    // column that does not exist.
    KernelBuilder::Vals lists;
    for (const Segment::Column &column : segment.columns)
      lists.push_back(kb.select(column.exists, kb.f32(std::numeric_limits<double>::quiet_NaN()),
                                kb.f32(std::numeric_limits<double>::infinity())));
    for (const Segment::Column &column : segment.columns)
      lists.append(entries,
                   kb.select(column.exists, fragments::noKey(kb), fragments::aboveKeys(kb)));
    // From this block on, a block is local or invalid for some row of the segment.
    Val fewest =
        lshr(segment.minCausal + (params.blockSize - 1), int64_t(llvm::Log2_64(params.blockSize)));
    plainBlocks = smax(fewest - kb.arg("local_blocks") - kb.arg("init_blocks"), 0);
    return lists;
  }

  KernelBuilder::Vals consume(const Segment &segment, Val block, llvm::ArrayRef<Val> scores,
                              llvm::ArrayRef<Val> carried) override {
    // Not forced and valid for every column, and below the last entry of every list: nothing to do.
    Val plain = ult(block - kb.arg("init_blocks"), plainBlocks);
    Val enters = kb.i1(false);
    for (auto [set, score] : llvm::enumerate(scores))
      enters = enters | ne(kb.ballot(kb.notLess(score, carried[set])), 0);
    return kb.ifElse(
        plain & (enters ^ kb.i1(true)), [&] { return KernelBuilder::Vals(carried); },
        [&] {
          KernelBuilder::Vals keys = keysOf(segment, block, scores, plain), result(keys.size());
          for (auto [set, key] : llvm::enumerate(keys)) {
            Keys list = insert(segment, Keys(listOf(carried, set)), key);
            result[set] = fragments::scoreOf(kb, list.back());
            result.append(list);
          }
          return result;
        });
  }

  void beforeBarrier(const Segment &segment, llvm::ArrayRef<Val> carried) override {
    for (auto [set, column] : llvm::enumerate(segment.columns))
      for (unsigned pair = 0; pair < entries / 2; ++pair) {
        llvm::ArrayRef<Val> keys = listOf(carried, set).slice(2 * pair, 2);
        Val place = segment.owner * int64_t(entries / 2) + int64_t(pair);
        kb.store(kb.pack({keys[0], keys[1]}), sharedAt(segment.wave, place, column.inPass), 16);
      }
  }

  void afterBarrier(const Segment &segment, llvm::ArrayRef<Val>) override {
    for (const Segment::Column &column : segment.columns)
      kb.ifThen(eq(segment.wave, 0) & eq(segment.owner, 0) & column.exists, [&] {
        Keys list = loadShared(0, column.inPass);
        for (unsigned wave = 1; wave < kScorerWaves; ++wave)
          list = fragments::mergeTop(kb, list, loadShared(wave, column.inPass));
        store(segment, column, list);
      });
  }

private:
  /// Two keys at least for each of up to four owners.
  static unsigned listLength(unsigned topK) {
    return std::max<unsigned>(llvm::PowerOf2Ceil(topK), 8);
  }
  unsigned paddedColumns() const { return params.tiles() * 16; }

  llvm::ArrayRef<Val> listOf(llvm::ArrayRef<Val> carried, unsigned set) const {
    return carried.slice(params.sets() + set * entries, entries);
  }

  KernelBuilder::Vals keysOf(const Segment &segment, Val block, llvm::ArrayRef<Val> scores,
                             Val plain) {
    return kb.ifElse(
        plain,
        [&] {
          KernelBuilder::Vals keys;
          for (Val score : scores)
            keys.push_back(fragments::sortKey(kb, score, block));
          return keys;
        },
        [&] {
          KernelBuilder::Vals keys;
          for (auto [column, score] : llvm::zip_equal(segment.columns, scores)) {
            Val forced = fragments::forcedScore(kb, score, block, column.validBlocks,
                                                kb.arg("init_blocks"), kb.arg("local_blocks"));
            keys.push_back(kb.select(slt(block, column.validBlocks),
                                     fragments::sortKey(kb, forced, block), fragments::noKey(kb)));
          }
          return keys;
        });
  }

  Keys insert(const Segment &segment, const Keys &list, Val key) {
    Val before = fragments::aboveKeys(kb);
    if (params.owners() > 1)
      before = kb.select(eq(segment.owner, 0), before, kb.shuffle(list.back(), segment.lane - 16));
    return fragments::insert(kb, list, before, key);
  }

  /// Place of a pair of keys in LDS; neighbouring columns lie side by side.
  Val sharedAt(Val wave, Val pair, Val column) {
    Val row = wave * int64_t(length / 2) + pair;
    return kb.offset(shared, (row * int64_t(paddedColumns()) + column) << 4);
  }

  Keys loadShared(unsigned wave, Val column) {
    Keys keys;
    for (unsigned pair = 0; pair < length / 2; ++pair)
      keys.append(kb.elements(kb.load(kb.vectorType(2, kb.f64Type()),
                                      sharedAt(kb.i32(wave), kb.i32(pair), column), 16)));
    return keys;
  }

  void store(const Segment &segment, const Segment::Column &column, const Keys &keys) {
    Val list = kb.zext(segment.worker + segment.segment, kb.i64Type()) * params.columns() +
               kb.zext(column.column, kb.i64Type());
    Val address = kb.offset(kb.arg("partial"), list * int64_t(topK * 8));
    unsigned step = topK % 2 == 0 ? 2 : 1; // a list starts at a multiple of 16 bytes or of 8
    for (unsigned i = 0; i < topK; i += step)
      kb.store(step == 2 ? kb.pack({keys[i], keys[i + 1]}) : keys[i],
               kb.offset(address, int64_t(i * 8)), 8 * step);
  }

  KernelBuilder &kb;
  const ScorerParams &params;
  const unsigned topK, length; ///< length: topK rounded up to a power of two
  const unsigned entries;      ///< of a list in a lane
  Val shared;
  Val plainBlocks; ///< after the initial ones, blocks that are neither local nor invalid
};

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  if (!hasScorer(spec))
    return std::nullopt;
  ScorerParams params = scorerParams(spec, cell);
  unsigned topK = spec.model.topK;
  CellPlan result;
  result.kernel.symbol = "index_topk_";
  result.kernel.family = "index_topk";
  specializeScorer(spec, params, result);
  specialize(result, spec, "k", nvfp4rt::Field::top_k);
  // A list for every pair of a worker and a segment that it meets; the caller gives the number of
  // workers, so the manifest cannot give the bytes: see nvfp4rt_index_topk_args.
  result.kernel.emit = [params, topK](KernelBuilder &kb) {
    KeepLargest consumer(kb, params, topK);
    emitScorer(kb, params, consumer);
  };
  return result;
}

} // namespace

extern const Family kIndexTopkFamily;
const Family kIndexTopkFamily{"index_topk", plan};

} // namespace nvfp4gen
