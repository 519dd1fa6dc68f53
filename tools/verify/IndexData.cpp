//===- IndexData.cpp - queries, keys and block tables -----------------------===//
//
// Owns: what IndexData.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexData.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace verify::index {

PoolPlan planPool(const oracle::IndexShape &shape, Layout layout, int64_t pages) {
  PoolPlan plan;
  // Payload planes must be 16-byte aligned, scale planes 8: the gapped layout gives them just that.
  const bool gapped = layout == Layout::Gapped;
  plan.payload.tokenStride = shape.headDim / 2 + (gapped ? 16 : 0);
  plan.scale.tokenStride = shape.headDim / 16 + (gapped ? 8 : 0);
  const int64_t payloadPage = shape.pageSize * plan.payload.tokenStride;
  const int64_t scalePage = shape.pageSize * plan.scale.tokenStride;
  if (layout == Layout::Interleaved) {
    const int64_t both = payloadPage + 16 + (scalePage + 15) / 16 * 16 + 48;
    plan.payload.pageStride = plan.scale.pageStride = both;
    plan.scale.offset = payloadPage + 16;
    plan.sizes = {static_cast<uint64_t>(pages * both)};
    plan.leads = {64};
    return plan;
  }
  plan.scale.buffer = 1;
  plan.payload.pageStride = payloadPage + (gapped ? 48 : 0);
  plan.scale.pageStride = scalePage + (gapped ? 24 : 0);
  plan.sizes = {static_cast<uint64_t>(pages * plan.payload.pageStride),
                static_cast<uint64_t>(pages * plan.scale.pageStride)};
  plan.leads = gapped ? std::vector<uint64_t>{16, 8} : std::vector<uint64_t>{64, 64};
  return plan;
}

namespace {

/// Tokens that some row of each request sees.
std::vector<int64_t> tokensSeen(const Step &step, const StepMap &map) {
  std::vector<int64_t> seen(step.seqLens.size(), 0);
  for (const nvfp4rt_step_row &row : map.rows)
    if (row.request >= 0) {
      int64_t &most = seen[static_cast<size_t>(row.request)];
      most = std::max<int64_t>(most, row.causal_len);
    }
  return seen;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Hands out page ids of the pool: some that are shared in turn, and others only once.
class PageIds {
public:
  PageIds(const DataOptions &options, int64_t pages, uint64_t seed) : shared(options.sharedPages) {
    for (int64_t id : options.pageIds)
      ids.push_back(id);
    if (ids.empty()) {
      ids.resize(static_cast<size_t>(pages));
      std::iota(ids.begin(), ids.end(), 0);
      std::shuffle(ids.begin(), ids.end(), std::mt19937_64(seed));
    }
    next = shared;
  }
  int64_t own() { return ids[next++ % ids.size()]; }
  int64_t page() { return shared == 0 ? own() : ids[turn++ % shared]; }

private:
  std::vector<int64_t> ids;
  size_t shared, next, turn = 0;
};

/// Ids near `page` that are none of the pool's, of which a kernel must not make one.
std::vector<int32_t> impossibleIds(const PoolPlan &plan, int64_t pages, int64_t page) {
  std::vector<int64_t> ids = {-1, pages, INT32_MAX, INT32_MIN, page + INT32_MIN, page + 65536};
  for (const Plane *plane : {&plan.payload, &plan.scale}) {
    // After this many pages, offsets repeat modulo 2^32.
    const int64_t period = (int64_t{1} << 32) / std::gcd(plane->pageStride, int64_t{1} << 32);
    for (int64_t id : {page + period, page - period})
      if (id >= INT32_MIN && id <= INT32_MAX)
        ids.push_back(id);
  }
  std::vector<int32_t> result;
  for (int64_t id : ids)
    if (id < 0 || id >= pages)
      result.push_back(static_cast<int32_t>(id));
  return result;
}

} // namespace

nvfp4rt::Result<Data> Data::create(const Config &config, const Step &step, const StepMap &map,
                                   const DataOptions &options, uint64_t seed) {
  Data data;
  data.config = &config;
  data.step = &step;
  data.map = &map;
  data.options = options;
  data.scoreScale = static_cast<float>(1 / std::sqrt(double(config.shape.headDim))) * 1.4426950409f;
  if (auto filled = data.fillPool(seed); !filled)
    return tl::unexpected(std::move(filled.error()));
  data.fillQueries(seed + 1);
  return data;
}

nvfp4rt::Result<void> Data::fillPool(uint64_t seed) {
  const oracle::IndexShape &shape = config->shape;
  const std::vector<int64_t> seen = tokensSeen(*step, *map);
  int64_t width = 1, entries = 0;
  for (int64_t tokens : seen) {
    width = std::max(width, ceilDiv(tokens, shape.pageSize));
    entries += ceilDiv(tokens, shape.pageSize);
  }
  // With shared pages, the last page of a request is still its own: its tail is poisoned.
  const auto requests = static_cast<int64_t>(seen.size());
  pages = options.pages         ? options.pages
          : options.sharedPages ? static_cast<int64_t>(options.sharedPages) + requests + 2
                                : entries + 2;
  plan = planPool(shape, options.layout, pages);
  const bool sparse = !options.pageIds.empty();
  windows.resize(plan.sizes.size());
  for (uint64_t size : plan.sizes) {
    auto buffer = LazyBuffer::reserve(size);
    if (!buffer)
      return tl::unexpected(std::move(buffer.error()));
    if (!sparse)
      std::memset(buffer->data(), 0x7F, size); // what lies between tokens and pages
    buffers.push_back(std::move(*buffer));
  }

  PageIds ids(options, pages, seed);
  KeySource keys(shape, options.values, seed + 2);
  auto fillPage = [&](int64_t page, int64_t first, int64_t tokens) {
    for (int64_t t = 0; t < shape.pageSize; ++t) {
      auto at = [&](const Plane &plane) {
        return reinterpret_cast<uint8_t *>(buffers[plane.buffer].data() + plane.offset +
                                           page * plane.pageStride + t * plane.tokenStride);
      };
      if (first + t < tokens)
        keys.write(first + t, at(plan.payload), at(plan.scale));
      else if (options.poison)
        writePoison(shape, first + t, at(plan.payload), at(plan.scale));
      else
        writeZeros(shape, at(plan.payload), at(plan.scale));
    }
    if (!sparse)
      return;
    for (const Plane *plane : {&plan.payload, &plan.scale})
      for (uint64_t mask : {~uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{0x7FFFFFFF}})
        windows[plane->buffer].push_back(
            {static_cast<uint64_t>(plane->offset + page * plane->pageStride) & mask,
             static_cast<uint64_t>(plane->pageStride)});
  };

  std::vector<int32_t> stale = {-1, INT32_MAX, static_cast<int32_t>(pages)};
  if (!sparse) { // a page that no row sees
    const int64_t page = ids.own();
    fillPage(page, 0, 0);
    stale.push_back(static_cast<int32_t>(page));
  }
  width += options.layout == Layout::Dense ? 0 : 3;
  tableStride = width * 4 + (options.layout == Layout::Gapped ? 12 : 0);
  const int64_t perRow = tableStride / 4;
  for (int64_t i = 0; i < requests * perRow; ++i)
    table.push_back(stale[static_cast<size_t>(i) % stale.size()]);
  std::vector<char> filled(sparse ? 0 : static_cast<size_t>(pages), 0);
  size_t turn = 0;
  for (int64_t r = 0; r < requests; ++r) {
    const int64_t tokens = seen[static_cast<size_t>(r)];
    for (int64_t i = 0; i * shape.pageSize < tokens; ++i) {
      const bool last = (i + 1) * shape.pageSize >= tokens;
      const int64_t page = last ? ids.own() : ids.page();
      if (sparse || !std::exchange(filled[static_cast<size_t>(page)], 1))
        fillPage(page, i * shape.pageSize, tokens);
      int32_t &entry = table[static_cast<size_t>(r * perRow + i)];
      entry = static_cast<int32_t>(page);
      if (options.impossiblePages && (r + i) % 2 == 1) {
        const std::vector<int32_t> impossible = impossibleIds(plan, pages, page);
        entry = impossible[turn++ % impossible.size()];
      }
    }
  }
  return {};
}

void Data::fillQueries(uint64_t seed) {
  const oracle::IndexShape &shape = config->shape;
  headStride = 2 * shape.headDim + (options.layout == Layout::Gapped ? 32 : 0);
  rowStride = shape.indexHeads * headStride;
  rowStride += options.layout == Layout::Gapped        ? 48
               : options.layout == Layout::Interleaved ? 1024 // a packed row
                                                       : 0;
  // Rows that are padding, and what lies between rows, are NaN in either dtype.
  queries.assign(static_cast<size_t>(step->rows * rowStride / 2), 0xFFFF);
  QuerySource source(shape, options.values, seed);
  for (size_t row = 0; row < map->rows.size(); ++row)
    for (int64_t head = 0; map->rows[row].causal_len > 0 && head < shape.indexHeads; ++head)
      source.write(queries.data() +
                   (static_cast<int64_t>(row) * rowStride + head * headStride) / 2);
}

Data::Placed Data::place(Arena &arena, const StepMap &partition) const {
  Placed placed;
  const bool gapped = options.layout == Layout::Gapped;
  placed.queries = arena.input("index_q", queries, {gapped ? 16u : 64u, 0});
  for (size_t i = 0; i < buffers.size(); ++i)
    placed.pool.push_back(arena.input(i == 0 ? "index_payload" : "index_scale", buffers[i].data(),
                                      plan.sizes[i], {plan.leads[i], 0}, windows[i]));
  placed.table = arena.input("block_table", table, {gapped ? 4u : 64u, 0});
  placed.rows = arena.input("step_rows", partition.rows);
  placed.segments = arena.input("segments", partition.allSegments);
  placed.work = arena.input("work", partition.work);
  return placed;
}

int32_t Data::pageOf(int64_t request, int64_t position) const {
  return table[static_cast<size_t>(request * (tableStride / 4) +
                                   position / config->shape.pageSize)];
}

uint64_t Data::poolBytes() const {
  return std::accumulate(plan.sizes.begin(), plan.sizes.end(), uint64_t{0});
}

} // namespace verify::index
