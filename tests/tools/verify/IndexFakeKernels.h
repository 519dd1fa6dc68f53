//===- IndexFakeKernels.h - the kernels of IndexFake ------------------------===//
//
// Owns: what IndexFake launches, one function a family: the oracle's, with the planted
// fault.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKEKERNELS_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKEKERNELS_H

#include "runtime/include/nvfp4rt_args.h"
#include "tests/tools/verify/IndexFake.h"
#include "tools/verify/IndexConfig.h"

#include <cstdint>
#include <limits>

namespace fake {

using verify::index::Config;

inline constexpr float kInf = std::numeric_limits<float>::infinity();

inline int64_t blocksOf(int64_t tokens, const Config &config) {
  return (tokens + config.shape.blockSize - 1) / config.shape.blockSize;
}

void stepMap(const Config &config, const nvfp4rt_step_map_args &args, IndexFault fault);
void indexScore(const Config &config, const nvfp4rt_index_score_args &args, IndexFault fault);
void indexTopk(const Config &config, const nvfp4rt_index_topk_args &args, IndexFault fault);
void topk(const Config &config, const nvfp4rt_topk_args &args, IndexFault fault);
void merge(const Config &config, const nvfp4rt_index_topk_merge_args &args, IndexFault fault);

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_INDEXFAKEKERNELS_H
