//===- PackedRow.cpp --------------------------------------------------------===//

#include "templates/qk_norm_rope_store/PackedRow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace nvfp4gen::qk_norm_rope_store {

bool isOf(const Quad &quad, Kind kind) {
  return llvm::all_of(quad, [&](const Unit &unit) { return unit.kind == kind; });
}

namespace {

/// In decode and verify a step is short: its rows, and the parts of a long row, are spread over the
/// machine. In prefill there are rows enough, and waves are to load little twice: cosines and sines
/// once a part, and weights of at most 1 / kWeightShare of what the wave moves.
constexpr size_t kMostQuads = 5, kMostPrefillQuads = 10; ///< of a part
constexpr int64_t kWeightShare = 64;

std::vector<Unit> unitsOf(const Spec &spec) {
  const ModelSpec &model = spec.model;
  std::vector<Unit> units;
  int64_t column = 0;
  auto add = [&](Kind kind, int64_t heads, bool hasWork) {
    for (int64_t head = 0; head < heads; ++head, ++column)
      if (hasWork)
        units.push_back({kind, head, column});
  };
  add(Kind::Q, model.qHeads, true);
  add(Kind::K, model.kvHeads, spec.hasPlane(Plane::K));
  add(Kind::V, model.kvHeads, spec.hasPlane(Plane::V));
  add(Kind::IndexQ, model.indexHeads, true);
  add(Kind::IndexK, 1, spec.hasPlane(Plane::IndexK));
  return units;
}

/// Rows of a wave, so that weights are not more than their share of its bytes.
unsigned rowsPerPrefillWave(const Params &params) {
  int64_t weights = 0, moved = 0, headBytes = params.headBytes;
  for (const std::vector<Quad> &part : params.parts) {
    weights +=
        llvm::any_of(part, [](const Quad &quad) { return isOf(quad, Kind::Q); }) ? headBytes : 0;
    for (const Quad &quad : part)
      for (const Unit &unit : quad) {
        bool isFirst = &unit == quad.begin() || unit.kind != (&unit)[-1].kind;
        if (isFirst && unit.args().weight && !isOf(quad, Kind::Q))
          weights += headBytes;
        // Written as it was, or in 4 bits of 16 and a scale byte for 16 elements.
        moved += headBytes + (unit.args().out ? headBytes : headBytes / 4 + headBytes / 32);
      }
  }
  return unsigned(llvm::divideCeil(weights * kWeightShare, moved));
}

} // namespace

Params paramsOf(const Spec &spec, Phase phase) {
  std::vector<Unit> units = unitsOf(spec);
  std::vector<Quad> quads;
  for (const Unit &unit : units) {
    if (quads.empty() || quads.back().size() == kQuad)
      quads.emplace_back();
    quads.back().push_back(unit);
  }
  bool isPrefill = phase == Phase::Prefill;
  Params params{
      spec.model.dtype, spec.cache.pageSize, spec.model.rotaryDim, spec.model.headDim * 2, 1, {}};
  // Those with more to do than q are dealt first, so that each part has as few kinds as can be.
  params.parts.resize(llvm::divideCeil(quads.size(), isPrefill ? kMostPrefillQuads : kMostQuads));
  size_t dealt = 0;
  for (bool isQ : {false, true})
    for (const Quad &quad : quads)
      if (isOf(quad, Kind::Q) == isQ)
        params.parts[dealt++ % params.parts.size()].push_back(quad);
  if (isPrefill)
    params.rowsPerWave = rowsPerPrefillWave(params);
  return params;
}

} // namespace nvfp4gen::qk_norm_rope_store
