//===- SpecFilesTest.cpp - specs read from files, and the shipped ones ------===//
#include "tests/compiler/spec/SpecText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

namespace nvfp4gen::test {
namespace {

std::string shipped(std::string_view name) { return std::string(SPEC_DIR "/") + std::string(name); }

std::string loadFault(llvm::StringRef path) {
  llvm::Expected<Spec> spec = loadSpec(path);
  if (spec)
    return "";
  llvm::Error error = spec.takeError();
  EXPECT_TRUE(error.isA<SpecError>());
  return llvm::toString(std::move(error));
}

/// A directory that goes with the test.
class SpecFiles : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("spec", directory)); }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string file(llvm::StringRef name) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }

  llvm::SmallString<128> directory;
};

TEST_F(SpecFiles, ReadsAFile) {
  std::string path = file("valid.toml");
  {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << llvm::StringRef(kValidText);
  }
  llvm::Expected<Spec> spec = loadSpec(path);
  ASSERT_TRUE(!!spec) << llvm::toString(spec.takeError());
  EXPECT_EQ(spec->name, "valid");
  llvm::Expected<Spec> parsed = parseSpec(kValidText, path);
  ASSERT_TRUE(!!parsed);
  EXPECT_EQ(spec->sha256, parsed->sha256);
}

TEST_F(SpecFiles, WhatIsNoFileIsRefused) {
  EXPECT_EQ(loadFault(file("absent.toml")),
            file("absent.toml") +
                ": error: expected a readable file, found: No such file or directory");
  EXPECT_EQ(loadFault(directory),
            directory.str().str() + ": error: expected a regular file, found a directory");
  ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0); // opening it would wait for a writer
  EXPECT_EQ(loadFault(file("fifo")),
            file("fifo") + ": error: expected a regular file, found a special file");
  EXPECT_EQ(loadFault("/dev/zero"),
            "/dev/zero: error: expected a regular file, found a special file");
}

TEST_F(SpecFiles, AHugeFileIsRefusedUnread) {
  std::string path = file("huge.toml");
  {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << "schema = 1\n";
  }
  int fd = -1;
  ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, fd, llvm::sys::fs::CD_OpenExisting));
  ASSERT_FALSE(llvm::sys::fs::resize_file(fd, uint64_t{1} << 40)); // sparse
  llvm::sys::Process::SafelyCloseFileDescriptor(fd);
  EXPECT_EQ(loadFault(path),
            path + ": error: expected at most 1048576 bytes, found 1099511627776 bytes");
}

TEST(ShippedSpecs, AllParseAndAreNamedAfterTheirFile) {
  std::error_code code;
  std::vector<std::string> names;
  for (llvm::sys::fs::directory_iterator it(SPEC_DIR, code), end; it != end && !code;
       it.increment(code)) {
    llvm::Expected<Spec> spec = loadSpec(it->path());
    ASSERT_TRUE(!!spec) << llvm::toString(spec.takeError());
    EXPECT_EQ(spec->name, llvm::sys::path::stem(it->path()));
    names.push_back(spec->name);
  }
  ASSERT_FALSE(code);
  llvm::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"minimax_m3_1_tp1_bf16", "minimax_m3_1_tp2_bf16",
                                             "minimax_m3_1_tp4_bf16", "minimax_m3_1_tp4_fp16",
                                             "minimax_m3_1_tp4_page16_bf16",
                                             "minimax_m3_1_tp8_bf16", "tiny"}));
}

/// The table of M: one rank's heads and the elements of its packed qkv row.
struct Rank {
  std::string_view file;
  int64_t qHeads, kvHeads, group, packedRow;
};

void PrintTo(const Rank &rank, std::ostream *os) { *os << rank.file; }

class ShippedRank : public testing::TestWithParam<Rank> {};

TEST_P(ShippedRank, HasTheNumbersOfM) {
  const Rank &rank = GetParam();
  llvm::Expected<Spec> spec = loadSpec(shipped(rank.file));
  ASSERT_TRUE(!!spec) << llvm::toString(spec.takeError());
  const ModelSpec &model = spec->model;
  EXPECT_EQ(model.qHeads, rank.qHeads);
  EXPECT_EQ(model.kvHeads, rank.kvHeads);
  EXPECT_EQ(model.indexHeads, rank.kvHeads);
  EXPECT_EQ(model.qHeads / model.kvHeads, rank.group);
  EXPECT_EQ((model.qHeads + 2 * model.kvHeads + model.indexHeads + 1) * model.headDim,
            rank.packedRow);
  EXPECT_EQ(model.indexHeadDim, 128);
  EXPECT_EQ(model.blockSize, 128);
  EXPECT_EQ(model.topK, 16);
  EXPECT_EQ(model.initBlocks, 0);
  EXPECT_EQ(model.localBlocks, 1);
  EXPECT_EQ(model.normEps, 1e-6);
  EXPECT_EQ(model.rotaryDim, 64);
  EXPECT_EQ(model.qkScale, 0x1.6a09e667f3bcdp-4); // 1 / sqrt(128), correctly rounded
  EXPECT_EQ(spec->maxBlocks(), 8192);
  EXPECT_EQ(spec->serving.queryLens, (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(spec->serving.requestBuckets.back(), 384);
  EXPECT_EQ(spec->cache.planes.size(), 3u);
  EXPECT_EQ(spec->cache.planeOrder, PlaneOrder::NHD);
}

INSTANTIATE_TEST_SUITE_P(M, ShippedRank,
                         testing::Values(Rank{"minimax_m3_1_tp1_bf16.toml", 64, 4, 16, 9856},
                                         Rank{"minimax_m3_1_tp2_bf16.toml", 32, 2, 16, 4992},
                                         Rank{"minimax_m3_1_tp4_bf16.toml", 16, 1, 16, 2560},
                                         Rank{"minimax_m3_1_tp4_fp16.toml", 16, 1, 16, 2560},
                                         Rank{"minimax_m3_1_tp4_page16_bf16.toml", 16, 1, 16, 2560},
                                         Rank{"minimax_m3_1_tp8_bf16.toml", 8, 1, 8, 1536}));

TEST(ShippedSpecs, DifferWhereTheirNamesDiffer) {
  auto load = [](std::string_view name) {
    llvm::Expected<Spec> spec = loadSpec(shipped(name));
    if (spec)
      return *spec;
    ADD_FAILURE() << llvm::toString(spec.takeError());
    return Spec{};
  };
  EXPECT_EQ(load("minimax_m3_1_tp4_bf16.toml").model.dtype, DType::BF16);
  EXPECT_EQ(load("minimax_m3_1_tp4_fp16.toml").model.dtype, DType::FP16);
  EXPECT_EQ(load("minimax_m3_1_tp4_bf16.toml").cache.pageSize, 128);
  EXPECT_EQ(load("minimax_m3_1_tp4_page16_bf16.toml").cache.pageSize, 16);
}

} // namespace
} // namespace nvfp4gen::test
