//===- IndexSteps.h - steps that block selectors are tried with -------------===//
//
// Owns: request lengths and live counts with the corners of S1..S5, and the
// oracle's step map of a step.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXSTEPS_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXSTEPS_H

#include "tools/verify/IndexConfig.h"

#include <string>
#include <vector>

namespace verify::index {

/// The inputs of a step map.
struct Step {
  std::string name;
  std::vector<int32_t> seqLens; ///< one a request; stale where the request is padding
  std::vector<int32_t> starts;  ///< prefill: cu_seqlens_q
  int32_t live = 0;
  int64_t rows = 0; ///< padding included
};

/// Entries of the `segments` array.
int64_t segmentCapacity(const Config &config, const Step &step);
/// Arguments of step_map without outputs, on host memory of `step`.
nvfp4rt_step_map_args stepMapArgs(const Step &step, uint32_t workers);

/// What the oracle makes of a step.
struct StepMap {
  std::vector<nvfp4rt_step_row> rows;
  std::vector<nvfp4rt_segment> segments; ///< as many as there are
  std::vector<nvfp4rt_work> work;        ///< workers + 1
  /// `segments` up to its capacity: entries past the number of segments are not written (and here
  /// nonsense).
  std::vector<nvfp4rt_segment> allSegments;
  uint32_t workers() const { return static_cast<uint32_t>(work.size() - 1); }
  int64_t blocks() const;
};
StepMap mapOf(const Config &config, const Step &step, uint32_t workers);

/// Every corner of the step map: far more blocks than a scorer could be tried with.
std::vector<Step> mapSteps(const Config &config);

/// Two steps for a scorer: every request live, the last group incomplete where their number is odd;
/// and a padded one. A few requests have up to 18 blocks, some of the others 1 or 2.
std::vector<Step> scorerSteps(const Config &config);

/// Steps whose requests have exactly these block counts, the last block incomplete; as many
/// requests a step as the config has room for.
std::vector<Step> blockCountSteps(const Config &config, const std::vector<int64_t> &counts);
/// One live request of `prefix` + `rows` tokens, in prefill with that many query rows.
Step chunkStep(const Config &config, int64_t rows, int64_t prefix);
/// Rows without a live request.
Step blindStep(const Config &config);
/// One live request of this length; in prefill its last three tokens are query rows.
Step lengthStep(const Config &config, int64_t tokens);

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXSTEPS_H
