//===- AtomicFileTest.cpp - whole files or none -----------------------------===//

#include "compiler/support/AtomicFile.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nvfp4gen {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("atomic-" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string read(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t files() { return size_t(std::distance(fs::directory_iterator(folder), {})); }
  fs::path folder;
};

TEST_F(AtomicFile, WritesAndReplaces) {
  std::string path = folder / "file";
  for (std::string contents : {std::string("first"), std::string("\0second", 7)}) {
    llvm::Error error = writeFileAtomically(path, contents);
    ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
    EXPECT_EQ(read(path), contents);
    EXPECT_EQ(files(), 1u) << "a temporary file is left";
  }
}

TEST_F(AtomicFile, NamesThePathAndTheReason) {
  std::string path = folder / "missing" / "file";
  EXPECT_THAT(llvm::toString(writeFileAtomically(path, "x")),
              testing::AllOf(testing::HasSubstr("cannot write '" + path + "'"),
                             testing::HasSubstr("No such file or directory")));
}

TEST_F(AtomicFile, AFolderInTheWayIsKept) {
  fs::create_directories(folder / "taken" / "inside");
  llvm::Error error = writeFileAtomically((folder / "taken").string(), "x");
  EXPECT_THAT(llvm::toString(std::move(error)), testing::HasSubstr("renaming the temporary file"));
  EXPECT_TRUE(fs::exists(folder / "taken" / "inside"));
  EXPECT_EQ(files(), 1u) << "a temporary file is left";
}

// kill -9 at any moment leaves a whole file under the name: one of those written.
TEST_F(AtomicFile, SurvivesKill) {
  fs::path path = folder / "file";
  constexpr size_t kSize = 4u << 20;
  // The delay grows until enough rounds have lasted for a whole write on this machine, however
  // slow.
  for (int round = 0, whole = 0; whole < 10; ++round) {
    ASSERT_LT(round, 500) << "no round lasts for one write: the test shows nothing";
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (char c = 'a';; c = c == 'z' ? 'a' : char(c + 1))
        if (writeFileAtomically(path.string(), std::string(kSize, c)))
          ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    if (!fs::exists(path))
      continue; // killed before its first file was whole
    ++whole;
    std::string contents = read(path);
    ASSERT_EQ(contents.size(), kSize);
    EXPECT_EQ(contents.find_first_not_of(contents[0]), std::string::npos);
  }
}

} // namespace
} // namespace nvfp4gen
