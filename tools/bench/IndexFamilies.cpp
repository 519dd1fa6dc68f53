//===- IndexFamilies.cpp - the benches of the block selectors -----------------===//
//
// Owns: benchStepMap, benchIndexScore, benchTopk, benchIndexTopk and
// benchIndexTopkMerge (rules S1 to S4, K1 to K5). A page here is the index keys of one
// sparse block, read for the rows of one segment.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/FamilyBenches.h"
#include "tools/bench/IndexStep.h"
#include "tools/bench/Inputs.h"

namespace bench {

using nvfp4rt::Field;
using nvfp4rt::Variant;

namespace {

/// Wave instructions that a page of `columns` = rows x heads needs at least: 64 lanes convert two
/// codes an instruction and multiply two values by their scale; an MFMA of 16 x 16 x 32 for 16
/// columns each; the end of a loop.
double pageInstructions(const IndexConfig &config, uint64_t columns) {
  const auto codes = static_cast<double>(config.blockSize * config.indexHeadDim);
  const double converts = codes / 128, multiplies = codes / 128, loop = 2;
  const uint64_t tiles = (columns + 15) / 16;
  return converts + multiplies + static_cast<double>(tiles) * codes / (16 * 32) + loop;
}

/// A launch of a page scorer without its outputs.
struct Scorer {
  const Variant *variant = nullptr;
  IndexConfig config;
  StepMap map;
  IndexInputs inputs;

  static Result<Scorer> create(Device &device, std::string_view family, const Shape &shape) {
    auto variant = device.select(family, shape);
    if (!variant)
      return errorOf(variant);
    auto config = indexConfigOf(**variant);
    if (!config)
      return errorOf(config);
    auto map = StepMap::launched(device, shape, config->blockSize);
    if (!map)
      return errorOf(map);
    auto inputs = IndexInputs::create(device, shape, *config);
    if (!inputs)
      return errorOf(inputs);
    return Scorer{*variant, *config, std::move(*map), std::move(*inputs)};
  }

  uint64_t columns() const {
    return map.mostSegmentRows() * static_cast<uint64_t>(config.indexHeads);
  }

  Demand demand() const {
    Demand demand;
    demand.units = map.blocks();
    demand.floorRead = map.blocks() * config.blockBytes();
    demand.floorInstructions = pageInstructions(config, columns());
    demand.imbalance = map.imbalance();
    return demand;
  }
};

Result<Outcome> runStepMap(Device &device, const Shape &shape) {
  auto variant = device.select("step_map", shape);
  if (!variant)
    return errorOf(variant);
  auto blockSize = configOf(**variant, Field::block_size);
  if (!blockSize)
    return errorOf(blockSize);
  auto map = StepMap::create(device, shape, *blockSize);
  if (!map)
    return errorOf(map);
  auto measured = device.measure(**variant, map->args());
  if (!measured)
    return errorOf(measured);
  if (auto checked = map->check(); !checked)
    return errorOf(checked);
  Demand demand;
  demand.units = map->rows();
  demand.floorRead = map->inputBytes();
  demand.floorWritten = map->outputBytes();
  demand.imbalance = map->imbalance();
  return Outcome{demand, std::move(*measured)};
}

Result<Outcome> runIndexScore(Device &device, const Shape &shape) {
  auto scorer = Scorer::create(device, "index_score", shape);
  if (!scorer)
    return errorOf(scorer);
  const uint64_t heads = static_cast<uint64_t>(scorer->config.indexHeads);
  const uint64_t perRow = static_cast<uint64_t>(scorer->map.mostBlocks()) * sizeof(float);
  auto scores = device.allocate("scores", heads * scorer->map.rows() * perRow);
  if (!scores)
    return errorOf(scores);
  nvfp4rt_index_score_args args{};
  scorer->inputs.apply(args, scorer->map);
  args.scores = scores->as<float>();
  args.score_row_stride = static_cast<int64_t>(perRow);
  args.score_head_stride = static_cast<int64_t>(scorer->map.rows() * perRow);
  auto measured = device.measure(*scorer->variant, args);
  if (!measured)
    return errorOf(measured);
  Demand demand = scorer->demand();
  demand.floorWritten = scorer->map.rowBlocks() * heads * sizeof(float);
  return Outcome{demand, std::move(*measured)};
}

Result<Outcome> runTopk(Device &device, const Shape &shape) {
  auto variant = device.select("topk", shape);
  if (!variant)
    return errorOf(variant);
  int64_t blockSize = 0, heads = 0, topK = 0;
  if (auto read = readFields(
          **variant,
          {{Field::block_size, &blockSize}, {Field::index_heads, &heads}, {Field::top_k, &topK}});
      !read)
    return errorOf(read);
  auto map = StepMap::launched(device, shape, blockSize);
  if (!map)
    return errorOf(map);
  Buffers buffers;
  Allocator allocator(device, buffers);
  const IdLists ids = IdLists::create(allocator, map->rows(), heads, topK);
  const uint64_t perRow = static_cast<uint64_t>(map->mostBlocks()) * sizeof(float);
  Buffer *scores = allocator.add("scores", ids.lists * perRow);
  if (auto allocated = allocator.result(); !allocated)
    return errorOf(allocated);
  fillScores(*scores);
  nvfp4rt_topk_args args{};
  args.scores = scores->as<float>();
  args.score_row_stride = static_cast<int64_t>(perRow);
  args.score_head_stride = static_cast<int64_t>(map->rows() * perRow);
  args.step_rows = map->args().step_rows;
  ids.apply(args);
  args.rows = static_cast<uint32_t>(map->rows());
  args.init_blocks = kInitBlocks;
  args.local_blocks = kLocalBlocks;
  auto measured = device.measure(**variant, args);
  if (!measured)
    return errorOf(measured);
  Demand demand;
  demand.units = ids.lists;
  demand.floorRead = map->rowBlocks() * static_cast<uint64_t>(heads) * sizeof(float) +
                     map->rows() * sizeof(nvfp4rt_step_row);
  demand.floorWritten = ids.bytes();
  return Outcome{demand, std::move(*measured)};
}

/// index_topk with its workspace.
struct TopkScorer {
  Scorer scorer;
  int64_t topK = 0;
  Buffer partial;

  static Result<TopkScorer> create(Device &device, const Shape &shape) {
    auto scorer = Scorer::create(device, "index_topk", shape);
    if (!scorer)
      return errorOf(scorer);
    auto topK = configOf(*scorer->variant, Field::top_k);
    if (!topK)
      return errorOf(topK);
    TopkScorer result{std::move(*scorer), *topK, {}};
    const uint64_t places = kWorkers + result.scorer.map.segments();
    auto partial =
        device.allocate("partial", places * result.scorer.columns() * result.listBytes());
    if (!partial)
      return errorOf(partial);
    result.partial = std::move(*partial);
    return result;
  }

  uint64_t listBytes() const { return static_cast<uint64_t>(topK) * sizeof(uint64_t); }

  nvfp4rt_index_topk_args args() const {
    nvfp4rt_index_topk_args args{};
    scorer.inputs.apply(args, scorer.map);
    args.partial = partial.as<uint64_t>();
    args.init_blocks = kInitBlocks;
    args.local_blocks = kLocalBlocks;
    return args;
  }

  /// Lists that a merge has to look at.
  uint64_t partialLists() const {
    uint64_t lists = 0;
    for (const nvfp4rt_segment &segment : scorer.map.segmentList())
      lists += static_cast<uint64_t>(segment.worker_count) * static_cast<uint64_t>(segment.rows);
    return lists * static_cast<uint64_t>(scorer.config.indexHeads);
  }
};

Result<Outcome> runIndexTopk(Device &device, const Shape &shape) {
  auto topk = TopkScorer::create(device, shape);
  if (!topk)
    return errorOf(topk);
  auto measured = device.measure(*topk->scorer.variant, topk->args());
  if (!measured)
    return errorOf(measured);
  return Outcome{topk->scorer.demand(), std::move(*measured)};
}

Result<Outcome> runIndexTopkMerge(Device &device, const Shape &shape) {
  auto variant = device.select("index_topk_merge", shape);
  if (!variant)
    return errorOf(variant);
  auto topk = TopkScorer::create(device, shape);
  if (!topk)
    return errorOf(topk);
  if (auto scored = device.run(*topk->scorer.variant, topk->args()); !scored)
    return errorOf(scored);
  const StepMap &map = topk->scorer.map;
  Buffers buffers;
  Allocator allocator(device, buffers);
  const IdLists ids =
      IdLists::create(allocator, map.rows(), topk->scorer.config.indexHeads, topk->topK);
  if (auto allocated = allocator.result(); !allocated)
    return errorOf(allocated);
  nvfp4rt_index_topk_merge_args args{};
  args.partial = topk->partial.as<uint64_t>();
  args.step_rows = map.args().step_rows;
  args.segments = map.args().segments;
  ids.apply(args);
  args.rows = static_cast<uint32_t>(map.rows());
  auto measured = device.measure(**variant, args);
  if (!measured)
    return errorOf(measured);
  Demand demand;
  demand.units = ids.lists;
  demand.floorRead = topk->partialLists() * topk->listBytes() +
                     map.rows() * sizeof(nvfp4rt_step_row) +
                     map.segments() * sizeof(nvfp4rt_segment);
  demand.floorWritten = ids.bytes();
  return Outcome{demand, std::move(*measured)};
}

} // namespace

const FamilyBench &benchStepMap() {
  static const FamilyBench bench{
      "row", "lengths read once; row map, segments and work partition written once",
      contextShapes(), runStepMap};
  return bench;
}

const FamilyBench &benchIndexScore() {
  static const FamilyBench bench{
      "page", "payload and scale bytes of each page once a segment, each score written once",
      contextShapes(), runIndexScore};
  return bench;
}

const FamilyBench &benchTopk() {
  static const FamilyBench bench{"list",
                                 "visible scores and the row map read once, ids written once",
                                 contextShapes(), runTopk};
  return bench;
}

const FamilyBench &benchIndexTopk() {
  static const FamilyBench bench{"page", "payload and scale bytes of each page once a segment",
                                 contextShapes(), runIndexTopk};
  return bench;
}

const FamilyBench &benchIndexTopkMerge() {
  static const FamilyBench bench{"list",
                                 "partial lists, row map and segments read once, ids written once",
                                 contextShapes(), runIndexTopkMerge};
  return bench;
}

} // namespace bench
