//===- IndexRuns.h - checked launches of the block selectors ----------------===//
//
// Owns: one launch each of index_score, topk, index_topk and index_topk_merge, with
// the comparison of all that it may touch. A family's check is made of these; the
// check of index_topk launches the other families of its bundle through them too.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXRUNS_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXRUNS_H

#include "tools/verify/IndexData.h"

#include <span>

namespace verify::index {

/// What to launch. The job's own variant, or a sibling of another family.
struct Launchee {
  const nvfp4rt::Variant *variant = nullptr;
  nvfp4rt::Request request;
};
std::optional<Launchee> siblingOf(const Job &job, std::string_view family, const Config &config);

/// A value for every (row, head, valid block) of a step.
template <typename T> class PerBlock {
public:
  PerBlock(const Config &config, const std::vector<nvfp4rt_step_row> &rows)
      : heads(static_cast<size_t>(config.shape.indexHeads)) {
    size_t at = 0;
    for (const nvfp4rt_step_row &row : rows)
      for (size_t head = 0; head <= heads; ++head) {
        begins.push_back(at);
        if (head < heads)
          at += static_cast<size_t>((row.causal_len + config.shape.blockSize - 1) /
                                    config.shape.blockSize);
      }
    values.resize(at);
  }
  std::span<T> of(size_t row, size_t head) {
    return std::span<T>(values).subspan(begin(row, head), size(row, head));
  }
  std::span<const T> of(size_t row, size_t head) const {
    return std::span<const T>(values).subspan(begin(row, head), size(row, head));
  }
  size_t total() const { return values.size(); }

private:
  size_t heads;
  std::vector<size_t> begins; ///< heads + 1 a row
  std::vector<T> values;
  size_t begin(size_t row, size_t head) const { return begins[row * (heads + 1) + head]; }
  size_t size(size_t row, size_t head) const { return begin(row, head + 1) - begin(row, head); }
};

using Scores = PerBlock<oracle::Score>;
/// The oracle's scores. `exact` tells whether all of them are.
Scores oracleScores(const Config &config, const Data &data, const StepMap &map, bool &exact);

/// K2, K3 on the bounds of a score: the least and the greatest key that a kernel may make of it.
struct KeyBounds {
  uint64_t least = 0, greatest = 0;
};
KeyBounds keyBounds(const oracle::Score &score, int64_t block, int64_t validBlocks,
                    oracle::Forced forced);

/// index_score. Each score found goes to `found`, if given.
bool runIndexScore(Job &job, const Launchee &launchee, const std::string &where,
                   const Config &config, const Data &data, const StepMap &map, Layout layout,
                   const Scores &expected, PerBlock<float> *found);

/// topk on scores, one a (row, head, valid block): the ids must be the oracle's.
bool runTopk(Job &job, const Launchee &launchee, const std::string &where, const Config &config,
             const std::vector<nvfp4rt_step_row> &rows, const PerBlock<float> &scores,
             oracle::Forced forced, Layout layout);

/// Where a list is in the workspace, in keys: index_topk of nvfp4rt_args.h.
struct ListPlan {
  int64_t columns = 0, topK = 0;
  ListPlan(const Config &config) : columns(config.columns()), topK(config.shape.topK) {}
  int64_t at(int64_t worker, int64_t segment, int64_t column) const {
    return ((worker + segment) * columns + column) * topK;
  }
  /// Keys in the workspace.
  int64_t size(const StepMap &map) const {
    return at(map.workers() + static_cast<int64_t>(map.segments.size()), 0, 0);
  }
};
/// The blocks of a segment that a worker has: [first, second).
std::pair<int64_t, int64_t> blocksOf(const StepMap &map, int64_t worker, int64_t segment);

/// index_topk under a partition. `found` gets the workspace, if given.
bool runIndexTopk(Job &job, const Launchee &launchee, const std::string &where,
                  const Config &config, const Data &data, const StepMap &map,
                  const Scores &expected, oracle::Forced forced, std::vector<uint64_t> *found);

/// index_topk_merge on a workspace: the ids must be the largest keys of each row's lists.
bool runMerge(Job &job, const Launchee &launchee, const std::string &where, const Config &config,
              const StepMap &map, const std::vector<uint64_t> &lists, Layout layout);

/// Ids of every (row, head), top_k each.
using IdLists = std::vector<std::vector<int32_t>>;
/// K3 over the lists of each row, as index_topk_merge does it.
IdLists mergedIds(const Config &config, const StepMap &map, const std::vector<uint64_t> &lists);
/// K2, K3 over scores, as topk does it.
IdLists selectedIds(const Config &config, const std::vector<nvfp4rt_step_row> &rows,
                    const PerBlock<float> &scores, oracle::Forced forced);

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXRUNS_H
