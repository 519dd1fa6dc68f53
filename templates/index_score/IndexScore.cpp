//===- IndexScore.cpp - index_score: the score buffer (rules K1, K5) --------===//
//
// Rules K1, K5, P4, P5. One float a block, row and head; blocks beyond a row's
// valid ones are not written.
//
//===------------------------------------------------------------------------===//

#include "templates/index/BlockScorer.h"

namespace nvfp4gen {

namespace {

using namespace index;

class StoreScores : public ScoreConsumer {
public:
  explicit StoreScores(KernelBuilder &kb) : kb(kb) {}

  KernelBuilder::Vals begin(const Segment &) override { return {}; }

  KernelBuilder::Vals consume(const Segment &segment, Val block, llvm::ArrayRef<Val> scores,
                              llvm::ArrayRef<Val>) override {
    for (auto [column, score] : llvm::zip_equal(segment.columns, scores))
      kb.ifThen(slt(block, column.validBlocks) & eq(segment.owner, 0), [&] {
        Val bytes = kb.zext(column.row, kb.i64Type()) * kb.arg("score_row_stride") +
                    kb.zext(column.head, kb.i64Type()) * kb.arg("score_head_stride") +
                    (kb.zext(block, kb.i64Type()) << 2);
        kb.store(score, kb.offset(kb.arg("scores"), bytes), 4);
      });
    return {};
  }

  void beforeBarrier(const Segment &, llvm::ArrayRef<Val>) override {}
  void afterBarrier(const Segment &, llvm::ArrayRef<Val>) override {}

private:
  KernelBuilder &kb;
};

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  if (!hasScorer(spec))
    return std::nullopt;
  ScorerParams params = scorerParams(spec, cell);
  CellPlan result;
  result.kernel.symbol = "index_score_";
  result.kernel.family = "index_score";
  specializeScorer(spec, params, result);
  result.kernel.emit = [params](KernelBuilder &kb) {
    StoreScores consumer(kb);
    emitScorer(kb, params, consumer);
  };
  return result;
}

} // namespace

extern const Family kIndexScoreFamily;
const Family kIndexScoreFamily{"index_score", plan};

} // namespace nvfp4gen
