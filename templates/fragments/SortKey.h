//===- SortKey.h - K3 sort keys and sorted lists of them --------------------===//
//
// A key is the bit pattern of an fp64: keys are below 2^52, so they are non-negative
// (denormal) fp64 numbers in the same order, and a compare-exchange is one v_max_f64
// and one v_min_f64. fp64 denormals are on in every kernel (the MODE that kernels start with).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_SORTKEY_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_SORTKEY_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

using Keys = llvm::SmallVector<Val>; ///< fp64, descending where a list is meant

/// K3's key of a valid block, fp64. `score` is fp32 and not -0, `block` i32.
Val sortKey(KernelBuilder &kb, Val score, Val block);
/// Above every key.
Val aboveKeys(KernelBuilder &kb);
/// The key of no block.
Val noKey(KernelBuilder &kb);
/// The score of a key; NaN of noKey.
Val scoreOf(KernelBuilder &kb, Val key);
/// The block id of a key, i32; -1 of noKey.
Val blockOf(KernelBuilder &kb, Val key);

/// K2: the score of a block of a row with `validBlocks` blocks, forced or not.
Val forcedScore(KernelBuilder &kb, Val score, Val block, Val validBlocks, Val initBlocks,
                Val localBlocks);

/// A part of a descending list once `key` is in its place in the whole and the last entry dropped;
/// `before` is the entry before the part, aboveKeys when it is the first.
Keys insert(KernelBuilder &kb, const Keys &part, Val before, Val key);
/// Descending; the number of keys is a power of two.
Keys sortDescending(KernelBuilder &kb, Keys keys);
/// The largest of two descending lists of one power-of-two length, descending, as long as one.
Keys mergeTop(KernelBuilder &kb, const Keys &a, const Keys &b);
/// The same of the lists of all 64 lanes, in every lane.
Keys mergeTopOfWave(KernelBuilder &kb, Keys list);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_SORTKEY_H
