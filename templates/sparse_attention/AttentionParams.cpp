//===- AttentionParams.cpp --------------------------------------------------===//

#include "templates/sparse_attention/AttentionParams.h"

#include "compiler/variants/Variants.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen::attention {

namespace {

/// Workgroups of whole rows that are enough for a device of 256 compute units.
constexpr int64_t kEnoughWorkgroups = 256;

} // namespace

int64_t AttentionParams::leaves() const {
  return std::max<int64_t>(llvm::PowerOf2Ceil(topK), NVFP4RT_ATTENTION_PART);
}

std::optional<AttentionParams> attentionParams(const Spec &spec, const Cell &cell) {
  if (!spec.hasPlane(Plane::K) || !spec.hasPlane(Plane::V) ||
      spec.cache.kvFormat != CacheFormat::NVFP4)
    return std::nullopt;
  AttentionParams params{spec.model.dtype,     spec.cache.pageSize,
                         spec.model.blockSize, spec.model.headDim,
                         spec.model.kvHeads,   spec.model.qHeads / spec.model.kvHeads,
                         spec.model.topK,      false};
  // Prefill has rows enough; one part needs no splitting.
  params.split = cell.phase != Phase::Prefill && params.parts() > 1 &&
                 cell.requestsHigh * cell.queryLen * params.kvHeads < kEnoughWorkgroups;
  return params;
}

void specializeAttention(const Spec &spec, CellPlan &plan) {
  using nvfp4rt::Field;
  specialize(plan, spec, "", Field::kv_format);
  specialize(plan, spec, "", Field::dtype);
  specialize(plan, spec, "hq", Field::q_heads);
  specialize(plan, spec, "hkv", Field::kv_heads);
  specialize(plan, spec, "d", Field::head_dim);
  specialize(plan, spec, "b", Field::block_size);
  specialize(plan, spec, "k", Field::top_k);
}

} // namespace nvfp4gen::attention
