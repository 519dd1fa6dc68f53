//===- AttentionStep.cpp - a whole step of the sparse path ------------------===//
//
// Owns: what AttentionStep.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/AttentionStep.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"
#include "tools/verify/IndexRuns.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace verify::attention {

namespace {

constexpr uint32_t kWorkers = 16;
/// Rows that are compared with dense attention, which is slow; the others with the list's.
constexpr int64_t kDenseRows = 6;
/// Of the forced blocks, the row's own.
constexpr oracle::Forced kForced{0, 1};

/// Requests with more blocks than a list has entries, fewer, and one; or a chunk that begins in one
/// block and ends in the next, and padding.
index::Step makeStep(const index::Config &config) {
  if (!config.prefill())
    return index::blockCountSteps(config, {config.shape.topK + 4, 5, 1}).front();
  const int64_t block = config.shape.blockSize;
  index::Step step = index::chunkStep(config, 36, (config.shape.topK + 2) * block - 20);
  step.rows += 3;
  return step;
}

class StepRun {
public:
  StepRun(Job &job, const Launchee &own, const index::Config &indexConfig, const Sibling &mapper,
          const Sibling &selector, const Sibling &merger)
      : job(job), own(own), config(own.config), selectorConfig(indexConfig), mapper(mapper),
        selector(selector), merger(merger), step(makeStep(indexConfig)),
        map(index::mapOf(indexConfig, step, kWorkers)), rows(step.rows),
        where(fmt::format("a step of step_map, index_topk and {}: {}, {} rows", own.variant->name,
                          step.name, rows)),
        arena(job, where) {}

  bool run() {
    auto data = index::Data::create(selectorConfig, step, map,
                                    {index::Values::Random, Layout::Dense, 0, false, true, 0, {}},
                                    job.seed);
    std::vector<CacheRequest> requests;
    for (size_t r = 0; r < step.seqLens.size(); ++r)
      requests.push_back({r < static_cast<size_t>(step.live) ? step.seqLens[r] : 0});
    auto cache = Cache::create(config, std::move(requests),
                               {Layout::Dense, config.orders.front(), Tail::NaN, 0, {}}, job.seed);
    if (!data || !cache) {
      arena.fault(data ? cache.error().message : data.error().message);
      return false;
    }
    auto placed = PlacedCache::create(job.target, *cache, job.seed);
    if (!placed) {
      arena.fault(placed.error().message);
      return false;
    }
    makeQueries();
    return launchMap() && launchSelectors(*data) && launchAttention(*placed) && compare(*cache) &&
           placed->unchanged(job);
  }

private:
  Job &job;
  const Launchee &own;
  const Config &config;
  const index::Config &selectorConfig;
  const Sibling &mapper, &selector, &merger;
  index::Step step;
  index::StepMap map;
  int64_t rows;
  std::string where;
  Arena arena;
  Arena::Buffer stepRows = 0, segments = 0, work = 0, lists = 0, ids = 0, out = 0, partial = 0;
  std::vector<uint16_t> queries;

  int64_t listBytes() const { return config.shape.topK * 4; }
  int64_t idsRow() const { return config.shape.kvHeads * listBytes(); }
  int64_t outRow() const { return config.qHeads() * config.headBytes(); }

  void makeQueries() {
    oracle::Random random(job.seed);
    for (int64_t i = 0; i < rows * config.qHeads() * config.shape.headDim; ++i)
      queries.push_back(
          oracle::roundBits(double(random.below(1 << 12)) / (1 << 11) - 1, config.shape.dtype));
  }

  bool launchMap() {
    stepRows = arena.output("step_rows", map.rows.size() * sizeof(nvfp4rt_step_row));
    segments = arena.output("segments",
                            static_cast<uint64_t>(index::segmentCapacity(selectorConfig, step)) *
                                sizeof(nvfp4rt_segment));
    work = arena.output("work", map.work.size() * sizeof(nvfp4rt_work));
    nvfp4rt_step_map_args args = index::stepMapArgs(step, kWorkers);
    args.seq_lens = arena.device<const int32_t>(arena.input("seq_lens", step.seqLens));
    args.cu_seqlens_q = arena.device<const int32_t>(arena.input("cu_seqlens_q", step.starts));
    args.live_requests =
        arena.device<const int32_t>(arena.input("live_requests", &step.live, sizeof(step.live)));
    args.step_rows = arena.device<nvfp4rt_step_row>(stepRows);
    args.segments = arena.device<nvfp4rt_segment>(segments);
    args.work = arena.device<nvfp4rt_work>(work);
    return arena.launch(*mapper.variant, mapper.request, args);
  }

  template <typename Args> void setMap(Args &args) const {
    args.step_rows = arena.device<const nvfp4rt_step_row>(stepRows);
    args.segments = arena.device<const nvfp4rt_segment>(segments);
  }

  bool launchSelectors(const index::Data &data) {
    const index::Data::Placed placed = data.place(arena, map);
    lists = arena.output("index partial",
                         static_cast<uint64_t>(index::ListPlan(selectorConfig).size(map)) * 8);
    nvfp4rt_index_topk_args args{};
    data.setDeviceArgs(args, arena, placed, map);
    setMap(args);
    args.work = arena.device<const nvfp4rt_work>(work);
    args.partial = arena.device<uint64_t>(lists);
    args.init_blocks = kForced.initBlocks;
    args.local_blocks = kForced.localBlocks;
    if (!arena.launch(*selector.variant, selector.request, args))
      return false;
    ids = arena.output("ids", static_cast<uint64_t>(rows * idsRow()));
    nvfp4rt_index_topk_merge_args merge{};
    setMap(merge);
    merge.partial = arena.device<const uint64_t>(lists);
    merge.ids = arena.device<int32_t>(ids);
    merge.ids_row_stride = idsRow();
    merge.ids_head_stride = listBytes();
    merge.rows = static_cast<uint32_t>(rows);
    return arena.launch(*merger.variant, merger.request, merge);
  }

  bool launchAttention(const PlacedCache &cache) {
    const Arena::Buffer q = arena.input("q", queries);
    out = arena.output("out", static_cast<uint64_t>(rows * outRow()));
    const uint64_t workspace = workspaceBytes(*own.variant);
    nvfp4rt_sparse_attention_args args{};
    cache.setArgs(args);
    args.q = {arena.device<const void>(q), outRow(), config.headBytes()};
    args.step_rows = arena.device<const nvfp4rt_step_row>(stepRows);
    args.ids = arena.device<const int32_t>(ids);
    args.ids_row_stride = idsRow();
    args.ids_head_stride = listBytes();
    args.out = arena.device<void>(out);
    args.out_row_stride = outRow();
    args.out_head_stride = config.headBytes();
    if (workspace > 0) {
      partial = arena.output("partial", workspace);
      args.partial = arena.device<float>(partial);
    }
    args.score_scale = config.shape.scoreScale;
    args.rows = static_cast<uint32_t>(rows);
    if (!arena.launch(*own.variant, config.request, args))
      return false;
    if (workspace == 0)
      return true;
    const auto merge = findSibling(job.manifest, "sparse_attention_merge", config.request);
    if (!merge) {
      arena.fault("expected a sparse_attention_merge in the bundle, found none");
      return false;
    }
    nvfp4rt_sparse_attention_merge_args last{};
    last.partial = arena.device<const float>(partial);
    last.out = args.out;
    last.out_row_stride = args.out_row_stride;
    last.out_head_stride = args.out_head_stride;
    last.rows = args.rows;
    return arena.launch(*merge->variant, merge->request, last);
  }

  bool compare(const Cache &cache) {
    std::memcpy(arena.expected<std::byte>(stepRows), map.rows.data(),
                map.rows.size() * sizeof(nvfp4rt_step_row));
    // What the families between leave is their own checks' matter.
    for (const auto &[buffer, size] :
         {std::pair(segments, static_cast<uint64_t>(index::segmentCapacity(selectorConfig, step)) *
                                  sizeof(nvfp4rt_segment)),
          std::pair(work, map.work.size() * sizeof(nvfp4rt_work)),
          std::pair(lists, static_cast<uint64_t>(index::ListPlan(selectorConfig).size(map)) * 8),
          std::pair(ids, static_cast<uint64_t>(rows * idsRow())),
          std::pair(out, static_cast<uint64_t>(rows * outRow()))})
      arena.accept(buffer, 0, size);
    if (const uint64_t workspace = workspaceBytes(*own.variant))
      arena.accept(partial, 0, workspace);
    if (!arena.compare())
      return false;
    oracle::AttentionInputs inputs{{queries.data(), outRow(), config.headBytes()},
                                   cache.k(),
                                   cache.v(),
                                   map.rows.data(),
                                   arena.expected<const int32_t>(ids),
                                   idsRow(),
                                   listBytes()};
    const int64_t apart = (rows + kDenseRows - 1) / kDenseRows;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t h = 0; h < config.shape.kvHeads; ++h)
        if (!compareRow(inputs, row, h, row % apart == 0 || row + 1 == rows))
          return false;
    return true;
  }

  bool compareRow(const oracle::AttentionInputs &inputs, int64_t row, int64_t kvHead, bool dense) {
    const oracle::AttentionShape &shape = config.shape;
    const nvfp4rt_step_row &of = map.rows[static_cast<size_t>(row)];
    const int32_t *list = inputs.ids + (row * shape.kvHeads + kvHead) * shape.topK;
    std::vector<int32_t> blocks;
    std::copy_if(list, list + shape.topK, std::back_inserter(blocks),
                 [](int32_t id) { return id >= 0; });
    const int64_t valid = (of.causal_len + shape.blockSize - 1) / shape.blockSize;
    const std::set<int32_t> distinct(blocks.begin(), blocks.end());
    if (static_cast<int64_t>(distinct.size()) != std::min(valid, shape.topK) ||
        distinct.size() != blocks.size() ||
        (valid > 0 && *distinct.rbegin() != static_cast<int32_t>(valid - 1))) {
      arena.fault(fmt::format("row {} kv head {}: expected {} different blocks of {}, the last one "
                              "among them, found [{}]; rules K2, K3",
                              row, kvHead, std::min(valid, shape.topK), valid,
                              fmt::join(blocks, " ")));
      return false;
    }
    const std::vector<double> reference =
        dense ? oracle::denseAttention(shape, inputs, static_cast<uint32_t>(row), kvHead, blocks)
              : oracle::sparseAttention(shape, inputs, static_cast<uint32_t>(row), kvHead);
    const double bound = oracle::attentionBound(shape.dtype);
    const auto dims = static_cast<size_t>(shape.headDim);
    for (int64_t j = 0; j < shape.groupHeads; ++j) {
      const int64_t head = kvHead * shape.groupHeads + j;
      const auto *found =
          arena.expected<const uint16_t>(out) + (row * outRow() + head * config.headBytes()) / 2;
      const double error = oracle::relativeL2(
          std::span(reference).subspan(static_cast<size_t>(j) * dims, dims), found, shape.dtype);
      job.report.worstError = std::max(job.report.worstError, error / bound);
      job.report.values += dims;
      if (error <= bound)
        continue;
      arena.fault(fmt::format("row {} (request {}, causal_len {}) q head {}: expected {} attention "
                              "over blocks [{}] within {:.3g} in relative L2, found {:.3g}; rules "
                              "A1, A6, S1",
                              row, of.request, of.causal_len, head, dense ? "dense" : "sparse",
                              fmt::join(blocks, " "), bound, error));
      return false;
    }
    return true;
  }
};

} // namespace

bool runStep(Job &job, const Launchee &own) {
  const nvfp4rt::Request &request = own.config.request;
  std::optional<Sibling> siblings[3];
  constexpr std::string_view kFamilies[] = {"step_map", "index_topk", "index_topk_merge"};
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    siblings[i] = findSibling(job.manifest, kFamilies[i], request);
    if (!siblings[i]) {
      job.report.skipped.push_back(fmt::format("a whole step with {}: no {} in this bundle",
                                               own.variant->name, kFamilies[i]));
      return true;
    }
  }
  auto selector =
      index::readConfig(siblings[1]->request, {.step = true, .scorer = true, .topK = true});
  if (!selector) {
    job.fault(selector.error().message);
    return false;
  }
  if (selector->shape.indexHeads != own.config.shape.kvHeads ||
      selector->shape.blockSize != own.config.shape.blockSize ||
      selector->shape.topK != own.config.shape.topK) {
    job.fault(fmt::format("index_topk: expected the kv heads, blocks and top_k of {}, found {}",
                          own.variant->name, siblings[1]->request.text()));
    return false;
  }
  return StepRun(job, own, *selector, *siblings[0], *siblings[1], *siblings[2]).run();
}

} // namespace verify::attention
