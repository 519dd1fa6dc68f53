//===- BuildSpeed.cpp - how long nvfp4gen takes, against its budgets --------===//
//
// Runs the nvfp4gen beside it as a user does: cold on one job and two, warm, and
// --version. Of each the best of several runs counts, as other work on the machine
// only ever adds; the median is printed beside it.
//
//===------------------------------------------------------------------------===//

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Run {
  double wall = 0, cpu = 0; ///< seconds
  double peakMiB = 0;
};

struct Measured {
  std::vector<Run> runs;
  double best(double Run::*figure) const { return std::ranges::min(runs, {}, figure).*figure; }
  double worst(double Run::*figure) const { return std::ranges::max(runs, {}, figure).*figure; }
  double median(double Run::*figure) const {
    std::vector<Run> sorted = runs;
    std::ranges::sort(sorted, {}, figure);
    return sorted[sorted.size() / 2].*figure;
  }
};

/// Run a command to its end; it has to succeed.
Run run(const std::vector<std::string> &words, const fs::path &output) {
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  auto start = std::chrono::steady_clock::now();
  pid_t child = ::fork();
  if (child == 0) {
    int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err = ::open("/dev/null", O_WRONLY);
    if (out >= 0 && err >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(err, STDERR_FILENO) >= 0)
      ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0)
    throw std::runtime_error(words[0] + " " + words[1] + ": expected exit code 0, found status " +
                             std::to_string(status));
  auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + double(time.tv_usec) / 1e6;
  };
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime), double(usage.ru_maxrss) / 1024};
}

/// A figure with its budget; counts as missed when it is above (or below, for a speed-up).
bool line(const char *what, double value, const char *unit, double budget, bool atLeast) {
  bool kept = atLeast ? value >= budget : value <= budget;
  fmt::print("{:<46} {:>8.2f} {:<4} {} {:>7.2f}  {}\n", what, value, unit,
             atLeast ? ">=" : "<=", budget, kept ? "kept" : "MISSED");
  return kept;
}

} // namespace

int main(int argc, char **argv) try {
  std::string spec;
  unsigned runs = 5;
  bool check = false;
  CLI::App app{"Time and memory of nvfp4gen build against the budgets of a deployment like "
               "MiniMax-M3.1 at TP4",
               "build_speed"};
  app.add_option("spec", spec, "Spec (TOML)")->required();
  app.add_option("--runs", runs, "Runs of each kind; the best counts")->check(CLI::Range(1u, 100u));
  app.add_flag("--check", check, "Exit with 1 when a budget is missed");
  CLI11_PARSE(app, argc, argv);

  std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "nvfp4gen";
  fs::path folder = fs::temp_directory_path() / fmt::format("build-speed-{}", ::getpid());
  fs::create_directories(folder);
  std::string bundle = folder / "x.hsaco", cache = folder / "cache";
  fs::path output = folder / "stdout";
  Measured version, one, two, cold, warm;
  // Interleaved, so that a busy minute of the machine falls on all of them.
  for (unsigned i = 0; i < runs; ++i) {
    version.runs.push_back(run({program, "--version"}, output));
    one.runs.push_back(run({program, "build", spec, "-o", bundle, "-j1", "--no-cache"}, output));
    two.runs.push_back(run({program, "build", spec, "-o", bundle, "-j2", "--no-cache"}, output));
    fs::remove_all(cache);
    cold.runs.push_back(
        run({program, "build", spec, "-o", bundle, "-j2", "--cache-dir", cache}, output));
    warm.runs.push_back(
        run({program, "build", spec, "-o", bundle, "-j2", "--cache-dir", cache, "--json"}, output));
  }
  nlohmann::json report = nlohmann::json::parse(std::ifstream(output));
  fs::remove_all(folder);
  if (report.at("kernels_compiled") != 0)
    throw std::runtime_error("expected a warm build to compile nothing");

  double load[3] = {};
  ::getloadavg(load, 3);
  fmt::print("{} cores, load average {:.1f}; {} runs, best (median)\n",
             std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)), load[0], runs);
  for (auto [name, measured] :
       {std::pair("nvfp4gen --version", &version), std::pair("cold, 1 job", &one),
        std::pair("cold, 2 jobs", &two), std::pair("cold, 2 jobs, filling a cache", &cold),
        std::pair("warm", &warm)})
    fmt::print("  {:<30} wall {:>8.1f} ({:>8.1f}) ms, CPU {:>8.1f} ({:>8.1f}) ms\n", name,
               measured->best(&Run::wall) * 1e3, measured->median(&Run::wall) * 1e3,
               measured->best(&Run::cpu) * 1e3, measured->median(&Run::cpu) * 1e3);
  auto variants = report.at("variants").get<double>();
  fmt::print("  {:<30} {:.2f} ms on 1 job, {:.2f} ms on 2\n", "time a variant",
             one.best(&Run::wall) * 1e3 / variants, two.best(&Run::wall) * 1e3 / variants);

  bool kept = true;
  kept &= line("speed-up from 1 job to 2", one.best(&Run::wall) / two.best(&Run::wall), "x", 1.7,
               /*atLeast=*/true);
  kept &= line("warm rebuild / cold one on 1 job, wall",
               100 * warm.best(&Run::wall) / one.best(&Run::wall), "%", 3, false);
  kept &= line("peak memory on 2 jobs", two.worst(&Run::peakMiB), "MiB", 1536, false);
  kept &= line("nvfp4gen --version", version.best(&Run::wall) * 1e3, "ms", 30, false);
  kept &= line("bundle bytes a variant", report.at("bytes_per_variant"), "B", 1400, false);
  return check && !kept ? 1 : 0;
} catch (const std::exception &error) {
  fmt::print(stderr, "build_speed: error: {}\n", error.what());
  return 1;
}
