//===- IndexStep.cpp - a step of the block selectors in device memory ---------===//
//
// Owns: what IndexStep.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/IndexStep.h"
#include "tools/bench/Inputs.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace bench {

using nvfp4rt::Field;
using nvfp4rt::Variant;

Result<IndexConfig> indexConfigOf(const Variant &variant) {
  IndexConfig config;
  if (auto read = readFields(variant, {{Field::dtype, &config.dtype},
                                       {Field::page_size, &config.pageSize},
                                       {Field::block_size, &config.blockSize},
                                       {Field::index_heads, &config.indexHeads},
                                       {Field::index_head_dim, &config.indexHeadDim}});
      !read)
    return errorOf(read);
  return config;
}

Result<StepMap> StepMap::create(Device &device, const Shape &shape, int64_t blockSize) {
  StepMap map;
  Allocator allocator(device, map.buffers);
  const std::vector<int64_t> lens = shape.seqLens();
  const auto requests = static_cast<uint64_t>(shape.requests());
  const auto rows = static_cast<uint64_t>(shape.rows());
  map.prefill = shape.isPrefill();
  map.segmentRows =
      map.prefill ? NVFP4RT_PREFILL_SEGMENT_ROWS : static_cast<uint64_t>(shape.queryLen);
  const uint64_t capacity = map.prefill ? rows / NVFP4RT_PREFILL_SEGMENT_ROWS + requests : requests;

  nvfp4rt_step_map_args &args = map.args_;
  auto *seqLens = allocator.allocate<int32_t>("seq_lens", requests);
  auto *cu = map.prefill ? allocator.allocate<int32_t>("cu_seqlens_q", requests + 1) : nullptr;
  auto *live = allocator.allocate<int32_t>("live_requests", 1);
  args.seq_lens = seqLens;
  args.cu_seqlens_q = cu;
  args.live_requests = live;
  args.step_rows = allocator.allocate<nvfp4rt_step_row>("step_rows", rows);
  args.segments = allocator.allocate<nvfp4rt_segment>("segments", capacity);
  args.work = allocator.allocate<nvfp4rt_work>("work", uint64_t{kWorkers} + 1);
  args.rows = static_cast<uint32_t>(rows);
  args.requests = static_cast<uint32_t>(requests);
  args.workers = kWorkers;
  if (auto allocated = allocator.result(); !allocated)
    return errorOf(allocated);

  *live = static_cast<int32_t>(requests);
  const int64_t perRequest = shape.rowsPerRequest();
  for (uint64_t r = 0; r < requests; ++r) {
    const int64_t len = lens[r];
    seqLens[r] = static_cast<int32_t>(len);
    if (map.prefill)
      cu[r + 1] = static_cast<int32_t>((static_cast<int64_t>(r) + 1) * perRequest);
    for (int64_t first = 0; first < perRequest; first += static_cast<int64_t>(map.segmentRows)) {
      const int64_t last = std::min(perRequest, first + static_cast<int64_t>(map.segmentRows)) - 1;
      map.blockCount += static_cast<uint64_t>(ceilDiv(len - perRequest + last + 1, blockSize));
      ++map.segmentCount;
    }
    for (int64_t row = 0; row < perRequest; ++row)
      map.rowBlockCount += static_cast<uint64_t>(ceilDiv(len - perRequest + row + 1, blockSize));
    map.longest = std::max(map.longest, ceilDiv(len, blockSize));
  }
  return map;
}

Result<StepMap> StepMap::launched(Device &device, const Shape &shape, int64_t blockSize) {
  auto map = create(device, shape, blockSize);
  if (!map)
    return map;
  if (auto done = map->launch(device, shape); !done)
    return errorOf(done);
  return map;
}

Result<void> StepMap::launch(Device &device, const Shape &shape) {
  auto variant = device.select("step_map", shape);
  if (!variant)
    return errorOf(variant);
  if (auto done = device.run(**variant, args_); !done)
    return done;
  return check();
}

Result<void> StepMap::check() const {
  const nvfp4rt_work &end = args_.work[args_.workers];
  uint64_t found = 0;
  for (const nvfp4rt_segment &segment : segmentList())
    found += static_cast<uint64_t>(segment.blocks);
  if (end.segment == static_cast<int64_t>(segmentCount) && end.block == 0 && found == blockCount)
    return {};
  return nvfp4rt::fail(
      NVFP4RT_ERROR_INTERNAL,
      fmt::format("step_map: expected {} segments of {} pages, found {} of {} (S4)", segmentCount,
                  blockCount, end.segment, found));
}

uint64_t StepMap::inputBytes() const {
  const uint64_t lens = args_.requests, cu = prefill ? lens + 1 : 0, live = 1;
  return (lens + cu + live) * sizeof(int32_t);
}

uint64_t StepMap::outputBytes() const {
  return args_.rows * sizeof(nvfp4rt_step_row) + segmentCount * sizeof(nvfp4rt_segment) +
         (uint64_t{args_.workers} + 1) * sizeof(nvfp4rt_work);
}

uint64_t StepMap::workerBegin(uint32_t worker) const {
  const nvfp4rt_work &work = args_.work[worker];
  const auto segment = static_cast<uint64_t>(work.segment);
  if (segment >= segmentCount)
    return blockCount;
  return static_cast<uint64_t>(args_.segments[segment].first_block) +
         static_cast<uint64_t>(work.block);
}

uint64_t StepMap::imbalance() const {
  uint64_t most = 0, fewest = std::numeric_limits<uint64_t>::max();
  for (uint32_t worker = 0; worker < args_.workers; ++worker) {
    const uint64_t blocks = workerBegin(worker + 1) - workerBegin(worker);
    most = std::max(most, blocks);
    fewest = std::min(fewest, blocks);
  }
  return most - fewest;
}

Result<IndexInputs> IndexInputs::create(Device &device, const Shape &shape,
                                        const IndexConfig &config) {
  IndexInputs inputs;
  Allocator allocator(device, inputs.buffers);
  const int64_t rows = shape.rows();
  const BlockTable table = BlockTable::create(allocator, shape.seqLens(), config.pageSize);
  inputs.pages = table.pages;
  const int64_t payloadPage = config.pageSize * config.payloadRowBytes();
  const int64_t scalePage = config.pageSize * config.scaleRowBytes();
  const int64_t headBytes = 2 * config.indexHeadDim;
  Buffer *payload =
      allocator.add("index_payload", static_cast<uint64_t>(table.pages * payloadPage));
  Buffer *scale = allocator.add("index_scale", static_cast<uint64_t>(table.pages * scalePage));
  Buffer *queries =
      allocator.add("index_q", static_cast<uint64_t>(rows * config.indexHeads * headBytes));
  if (auto allocated = allocator.result(); !allocated)
    return errorOf(allocated);
  fillCodes(*payload);
  fillScales(*scale);
  fillValues(*queries, config.dtype);

  inputs.queries = {queries->data(), config.indexHeads * headBytes, headBytes};
  inputs.payload = {payload->data(), payloadPage, config.payloadRowBytes(), 0};
  inputs.scale = {scale->data(), scalePage, config.scaleRowBytes(), 0};
  inputs.table = table.entries;
  inputs.tableStride = table.stride;
  inputs.scoreScale = usualScoreScale(config.indexHeadDim);
  return inputs;
}

} // namespace bench
