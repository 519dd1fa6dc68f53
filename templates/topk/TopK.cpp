//===- TopK.cpp - topk: ordered ids from a score buffer (rules K2, K3) ------===//
//
// Rules K2, K3, K5. A workgroup a (row, head). A lane takes a batch of scores, sorts
// their keys in registers and merges them into its list; then the lists are merged
// over lanes and waves.
//
//===------------------------------------------------------------------------===//

#include "templates/fragments/TopK.h"
#include "compiler/variants/Variants.h"
#include "templates/index/BlockScorer.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen {

namespace {

using fragments::Keys;

struct Params {
  int64_t heads, blockSize;
  unsigned topK;
};

void emit(KernelBuilder &kb, const Params &params) {
  const int64_t length = llvm::PowerOf2Ceil(params.topK);
  fragments::TopKPlace place = fragments::topKPlace(kb, params.heads);
  Val entry = kb.offset(kb.arg("step_rows"), (kb.zext(place.row, kb.i64Type()) << 4) + 4);
  Val causal = kb.loadConstant(kb.i32Type(), entry, 4);
  Val blocks =
      lshr(causal + (params.blockSize - 1), int64_t(llvm::Log2_64(params.blockSize))); // S3
  Val bytes = kb.zext(place.row, kb.i64Type()) * kb.arg("score_row_stride") +
              kb.zext(place.head, kb.i64Type()) * kb.arg("score_head_stride");
  // Scores past the valid blocks are outside the resource: never read.
  Val scores = kb.bufferResource(kb.offset(kb.arg("scores"), bytes), blocks << 2);

  const int64_t waveBlocks = 64 * length;
  Val first = place.wave * waveBlocks;
  Keys empty(length, fragments::noKey(kb));
  Keys list = kb.loop(
      first, blocks, int64_t(fragments::kTopKWaves) * waveBlocks, empty,
      [&](Val batch, llvm::ArrayRef<Val> carried) {
        Keys keys;
        for (int64_t i = 0; i < length; ++i) {
          Val block = batch + place.lane + i * 64;
          Val score = kb.bufferLoad(kb.f32Type(), scores, block << 2, kb.i32(0));
          // The added +0 makes -0 and +0 one score.
          Val forced = fragments::forcedScore(kb, score + 0.0, block, blocks, kb.arg("init_blocks"),
                                              kb.arg("local_blocks"));
          keys.push_back(kb.select(slt(block, blocks), fragments::sortKey(kb, forced, block),
                                   fragments::noKey(kb)));
        }
        return fragments::mergeTop(kb, Keys(carried),
                                   fragments::sortDescending(kb, std::move(keys)));
      });
  fragments::storeTopK(kb, place, list, slt(first, blocks), params.topK);
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &) {
  if (!index::hasScorer(spec))
    return std::nullopt;
  Params params{spec.model.indexHeads, spec.model.blockSize, unsigned(spec.model.topK)};
  CellPlan result;
  result.kernel.symbol = "topk_";
  result.kernel.family = "topk";
  specialize(result, spec, "hi", nvfp4rt::Field::index_heads);
  specialize(result, spec, "b", nvfp4rt::Field::block_size);
  specialize(result, spec, "k", nvfp4rt::Field::top_k);
  result.kernel.block[0] = fragments::kTopKWaves * 64;
  result.kernel.grid[0] = {"rows", uint32_t(params.heads), 1};
  result.kernel.emit = [params](KernelBuilder &kb) { emit(kb, params); };
  return result;
}

} // namespace

extern const Family kTopkFamily;
const Family kTopkFamily{"topk", plan};

} // namespace nvfp4gen
