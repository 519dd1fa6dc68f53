//===- Bench.cpp - nvfp4gen bench -------------------------------------------===//

#include "tools/bench/Bench.h"

#include "tools/nvfp4gen/Commands.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace nvfp4gen {

int runBench(const BenchCommandOptions &options) {
  bench::BenchOptions benchOptions;
  benchOptions.bundlePath = options.bundle;
  benchOptions.family = options.family;
  benchOptions.shape = options.shape;
  benchOptions.sample = options.sample;
  const bool terminal = ::isatty(STDERR_FILENO);
  if (terminal)
    benchOptions.onProgress = [percent = uint64_t{0}](const bench::Progress &p) mutable {
      const uint64_t now = p.workgroups == 0 ? 0 : 100 * p.workgroup / p.workgroups;
      if (now == percent && now != 0)
        return;
      percent = now;
      fmt::print(stderr, "\r\x1b[K[{}/{}] {} {} {} %", p.row + 1, p.rows, p.family, p.shape, now);
    };
  bench::Result<bench::Report> report = bench::benchBundle(benchOptions);
  if (terminal)
    fmt::print(stderr, "\r\x1b[K");
  if (!report)
    return reportError(report.error().message);
  if (options.json)
    fmt::print("{}\n", bench::reportJson(*report).dump(2));
  else
    fmt::print("{}", bench::reportTable(*report));
  return report->passed() ? kExitDone : kExitFailed;
}

std::string benchDefinitions() { return std::string(bench::definitions()); }

} // namespace nvfp4gen
