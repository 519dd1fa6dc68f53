//===- SparseAttentionMerge.cpp - sparse_attention_merge (rules A1, A2, A4) -===//
//
// Rules A1, A2, A4. A workgroup a (row, kv head): a work-item has 8 dims of one head, and
// joins the parts as the tree of AttentionParams.h does.
//
//===------------------------------------------------------------------------===//

#include "templates/fragments/ModelType.h"
#include "templates/fragments/PartialSoftmax.h"
#include "templates/sparse_attention/AttentionBlock.h"
#include "templates/sparse_attention/AttentionParams.h"

namespace nvfp4gen {

namespace {

using namespace attention;
using fragments::PartialSoftmax;
using Vals = KernelBuilder::Vals;

constexpr unsigned kLaneDims = 8;

PartialSoftmax loadPart(KernelBuilder &kb, const AttentionParams &params, Val index, Val head,
                        Val lane) {
  Val record = kb.offset(kb.arg("partial"), index * params.partialBytes());
  Val accAt = head * int64_t(params.headDim * 4) + lane * int64_t(kLaneDims * 4);
  PartialSoftmax result;
  for (unsigned i = 0; i < kLaneDims; i += 4)
    result.acc.push_back(kb.loadConstant(
        kb.vectorType(4, kb.f32Type()),
        kb.offset(kb.offset(record, kb.zext(accAt, kb.i64Type())), int64_t(i * 4)), 16));
  Val at = kb.offset(record, kb.zext(head << 2, kb.i64Type()));
  const int64_t accBytes = kHeadColumns * params.headDim * 4;
  result.max = kb.loadConstant(kb.f32Type(), kb.offset(at, accBytes), 4);
  result.sum = kb.loadConstant(kb.f32Type(), kb.offset(at, accBytes + kHeadColumns * 4), 4);
  return result;
}

void emit(KernelBuilder &kb, const AttentionParams &params) {
  const int64_t lanesPerHead = params.headDim / kLaneDims;
  Val item = kb.workitemId(0);
  Val head = udiv(item, lanesPerHead), lane = urem(item, lanesPerHead);
  Val row = udiv(kb.workgroupId(0), params.kvHeads);
  Val kvHead = urem(kb.workgroupId(0), params.kvHeads);
  kb.ifThen(slt(head, params.groupHeads), [&] {
    Val first = kb.zext(kb.workgroupId(0), kb.i64Type()) * params.parts();
    llvm::SmallVector<PartialSoftmax> level;
    for (int64_t part = 0; part < params.parts(); ++part)
      level.push_back(loadPart(kb, params, first + part, head, lane));
    while (level.size() > 1) {
      llvm::SmallVector<PartialSoftmax> above;
      for (size_t i = 0; i < level.size(); i += 2)
        above.push_back(fragments::merge(kb, level[i], level[i + 1]));
      level = std::move(above);
    }
    Vals rounded;
    for (Val value : fragments::normalize(kb, level.front()))
      rounded.push_back(fragments::roundToModel(kb, params.dtype, value));
    Val outHead = kvHead * params.groupHeads + head;
    Val bytes = kb.zext(row, kb.i64Type()) * kb.arg("out_row_stride") +
                kb.zext(outHead, kb.i64Type()) * kb.arg("out_head_stride") +
                kb.zext(lane << 4, kb.i64Type());
    kb.store(kb.pack(rounded), kb.offset(kb.arg("out"), bytes), 16);
  });
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  std::optional<AttentionParams> params = attentionParams(spec, cell);
  if (!params)
    return std::nullopt;
  CellPlan result;
  result.kernel.symbol = "sparse_attention_merge_";
  result.kernel.family = "sparse_attention_merge";
  specializeAttention(spec, result);
  result.kernel.packedFp32 = true;
  result.kernel.block[0] = kHeadColumns * uint32_t(params->headDim) / kLaneDims;
  result.kernel.grid[0] = {"rows", uint32_t(params->kvHeads), 1};
  result.kernel.emit = [params = *params](KernelBuilder &kb) { emit(kb, params); };
  return result;
}

} // namespace

extern const Family kSparseAttentionMergeFamily;
const Family kSparseAttentionMergeFamily{"sparse_attention_merge", plan};

} // namespace nvfp4gen
