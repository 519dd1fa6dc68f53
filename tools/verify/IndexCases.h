//===- IndexCases.h - what both scorers are tried with ----------------------===//
//
// Owns: the steps, numbers and layouts of index_score's and index_topk's checks:
// cases that depend on the guard, cases that run once a kernel, and pools so large
// that byte offsets pass 2^31 and 2^32 (P1).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXCASES_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXCASES_H

#include "tools/verify/IndexRuns.h"

namespace verify::index {

/// A step with data, and how the work is split.
struct Case {
  std::string name; ///< of the data
  Step step;
  DataOptions options;
  std::vector<uint32_t> workers;
  /// index_topk: the first launch forces no block, so that every score shows.
  bool firstUnforced = true;
};

/// Cases for one corner of a guard; `turn` moves the layouts and worker counts.
std::vector<Case> cornerCases(const Config &config, size_t turn);
/// Cases that do not depend on the bucket.
std::vector<Case> kernelCases(const Config &config);
/// Random numbers, whose scores with and without poison past the causal lengths must be equal bit
/// for bit (P5).
Case poisonCase(const Config &config);

/// A case in the largest pools that the target has room for; reports what it skips. Empty when
/// there is no room for any.
std::optional<Case> hugePoolCase(Job &job, const Config &config);

/// "exact values, all live (8 requests, Q 8, 64 rows, 8 live), dense layout"
std::string caseText(const Config &config, const Case &of);

/// The data of a case; a fault when the host has no room. `map` is borrowed.
std::optional<Data> makeData(Job &job, const Config &config, const Case &of, const StepMap &map);

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXCASES_H
