//===- IndexCases.cpp - what both scorers are tried with --------------------===//
//
// Owns: what IndexCases.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexCases.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify::index {

namespace {

/// The pool size of a field report in which 32-bit offsets wrapped.
constexpr int64_t kHugePages = 8'401'239;
/// Pages that stand for thousands of blocks.
constexpr size_t kSharedPages = 61;

Case makeCase(const Step &step, Values values, Layout layout, std::vector<uint32_t> workers) {
  Case result{fmt::format("{} values", kValuesNames[static_cast<size_t>(values)]),
              step,
              {},
              std::move(workers),
              true};
  result.options.values = values;
  result.options.layout = layout;
  return result;
}

/// Whether the target can hold buffers of these sizes at once.
nvfp4rt::Result<void> tryRoom(Target &target, const std::vector<uint64_t> &sizes) {
  std::vector<DeviceMemory> held;
  for (uint64_t size : sizes) {
    auto memory = DeviceMemory::allocate(target, size + 4096);
    if (!memory)
      return tl::unexpected(std::move(memory.error()));
    held.push_back(std::move(*memory));
  }
  return {};
}

/// Pages at, before and after 2^31 and 2^32 bytes of either plane, both ends and the middle.
std::vector<int64_t> boundaryPages(const PoolPlan &plan, int64_t pages) {
  std::vector<int64_t> ids = {pages - 1, 0, pages / 2};
  for (const Plane *plane : {&plan.payload, &plan.scale})
    for (int64_t limit : {int64_t{1} << 31, int64_t{1} << 32})
      for (int64_t by : {-1, 0, 1})
        ids.push_back(limit / plane->pageStride + by);
  std::vector<int64_t> distinct;
  for (int64_t id : ids)
    if (id < pages && std::find(distinct.begin(), distinct.end(), id) == distinct.end())
      distinct.push_back(id);
  return distinct;
}

} // namespace

std::vector<Case> cornerCases(const Config &config, size_t turn) {
  const std::vector<Step> steps = scorerSteps(config);
  auto layout = [&](size_t by) { return static_cast<Layout>((turn + by) % 3); };
  const uint32_t some[] = {7, 40, 3, 64};
  auto workers = [&](size_t by) { return some[(turn + by) % std::size(some)]; };
  std::vector<Case> cases = {
      makeCase(steps[turn % 2], Values::Exact, layout(0), {workers(0)}),
      makeCase(steps[1 - turn % 2], Values::Random, layout(1), {workers(1), workers(2)}),
  };
  cases[0].options.impossiblePages = true;
  if (turn % 2 == 0) // a guard has a corner at either end of the bucket
    cases.push_back(makeCase(steps[turn / 2 % 2], Values::Ascending, layout(2), {workers(3)}));
  return cases;
}

std::vector<Case> kernelCases(const Config &config) {
  std::vector<Case> cases = {makeCase(blindStep(config), Values::Exact, Layout::Dense, {7, 1})};
  for (const Step &step : blockCountSteps(config, {1, 2, 15, 16, 17}))
    for (Values values : {Values::OneHot, Values::Zero, Values::Special})
      cases.push_back(makeCase(step, values, Layout::Dense, {1, 64}));
  for (const Step &step : blockCountSteps(config, {127, 128, 129})) {
    cases.push_back(makeCase(step, Values::Exact, Layout::Interleaved, {1, 7, 512}));
    cases.back().options.impossiblePages = true;
  }
  // The longest context; in prefill a chunk of two segments, each far from its first block.
  const Step far = config.prefill() ? chunkStep(config, NVFP4RT_PREFILL_SEGMENT_ROWS + 6, 100'000)
                                    : blockCountSteps(config, {8192}).front();
  cases.push_back(makeCase(far, Values::Exact, Layout::Dense, {256}));
  cases.back().options.sharedPages = kSharedPages;
  cases.back().firstUnforced = false;
  return cases;
}

Case poisonCase(const Config &config) {
  return makeCase(blockCountSteps(config, {17, 2, 1, 3}).front(), Values::Random, Layout::Gapped,
                  {5});
}

std::optional<Case> hugePoolCase(Job &job, const Config &config) {
  const PoolPlan one = planPool(config.shape, Layout::Dense, 1);
  auto pagesPastTwo32 = [](const Plane &plane) {
    return (int64_t{1} << 32) / plane.pageStride + 8;
  };
  for (int64_t pages : {std::max(kHugePages, pagesPastTwo32(one.scale)), pagesPastTwo32(one.scale),
                        pagesPastTwo32(one.payload)}) {
    const PoolPlan plan = planPool(config.shape, Layout::Dense, pages);
    if (auto room = tryRoom(job.target, plan.sizes); !room) {
      job.report.skipped.push_back(fmt::format("pools of {} pages: needs {} bytes: {}", pages,
                                               plan.sizes[0] + plan.sizes[1],
                                               room.error().message));
      continue;
    }
    const std::vector<int64_t> ids = boundaryPages(plan, pages);
    const Step step = lengthStep(config, static_cast<int64_t>(ids.size()) * config.shape.pageSize -
                                             config.shape.pageSize / 2);
    Case result = makeCase(step, Values::Exact, Layout::Dense, {3});
    result.name += fmt::format(" in a pool of {} pages", pages);
    result.options.pages = pages;
    result.options.pageIds = ids;
    return result;
  }
  return std::nullopt;
}

std::string caseText(const Config &config, const Case &of) {
  return fmt::format("{}, {} ({} requests, Q {}, {} rows, {} live), {} layout", of.name,
                     of.step.name, config.requests, config.queryLen, of.step.rows, of.step.live,
                     kLayoutNames[static_cast<size_t>(of.options.layout)]);
}

std::optional<Data> makeData(Job &job, const Config &config, const Case &of, const StepMap &map) {
  auto data = Data::create(config, of.step, map, of.options, job.seed + 10 * job.report.launches);
  if (data)
    return std::move(*data);
  job.fault(fmt::format("{}: {}", caseText(config, of), data.error().message));
  return std::nullopt;
}

} // namespace verify::index
