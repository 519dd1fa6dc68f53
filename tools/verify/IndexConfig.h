//===- IndexConfig.h - what a guard says to the block selectors -------------===//
//
// Owns: the shape of a step_map, index_score, topk, index_topk or index_topk_merge
// launch, read from a request.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXCONFIG_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXCONFIG_H

#include "tools/oracle/Index.h"
#include "tools/verify/FamilyChecks.h"
#include "tools/verify/Requests.h"

#include <vector>

namespace verify::index {

/// A family reads the members that it needs; the others keep their defaults.
struct Config {
  nvfp4rt::Request request;
  oracle::Phase phase = oracle::Phase::Decode;
  int64_t queryLen = 1; ///< 0 in prefill
  int64_t requests = 0;
  oracle::IndexShape shape;

  bool prefill() const { return phase == oracle::Phase::Prefill; }
  oracle::StepMapShape stepMapShape() const;
  /// Columns of a full segment: the lists of a (worker, segment).
  int64_t columns() const { return shape.segmentRows * shape.indexHeads; }
};

/// Which fields of the guard a family cannot do without, beside requests.
struct Needs {
  bool step = false;   ///< phase, query_len
  bool scorer = false; ///< dtype, index_format, index_heads, index_head_dim, page_size, block_size
  bool heads = false;  ///< index_heads
  bool blocks = false; ///< block_size
  bool topK = false;   ///< top_k
};
/// Fields that the guard has are read whether needed or not. A needed field that is absent, or a
/// value that no contract allows, is an error.
nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request, Needs needs);

/// The configs of a guard's corner requests; the last one has the most rows. False, and a fault,
/// when one cannot be read.
bool cornerConfigs(Job &job, Needs needs, std::vector<Config> &configs);

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXCONFIG_H
