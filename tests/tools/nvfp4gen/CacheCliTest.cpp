//===- CacheCliTest.cpp - builds that share a cache, and same bytes everywhere ===//

#include "runtime/bundle/Bundle.h"
#include "tests/tools/nvfp4gen/CliFixture.h"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/wait.h>
#include <thread>

namespace {

using nlohmann::json;
using testing::HasSubstr;

class CacheCli : public Cli {
protected:
  void SetUp() override {
    Cli::SetUp();
    ::setenv("NVFP4GEN_CACHE_DIR", (folder / "cache").c_str(), /*overwrite=*/1);
  }
  /// Start a build without waiting for it.
  pid_t start(const std::string &spec, const std::string &output) {
    pid_t child = ::fork();
    if (child == 0) {
      int sink = ::open("/dev/null", O_WRONLY);
      ::dup2(sink, STDOUT_FILENO);
      ::dup2(sink, STDERR_FILENO);
      ::execl(NVFP4GEN, "nvfp4gen", "build", spec.c_str(), "-o", output.c_str(), "-j1", nullptr);
      ::_exit(127);
    }
    return child;
  }
  json report(const std::string &spec, std::vector<std::string> options = {}) {
    options.insert(options.begin(),
                   {"build", spec, "-o", folder / "report.hsaco", "--json", "-j2"});
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  std::vector<fs::path> entries() {
    std::vector<fs::path> paths;
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder / "cache"))
      if (entry.is_regular_file())
        paths.push_back(entry.path());
    return paths;
  }
  /// A spec with few kernels, so that builds are short: a writer's planes and nothing else.
  std::string smallSpec(const std::string &buckets = "[1, 3]") {
    std::string text = read(kSpecs + "tiny.toml");
    auto replace = [&](const std::string &from, const std::string &to) {
      size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos);
      text.replace(at, from.size(), to);
    };
    replace("[1, 2, 4]", buckets);
    replace("query_lens = [1, 2]", "query_lens = [1]");
    replace("\"decode\", \"verify\", \"prefill\"", "\"decode\"");
    std::string path = folder / "small.toml";
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(CacheCli, CountersSayWhatWasCompiled) {
  std::string spec = smallSpec();
  json cold = report(spec);
  size_t kernels = cold.at("kernels").size();
  EXPECT_EQ(cold.at("kernels_compiled"), kernels);
  EXPECT_EQ(cold.at("cache").at("stored"), kernels + 1);
  json warm = report(spec);
  EXPECT_EQ(warm.at("kernels_compiled"), 0);
  EXPECT_EQ(warm.at("cache").at("bundle"), true);
  EXPECT_EQ(warm.at("build_id"), cold.at("build_id"));
  // Another bucket: other guards, the same code.
  json bucket = report(smallSpec("[1, 2, 3]"));
  EXPECT_EQ(bucket.at("kernels_compiled"), 0);
  EXPECT_EQ(bucket.at("cache").at("bundle"), false);
  EXPECT_EQ(bucket.at("cache").at("hits"), kernels);
  json off = report(spec, {"--no-cache"});
  EXPECT_EQ(off.at("kernels_compiled"), kernels);
  EXPECT_EQ(off.at("cache"), nullptr);

  Outcome text = run({"build", smallSpec(), "-o", folder / "x.hsaco"});
  EXPECT_THAT(text.out, HasSubstr("0 compiled, " + std::to_string(kernels) +
                                  " from the cache (the whole bundle)"));
}

TEST_F(CacheCli, StatAndClear) {
  report(smallSpec());
  json stat = json::parse(run({"cache", "stat", "--json"}).out);
  EXPECT_EQ(stat.at("directory"), (folder / "cache").string());
  EXPECT_EQ(stat.at("entries"), entries().size());
  EXPECT_GT(stat.at("bytes"), 0);
  EXPECT_EQ(json::parse(run({"cache", "clear", "--json"}).out), stat);
  EXPECT_TRUE(entries().empty());
  EXPECT_THAT(run({"cache", "stat"}).out, HasSubstr("0 entries, 0 bytes"));
  // A folder that no build has made holds nothing.
  EXPECT_EQ(run({"cache", "stat", "--cache-dir", folder / "none"}).exitCode, 0);
  EXPECT_EQ(run({"cache"}).exitCode, 2);
}

TEST_F(CacheCli, FolderComesFromOptionThenEnvironment) {
  report(smallSpec(), {"--cache-dir", folder / "named"});
  EXPECT_TRUE(fs::exists(folder / "named" / "v1"));
  EXPECT_FALSE(fs::exists(folder / "cache"));
  ::unsetenv("NVFP4GEN_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", (folder / "xdg").c_str(), 1);
  report(smallSpec());
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(fs::exists(folder / "xdg" / "nvfp4gen" / "v1"));
  // A folder that was asked for has to work; one that was not is a warning.
  std::ofstream(folder / "file") << "";
  Outcome refused =
      run({"build", smallSpec(), "-o", folder / "x.hsaco", "--cache-dir", folder / "file"});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot create the folder"));
  ::setenv("NVFP4GEN_CACHE_DIR", (folder / "file").c_str(), 1);
  Outcome warned = run({"build", smallSpec(), "-o", folder / "x.hsaco"});
  EXPECT_EQ(warned.exitCode, 0);
  EXPECT_THAT(warned.err, HasSubstr("nvfp4gen: warning: no cache: "));
}

TEST_F(CacheCli, SizeIsBounded) {
  json unbounded = report(smallSpec());
  uintmax_t before = 0;
  for (const fs::path &path : entries())
    before += fs::file_size(path);
  constexpr uintmax_t kLimit = 100 << 10;
  ASSERT_GT(before, kLimit);
  json bounded = report(smallSpec("[1, 2, 3]"), {"--cache-size", "100K"});
  EXPECT_GT(bounded.at("cache").at("evicted"), 0);
  uintmax_t after = 0;
  for (const fs::path &path : entries())
    after += fs::file_size(path);
  EXPECT_LE(after, kLimit);
  EXPECT_GT(after, 0u);
  for (const char *size : {"-1", "0", "x", "1T", "", "99999999999G"})
    EXPECT_EQ(run({"build", smallSpec(), "-o", folder / "x", "--cache-size", size}).exitCode, 2)
        << size;
}

TEST_F(CacheCli, FlippedBytesAreReportedAndRepaired) {
  std::string spec = smallSpec();
  std::string cold = read(build(spec, "cold.hsaco"));
  std::vector<fs::path> all = entries();
  for (const fs::path &path : all) {
    std::string bytes = read(path);
    bytes[bytes.size() * 2 / 3] ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
  }
  Outcome outcome = run({"build", spec, "-o", folder / "repaired.hsaco", "--json"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nvfp4gen: warning: cache"));
  EXPECT_THAT(outcome.err, HasSubstr("is damaged; it is removed and compiled again"));
  EXPECT_EQ(json::parse(outcome.out).at("cache").at("damaged"), all.size());
  EXPECT_EQ(read(folder / "repaired.hsaco"), cold);
  EXPECT_EQ(report(spec).at("kernels_compiled"), 0);
}

// Sixteen builds at once on one empty cache: all succeed with the same bytes and leave a cache
// without a damaged entry or a temporary file.
TEST_F(CacheCli, SixteenBuildsShareOneCache) {
  std::string spec = smallSpec();
  std::vector<pid_t> children;
  auto output = [&](size_t i) { return (folder / ("out" + std::to_string(i))).string(); };
  for (size_t i = 0; i < 16; ++i)
    children.push_back(start(spec, output(i)));
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::string expected = read(build(spec, "alone.hsaco", {"--no-cache"}));
  for (size_t i = 0; i < children.size(); ++i)
    EXPECT_EQ(read(output(i)), expected) << i;
  for (const fs::path &path : entries())
    EXPECT_THAT(path.string(), testing::Not(HasSubstr(".tmp-")));
  json warm = report(spec);
  EXPECT_EQ(warm.at("kernels_compiled"), 0);
  EXPECT_EQ(warm.at("cache").at("damaged"), 0);
}

// Builds killed at random points, two at a time, on one cache: whatever is left of them, the next
// build finds no damaged entry and gives the right bytes.
TEST_F(CacheCli, KilledBuildsLeaveACacheThatWorks) {
  std::string spec = smallSpec();
  std::string expected = read(build(spec, "alone.hsaco", {"--no-cache"}));
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    if (round % 4 == 0)
      fs::remove_all(folder / "cache");
    pid_t children[] = {start(spec, folder / "a"), start(spec, folder / "b")};
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    for (pid_t child : children) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    for (const char *name : {"a", "b"})
      if (fs::exists(folder / name)) {
        EXPECT_EQ(read(folder / name), expected);
      }
    if (round % 4 == 3) {
      json next = report(spec);
      EXPECT_EQ(next.at("cache").at("damaged"), 0);
      EXPECT_EQ(read(folder / "report.hsaco"), expected);
      EXPECT_EQ(report(spec).at("kernels_compiled"), 0);
    }
  }
}

// The same spec gives the same bytes: in another folder, for another user, with other jobs, with
// an empty, a partial and a full cache, and without.
TEST_F(CacheCli, BuildsAreReproducible) {
  std::string spec = kSpecs + "tiny.toml";
  std::string expected = read(build(spec, "cold.hsaco", {"-j1"}));
  EXPECT_EQ(read(build(spec, "warm.hsaco")), expected);
  std::vector<fs::path> all = entries();
  for (size_t i = 0; i < all.size(); i += 2)
    fs::remove(all[i]);
  EXPECT_EQ(read(build(spec, "partial.hsaco", {"-j2"})), expected);

  fs::create_directories(folder / "elsewhere" / "deeper");
  fs::copy_file(spec, folder / "elsewhere" / "renamed.toml");
  fs::path here = fs::current_path();
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  fs::current_path(folder / "elsewhere" / "deeper");
  ::unsetenv("NVFP4GEN_CACHE_DIR");
  ::setenv("HOME", (folder / "home").c_str(), 1);
  ::setenv("USER", "someone-else", 1);
  ::setenv("TMPDIR", (folder / "elsewhere").c_str(), 1);
  ::setenv("TZ", "Asia/Tokyo", 1);
  Outcome outcome = run({"build", "../renamed.toml", "-o", "x.hsaco", "-j2"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_EQ(read("x.hsaco"), expected);
  EXPECT_TRUE(fs::exists(folder / "home" / ".cache" / "nvfp4gen" / "v1"));
  fs::current_path(here);
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("TMPDIR");
}

} // namespace
