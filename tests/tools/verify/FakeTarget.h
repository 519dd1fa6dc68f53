//===- FakeTarget.h - a device that is wrong on purpose ---------------------===//
//
// Owns: a target on host memory whose kv_store is the oracle's with at most one
// planted fault, and manifests for it.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_FAKETARGET_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_FAKETARGET_H

#include "tests/tools/verify/HostTarget.h"

namespace fake {

enum class Fault {
  None,
  SwappedNibble,     ///< one payload byte of one row
  OneTieUp,          ///< 5 s becomes 6 s under scale 0x7E: only a pinned input shows it
  SwappedScales,     ///< two scale bytes of each K row
  StrayBefore,       ///< a byte before the K payload plane
  StrayAfter,        ///< a byte after the last page of the index scales
  PadWritten,        ///< slot -1 lands in the last slot
  WrappedSlot,       ///< slots past the end modulo the pool
  TruncatedSlot,     ///< slots as 32-bit numbers
  TruncatedOffset,   ///< page offsets as 32-bit numbers
  SignedOffset,      ///< page offsets as signed 32-bit numbers made positive
  IgnoredPageStride, ///< pages taken as contiguous
  IgnoredHeadStride, ///< heads taken as contiguous
  IgnoredRowStride,  ///< input rows taken as contiguous
  IndexAtSlots,      ///< the index key at K's slots
  IndexPagesOfK,     ///< the index pool taken as large as K's
  LastRowDropped,
  NoRowsWriteOne, ///< rows == 0 still stores
  InputChanged,
  LaunchFails,
};

class FakeTarget final : public HostTarget {
public:
  explicit FakeTarget(Fault fault = Fault::None, uint64_t largest = UINT64_MAX)
      : HostTarget(largest), fault(fault) {}

  nvfp4rt::Result<void> launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *args, size_t argsSize) override;

private:
  Fault fault;
};

/// Variants of a rank with two KV heads in bf16 that share one kernel (decode, verify, prefill),
/// and one variant of another kernel: fp16, one head, HND, V and index key.
nvfp4rt::Manifest manifest();

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_FAKETARGET_H
