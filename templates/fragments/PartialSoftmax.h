//===- PartialSoftmax.h - partial attention results and their merge ---------===//
//
// Rules A1, A4. A partial result (m, l, acc) is l and acc relative to 2^m. The merge is
// the one arithmetic by which two become one, wherever it happens: in registers, through
// LDS or through the workspace. A partial that selects nothing (m = -inf, l = 0, acc = 0)
// leaves the other as it is.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TEMPLATES_FRAGMENTS_PARTIALSOFTMAX_H
#define NVFP4GEN_TEMPLATES_FRAGMENTS_PARTIALSOFTMAX_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::fragments {

/// One head's part in a lane: m and l of the head, and some of its dims.
struct PartialSoftmax {
  Val max, sum;
  llvm::SmallVector<Val> acc; ///< vectors of four fp32

  /// max, sum, acc one after the other, as loops carry them.
  llvm::SmallVector<Val> values() const;
  static PartialSoftmax of(llvm::ArrayRef<Val> values);
  /// The one that selects nothing.
  static PartialSoftmax none(KernelBuilder &kb, unsigned vectors);
};

/// `a` are earlier list entries than `b`.
PartialSoftmax merge(KernelBuilder &kb, const PartialSoftmax &a, const PartialSoftmax &b);

/// A1, A2: the normalized dims one by one, never -0; 0 where nothing is selected.
llvm::SmallVector<Val> normalize(KernelBuilder &kb, const PartialSoftmax &partial);

/// fp32 value in all four places of a vector, for arithmetic on two dims an instruction.
Val four(KernelBuilder &kb, Val value);

/// m that is not -inf, for differences with it.
Val finiteMax(KernelBuilder &kb, Val max);

} // namespace nvfp4gen::fragments

#endif // NVFP4GEN_TEMPLATES_FRAGMENTS_PARTIALSOFTMAX_H
