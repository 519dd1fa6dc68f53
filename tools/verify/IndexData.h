//===- IndexData.h - queries, keys and block tables -------------------------===//
//
// Owns: the inputs of a scorer launch on the host: a key pool in a layout, a block
// table with stale and impossible pages, and query rows; with what lies past the
// causal lengths poisoned (P4, P5).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXDATA_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXDATA_H

#include "tools/verify/Arena.h"
#include "tools/verify/IndexSteps.h"
#include "tools/verify/IndexValues.h"
#include "tools/verify/Layout.h"

#include <optional>

namespace verify::index {

struct DataOptions {
  Values values = Values::Exact;
  Layout layout = Layout::Dense;
  /// Full pages share this many pages of the pool; 0: each has its own.
  size_t sharedPages = 0;
  /// Some live table entries are no pages: -1, pages, far outside, and numbers whose address in 32
  /// bits is that of the right page.
  bool impossiblePages = false;
  /// What lies past the causal lengths: NaN and huge values, or zeros.
  bool poison = true;
  /// A pool of this many pages, of which the request pages take `pageIds` in turn. 0: as many pages
  /// as are used.
  int64_t pages = 0;
  std::vector<int64_t> pageIds;
};

/// One plane of the pool.
struct Plane {
  size_t buffer = 0;
  int64_t offset = 0, pageStride = 0, tokenStride = 0;
};

/// Where the planes lie.
struct PoolPlan {
  Plane payload, scale;
  std::vector<uint64_t> sizes; ///< of the buffers
  std::vector<uint64_t> leads; ///< their alignment, as in Arena::Margins
};
PoolPlan planPool(const oracle::IndexShape &shape, Layout layout, int64_t pages);

class Data {
public:
  /// `map` is borrowed.
  static nvfp4rt::Result<Data> create(const Config &config, const Step &step, const StepMap &map,
                                      const DataOptions &options, uint64_t seed);

  /// Arguments of either scorer on host memory, without outputs.
  template <typename Args> void setHostArgs(Args &args) const {
    setArgs(args);
    args.index_q.base = queries.data();
    args.index_payload.base = buffers[plan.payload.buffer].data() + plan.payload.offset;
    args.index_scale.base = buffers[plan.scale.buffer].data() + plan.scale.offset;
    args.block_table = table.data();
    args.step_rows = map->rows.data();
    args.segments = map->segments.data();
    args.work = map->work.data();
  }

  /// The same data on a target.
  struct Placed {
    Arena::Buffer queries, table, rows, segments, work;
    std::vector<Arena::Buffer> pool;
  };
  Placed place(Arena &arena, const StepMap &partition) const;
  /// Arguments of either scorer on the target, without outputs, under any partition of the step.
  template <typename Args>
  void setDeviceArgs(Args &args, const Arena &arena, const Placed &placed,
                     const StepMap &partition) const {
    setArgs(args);
    args.index_q.base = arena.device<const void>(placed.queries);
    args.index_payload.base = planeBase(arena, placed, plan.payload);
    args.index_scale.base = planeBase(arena, placed, plan.scale);
    args.block_table = arena.device<const int32_t>(placed.table);
    args.step_rows = arena.device<const nvfp4rt_step_row>(placed.rows);
    args.segments = arena.device<const nvfp4rt_segment>(placed.segments);
    args.work = arena.device<const nvfp4rt_work>(placed.work);
    args.workers = partition.workers();
  }

  /// The table entry of a token, for messages.
  int32_t pageOf(int64_t request, int64_t position) const;
  uint64_t poolBytes() const;

private:
  const Config *config = nullptr;
  const Step *step = nullptr;
  const StepMap *map = nullptr;
  DataOptions options;
  PoolPlan plan;
  int64_t pages = 0;
  std::vector<LazyBuffer> buffers;
  std::vector<std::vector<Window>> windows; ///< of the buffers, when sparse
  std::vector<int32_t> table;
  int64_t tableStride = 0;
  std::vector<uint16_t> queries;
  int64_t rowStride = 0, headStride = 0; ///< of queries
  float scoreScale = 0;

  template <typename Args> void setArgs(Args &args) const {
    args.index_q = {nullptr, rowStride, headStride};
    args.index_payload = {nullptr, plan.payload.pageStride, plan.payload.tokenStride,
                          kIgnoredStride};
    args.index_scale = {nullptr, plan.scale.pageStride, plan.scale.tokenStride, kIgnoredStride};
    args.table_stride = tableStride;
    args.index_pages = pages;
    args.score_scale = scoreScale;
    args.workers = map->workers();
  }
  static void *planeBase(const Arena &arena, const Placed &placed, const Plane &plane) {
    auto *base = arena.device<std::byte>(placed.pool[plane.buffer]);
    return base ? base + plane.offset : nullptr;
  }

  nvfp4rt::Result<void> fillPool(uint64_t seed);
  void fillQueries(uint64_t seed);
};

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXDATA_H
