//===- QkNormRopeStore.cpp - the checks of qk_norm_rope_store ---------------===//
//
// Owns: which launches a qk_norm_rope_store variant must get right (W2): shapes,
// layouts, slots and layers for every variant; special heads, huge pools and strides,
// and the other kernels of the family once a kernel.
//
// How W2's bit-equality with a staging buffer is shown: a launch is run twice, the
// second time with K and its weights in the place of q (showingKeys). What that
// writes to q is K as it is rounded to model dtype, and the cache of both launches
// has to be kv_store's of these values, byte for byte.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreSlots.h"
#include "tools/verify/QkNormRopeLaunch.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace verify {

namespace norm_rope {
namespace {

using kv_store::SlotLists;

/// Most rows of a launch of special heads: what an emulator runs in a moment.
constexpr int64_t kSpecialRows = 512;
/// Rows that are compared between two kernels, about: 2^-21 between them would show.
constexpr int64_t kComparedRows = 128;
/// Most rows of the other launches of a variant but one, which has as many as its request.
constexpr int64_t kBusyRows = 40;

class Checker {
public:
  Checker(Job &job, const Config &config)
      : job(job), config(config), source(config.shape, job.seed) {}

  /// What depends on the guard: row counts, layouts, slots, layers. False to stop.
  bool shapes() {
    size_t turn = static_cast<size_t>(config.rows); // of the layout that has all rows
    for (Order order : config.orders)
      for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved}) {
        const int64_t rows = turn++ % 3 == 0 ? config.rows : busyRows();
        SlotLists slots = slotLists(rows, 0), indexSlots = slotLists(rows, 5);
        bool first = true;
        do {
          const Inputs inputs = source.make(rows, {.gemma = nextGemma()});
          Launch launch = launchOf("shapes and slots", inputs, layout, order);
          launch.slots = slots.next(static_cast<size_t>(rows));
          launch.indexSlots = indexSlots.next(static_cast<size_t>(rows));
          if (!runTwice(launch, /*staged=*/first))
            return false;
          first = false;
        } while (!slots.complete());
      }
    return layers() && live();
  }

  /// Special heads in every part, and the quantizer's pinned inputs in V.
  bool special(KernelReport &kernel) {
    std::vector<kv_store::Bits16> groups;
    for (const oracle::PinnedSet &set : oracle::pinnedSets(config.shape.store.dtype))
      groups.insert(groups.end(), set.groups.begin(), set.groups.end());
    kv_store::GroupStream stream(groups, 0);
    const int64_t perRow = config.shape.store.kvHeads * config.shape.store.headDim / 16;
    int64_t rows = (static_cast<int64_t>(groups.size()) + perRow - 1) / perRow;
    const uint64_t before = job.report.values;
    for (size_t turn = 0; rows > 0; ++turn) {
      const int64_t count = std::min({rows, mostRowsOf(config.request), kSpecialRows});
      const Inputs inputs = showingKeys(source.makeSpecial(count, {.gemma = nextGemma()}, stream,
                                                           /*largeWeights=*/turn % 3 == 2));
      Launch launch = launchOf("special heads", inputs, Layout::Dense, config.orders[0]);
      launch.slots = slotLists(count, 0).nextLive(static_cast<size_t>(count));
      launch.indexSlots = slotLists(count, 5).nextLive(static_cast<size_t>(count));
      Rounded rounded;
      if (runLaunch(job, launch, nullptr, rounded) != Ran::Right)
        return false;
      rows -= count;
    }
    const uint64_t values = job.report.values - before;
    job.report.pinnedValues += values;
    kernel.pinnedSets.push_back({fmt::format("{} kinds of heads, {} pinned groups of V",
                                             InputSource::kinds(), groups.size()),
                                 values});
    return true;
  }

  /// Pools in which byte offsets pass 2^31 and 2^32, and rows and heads that far apart.
  bool huge(KernelReport &kernel) {
    kernel.usesPools = true;
    const Order order = config.orders[0];
    for (int64_t pages : kv_store::hugePageCounts(config.shape.store, order)) {
      const Ran ran = hugePool(kernel, order, pages);
      if (ran == Ran::Wrong)
        return false;
      if (ran == Ran::Right)
        break;
    }
    for (Strides strides : {Strides::HugeRows, Strides::HugeHeads})
      for (Layout layout : {Layout::Dense, Layout::Interleaved}) {
        if (strides == Strides::HugeHeads && layout == Layout::Interleaved)
          continue; // a packed row has no head stride
        const int64_t count = std::min<int64_t>(mostRowsOf(config.request), 3);
        Inputs inputs = showingKeys(source.make(count, {.gemma = nextGemma()}));
        const int64_t far[] = {60, 1, 31}; // of cos_sin: past 2^32, and 2^31
        std::copy_n(far, count, inputs.positions.begin());
        Launch launch = launchOf("huge strides", inputs, layout, order);
        launch.strides = strides;
        launch.slots = slotLists(count, 0).nextLive(static_cast<size_t>(count));
        launch.indexSlots = slotLists(count, 5).nextLive(static_cast<size_t>(count));
        Rounded rounded;
        if (runLaunch(job, launch, nullptr, rounded) == Ran::Wrong)
          return false;
      }
    return true;
  }

  /// The same rows, the other way round, in every other kernel of this model: the same bits, so
  /// that a row does not depend on batch, bucket or phase (G5).
  bool otherKernels(KernelReport &kernel) {
    std::vector<std::string_view> seen = {job.variant.symbol};
    for (const nvfp4rt::Variant &variant : job.manifest.variants) {
      if (variant.family != job.variant.family || std::ranges::count(seen, variant.symbol))
        continue;
      nvfp4rt::Request request = cornerRequests(variant.guard).back();
      if (!sameModel(request))
        continue;
      seen.push_back(variant.symbol);
      if (!sameBits(kernel, variant, request))
        return false;
    }
    return true;
  }

private:
  Job &job;
  const Config &config;
  InputSource source;
  size_t norms = 0;

  bool nextGemma() { return norms++ % 2 == 0; }
  int64_t busyRows() const { return std::min(config.rows, kBusyRows); }

  /// For pools with room for `rows` rows; `turn` is 0 for K's list. The index pool is a page
  /// larger.
  SlotLists slotLists(int64_t rows, size_t turn) const {
    const int64_t pageSize = config.shape.store.pageSize;
    return {pageSize, SlotLists::pagesFor(rows, pageSize) + (turn ? 1 : 0), job.seed + turn, turn};
  }

  /// A launch without slots, in pools with room for its rows.
  Launch launchOf(std::string what, const Inputs &inputs, Layout layout, Order order) const {
    const int64_t pages = SlotLists::pagesFor(inputs.rows(), config.shape.store.pageSize);
    return {.request = config.request,
            .inputs = inputs,
            .layout = layout,
            .order = order,
            .pages = pages,
            .indexPages = pages + 1,
            .slots = {},
            .indexSlots = {},
            .what = std::move(what)};
  }

  /// The launch that shows the keys, then the launch itself; with `staged`, kv_store in between.
  bool runTwice(const Launch &launch, bool staged) {
    const Inputs shown = showingKeys(launch.inputs);
    const Launch showing{.request = launch.request,
                         .inputs = shown,
                         .layout = launch.layout,
                         .order = launch.order,
                         .pages = launch.pages,
                         .indexPages = launch.indexPages,
                         .slots = launch.slots,
                         .indexSlots = launch.indexSlots,
                         .what = launch.what};
    Rounded keys, rounded;
    return runLaunch(job, showing, nullptr, keys) == Ran::Right &&
           (!staged || runStaged(job, showing, keys)) &&
           runLaunch(job, launch, &keys, rounded) == Ran::Right;
  }

  /// Layers that have no index branch, or nothing to store.
  bool layers() {
    struct {
      std::string_view what;
      Layer layer;
    } const cases[] = {{"no index branch", {.indexBranch = false}},
                       {"no slots", {.slots = false}},
                       {"no index slots", {.indexSlots = false}},
                       {"no slots at all", {.slots = false, .indexSlots = false}},
                       {"no index branch, no slots", {.indexBranch = false, .slots = false}}};
    for (const auto &[what, layer] : cases)
      for (Layout layout : {Layout::Gapped, Layout::Interleaved}) {
        Layer normed = layer;
        normed.gemma = nextGemma();
        const Inputs inputs = source.make(busyRows(), normed);
        Launch launch = launchOf(std::string(what), inputs, layout, config.orders[0]);
        launch.slots = slotLists(busyRows(), 0).nextLive(static_cast<size_t>(busyRows()));
        launch.indexSlots = slotLists(busyRows(), 5).nextLive(static_cast<size_t>(busyRows()));
        // Without a branch no index_q shows the key, and nothing stores it.
        if (!runTwice(launch, /*staged=*/false))
          return false;
      }
    return true;
  }

  /// Live counts: no rows, all rows padded, one live, one row.
  bool live() {
    struct {
      std::string_view what;
      int64_t rows, live;
    } const cases[] = {{"no rows", 0, 0},
                       {"all rows padded", busyRows(), 0},
                       {"one live row", busyRows(), 1},
                       {"one row", 1, 1},
                       {"all rows live", busyRows(), busyRows()}};
    for (const auto &[what, rows, live] : cases) {
      const Inputs inputs = source.make(rows, {.gemma = nextGemma()});
      Launch launch = launchOf(std::string(what), inputs, Layout::Dense, config.orders[0]);
      launch.slots = slotLists(rows, 0).nextLive(static_cast<size_t>(rows));
      launch.indexSlots = slotLists(rows, 5).nextLive(static_cast<size_t>(rows));
      for (int64_t row = live; row < rows; ++row) { // the last row stays
        launch.slots[static_cast<size_t>(row - live)] = -1;
        launch.indexSlots[static_cast<size_t>(row - live)] = -1;
      }
      if (!runTwice(launch, /*staged=*/false))
        return false;
    }
    return true;
  }

  Ran hugePool(KernelReport &kernel, Order order, int64_t pages) {
    const kv_store::HugeSlots slots = kv_store::hugeSlots(config.shape.store, order, pages);
    const auto step = static_cast<size_t>(mostRowsOf(config.request));
    for (size_t first = 0; first < slots.k.size(); first += step) {
      const size_t last = std::min(slots.k.size(), first + step);
      const Inputs inputs =
          showingKeys(source.make(static_cast<int64_t>(last - first), {.gemma = nextGemma()}));
      Launch launch =
          launchOf(fmt::format("pools of {} pages", pages), inputs, Layout::Dense, order);
      launch.pages = launch.indexPages = pages;
      launch.hugePools = true;
      launch.slots.assign(slots.k.begin() + static_cast<ptrdiff_t>(first),
                          slots.k.begin() + static_cast<ptrdiff_t>(last));
      launch.indexSlots.assign(slots.index.begin() + static_cast<ptrdiff_t>(first),
                               slots.index.begin() + static_cast<ptrdiff_t>(last));
      Rounded rounded;
      if (const Ran ran = runLaunch(job, launch, nullptr, rounded); ran != Ran::Right)
        return ran;
    }
    kernel.poolPages = pages;
    kernel.poolBytes = 0;
    for (int64_t bytes :
         kv_store::poolLayout(config.shape.store, Layout::Dense, order, pages, pages).imageBytes)
      kernel.poolBytes += static_cast<uint64_t>(bytes);
    return Ran::Right;
  }

  /// Whether a variant is one of the same model and cache, for other steps.
  bool sameModel(const nvfp4rt::Request &request) const {
    using nvfp4rt::Field;
    for (size_t i = 0; i < nvfp4rt::kFieldCount; ++i) {
      const auto field = static_cast<Field>(i);
      if (field != Field::phase && field != Field::query_len && field != Field::requests &&
          request.get(field) != config.request.get(field))
        return false;
    }
    return true;
  }

  bool sameBits(KernelReport &kernel, const nvfp4rt::Variant &variant,
                const nvfp4rt::Request &request) {
    const int64_t rows = std::min({mostRowsOf(config.request), mostRowsOf(request), kComparedRows});
    uint64_t compared = 0;
    for (int64_t done = 0; done < kComparedRows; done += rows) {
      const Inputs inputs = showingKeys(source.make(rows, {.gemma = nextGemma()}));
      const Inputs turned = reversed(inputs);
      Launch here = launchOf("rows in this kernel", inputs, Layout::Dense, config.orders[0]);
      here.slots = slotLists(rows, 0).nextLive(static_cast<size_t>(rows));
      here.indexSlots = slotLists(rows, 5).nextLive(static_cast<size_t>(rows));
      const Launch there{.request = request,
                         .inputs = turned,
                         .layout = here.layout,
                         .order = here.order,
                         .pages = here.pages,
                         .indexPages = here.indexPages,
                         .slots = here.slots,
                         .indexSlots = here.indexSlots,
                         .what = "rows in another kernel"};
      Job other{job.target, job.manifest, variant, job.seed, job.report};
      Rounded one, two;
      if (runLaunch(job, here, nullptr, one) != Ran::Right ||
          runLaunch(other, there, nullptr, two) != Ran::Right)
        return false;
      if (!sameRows(one.q, two.q, rows) || !sameRows(one.indexQ, two.indexQ, rows)) {
        job.fault(fmt::format("rows in another kernel ({} rows): expected the bits that {} gives "
                              "the same rows, found others from {}; rules W2, G5",
                              rows, variant.symbol, job.variant.symbol));
        return false;
      }
      compared += one.q.size() + one.indexQ.size();
    }
    kernel.pinnedSets.push_back({fmt::format("rows as {} has them", variant.symbol), compared});
    return true;
  }

  /// Whether `b` has the rows of `a` the other way round. NaNs of different payloads are alike.
  bool sameRows(const std::vector<uint16_t> &a, const std::vector<uint16_t> &b,
                int64_t rows) const {
    const size_t width = a.size() / static_cast<size_t>(rows);
    const oracle::DType dtype = config.shape.store.dtype;
    for (size_t i = 0; i < a.size(); ++i) {
      const uint16_t other = b[(static_cast<size_t>(rows) - 1 - i / width) * width + i % width];
      const bool nans =
          std::isnan(oracle::value(a[i], dtype)) && std::isnan(oracle::value(other, dtype));
      if (a[i] != other && !nans)
        return false;
    }
    return true;
  }
};

} // namespace
} // namespace norm_rope

void verifyQkNormRopeStore(Job &job) {
  std::vector<norm_rope::Config> configs;
  for (const nvfp4rt::Request &request : cornerRequests(job.variant.guard)) {
    auto config = norm_rope::readConfig(request);
    if (!config)
      return job.fault(config.error().message);
    configs.push_back(std::move(*config));
  }
  for (const norm_rope::Config &config : configs)
    if (!norm_rope::Checker(job, config).shapes())
      return;
  if (!job.kernelReport)
    return;
  const auto largest = std::ranges::max_element(
      configs, {}, [](const norm_rope::Config &config) { return mostRowsOf(config.request); });
  norm_rope::Checker checker(job, *largest);
  if (checker.special(*job.kernelReport) && checker.huge(*job.kernelReport))
    checker.otherKernels(*job.kernelReport);
}

} // namespace verify
