//===- GeneratorApiTest.cpp - the generator in this process, through C ------===//

#include "compiler/include/nvfp4gen.h"

#include "runtime/bundle/Bundle.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

extern "C" size_t sizeOfOptionsInC(void);

namespace {

using testing::HasSubstr;

std::string tiny() {
  std::ifstream in(SPECS_DIR "/tiny.toml");
  return {std::istreambuf_iterator<char>(in), {}};
}

nvfp4gen_options noOptions() {
  nvfp4gen_options options{};
  options.struct_size = sizeof(options);
  return options;
}

struct Built {
  nvfp4gen_status status;
  std::string bytes, message;
  size_t kernels = 0, compiled = 0;
};

Built build(const std::string &spec, const nvfp4gen_options *options = nullptr) {
  nvfp4gen_bundle *bundle = nullptr;
  Built built;
  built.status = nvfp4gen_build(spec.data(), spec.size(), "tiny.toml", options, &bundle);
  if (built.status != NVFP4GEN_OK) {
    EXPECT_EQ(bundle, nullptr);
    built.message = nvfp4gen_last_error();
    return built;
  }
  built.bytes.assign(static_cast<const char *>(nvfp4gen_bundle_data(bundle)),
                     nvfp4gen_bundle_size(bundle));
  built.kernels = nvfp4gen_bundle_kernels(bundle);
  built.compiled = nvfp4gen_bundle_compiled(bundle);
  nvfp4gen_bundle_destroy(bundle);
  return built;
}

TEST(GeneratorApi, BuildsABundleThatTheRuntimeOpens) {
  EXPECT_EQ(sizeOfOptionsInC(), sizeof(nvfp4gen_options));
  struct Seen {
    uint32_t calls = 0, compiled = 0, total = 0;
  } seen;
  nvfp4gen_options options = noOptions();
  options.user = &seen;
  options.progress = [](void *user, const nvfp4gen_progress *progress) {
    Seen &seen = *static_cast<Seen *>(user);
    EXPECT_EQ(progress->done, ++seen.calls);
    seen.compiled += progress->compiled;
    seen.total = progress->total;
    EXPECT_NE(progress->symbol[0], 0);
  };
  Built built = build(tiny(), &options);
  ASSERT_EQ(built.status, NVFP4GEN_OK) << built.message;
  EXPECT_EQ(seen.calls, built.kernels);
  EXPECT_EQ(seen.total, built.kernels);
  EXPECT_EQ(seen.compiled, built.compiled);
  auto opened = nvfp4rt::Bundle::open({built.bytes.begin(), built.bytes.end()}, "built");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->manifest().kernels.size(), built.kernels);
}

TEST(GeneratorApi, CacheServesTheSecondBuild) {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("api-" + std::to_string(::getpid()));
  std::string path = folder;
  nvfp4gen_options options = noOptions();
  options.cache_dir = path.c_str();
  Built cold = build(tiny(), &options), warm = build(tiny(), &options);
  ASSERT_EQ(warm.status, NVFP4GEN_OK) << warm.message;
  EXPECT_EQ(cold.compiled, cold.kernels);
  EXPECT_EQ(warm.compiled, 0u);
  EXPECT_EQ(warm.bytes, cold.bytes);
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "a file";
  Built refused = build(tiny(), &options);
  EXPECT_EQ(refused.status, NVFP4GEN_ERROR_CACHE);
  EXPECT_THAT(refused.message, HasSubstr("cannot create the folder"));
  std::filesystem::remove(folder);
}

TEST(GeneratorApi, FaultsOfASpecComeWithPositions) {
  Built built = build("schema = 1\nname = \"x\"\n[model]\nq_headz = 16\nkv_heads = \"many\"\n");
  EXPECT_EQ(built.status, NVFP4GEN_ERROR_SPEC);
  EXPECT_THAT(built.message, testing::StartsWith("tiny.toml:"));
  EXPECT_THAT(built.message, HasSubstr("tiny.toml:4:1: error: "));
  EXPECT_EQ(build(std::string("\0\xff", 2)).status, NVFP4GEN_ERROR_SPEC);
  EXPECT_EQ(build("").status, NVFP4GEN_ERROR_SPEC);
}

TEST(GeneratorApi, ArgumentsAreChecked) {
  nvfp4gen_bundle *bundle = nullptr;
  std::string spec = tiny();
  auto refuses = [&](nvfp4gen_status status, const char *message) {
    EXPECT_EQ(status, NVFP4GEN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(nvfp4gen_last_error(), HasSubstr(message));
  };
  refuses(nvfp4gen_build(nullptr, 1, "x", nullptr, &bundle), "spec: expected a pointer");
  refuses(nvfp4gen_build(spec.data(), 1, nullptr, nullptr, &bundle), "name: expected a pointer");
  refuses(nvfp4gen_build(spec.data(), 1, "x", nullptr, nullptr), "bundle: expected a pointer");
  nvfp4gen_options options{};
  refuses(nvfp4gen_build(spec.data(), 1, "x", &options, &bundle), "struct_size: expected 56");
  options = noOptions();
  options.reserved = 1;
  refuses(nvfp4gen_build(spec.data(), 1, "x", &options, &bundle), "reserved: expected 0, found 1");
  options = noOptions();
  options.jobs = UINT32_MAX;
  refuses(nvfp4gen_build(spec.data(), 1, "x", &options, &bundle),
          "jobs: expected at most 1024, found 4294967295");
  options = noOptions();
  options.cache_dir = "";
  refuses(nvfp4gen_build(spec.data(), 1, "x", &options, &bundle),
          "cache_dir: expected a folder's name or NULL");
  EXPECT_EQ(nvfp4gen_bundle_data(nullptr), nullptr);
  EXPECT_EQ(nvfp4gen_bundle_size(nullptr), 0u);
  nvfp4gen_bundle_destroy(nullptr);
  EXPECT_STREQ(nvfp4gen_status_name(NVFP4GEN_ERROR_CANCELLED), "NVFP4GEN_ERROR_CANCELLED");
  EXPECT_STREQ(nvfp4gen_status_name(static_cast<nvfp4gen_status>(99)), "unknown status");
}

TEST(GeneratorApi, IsCancelledFromAnotherThread) {
  std::atomic<bool> stop = false;
  nvfp4gen_options options = noOptions();
  options.jobs = 1;
  options.user = &stop;
  options.progress = [](void *user, const nvfp4gen_progress *) {
    std::thread([user] { *static_cast<std::atomic<bool> *>(user) = true; }).join();
  };
  options.cancelled = [](void *user) { return int(*static_cast<std::atomic<bool> *>(user)); };
  Built built = build(tiny(), &options);
  EXPECT_EQ(built.status, NVFP4GEN_ERROR_CANCELLED);
  EXPECT_EQ(built.message, "the build was cancelled");
}

// Builds at once give the bytes of one alone, and leave the process's signal handlers.
TEST(GeneratorApi, BuildsRunSideBySide) {
  struct sigaction before{}, after{};
  ::sigaction(SIGINT, nullptr, &before);
  Built first, second;
  nvfp4gen_options options = noOptions();
  options.jobs = 1;
  std::thread other([&] { second = build(tiny(), &options); });
  first = build(tiny(), &options);
  other.join();
  ASSERT_EQ(first.status, NVFP4GEN_OK) << first.message;
  EXPECT_EQ(first.bytes, second.bytes);
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

// Nothing but the C interface is exported.
TEST(GeneratorApi, ExportsItsInterfaceAlone) {
  FILE *pipe = ::popen("nm -D --defined-only " GENERATOR_LIBRARY, "r");
  ASSERT_NE(pipe, nullptr);
  char line[512];
  size_t count = 0;
  while (std::fgets(line, sizeof(line), pipe)) {
    EXPECT_THAT(line, HasSubstr(" T nvfp4gen_"));
    ++count;
  }
  ::pclose(pipe);
  EXPECT_EQ(count, 9u);
}

} // namespace
