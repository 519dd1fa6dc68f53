//===- TopK.h - the end of a top-k in one workgroup (rule K3) ---------------===//
//
// For workgroups of four waves that select the ids of one (row, head).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_TOPK_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_TOPK_H

#include "templates/fragments/SortKey.h"

namespace nvfp4gen::fragments {

inline constexpr unsigned kTopKWaves = 4;

/// Where the workgroup is; workgroup x = row * heads + head.
struct TopKPlace {
  Val item, lane, wave; ///< work-item; lane of its wave; wave, uniform
  Val row, head;
};
TopKPlace topKPlace(KernelBuilder &kb, int64_t heads);

/// Merge the descending lists of all lanes of the workgroup and store the ids of the first `topK`
/// at ids + row * ids_row_stride + head * ids_head_stride. `waveHasKeys` (uniform) is false for a
/// wave whose lists are empty.
void storeTopK(KernelBuilder &kb, const TopKPlace &place, const Keys &list, Val waveHasKeys,
               unsigned topK);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_TOPK_H
