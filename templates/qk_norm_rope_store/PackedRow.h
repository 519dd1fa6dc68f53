//===- PackedRow.h - the packed row and who does what of it --------*- C++ -*-===//
//
// Owns: the kinds of heads in a packed row (W2) and their arguments, and how they are
// dealt to waves.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_QK_NORM_ROPE_STORE_PACKEDROW_H
#define NVFP4GEN_TEMPLATES_QK_NORM_ROPE_STORE_PACKEDROW_H

#include "compiler/spec/Spec.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace nvfp4gen::qk_norm_rope_store {

inline constexpr unsigned kQuad = 4; ///< heads a wave takes at a time

/// The parts of a packed row, in their order.
enum class Kind { Q, K, V, IndexQ, IndexK };

/// Names are paths in nvfp4rt_qk_norm_rope_store_args; null where the kind has no such thing.
struct KindArgs {
  const char *weight;
  const char *out;                             ///< rows in model dtype
  const char *payload, *scale, *slots, *pages; ///< planes
};

inline constexpr KindArgs kKindArgs[] = {
    {"q_weight", "q_out", nullptr, nullptr, nullptr, nullptr},
    {"k_weight", nullptr, "k_payload", "k_scale", "slots", "pages"},
    {nullptr, nullptr, "v_payload", "v_scale", "slots", "pages"},
    {"index_q_weight", "index_q_out", nullptr, nullptr, nullptr, nullptr},
    {"index_k_weight", nullptr, "index_payload", "index_scale", "index_slots", "index_pages"},
};

/// A head of the packed row that has work.
struct Unit {
  Kind kind;
  int64_t head;   ///< of its kind
  int64_t column; ///< in the packed row, in heads
  const KindArgs &args() const { return kKindArgs[size_t(kind)]; }
};

using Quad = llvm::SmallVector<Unit, kQuad>; ///< 1 to 4 units, in the order of the lanes

/// All units are of this kind.
bool isOf(const Quad &quad, Kind kind);

/// Everything the code is specialized for.
struct Params {
  DType dtype;
  int64_t pageSize, rotaryDim;
  int64_t headBytes;                    ///< in a packed row
  unsigned rowsPerWave;                 ///< consecutive rows
  std::vector<std::vector<Quad>> parts; ///< a wave has one part of its rows
};

Params paramsOf(const Spec &spec, Phase phase);

} // namespace nvfp4gen::qk_norm_rope_store

#endif // NVFP4GEN_TEMPLATES_QK_NORM_ROPE_STORE_PACKEDROW_H
