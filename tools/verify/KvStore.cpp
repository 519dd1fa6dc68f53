//===- KvStore.cpp - the checks of kv_store ---------------------------------===//
//
// Owns: which launches a kv_store variant must get right (W1): shapes, layouts and
// slots for every variant; pinned inputs and huge pools once a kernel.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/FamilyChecks.h"
#include "tools/verify/KvStoreLaunch.h"
#include "tools/verify/KvStoreSlots.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify {

namespace kv_store {
namespace {

class Checker {
public:
  Checker(Job &job, const nvfp4rt::Request &request, const Config &config)
      : job(job), request(request), config(config) {}

  /// What depends on the guard: row counts, layouts, slots; with random inputs. False to stop.
  bool shapes() {
    std::vector<Bits16> groups = oracle::randomGroups(config.shape.dtype, 4096, job.seed);
    for (const oracle::PinnedSet &set : oracle::pinnedSets(config.shape.dtype))
      if (set.name.ends_with("mixtures"))
        groups.insert(groups.end(), set.groups.begin(), set.groups.end());
    Inputs inputs = streams(groups);
    for (Order order : config.orders)
      for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved}) {
        Launch launch = launchOf("shapes and slots", layout, order, config.rows);
        SlotLists slots(config.shape.pageSize, launch.pages, job.seed, 0);
        SlotLists indexSlots(config.shape.pageSize, launch.indexPages, job.seed + 1, 5);
        do {
          launch.slots = slots.next(static_cast<size_t>(config.rows));
          launch.indexSlots = indexSlots.next(static_cast<size_t>(config.rows));
          if (!run(launch, inputs))
            return false;
        } while (!slots.complete());
      }
    Launch none = launchOf("no rows", Layout::Dense, config.orders[0], 0);
    return run(none, inputs);
  }

  /// Every pinned group through every tensor.
  bool pinned(KernelReport &kernel) {
    std::vector<Bits16> groups;
    for (const auto &sets :
         {oracle::pinnedSets(config.shape.dtype), oracle::exhaustiveSets(config.shape.dtype)})
      for (const oracle::PinnedSet &set : sets) {
        kernel.pinnedSets.push_back({set.name, set.groups.size() * 16});
        groups.insert(groups.end(), set.groups.begin(), set.groups.end());
      }
    int64_t rows = 0;
    for (Tensor tensor : tensors()) {
      const int64_t perRow = headsOf(config.shape, tensor) * headDimOf(config.shape, tensor) / 16;
      rows = std::max(rows, (static_cast<int64_t>(groups.size()) + perRow - 1) / perRow);
    }
    Inputs inputs = streams(groups);
    const uint64_t before = job.report.values;
    while (rows > 0) {
      const int64_t count = std::min(rows, mostRowsOf(request));
      Launch launch = launchOf("pinned inputs", Layout::Dense, config.orders[0], count);
      launch.slots = SlotLists(config.shape.pageSize, launch.pages, job.seed + 2, 0)
                         .nextLive(static_cast<size_t>(count));
      launch.indexSlots = SlotLists(config.shape.pageSize, launch.indexPages, job.seed + 3, 0)
                              .nextLive(static_cast<size_t>(count));
      if (!run(launch, inputs))
        return false;
      rows -= count;
    }
    job.report.pinnedValues += job.report.values - before;
    return true;
  }

  /// Pools in which byte offsets pass 2^31 and 2^32; the largest that the device has room for.
  void hugePools(KernelReport &kernel) {
    kernel.usesPools = true;
    std::vector<Bits16> groups = oracle::randomGroups(config.shape.dtype, 1024, job.seed + 4);
    Inputs inputs = streams(groups);
    for (int64_t pages : hugePageCounts(config.shape, config.orders[0])) {
      Launch launch = launchOf("huge pools", Layout::Dense, config.orders[0], 0);
      launch.pages = launch.indexPages = pages;
      launch.sparse = true;
      const HugeSlots slots = hugeSlots(config.shape, launch.order, pages);
      const size_t rows = slots.k.size();

      bool room = true;
      const auto step = static_cast<size_t>(mostRowsOf(request));
      for (size_t first = 0; room && first < rows; first += step) {
        const size_t last = std::min(rows, first + step);
        auto part = [&](const std::vector<int64_t> &list) {
          return std::vector<int64_t>(list.begin() + static_cast<ptrdiff_t>(first),
                                      list.begin() + static_cast<ptrdiff_t>(last));
        };
        launch.slots = part(slots.k);
        launch.indexSlots = part(slots.index);
        auto done = runLaunch(job, launch, inputs);
        room = done || done.error().code != NVFP4RT_ERROR_OUT_OF_MEMORY;
        if (!room)
          job.report.skipped.push_back(fmt::format("pools of {} pages: needs {} bytes: {}", pages,
                                                   poolBytes(launch), done.error().message));
        else if (!done)
          return; // a fault, and reported
      }
      if (room) {
        kernel.poolPages = pages;
        kernel.poolBytes = poolBytes(launch);
        return;
      }
    }
  }

private:
  Job &job;
  const nvfp4rt::Request &request;
  const Config &config;

  std::vector<Tensor> tensors() const {
    std::vector<Tensor> result;
    for (Tensor tensor : {K, V, IndexK})
      if (stores(config.shape, tensor))
        result.push_back(tensor);
    return result;
  }

  /// Each tensor starts elsewhere, and no start is a multiple of a row's groups.
  static Inputs streams(const std::vector<Bits16> &groups) {
    const size_t third = groups.size() / 3 | 1;
    return {GroupStream(groups, 0), GroupStream(groups, third), GroupStream(groups, 2 * third)};
  }

  /// A launch without slots, in pools with room for `rows` rows; the index pool is larger.
  Launch launchOf(std::string_view what, Layout layout, Order order, int64_t rows) const {
    const int64_t pages = SlotLists::pagesFor(rows, config.shape.pageSize);
    return {.request = request,
            .shape = config.shape,
            .layout = layout,
            .order = order,
            .pages = pages,
            .indexPages = pages + 1,
            .slots = {},
            .indexSlots = {},
            .sparse = false,
            .what = what};
  }

  bool run(const Launch &launch, Inputs &inputs) {
    auto done = runLaunch(job, launch, inputs);
    if (!done && done.error().code == NVFP4RT_ERROR_OUT_OF_MEMORY)
      job.fault(fmt::format("{}: {}", launch.what, done.error().message));
    return done.has_value();
  }
};

} // namespace
} // namespace kv_store

void verifyKvStore(Job &job) {
  const std::vector<nvfp4rt::Request> requests = cornerRequests(job.variant.guard);
  std::vector<kv_store::Config> configs;
  size_t largest = 0;
  for (const nvfp4rt::Request &request : requests) {
    auto config = kv_store::readConfig(request);
    if (!config)
      return job.fault(config.error().message);
    configs.push_back(std::move(*config));
    if (!kv_store::Checker(job, request, configs.back()).shapes())
      return;
    if (mostRowsOf(request) > mostRowsOf(requests[largest]))
      largest = configs.size() - 1;
  }
  if (!job.kernelReport)
    return;
  kv_store::Checker checker(job, requests[largest], configs[largest]);
  if (checker.pinned(*job.kernelReport))
    checker.hugePools(*job.kernelReport);
}

} // namespace verify
