//===- CliFixture.h - nvfp4gen as a process, in a folder of its own ---------===//
#ifndef NVFP4GEN_TESTS_TOOLS_NVFP4GEN_CLIFIXTURE_H
#define NVFP4GEN_TESTS_TOOLS_NVFP4GEN_CLIFIXTURE_H

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

inline const std::string kSpecs = SPECS_DIR "/";

struct Outcome {
  int exitCode;
  std::string out, err;
};

class Cli : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("cli-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    // Tests build the same few specs. Those of the cache itself take a folder of their own.
    ::setenv("NVFP4GEN_CACHE_DIR", CLI_CACHE, /*overwrite=*/1);
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::string read(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Outcome run(std::vector<std::string> arguments, std::string program = NVFP4GEN) {
    std::string out = folder / "stdout", err = folder / "stderr";
    fs::remove(out); // a redirection does not truncate
    fs::remove(err);
    std::vector<llvm::StringRef> words = {program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    int code = llvm::sys::ExecuteAndWait(program, words, std::nullopt, {"", out, err});
    return {code, read(out), read(err)};
  }

  /// Build and return the bundle's path.
  std::string build(const std::string &spec, const std::string &name,
                    std::vector<std::string> options = {}) {
    std::string path = folder / name;
    options.insert(options.begin(), {"build", spec, "-o", path});
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    return path;
  }
  std::string buildTiny() { return build(kSpecs + "tiny.toml", "tiny.hsaco"); }

  fs::path folder;
};

#endif // NVFP4GEN_TESTS_TOOLS_NVFP4GEN_CLIFIXTURE_H
