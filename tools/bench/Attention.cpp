//===- Attention.cpp - the benches of sparse attention ------------------------===//
//
// Owns: benchSparseAttention and benchSparseAttentionMerge (rules A1 to A6). A page here
// is K and V of one kv head in one sparse block, for one row that has chosen it.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/FamilyBenches.h"
#include "tools/bench/IndexStep.h"
#include "tools/bench/Inputs.h"

#include <algorithm>
#include <memory>
#include <random>

namespace bench {

using nvfp4rt::Field;
using nvfp4rt::Variant;

namespace {

/// Of 16 blocks that a row has chosen, the next row of its request has other ones in so many
/// places.
constexpr int64_t kChanging = 2;

/// What a variant was specialized for.
struct Config {
  int64_t dtype = 0, qHeads = 0, kvHeads = 0, headDim = 0, topK = 0;
  int64_t pageSize = 0, blockSize = 0;
  bool hnd = false;

  int64_t headBytes() const { return 2 * headDim; }
  uint64_t outBytes(uint64_t rows) const {
    return rows * static_cast<uint64_t>(qHeads * headBytes());
  }
  /// Of K and V of a token and kv head: payload and scales.
  uint64_t tokenBytes() const { return static_cast<uint64_t>(2 * (headDim / 2 + headDim / 16)); }
  /// Of the partial results.
  uint64_t partialBytes(uint64_t rows) const {
    const int64_t parts = ceilDiv(topK, NVFP4RT_ATTENTION_PART);
    return rows * static_cast<uint64_t>(kvHeads * parts * 16 * (headDim + 2) * 4);
  }
};

Result<Config> configFor(const Variant &variant) {
  Config config;
  if (auto read = readFields(variant, {{Field::dtype, &config.dtype},
                                       {Field::q_heads, &config.qHeads},
                                       {Field::kv_heads, &config.kvHeads},
                                       {Field::head_dim, &config.headDim},
                                       {Field::top_k, &config.topK},
                                       {Field::page_size, &config.pageSize},
                                       {Field::block_size, &config.blockSize}});
      !read)
    return errorOf(read);
  if (const nvfp4rt::Term *order = variant.guard.find(Field::plane_order))
    config.hnd = nvfp4rt::valueText(Field::plane_order, order->values.front()) == "hnd";
  return config;
}

uint64_t workspaceOf(const Variant &variant) {
  const nvfp4rt::Term *requests = variant.guard.find(Field::requests);
  return variant.workspace.fixed +
         variant.workspace.perRequest *
             (requests ? static_cast<uint64_t>(requests->values.back()) : 0);
}

/// Wave instructions that a page needs at least: 64 lanes convert two codes an instruction and
/// multiply two values by their scale, for K and for V; MFMAs of 16 x 16 x 32 for both products;
/// an exponential and its sum for each of 16 heads and each token.
double pageInstructions(const Config &config) {
  const auto codes = static_cast<double>(2 * config.blockSize * config.headDim);
  const double converts = codes / 128, multiplies = codes / 128, products = codes / (16 * 32);
  return converts + multiplies + products + 2 * static_cast<double>(config.blockSize) * 16 / 64;
}

/// Ids of every (row, kv head), and what they add up to.
struct Chosen {
  std::vector<int32_t> ids;
  uint64_t pages = 0, tokens = 0;

  Chosen(const Config &config, std::span<const nvfp4rt_step_row> rows) {
    std::mt19937_64 random(1);
    std::vector<std::vector<int32_t>> lists(static_cast<size_t>(config.kvHeads));
    int32_t request = -1;
    for (const nvfp4rt_step_row &row : rows) {
      const int64_t blocks = ceilDiv(row.causal_len, config.blockSize);
      for (std::vector<int32_t> &list : lists) {
        if (row.request != request)
          list.clear();
        choose(config, list, blocks, random);
        for (size_t i = 0; i < static_cast<size_t>(config.topK); ++i)
          ids.push_back(i < list.size() ? list[i] : -1);
        pages += list.size();
        for (int32_t id : list)
          tokens += static_cast<uint64_t>(
              std::min<int64_t>(config.blockSize, row.causal_len - id * config.blockSize));
      }
      request = row.request;
    }
  }

private:
  /// The list of the row after: most of the blocks of the row before, and the row's own.
  static void choose(const Config &config, std::vector<int32_t> &list, int64_t blocks,
                     std::mt19937_64 &random) {
    const auto size = static_cast<size_t>(std::min(config.topK, blocks));
    const auto self = static_cast<int32_t>(blocks - 1);
    std::erase(list, self);
    if (list.size() == size)
      list.pop_back();
    for (int64_t i = 0; i < kChanging * config.topK / 16 && !list.empty(); ++i)
      list.erase(list.begin() + static_cast<ptrdiff_t>(random() % list.size()));
    while (list.size() + 1 < size)
      if (const auto id = static_cast<int32_t>(random() % static_cast<uint64_t>(blocks - 1));
          std::ranges::find(list, id) == list.end())
        list.insert(list.begin() + static_cast<ptrdiff_t>(random() % (list.size() + 1)), id);
    if (size > 0) // K2 forces it to the front
      list.insert(list.begin(), self);
  }
};

/// A launch of sparse_attention.
class Launch {
public:
  static Result<std::unique_ptr<Launch>> create(Device &device, const Shape &shape) {
    auto variant = device.select("sparse_attention", shape);
    if (!variant)
      return errorOf(variant);
    auto config = configFor(**variant);
    if (!config)
      return errorOf(config);
    auto map = StepMap::launched(device, shape, config->blockSize);
    if (!map)
      return errorOf(map);
    auto launch = std::make_unique<Launch>(**variant, *config, std::move(*map));
    if (auto filled = launch->fill(device, shape); !filled)
      return errorOf(filled);
    return launch;
  }

  Launch(const Variant &variant, const Config &config, StepMap map)
      : variant(variant), config(config), map(std::move(map)) {}

  const Variant &variant;
  Config config;
  StepMap map;
  nvfp4rt_sparse_attention_args args{};
  Demand demand;

private:
  Buffers buffers;

  void addPlane(Allocator &allocator, std::string name, bool scale, nvfp4rt_plane &plane) {
    const int64_t row = config.headDim / (scale ? 16 : 2);
    const int64_t page = config.pageSize * config.kvHeads * row;
    Buffer *pool = allocator.add(std::move(name), static_cast<uint64_t>(args.pages * page));
    if (!pool)
      return;
    scale ? fillScales(*pool) : fillCodes(*pool);
    plane = {pool->data(), page, config.hnd ? row : config.kvHeads * row,
             config.hnd ? config.pageSize * row : row};
  }

  Result<void> fill(Device &device, const Shape &shape) {
    Allocator allocator(device, buffers);
    const uint64_t rows = map.rows(), workspace = workspaceOf(variant);
    const BlockTable table = BlockTable::create(allocator, shape.seqLens(), config.pageSize);
    args.pages = table.pages;
    addPlane(allocator, "k_payload", false, args.k_payload);
    addPlane(allocator, "k_scale", true, args.k_scale);
    addPlane(allocator, "v_payload", false, args.v_payload);
    addPlane(allocator, "v_scale", true, args.v_scale);
    Buffer *q = allocator.add("q", config.outBytes(rows));
    const IdLists ids = IdLists::create(allocator, rows, config.kvHeads, config.topK);
    Buffer *out = allocator.add("out", config.outBytes(rows));
    Buffer *partial = allocator.add("partial", workspace);
    if (auto allocated = allocator.result(); !allocated)
      return allocated;

    fillValues(*q, config.dtype);
    const Chosen chosen(config, {map.args().step_rows, rows});
    std::ranges::copy(chosen.ids, ids.ids);

    args.q = {q->data(), config.qHeads * config.headBytes(), config.headBytes()};
    args.block_table = table.entries;
    args.table_stride = table.stride;
    args.step_rows = map.args().step_rows;
    ids.apply(args);
    args.out = out->data();
    args.out_row_stride = args.q.row_stride;
    args.out_head_stride = args.q.head_stride;
    args.partial = partial->as<float>();
    args.score_scale = usualScoreScale(config.headDim);
    args.rows = static_cast<uint32_t>(rows);

    demand.units = chosen.pages;
    demand.floorRead = chosen.tokens * config.tokenBytes() + q->size() + ids.bytes() +
                       rows * sizeof(nvfp4rt_step_row);
    demand.floorWritten = workspace == 0 ? out->size() : config.partialBytes(rows);
    demand.floorInstructions = pageInstructions(config);
    return {};
  }
};

/// Waves that read keys, and their balance; a part of a page counts as one.
void setWaves(Demand &demand, const Measurement &measured, const Config &config) {
  const int64_t page = config.blockSize * config.headDim / 2;
  for (const BufferTraffic &buffer : measured.buffers)
    if (buffer.name == "k_payload") {
      const auto difference = static_cast<int64_t>(buffer.mostRead - buffer.leastRead);
      demand.imbalance = static_cast<uint64_t>(ceilDiv(difference, page));
      demand.readingWaves = buffer.readers;
    }
}

Result<Outcome> runAttention(Device &device, const Shape &shape) {
  auto launch = Launch::create(device, shape);
  if (!launch)
    return errorOf(launch);
  auto measured = device.measure((*launch)->variant, (*launch)->args);
  if (!measured)
    return errorOf(measured);
  setWaves((*launch)->demand, *measured, (*launch)->config);
  return Outcome{(*launch)->demand, std::move(*measured)};
}

Result<Outcome> runMerge(Device &device, const Shape &shape) {
  auto variant = device.select("sparse_attention_merge", shape);
  if (!variant)
    return errorOf(variant);
  auto launch = Launch::create(device, shape);
  if (!launch)
    return errorOf(launch);
  const nvfp4rt_sparse_attention_args &from = (*launch)->args;
  if (workspaceOf((*launch)->variant) == 0)
    return nvfp4rt::fail(NVFP4RT_ERROR_NO_MATCH,
                         (*launch)->variant.name + " has no workspace: nothing to merge");
  if (auto attended = device.run((*launch)->variant, from); !attended)
    return errorOf(attended);
  nvfp4rt_sparse_attention_merge_args args{};
  args.partial = from.partial;
  args.out = from.out;
  args.out_row_stride = from.out_row_stride;
  args.out_head_stride = from.out_head_stride;
  args.rows = from.rows;
  auto measured = device.measure(**variant, args);
  if (!measured)
    return errorOf(measured);
  Demand demand;
  demand.units = args.rows;
  demand.floorRead = (*launch)->config.partialBytes(args.rows);
  demand.floorWritten = (*launch)->config.outBytes(args.rows);
  return Outcome{demand, std::move(*measured)};
}

} // namespace

const FamilyBench &benchSparseAttention() {
  static const FamilyBench bench{
      "page",
      "payload and scale bytes of each visible token once for each row and kv head that chose its "
      "block; q, ids and row map read once, the output or its parts written once",
      attentionShapes(), runAttention};
  return bench;
}

const FamilyBench &benchSparseAttentionMerge() {
  static const FamilyBench bench{"row", "partial results read once, the output written once",
                                 attentionShapes(), runMerge};
  return bench;
}

} // namespace bench
