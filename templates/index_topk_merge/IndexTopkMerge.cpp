//===- IndexTopkMerge.cpp - index_topk_merge: partial lists to ids (K3, K4) -===//
//
// Rules K3, K4. A workgroup a (row, head); a lane takes whole lists, which are sorted
// already.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "templates/fragments/TopK.h"
#include "templates/index/BlockScorer.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen {

namespace {

using fragments::Keys;

struct Params {
  int64_t heads, columns;
  unsigned topK;
};

/// The list of `topK` keys at `address`, filled up with noKey.
Keys loadList(KernelBuilder &kb, Val address, unsigned topK) {
  Keys keys;
  if (topK % 2 == 0)
    for (unsigned i = 0; i < topK; i += 2)
      keys.append(kb.elements(
          kb.loadConstant(kb.vectorType(2, kb.f64Type()), kb.offset(address, int64_t(i * 8)), 16)));
  else
    for (unsigned i = 0; i < topK; ++i)
      keys.push_back(kb.loadConstant(kb.f64Type(), kb.offset(address, int64_t(i * 8)), 8));
  keys.resize(llvm::PowerOf2Ceil(topK), fragments::noKey(kb));
  return keys;
}

void emit(KernelBuilder &kb, const Params &params) {
  fragments::TopKPlace place = fragments::topKPlace(kb, params.heads);
  KernelBuilder::Vals row = kb.elements(
      kb.loadConstant(kb.vectorType(4, kb.i32Type()),
                      kb.offset(kb.arg("step_rows"), kb.zext(place.row, kb.i64Type()) << 4), 16));
  Val segment = row[2];
  // A padded row has no segment and so no list.
  KernelBuilder::Vals workers = kb.ifElse(
      sle(kb.i32(0), segment),
      [&]() -> KernelBuilder::Vals {
        Val record = kb.offset(kb.arg("segments"), kb.zext(segment, kb.i64Type()) << 5);
        return kb.elements(
            kb.loadConstant(kb.vectorType(2, kb.i32Type()), kb.offset(record, 24), 4));
      },
      [&]() -> KernelBuilder::Vals { return {kb.i32(0), kb.i32(0)}; });
  Val firstWorker = workers[0], lists = workers[1];
  Val column = kb.zext(row[3] * params.heads + place.head, kb.i64Type());

  Keys empty(llvm::PowerOf2Ceil(params.topK), fragments::noKey(kb));
  Keys list =
      kb.loop(place.item, lists, int64_t(fragments::kTopKWaves * 64), empty,
              [&](Val index, llvm::ArrayRef<Val> carried) {
                Val pair = kb.zext(firstWorker + index + segment, kb.i64Type());
                Val place = pair * params.columns + column;
                Val address = kb.offset(kb.arg("partial"), place * int64_t(params.topK * 8));
                return fragments::mergeTop(kb, Keys(carried), loadList(kb, address, params.topK));
              });
  fragments::storeTopK(kb, place, list, slt(place.wave * 64, lists), params.topK);
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  if (!index::hasScorer(spec))
    return std::nullopt;
  Params params{spec.model.indexHeads, index::scorerParams(spec, cell).columns(),
                unsigned(spec.model.topK)};
  CellPlan result;
  result.kernel.symbol = "index_topk_merge_";
  result.kernel.family = "index_topk_merge";
  specialize(result, spec, "hi", nvfp4rt::Field::index_heads);
  specialize(result, spec, "k", nvfp4rt::Field::top_k);
  result.kernel.symbol += "_c" + std::to_string(params.columns);
  result.kernel.block[0] = fragments::kTopKWaves * 64;
  result.kernel.grid[0] = {"rows", uint32_t(params.heads), 1};
  result.kernel.emit = [params](KernelBuilder &kb) { emit(kb, params); };
  return result;
}

} // namespace

extern const Family kIndexTopkMergeFamily;
const Family kIndexTopkMergeFamily{"index_topk_merge", plan};

} // namespace nvfp4gen
