//===- IndexFake.h - block selectors that are wrong on purpose --------------===//
//
// Owns: a target whose step_map, index_score, topk, index_topk and index_topk_merge
// are the oracle's with at most one planted fault, and a manifest for it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKE_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKE_H

#include "tests/tools/verify/HostTarget.h"

#include <string>

namespace fake {

enum class IndexFault {
  None,
  InputChanged,
  LaunchFails,
  // step_map
  CausalOffByOne,
  LiveIgnored,      ///< requests past the live count have rows
  NotClamped,       ///< causal_len < 0 where seq_len < Q
  PaddedUnwritten,  ///< rows that are padding are left as they were
  PaddedRequest,    ///< rows that are padding keep their request
  BlocksOfFirstRow, ///< of a segment, instead of its longest row's
  MinCausalOfLast,  ///< of a segment, instead of its shortest row's
  SegmentPastEnd,   ///< one entry more than there are segments
  WorkRoundedUp,    ///< ceil(blocks / workers) each, the last workers less
  Work32,           ///< worker * blocks in 32 bits
  WorkEndUnwritten,
  WorkAtSegmentEnd, ///< a worker begins at the end of the segment before
  WorkersOfEmpty,   ///< a segment without blocks has a worker
  // index_score and index_topk
  MaskPastEnd,      ///< a row sees the token after its last
  MaskShort,        ///< a row does not see its last token
  NoMask,           ///< a row sees its last block whole
  NaNTail,          ///< a NaN after a row's last token makes the block's score NaN
  PageModulo,       ///< page ids modulo the pool
  PageClamped,      ///< page ids clamped to the pool
  PageNotChecked,   ///< page offsets in 32 bits, whatever the id
  OffsetSigned,     ///< page offsets without bit 31 and up
  TokenStride,      ///< payload tokens taken as contiguous
  ScaleStride,      ///< scale tokens taken as contiguous
  QueryStride,      ///< heads of q taken as contiguous
  SubnormalFlushed, ///< of q in fp16
  InfinityClipped,  ///< of q
  NibblesSwapped,
  // index_score
  HeadsSwapped,
  ScoreRounded, ///< to bf16
  ScoreOneUlp,  ///< the next fp32 number
  ScoreUnscaled,
  BlockDropped,     ///< the last block of every worker but the last
  ScorePastEnd,     ///< a score after the last valid block
  PaddedScored,     ///< a score in a row that is padding
  NaNScoreMinusInf, ///< -inf for a block without any token
  // topk
  TiesToLower,
  NegativeZeroBelow,
  NaNLargest,
  NaNAsMinusInf,
  InitDropped,
  LocalDropped, ///< also of index_topk
  LocalBeforeInit,
  FloorBlocks,   ///< an incomplete last block is not there
  ReadsPastEnd,  ///< one block too many
  ShortWithZero, ///< 0 instead of -1
  PaddedIdsUnwritten,
  PaddedIdsZero,
  Ascending,
  CutoffEarly, ///< the last entry is -1
  IdPastList,  ///< a write after a list
  LastRowDropped,
  // index_topk
  TailUnwritten,       ///< a short list is not filled up with 0
  ListsWithoutSegment, ///< lists at worker instead of worker + segment
  KeyOneUlp,           ///< inexact scores one fp32 number larger than index_score's
  ListStray,           ///< an empty list for a worker without blocks
  BlindRowUnwritten,   ///< no list for a row that sees nothing
  BestDropped,         ///< the best block of every worker but the first
  InitAsLocal,         ///< initial blocks get the local score
  // index_topk_merge
  LastWorkerDropped,
  WorkerTooMany,
  RowIgnored, ///< every row of a segment has the first row's ids
  HeadIgnored,
  IdOffByOne,
};

class IndexFake final : public HostTarget {
public:
  /// The fault is in the kernels of `family` alone.
  explicit IndexFake(std::string family = {}, IndexFault fault = IndexFault::None,
                     uint64_t largest = UINT64_MAX)
      : HostTarget(largest), family(std::move(family)), fault(fault) {}

  nvfp4rt::Result<void> launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *args, size_t argsSize) override;

private:
  std::string family;
  IndexFault fault;
};

/// For every family: decode with pages smaller than blocks, verify with Q = 3, pages of two blocks
/// and fp16, and prefill; two index heads, blocks of 32 tokens.
nvfp4rt::Manifest indexManifest();

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKE_H
