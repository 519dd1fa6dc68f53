//===- NormRopeFake.h - a qk_norm_rope_store that is wrong on purpose -------===//
//
// Owns: a target on host memory whose qk_norm_rope_store is fp32 arithmetic with at
// most one planted fault, its kv_store, and manifests for it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_NORMROPEFAKE_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_NORMROPEFAKE_H

#include "tests/tools/verify/HostTarget.h"

namespace fake {

enum class NormRopeFault {
  None,
  // Arithmetic of W2.
  OffsetIgnored,     ///< w for 1 + w
  EpsIgnored,        ///< and so division by zero
  EpsOutsideRoot,    ///< 1 / (sqrt(mean) + eps)
  MeanOfHalf,        ///< of the first half of the head
  SquaresOverflow,   ///< no rescue of sums that overflow in fp32
  SubnormalsFlushed, ///< inputs
  Truncated,         ///< rounding toward zero
  RoundedTwice,      ///< the norm to model dtype, then RoPE
  RawPartner,        ///< RoPE with the partner before its weight
  AdjacentPairs,     ///< dims 2i and 2i + 1 turn, as GPT-J has them
  SineFirst,         ///< the table taken as sines, then cosines
  SineSign,          ///< turned the other way
  NextPosition,
  TurnedPast,     ///< the dims after rotary_dim turn too
  WeightsOfQ,     ///< for K
  WeightsOfK,     ///< for the index key
  OneUlp,         ///< one element of q, next to the right one
  NaNSwallowed,   ///< a NaN is taken as 0
  InfinityKept,   ///< an infinity stays one
  KeysNearlySame, ///< K's factor is 2^-22 larger than q's
  // The cache.
  Unrounded,      ///< K is quantized from fp32
  VNormed,        ///< V as K
  KAtIndex,       ///< K and V at the index slots
  PadWritten,     ///< slot -1 is the last slot
  WrappedSlot,    ///< slots past the end modulo the pool
  Offset32,       ///< page offsets as 32-bit numbers
  NoSlotsNoIndex, ///< without slots the index key is not stored either
  // Rows.
  PadSkipsQ,
  PadSkipsIndexQ,
  NoIndexSlotsNoIndexQ,
  RowStrideIgnored,  ///< of the packed row
  HeadStrideIgnored, ///< of q
  RowOffset32,       ///< of the packed row
  HeadOffset32,      ///< of q
  PositionOffset32,  ///< of cos_sin
  NextHeadWritten,   ///< a byte after the last head of q
  InputChanged,
  LastRowDropped,
  NoRowsWriteOne,
  // Other kernels.
  OtherKernel, ///< kernel_two has a factor 2^-21 larger
  KvStore,     ///< the bundle's kv_store has one wrong byte
  LaunchFails,
};

class NormRopeTarget final : public HostTarget {
public:
  explicit NormRopeTarget(NormRopeFault fault = NormRopeFault::None, uint64_t largest = UINT64_MAX)
      : HostTarget(largest), fault(fault) {}

  nvfp4rt::Result<void> launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *args, size_t argsSize) override;

private:
  NormRopeFault fault;
};

/// Variants of a bf16 model with two KV heads and half of a head turned: two of kernel_one (decode)
/// and one of kernel_two (prefill), with kv_store for each; one of an fp16 model that turns whole
/// heads, in HND planes of its own, without kv_store; one that turns none and has no V.
nvfp4rt::Manifest normRopeManifest();

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_NORMROPEFAKE_H
