//===- CacheTest.cpp - compiled kernels kept between builds -----------------===//

#include "compiler/bundle/Cache.h"

#include "compiler/bundle/Build.h"
#include "compiler/ir/KernelBuilder.h"
#include "compiler/support/BuildIdentity.h"
#include "runtime/bundle/Bundle.h"
#include "tests/SpecFixture.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace nvfp4gen {
namespace {

namespace fs = std::filesystem;
using test::specOf;
using test::variantsOf;
using testing::HasSubstr;

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("cache-" + std::to_string(::getpid()));
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::unique_ptr<Cache> open(uint64_t maxBytes = kDefaultCacheBytes) {
    llvm::Expected<std::unique_ptr<Cache>> cache = Cache::open(folder, maxBytes);
    EXPECT_TRUE(bool(cache)) << llvm::toString(cache.takeError());
    return std::move(*cache);
  }
  /// Every file of the cache.
  std::vector<fs::path> files() {
    std::vector<fs::path> paths;
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        paths.push_back(entry.path());
    return paths;
  }
  CacheUsage usage() { return llvm::cantFail(Cache::usage(folder)); }

  /// Build `list` through the cache.
  Bundle build(const Spec &spec, const VariantList &list) {
    cache = open();
    BuildOptions options;
    options.jobs = 2;
    options.cache = cache.get();
    llvm::Expected<Bundle> bundle = buildBundle(spec, list, options);
    if (!bundle) {
      ADD_FAILURE() << llvm::toString(bundle.takeError());
      return {};
    }
    return std::move(*bundle);
  }

  fs::path folder;
  std::unique_ptr<Cache> cache; ///< of the last build()
};

void setAge(const fs::path &path, int seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

TEST(CacheKeys, PartsAreNotRunTogether) {
  EXPECT_EQ(cacheKey({"a", "bc"}), cacheKey({"a", "bc"}));
  EXPECT_NE(cacheKey({"a", "bc"}), cacheKey({"ab", "c"}));
  EXPECT_NE(cacheKey({"abc"}), cacheKey({"abc", ""}));
}

TEST(CacheKeys, BinariesHaveIdentities) {
  llvm::Expected<BuildIdentity> identity = buildIdentity();
  ASSERT_TRUE(bool(identity)) << llvm::toString(identity.takeError());
  EXPECT_EQ(identity->generator.size(), 40u); // SHA-1
  EXPECT_EQ(identity->toolchain.size(), 81u);
}

TEST(CacheDirectory, FollowsTheEnvironment) {
  auto with = [](const char *own, const char *xdg, const char *home) {
    for (auto [name, value] : {std::pair("NVFP4GEN_CACHE_DIR", own),
                               std::pair("XDG_CACHE_HOME", xdg), std::pair("HOME", home)})
      value ? ::setenv(name, value, 1) : ::unsetenv(name);
    return defaultCacheDirectory();
  };
  EXPECT_EQ(with("/own", "/xdg", "/home/x"), "/own");
  EXPECT_EQ(with("", "/xdg", "/home/x"), "/xdg/nvfp4gen");
  EXPECT_EQ(with(nullptr, "relative", "/home/x"), "/home/x/.cache/nvfp4gen");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
}

TEST_F(CacheTest, GivesBackWhatWasStored) {
  std::unique_ptr<Cache> cache = open();
  CacheKey key = cacheKey({"x"});
  EXPECT_FALSE(cache->load(key));
  std::string payload("\0payload\xff", 9);
  cache->store(key, payload);
  EXPECT_EQ(cache->load(key), payload);
  EXPECT_EQ(open()->load(key), payload);
  EXPECT_FALSE(cache->load(cacheKey({"y"})));
  CacheCounters counters = cache->counters();
  EXPECT_EQ(counters.hits, 1u);
  EXPECT_EQ(counters.misses, 2u);
  EXPECT_EQ(counters.stored, 1u);
  EXPECT_THAT(cache->warnings(), testing::IsEmpty());
  // Nobody else's business.
  struct stat status{};
  ASSERT_EQ(::stat((folder / "v1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

// Each byte of an entry flipped, and each length that a torn write could leave.
TEST_F(CacheTest, DamagedEntriesAreNeverUsed) {
  CacheKey key = cacheKey({"x"});
  std::string payload = "some machine code";
  open()->store(key, payload);
  ASSERT_EQ(files().size(), 1u);
  fs::path path = files().front();
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto refuses = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    std::unique_ptr<Cache> cache = open();
    EXPECT_FALSE(cache->load(key));
    EXPECT_EQ(cache->counters().damaged, 1u);
    ASSERT_EQ(cache->warnings().size(), 1u);
    EXPECT_THAT(cache->warnings()[0], HasSubstr(path.string() + "' is damaged"));
    EXPECT_FALSE(fs::exists(path));
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 0x10;
    refuses(flipped);
  }
  for (size_t size = 0; size < whole.size(); ++size)
    refuses(whole.substr(0, size));
  refuses(whole + '\0');
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_EQ(open()->load(key), payload);
}

// An entry that is whole but under another's name.
TEST_F(CacheTest, RenamedEntriesAreDamaged) {
  open()->store(cacheKey({"x"}), "x's code");
  fs::path from = files().front();
  open()->store(cacheKey({"y"}), "y's code");
  fs::path to = files().front() == from ? files().back() : files().front();
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  std::unique_ptr<Cache> cache = open();
  EXPECT_FALSE(cache->load(cacheKey({"y"})));
  EXPECT_EQ(cache->counters().damaged, 1u);
}

TEST_F(CacheTest, WhatWasUsedLongestAgoGoesFirst) {
  std::string payload(10000, 'x');
  for (const char *name : {"a", "b", "c", "d"}) {
    open()->store(cacheKey({name}), payload);
    for (const fs::path &path : files())
      setAge(path, 10 + int(std::chrono::duration_cast<std::chrono::seconds>(
                                fs::file_time_type::clock::now() - fs::last_write_time(path))
                                .count()));
  }
  EXPECT_TRUE(open()->load(cacheKey({"a"}))); // the oldest file, and now the last used
  std::unique_ptr<Cache> small = open(25000);
  small->trim();
  EXPECT_EQ(small->counters().evicted, 2u);
  EXPECT_LE(usage().bytes, 25000u);
  EXPECT_TRUE(small->load(cacheKey({"a"})));
  EXPECT_FALSE(small->load(cacheKey({"b"})));
  EXPECT_FALSE(small->load(cacheKey({"c"})));
  EXPECT_TRUE(small->load(cacheKey({"d"})));
  // More than the cache may hold is not kept at all.
  small->store(cacheKey({"e"}), std::string(30000, 'x'));
  EXPECT_FALSE(small->load(cacheKey({"e"})));
}

TEST_F(CacheTest, FilesOfKilledBuildsGoWhenTheyAreOld) {
  open()->store(cacheKey({"x"}), "code");
  fs::path entry = files().front();
  fs::path fresh = entry.string() + ".tmp-00000001", old = entry.string() + ".tmp-00000002";
  fs::path foreign = entry.parent_path() / "someone-elses-file";
  for (const fs::path &path : {fresh, old, foreign})
    std::ofstream(path) << "half";
  setAge(old, 2 * 3600);
  setAge(foreign, 2 * 3600);
  EXPECT_EQ(usage().entries, 1u);
  EXPECT_EQ(usage().unfinished, 2u);
  open()->trim();
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(old));
  ASSERT_TRUE(bool(Cache::clear(folder)));
  EXPECT_FALSE(fs::exists(entry) || fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign)); // never ours to remove
}

TEST_F(CacheTest, FolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder) << "a file";
  llvm::Expected<std::unique_ptr<Cache>> cache = Cache::open(folder, 1);
  ASSERT_FALSE(bool(cache));
  EXPECT_THAT(llvm::toString(cache.takeError()), HasSubstr("cannot create the folder"));
}

TEST_F(CacheTest, SecondBuildCompilesNothing) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec, "step_map");
  Bundle cold = build(spec, list);
  EXPECT_EQ(cold.count(Origin::Compiled), list.kernels.size());
  EXPECT_EQ(cache->counters().stored, list.kernels.size() + 1);
  Bundle warm = build(spec, list);
  EXPECT_EQ(warm.count(Origin::CachedBundle), list.kernels.size());
  EXPECT_EQ(cache->counters().stored, 0u);
  EXPECT_EQ(warm.bytes, cold.bytes);
  EXPECT_EQ(warm.manifest, cold.manifest);
}

// The bundle is another for every change of a spec; of its kernels only those are compiled whose
// code is.
TEST_F(CacheTest, ChangedSpecCompilesOnlyWhatChanged) {
  Spec spec = specOf("tiny");
  build(spec, variantsOf(spec, "step_map"));
  auto after = [&](auto change) {
    Spec other = spec;
    change(other);
    other.sha256.assign(64, '0'); // stands for a text of its own
    VariantList list = variantsOf(other, "step_map");
    Bundle bundle = build(other, list);
    EXPECT_EQ(bundle.count(Origin::CachedBundle), 0u);
    std::set<std::string> compiled;
    for (const KernelReport &kernel : bundle.kernels)
      if (kernel.origin == Origin::Compiled)
        compiled.insert(kernel.symbol);
    EXPECT_EQ(bundle.count(Origin::Compiled) + bundle.count(Origin::CachedObject),
              list.kernels.size());
    return compiled;
  };
  // A bucket more: other guards over the same code.
  EXPECT_THAT(after([](Spec &s) { s.serving.requestBuckets = {1, 2, 3, 4}; }), testing::IsEmpty());
  // A query length more: the kernels that it adds, and no other.
  std::set<std::string> compiled = after([](Spec &s) { s.serving.queryLens = {1, 2, 4}; });
  EXPECT_FALSE(compiled.empty());
  for (const KernelPlan &kernel : variantsOf(spec, "step_map").kernels)
    EXPECT_EQ(compiled.count(kernel.symbol), 0u) << kernel.symbol;
}

// A symbol does not say what a template does: an edited one gives other code under the same name.
TEST_F(CacheTest, SameSymbolWithOtherCodeIsCompiled) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec, "topk");
  Bundle before = build(spec, list);
  VariantList edited = list;
  edited.kernels[0].emit = [emit = list.kernels[0].emit](KernelBuilder &kb) {
    emit(kb);
    kb.barrier();
  };
  spec.sha256.assign(64, '1'); // an edited generator is another; its bundles are others
  Bundle after = build(spec, edited);
  EXPECT_EQ(after.count(Origin::Compiled), 1u);
  EXPECT_GT(after.kernels[0].codeBytes, before.kernels[0].codeBytes);
}

TEST_F(CacheTest, FlagsArePartOfTheKey) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec, "topk");
  build(spec, list);
  Spec v6 = spec;
  v6.target.codeObjectVersion = 6;
  EXPECT_EQ(build(v6, list).count(Origin::Compiled), 1u);
}

// What a plan says beside the MLIR of its template.
TEST_F(CacheTest, FlagsOfAKernelArePartOfTheKey) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec, "sparse_attention_merge");
  build(spec, list);
  VariantList scalar = list;
  ASSERT_TRUE(scalar.kernels[0].packedFp32);
  scalar.kernels[0].packedFp32 = false;
  spec.sha256.assign(64, '1'); // an edited generator is another; its bundles are others
  EXPECT_EQ(build(spec, scalar).count(Origin::Compiled), 1u);
  spec.sha256.assign(64, '2');
  EXPECT_EQ(build(spec, list).count(Origin::Compiled), 0u) << "the clean twin";
}

// Damage of any entry: reported, compiled again, the same bytes, and whole from then on.
TEST_F(CacheTest, DamageIsRepairedByTheNextBuild) {
  Spec spec = specOf("tiny");
  VariantList list = variantsOf(spec, "topk");
  Bundle cold = build(spec, list);
  std::vector<fs::path> entries = files();
  ASSERT_EQ(entries.size(), 2u); // the object and the bundle
  for (const fs::path &entry : entries) {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(int64_t(fs::file_size(entry)) / 2);
    file.put('\x5a');
  }
  Bundle repaired = build(spec, list);
  EXPECT_EQ(cache->counters().damaged, 2u);
  EXPECT_EQ(cache->warnings().size(), 2u);
  EXPECT_EQ(repaired.count(Origin::Compiled), 1u);
  EXPECT_EQ(repaired.bytes, cold.bytes);
  EXPECT_EQ(build(spec, list).count(Origin::CachedBundle), 1u);
}

} // namespace
} // namespace nvfp4gen
