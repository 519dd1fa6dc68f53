//===- AttentionParams.h - how a row's list is shared (rule A4) -------------===//
//
// A row's list of entries is the leaves of a balanced binary tree, padded with entries
// that select nothing to a power of two. A part is a subtree of NVFP4RT_ATTENTION_PART
// leaves. With few rows a workgroup takes one part, a wave one entry, and
// sparse_attention_merge joins the parts; with many a workgroup takes the whole tree, a
// wave one entry or a subtree.
// The tree, and so the result, is the same.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONPARAMS_H
#define NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONPARAMS_H

#include "compiler/spec/Spec.h"
#include "compiler/variants/Family.h"
#include "runtime/include/nvfp4rt_args.h"
#include "templates/sparse_attention/AttentionBlock.h"

namespace nvfp4gen::attention {

struct AttentionParams {
  DType dtype;
  int64_t pageSize, blockSize, headDim;
  int64_t kvHeads, groupHeads; ///< groupHeads: q heads a kv head
  int64_t topK;
  bool split; ///< a workgroup takes one part
  /// Leaves of the tree.
  int64_t leaves() const;
  int64_t parts() const { return leaves() / NVFP4RT_ATTENTION_PART; }
  /// Leaves of a workgroup.
  int64_t workgroupLeaves() const { return split ? NVFP4RT_ATTENTION_PART : leaves(); }
  /// Of a workgroup. A wave that walks over entries of many small pages would need more scalar
  /// registers than there are, so each entry has a wave of its own then.
  int64_t waves() const {
    return idsInScalars(pages()) ? int64_t(NVFP4RT_ATTENTION_PART) : workgroupLeaves();
  }
  /// Entries of a wave, one after the other.
  int64_t entriesPerWave() const { return workgroupLeaves() / waves(); }
  fragments::PageShape pages() const { return {pageSize, blockSize, headDim}; }
  /// Bytes of a partial result in the workspace.
  int64_t partialBytes() const { return 16 * (headDim + 2) * 4; }
};

/// Nothing when the spec has no K and V cache that the templates read.
std::optional<AttentionParams> attentionParams(const Spec &spec, const Cell &cell);

/// Guard terms and name: the fields that both kernels are specialized for.
void specializeAttention(const Spec &spec, CellPlan &plan);

} // namespace nvfp4gen::attention

#endif // NVFP4GEN_TEMPLATES_SPARSE_ATTENTION_ATTENTIONPARAMS_H
