//===- AttentionFake.h - attention that is wrong on purpose -----------------===//
//
// Owns: a target whose sparse_attention and its merge follow the contract on the host,
// as a fixed tree over list entries, with at most one planted fault; and a manifest.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_ATTENTIONFAKE_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_ATTENTIONFAKE_H

#include "tests/tools/verify/IndexFake.h"

namespace fake {

enum class AttentionFault {
  None,
  InputChanged,
  CacheChanged, ///< an entry of the block table that is not used
  LaunchFails,
  // sparse_attention: tokens
  TokenDropped, ///< one of each list
  TokenDoubled,
  TokenShifted,  ///< one token has the V row of the one before
  MaskLong,      ///< a row sees the token after its last
  MaskShort,     ///< a row does not see its last token
  NoMask,        ///< a row sees its last block whole
  TailTimesZero, ///< masked tokens have weight 0, but their V is not zeroed
  TailInMax,     ///< masked tokens take part in the maximum
  MaxFromZero,   ///< the maximum starts at 0
  NoMax,         ///< no maximum is subtracted
  Unscaled,
  // lists
  LastMasked,  ///< only the last entry of a list is masked
  HoleEnds,    ///< a list ends at its first -1
  PastCausal,  ///< an id past the causal length gives the row's own block
  Position32,  ///< positions in 32 bits
  HeadIgnored, ///< every kv head has the first one's list
  // addresses
  PageModulo,
  PageClamped,
  PageUnchecked, ///< page offsets in 32 bits, whatever the id
  OffsetSigned,  ///< page offsets without bit 31 and up
  TokenStride,   ///< K payload tokens taken as contiguous
  ScaleStride,   ///< V scale tokens taken as contiguous
  HeadStride,    ///< V payload heads taken as contiguous
  QueryStride,   ///< heads of q taken as contiguous
  OutStride,     ///< rows of the output taken as contiguous
  NibblesSwapped,
  // rows
  PaddedUnwritten,
  PaddedNaN,
  NegativeZero, ///< rows that select nothing are -0
  StrayAfter,   ///< an element after the output
  LastRowDropped,
  // bits
  BatchBits,     ///< in launches of more than 5 rows the tree is another
  NeighbourBits, ///< beside a padded row the tree is another
  BucketBits,    ///< in decode the tree is another
  PhaseRounding, ///< in prefill one more rounding
  // variants with a workspace
  OutWritten,    ///< the output as well
  PartUnwritten, ///< a part that selects nothing is left as it was
  PartMaxZero,   ///< a part that selects nothing has m = 0
  PartsReversed, ///< parts in another order than the merge reads them
  PartPastEnd,   ///< a float after the last part
  // sparse_attention_merge
  LastPartIgnored,
  MaxOfFirst, ///< relative to the first part's maximum
  SumsAdded,  ///< l of all parts without their maxima
  EmptyNaN,   ///< -inf - -inf
};

class AttentionFake final : public HostTarget {
public:
  /// The fault is in the kernels of `family` alone.
  explicit AttentionFake(std::string family = {}, AttentionFault fault = AttentionFault::None,
                         uint64_t largest = UINT64_MAX)
      : HostTarget(largest), family(std::move(family)), fault(fault) {}

  nvfp4rt::Result<void> launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *args, size_t argsSize) override;

private:
  std::string family;
  AttentionFault fault;
  IndexFake selectors;
};

/// Two ranks. "eight": 8 q heads on each of 2 kv heads in bf16, pages smaller than blocks, either
/// plane order; small decodes have a workspace. "sixteen": 16 on one kv head in fp16, pages of two
/// blocks, HND, a list whose last part is incomplete. Variants are named family__rank_phase.
nvfp4rt::Manifest attentionManifest();

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_ATTENTIONFAKE_H
