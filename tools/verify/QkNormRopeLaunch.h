//===- QkNormRopeLaunch.h - one checked qk_norm_rope_store launch -----------===//
//
// Owns: what a launch is made of, and the comparison of all that it may touch: q and
// index_q against float64, the cache against the quantization of the rounded values.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_QKNORMROPELAUNCH_H
#define NVFP4GEN_TOOLS_VERIFY_QKNORMROPELAUNCH_H

#include "tools/verify/FamilyChecks.h"
#include "tools/verify/QkNormRopeInputs.h"

#include <optional>
#include <string>

namespace verify::norm_rope {

/// Row and head strides that a launch is tried with.
enum class Strides : uint8_t {
  Small,
  HugeRows,  ///< rows, and rows of cos_sin, so far apart that byte offsets pass 2^31 and 2^32
  HugeHeads, ///< the same for heads of q and index_q
};

struct Launch {
  const nvfp4rt::Request &request;
  const Inputs &inputs;
  /// Dense and Gapped write to buffers of their own; Interleaved writes q and index_q in place.
  Layout layout = Layout::Dense;
  Order order = Order::NHD;
  int64_t pages = 0, indexPages = 0;
  std::vector<int64_t> slots, indexSlots; ///< one a row each
  Strides strides = Strides::Small;
  bool hugePools = false; ///< compare only around the rows, as in kv_store
  std::string what;       ///< names the check in messages
};

/// Values that the kernel has rounded to model dtype, dense.
struct Rounded {
  std::vector<uint16_t> q, indexQ; ///< [rows][heads][headDim]
  std::vector<uint16_t> k, indexK; ///< before they are quantized
};

enum class Ran : uint8_t { Right, Wrong, NoRoom };

/// Run a launch of job.variant and compare; counts and faults go to job.report.
///
/// q and index_q are compared with float64 (oracle::rounds) and filled into `rounded`. The cache
/// has to hold, byte for byte, what kv_store makes of the values that K and index key are rounded
/// to (W2). A kernel does not write them: `keysFrom` has them, from a launch of
/// showingKeys(inputs). Without it this launch is such a one, and its first q and index_q heads are
/// K and index key.
///
/// NoRoom, and a line in report.skipped, when a huge launch has no room.
Ran runLaunch(Job &job, const Launch &launch, const Rounded *keysFrom, Rounded &rounded);

/// W2 in full: kv_store of the bundle, launched on the rounded rows, leaves the bytes that this
/// family has left (which runLaunch compared with the same). True when it does, or the bundle has
/// no kv_store for the request, which is then in report.skipped.
bool runStaged(Job &job, const Launch &launch, const Rounded &rounded);

} // namespace verify::norm_rope

#endif // NVFP4GEN_TOOLS_VERIFY_QKNORMROPELAUNCH_H
