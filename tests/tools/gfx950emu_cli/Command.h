//===- Command.h - run the program gfx950emu ---------------------------------===//
//
// Owns a folder for each test, and the start of the built program.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_TOOLS_GFX950EMU_CLI_COMMAND_H
#define TESTS_TOOLS_GFX950EMU_CLI_COMMAND_H

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <vector>

struct Outcome {
  int exitCode = -1;
  std::string output; ///< stdout and stderr
};

class Command : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "gfx950emu-cliXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Outcome run(const std::string &arguments) {
    Outcome outcome;
    FILE *pipe = popen((GFX950EMU " " + arguments + " 2>&1").c_str(), "r");
    if (!pipe)
      return outcome;
    char chunk[4096];
    while (size_t got = fread(chunk, 1, sizeof chunk, pipe))
      outcome.output.append(chunk, got);
    int status = pclose(pipe);
    outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  std::string path(const std::string &name) const { return folder + "/" + name; }
  template <typename T> void write(const std::string &name, const std::vector<T> &values) {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char *>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  template <typename T> std::vector<T> read(const std::string &name) {
    std::ifstream in(path(name), std::ios::binary);
    std::vector<char> raw{std::istreambuf_iterator<char>(in), {}};
    std::vector<T> values(raw.size() / sizeof(T));
    memcpy(values.data(), raw.data(), values.size() * sizeof(T));
    return values;
  }
  std::string folder;
};

#endif // TESTS_TOOLS_GFX950EMU_CLI_COMMAND_H
