//===- Attention.cpp - the checks of sparse_attention -----------------------===//
//
// Owns: which launches a sparse_attention variant must get right (A1..A6, P1, P4, P5):
// the corner rows, alone and among others, against float64 and against the bits of
// every other variant; and what runs once a kernel.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Random.h"
#include "tools/verify/AttentionRuns.h"
#include "tools/verify/AttentionStep.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace verify {

using namespace attention;

namespace {

/// Corner rows whose lists are short: they are put into many launches.
constexpr int kProbes[] = {0, 3, 5, 8, 21};
constexpr int kWholeList = 1, kPastCausal = 4; ///< corner rows with long ones
/// Rows beside those that a launch is for: some of one block, and padding.
constexpr int kNeighbour = 2;
constexpr int64_t kMostNeighbours = 8;
/// Rows of a launch at the high end of a guard: rows of every bucket are alike, so most buckets
/// have few, and one of each kernel many.
constexpr int64_t kFewRows = 12, kManyRows = 160;
/// Sizes of batches that a row is put into.
constexpr int64_t kBatches[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64};
/// The pool size of a field report in which 32-bit offsets wrapped.
constexpr int64_t kHugePages = 8'401'239;

constexpr Layout kLayouts[] = {Layout::Dense, Layout::Gapped, Layout::Interleaved};
constexpr Tail kTails[] = {Tail::NaN, Tail::Largest, Tail::NegNaN, Tail::Zeros};

class AttentionChecker {
public:
  AttentionChecker(Job &job, std::vector<Config> configs)
      : job(job), configs(std::move(configs)), config(this->configs.back()) {}

  void run() {
    // One seed for all variants: each is held to the bits of the same rows.
    seed = job.seed;
    if (!makeCorners() || !runAll())
      return;
    if (job.kernelReport && !runOnceAKernel())
      return;
    (void)plain->placed.unchanged(job);
  }

private:
  Job &job;
  std::vector<Config> configs;
  const Config &config; ///< the one with the most rows
  uint64_t seed = 0;
  struct Pools {
    Cache cache;
    PlacedCache placed;
  };
  std::unique_ptr<Pools> plain;
  std::optional<Rows> rows;
  std::optional<Results> results;

  std::unique_ptr<Pools> makePools(const Config &of, std::vector<CacheRequest> requests,
                                   const CacheOptions &options) {
    auto pools = std::make_unique<Pools>();
    auto cache = Cache::create(of, std::move(requests), options, seed);
    if (!cache) {
      job.fault(cache.error().message);
      return nullptr;
    }
    pools->cache = std::move(*cache);
    auto placed = PlacedCache::create(job.target, pools->cache, seed);
    if (!placed) {
      job.fault(fmt::format("{}: {}", pools->cache.text(), placed.error().message));
      return nullptr;
    }
    pools->placed = std::move(*placed);
    return pools;
  }

  bool makeCorners() {
    plain = makePools(config, cornerCache(config),
                      {Layout::Dense, config.orders.front(), Tail::Zeros, 0, {}});
    if (!plain)
      return false;
    rows.emplace(config, plain->cache, cornerRows(config), seed);
    results.emplace(*rows);
    return true;
  }

  std::vector<int> allRows() const {
    std::vector<int> all(rows->size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  /// `list` in launches of `whole` rows, the last one filled up. An order of 0 is the list's.
  bool runRows(const Launchee &launchee, Pools &pools, std::string name, std::vector<int> list,
               Layout layout, uint64_t order, int64_t whole) {
    for (int64_t n = 0; static_cast<int64_t>(list.size()) % whole != 0; ++n)
      list.push_back(n % 7 == 3 && n < 7 * kMostNeighbours ? kNeighbour : Batch::kPadding);
    oracle::Random random(order);
    for (size_t i = list.size() - 1; order != 0 && i > 0; --i)
      std::swap(list[i], list[random.below(i + 1)]);
    for (auto next = list.begin(); next != list.end(); next += whole)
      if (!runBatch(job, launchee, pools.placed, *results, {name, {next, next + whole}, layout}))
        return false;
    return true;
  }

  /// This variant, at both ends of its guard, against float64 and the bits of the one with the most
  /// rows: all of them once a kernel.
  bool runAll() {
    const std::vector<Launchee> all = relatives(job, config);
    const Launchee *common = nullptr;
    auto room = [](const Launchee &of) { return capacityOf(*of.variant, of.config); };
    for (const Launchee &of : all)
      if (!common || room(of) > room(*common))
        common = &of;
    std::vector<int> shared = allRows();
    if (!job.kernelReport) {
      shared.assign(std::begin(kProbes), std::end(kProbes));
      shared.insert(shared.end(), {kWholeList, kPastCausal});
    }
    if (common && common->variant != &job.variant &&
        !runRows(*common, *plain, "corner rows", shared, Layout::Dense, 0,
                 std::min<int64_t>(room(*common), static_cast<int64_t>(shared.size()))))
      return false;
    size_t turn = static_cast<size_t>(config.requests + config.queryLen);
    for (const Config &of : configs) {
      const Launchee own{&job.variant, of};
      const int64_t most = capacityOf(job.variant, of);
      if (most < std::max<int64_t>(1, of.prefill() ? 1 : of.rows())) {
        job.fault(fmt::format("workspace: expected at least {} bytes for {} requests, found {}",
                              of.partialBytes(of.rows()), of.requests,
                              workspaceBytes(job.variant)));
        return false;
      }
      // All rows at the low end, where they may need many launches; a few among others at the high.
      const bool few = &of != &configs.front(), last = &of == &configs.back();
      std::vector<int> list = allRows();
      if (few) {
        list.clear();
        for (int probe : kProbes)
          list.insert(list.end(), {probe, Batch::kPadding});
      }
      const int64_t enough = few ? kFewRows : static_cast<int64_t>(list.size()) + 1;
      const int64_t whole = std::min(most, last && job.kernelReport ? kManyRows : enough);
      const CacheOptions options{
          kLayouts[turn % 3], of.orders[turn / 3 % of.orders.size()], kTails[turn % 4], 0, {}};
      const std::unique_ptr<Pools> pools = makePools(of, cornerCache(of), options);
      if (!pools ||
          !runRows(own, *pools, few ? "some corner rows among others" : "corner rows among others",
                   std::move(list), kLayouts[(turn + 1) % 3], few ? 0 : turn + 1, whole) ||
          !pools->placed.unchanged(job))
        return false;
      for (int probe : {kProbes[0], kProbes[3], kProbes[4]})
        if (last && most > 1 &&
            !runBatch(job, own, plain->placed, *results, {"a row alone", {probe}}))
          return false;
      ++turn;
    }
    return true;
  }

  bool runOnceAKernel() {
    return pinned("sensitivity", [&] { return sensitive(); }) &&
           pinned("batches of 1 to 64 rows", [&] { return runBatches(); }) &&
           pinned("layouts and tails", [&] { return runLayouts(); }) &&
           pinned("page boundaries at 2^31 and 2^32", [&] { return runHugePools(); }) &&
           pinned("whole steps", [&] { return runSteps(); });
  }

  template <typename Check> bool pinned(std::string name, Check check) {
    const uint64_t before = job.report.values;
    if (!check())
      return false;
    job.kernelReport->pinnedSets.push_back({std::move(name), job.report.values - before});
    job.report.pinnedValues += job.report.values - before;
    return true;
  }

  /// A6: a kernel that lost, doubled or misplaced a token could not have passed.
  bool sensitive() {
    for (int row : {0, 1, 3, 4, 5, 8, 10, 18, 19, 20})
      if (auto insensitive = rows->insensitive(static_cast<size_t>(row))) {
        job.fault("the inputs of this check prove nothing: " + *insensitive);
        return false;
      }
    return true;
  }

  /// A4, G5: the probes among 0 to 63 other rows, in the variant that serves so many requests.
  bool runBatches() {
    oracle::Random random(seed + 7);
    for (int64_t n : kBatches) {
      auto launchee = relativeFor(job, config, config.prefill() ? 1 : n);
      if (!launchee)
        launchee = Launchee{&job.variant, config};
      const int64_t room = capacityOf(*launchee->variant, launchee->config);
      Batch batch{fmt::format("batch of {}", n), {}, kLayouts[n % 3]};
      for (int64_t i = 0; i < std::min(n, room); ++i)
        batch.rows.push_back(i < 4 ? kProbes[static_cast<size_t>(i + n) % std::size(kProbes)]
                             : random.below(3) ? kNeighbour
                                               : Batch::kPadding);
      for (size_t i = batch.rows.size() - 1; i > 0; --i)
        std::swap(batch.rows[i], batch.rows[random.below(i + 1)]);
      if (!runBatch(job, *launchee, plain->placed, *results, batch))
        return false;
    }
    return true;
  }

  /// P1, P5: no layout of pools and nothing past the end of a request changes a bit. Every pair of
  /// layout and tail.
  bool runLayouts() {
    const Launchee own{&job.variant, config};
    const int64_t most = capacityOf(job.variant, config);
    size_t turn = 0;
    for (Layout layout : kLayouts)
      for (Tail tail : kTails) {
        const Order order = config.orders[(turn / 4 + turn) % config.orders.size()];
        ++turn;
        const std::unique_ptr<Pools> pools =
            makePools(config, cornerCache(config), {layout, order, tail, 0, {}});
        if (!pools ||
            !runRows(own, *pools, "layouts and tails", {0, 3, 7, 5, 8, 14, 16}, layout, 0,
                     std::min<int64_t>(most, 8)) ||
            !pools->placed.unchanged(job))
          return false;
      }
    return true;
  }

  /// Pages at, before and after 2^31 and 2^32 bytes of every plane, both ends and the middle.
  static std::vector<int64_t> boundaryPages(const CachePlan &plan, int64_t pages) {
    std::vector<int64_t> ids = {pages - 1, 0, pages / 2};
    for (const Plane &plane : plan.planes)
      for (int64_t limit : {int64_t{1} << 31, int64_t{1} << 32})
        for (int64_t by : {-1, 0, 1})
          if (const int64_t id = limit / plane.pageStride + by;
              id < pages && std::ranges::find(ids, id) == ids.end())
            ids.push_back(id);
    return ids;
  }

  /// P1, in the largest pools that the target has room for.
  bool runHugePools() {
    job.kernelReport->usesPools = true;
    const Order order = config.orders.front();
    const CachePlan one = planCache(config, Layout::Dense, order, 1);
    auto pastTwo32 = [&](PlaneOf plane) {
      return (int64_t{1} << 32) / one.planes[plane].pageStride + 8;
    };
    for (int64_t pages :
         {std::max(kHugePages, pastTwo32(KScale)), pastTwo32(KScale), pastTwo32(KPayload)}) {
      const CachePlan plan = planCache(config, Layout::Dense, order, pages);
      if (auto room = tryRoom(plan); !room) {
        job.report.skipped.push_back(fmt::format("pools of {} pages: needs {} bytes: {}", pages,
                                                 plan.bytes(), room.error().message));
        continue;
      }
      const std::vector<int64_t> ids = boundaryPages(plan, pages);
      const int64_t tokens = static_cast<int64_t>(ids.size()) * config.pageSize - 5;
      const std::unique_ptr<Pools> pools =
          makePools(config, {{tokens}}, {Layout::Dense, order, Tail::NaN, pages, ids});
      if (!pools)
        return false;
      // Every block in one list or another.
      const int64_t blocks = (tokens + config.shape.blockSize - 1) / config.shape.blockSize;
      std::vector<RowSpec> specs;
      for (int64_t first = 0; first < blocks; first += config.shape.topK) {
        specs.push_back({fmt::format("pools of {} pages", pages), 0, tokens, {}});
        for (int64_t id = first; id < std::min(blocks, first + config.shape.topK); ++id)
          specs.back().ids.push_back(static_cast<int32_t>(id));
      }
      Rows huge(config, pools->cache, std::move(specs), seed);
      Results found(huge);
      for (size_t row = 0; row < huge.size(); ++row)
        if (!runBatch(job, {&job.variant, config}, pools->placed, found,
                      {"huge pools", {static_cast<int>(row)}}))
          return false;
      if (!pools->placed.unchanged(job))
        return false;
      job.kernelReport->poolPages = pages;
      job.kernelReport->poolBytes = plan.bytes();
      return true;
    }
    return true;
  }

  nvfp4rt::Result<void> tryRoom(const CachePlan &plan) {
    std::vector<DeviceMemory> held;
    for (uint64_t size : plan.sizes) {
      auto memory = DeviceMemory::allocate(job.target, size + 4096);
      if (!memory)
        return tl::unexpected(std::move(memory.error()));
      held.push_back(std::move(*memory));
    }
    return {};
  }

  /// The families of a step, one after the other, in every phase that this kernel serves.
  bool runSteps() {
    std::map<int64_t, Launchee> byPhase;
    for (Launchee &of : relatives(job, config)) {
      if (of.variant->symbol != job.variant.symbol)
        continue;
      // The smallest bucket that has room for a few requests, else the largest.
      const int64_t phase = of.config.request.get(nvfp4rt::Field::phase).value_or(0);
      const auto [at, isNew] = byPhase.try_emplace(phase, of);
      if (!isNew && at->second.config.requests < 3)
        at->second = std::move(of);
    }
    return std::ranges::all_of(byPhase, [&](const auto &of) { return runStep(job, of.second); });
  }
};

} // namespace

void verifySparseAttention(Job &job) {
  std::vector<Config> configs;
  if (cornerConfigs(job, Reader::Attention, configs))
    AttentionChecker(job, std::move(configs)).run();
}

} // namespace verify
