//===- CliTest.cpp - nvfp4gen as a user runs it -----------------------------===//

#include "runtime/bundle/Bundle.h"
#include "tests/tools/nvfp4gen/CliFixture.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Cli, UsageErrorsExitWithTwo) {
  EXPECT_EQ(run({}).exitCode, 2);
  EXPECT_EQ(run({"frobnicate"}).exitCode, 2);
  EXPECT_EQ(run({"build", kSpecs + "tiny.toml"}).exitCode, 2);
  EXPECT_EQ(run({"build", kSpecs + "tiny.toml", "-o", "x", "--emit=elf"}).exitCode, 2);
  EXPECT_EQ(run({"--version"}).exitCode, 0);
  EXPECT_EQ(run({"build", "--help"}).exitCode, 0);
}

TEST_F(Cli, UsageErrorsNameTheWordThatIsWrong) {
  EXPECT_THAT(run({"frobnicate"}).err, HasSubstr("frobnicate"));
  EXPECT_THAT(run({"cache", "frobnicate"}).err, HasSubstr("frobnicate"));
  EXPECT_THAT(run({"cache"}).err, HasSubstr("A subcommand is required"));
}

// Numbers that a field cannot hold are refused, not cut to its largest.
TEST_F(Cli, NumbersOutOfRangeAreRefused) {
  std::string tiny = kSpecs + "tiny.toml";
  for (const char *number : {"0", "-1", "2147483648", "99999999999999999999"})
    EXPECT_EQ(run({"explain", tiny, "--family=topk", std::string("--requests=") + number}).exitCode,
              2)
        << number;
  EXPECT_EQ(run({"explain", tiny, "--family=topk", "--requests=1", "--q=-1"}).exitCode, 2);
  for (const char *seed : {"-1", "18446744073709551616", "", "1x"}) {
    Outcome outcome = run({"verify", folder / "none.hsaco", std::string("--seed=") + seed});
    EXPECT_EQ(outcome.exitCode, 2) << seed;
    EXPECT_THAT(outcome.err, HasSubstr("--seed")) << seed;
  }
  EXPECT_EQ(run({"verify", folder / "none.hsaco", "--seed=18446744073709551615"}).exitCode, 1);
}

/// Runs a line of a shell.
int shell(const std::string &line) {
  int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What could not be printed is not done, whichever way a command prints.
TEST_F(Cli, OutputThatIsLostIsAFailure) {
  std::string bundle = buildTiny(), err = folder / "err", tiny = kSpecs + "tiny.toml";
  const std::vector<std::string> commands = {"list " + tiny,
                                             "list " + tiny + " --json",
                                             "inspect " + bundle,
                                             "lint " + bundle,
                                             "diff " + bundle + " " + bundle,
                                             "cache stat",
                                             "completion bash",
                                             "--help",
                                             "build " + tiny + " -o " + bundle};
  for (const std::string &command : commands) {
    EXPECT_EQ(shell(NVFP4GEN " " + command + " >/dev/full 2>" + err), 1) << command;
    EXPECT_THAT(read(err), HasSubstr("nvfp4gen: error: stdout: expected to write every result, "
                                     "found: "))
        << command;
  }
}

TEST_F(Cli, ClosedDescriptorsAreNoPlaceForAFile) {
  std::string tiny = kSpecs + "tiny.toml", path = folder / "closed.hsaco";
  for (const char *options : {" --json", "", " --no-cache --json"}) {
    fs::remove(path);
    EXPECT_EQ(shell(NVFP4GEN " build " + tiny + " -o " + path + options + " <&- >&- 2>&-"), 0)
        << options;
    EXPECT_EQ(read(path), read(buildTiny())) << options;
  }
}

// No command waits for a pipe, or reads a device that has no end.
TEST_F(Cli, InputsAreRegularFiles) {
  std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char *command : {"list", "inspect", "disasm", "lint", "verify", "bench"})
    for (const std::string &path : {pipe, folder.string(), std::string("/dev/zero")}) {
      std::string line = std::string("timeout 20 " NVFP4GEN " ") + command + " " + path;
      EXPECT_EQ(shell(line + " >/dev/null 2>" + (folder / "err").string()), 1) << line;
      EXPECT_THAT(read(folder / "err"),
                  testing::ContainsRegex(path + ": (error: |open: )?expected a re"))
          << line;
    }
  EXPECT_THAT(run({"inspect", folder}).err, testing::EndsWith("found a folder\n"));
}

TEST_F(Cli, ATemporaryFolderThatIsNotThereIsNamed) {
  ::setenv("TMPDIR", "/nonexistent/tmp", 1);
  Outcome outcome = run({"build", kSpecs + "tiny.toml", "--no-cache", "-o", folder / "x.hsaco"});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.err, HasSubstr("link: cannot create a temporary folder in "
                                     "'/nonexistent/tmp' (TMPDIR): No such file or directory"));
}

/// What a command prints to a terminal of 40 columns.
std::string onATerminal(std::vector<const char *> words) {
  words.push_back(nullptr);
  winsize size{24, 40, 0, 0};
  int terminal = -1;
  pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execv(NVFP4GEN, const_cast<char **>(words.data()));
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size_t(got));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return text;
}

// On a terminal a line that fits is rewritten; an error after it begins a line of its own.
TEST_F(Cli, ProgressOfATerminalIsOneLine) {
  std::string text = read(kSpecs + "tiny.toml"), spec = folder / "refused.toml";
  for (auto [from, to] : {std::pair{"\nkv_heads = 2", "\nkv_heads = 4"},
                          {"\nindex_heads = 2", "\nindex_heads = 4"},
                          {"q_heads = 16", "q_heads = 64"},
                          {"page_size = 128", "page_size = 256"}}) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::strlen(from), to);
  }
  std::ofstream(spec) << text;
  std::string path = folder / "x.hsaco";
  std::string shown = onATerminal({"nvfp4gen", "build", spec.c_str(), "-o", path.c_str(), "-j1"});
  size_t error = shown.find("nvfp4gen: error: kernel '");
  ASSERT_NE(error, std::string::npos) << shown;
  ASSERT_GT(error, 0u);
  EXPECT_EQ(shown[error - 1], '\n') << shown;
  const std::string rewrite = "\r\x1b[K";
  size_t lines = 0;
  for (size_t at = shown.find(rewrite); at != std::string::npos; ++lines) {
    size_t begin = at + rewrite.size(), end = shown.find('\r', begin);
    EXPECT_LT(end - begin, 40u);
    EXPECT_EQ(shown[begin], '[');
    at = shown.find(rewrite, begin);
  }
  EXPECT_GT(lines, 3u);
}

// The folder is looked at before the kernels are compiled.
TEST_F(Cli, PlacesThatTakeNoBundleAreRefusedFirst) {
  std::ofstream(folder / "file") << "x";
  for (const std::string &output : {(folder / "none" / "x.hsaco").string(), folder.string(),
                                    (folder / "file" / "x.hsaco").string(), std::string()}) {
    Outcome outcome = run({"build", kSpecs + "tiny.toml", "--no-cache", "-o", output});
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_THAT(outcome.err, testing::StartsWith("nvfp4gen: error: output '" + output + "'"));
  }
  Outcome stage = run({"build", kSpecs + "tiny.toml", "--emit=mlir", "-o", folder / "file"});
  EXPECT_EQ(stage.exitCode, 1);
  EXPECT_THAT(stage.err, testing::StartsWith("nvfp4gen: error: output '"));
}

TEST_F(Cli, SpecErrorsComeWithTheirPositions) {
  fs::path spec = folder / "bad.toml";
  std::ofstream(spec) << "schema = 1\nname = \"x\"\n[model]\nq_headz = 16\n";
  Outcome outcome = run({"list", spec});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.err, HasSubstr(spec.string() + ":4:1: error: "));
  EXPECT_THAT(outcome.err, HasSubstr("q_heads"));
  EXPECT_THAT(outcome.err, testing::EndsWith("\n"));
  EXPECT_EQ(run({"list", folder / "missing.toml"}).exitCode, 1);
}

// G2: every request count of every phase and query length maps to exactly one variant.
TEST_F(Cli, ListMapsEveryRequestCount) {
  Outcome outcome = run({"list", kSpecs + "minimax_m3_1_tp4_bf16.toml", "--json"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  json list = json::parse(outcome.out);
  std::map<std::tuple<std::string, std::string, int>, std::map<int, std::string>> served;
  for (const json &entry : list.at("map"))
    for (int n = entry.at("requests")[0]; n <= entry.at("requests")[1]; ++n) {
      auto &cell = served[{entry.at("family"), entry.at("phase"), entry.at("query_len")}];
      EXPECT_TRUE(cell.emplace(n, entry.at("variant")).second) << "two variants for " << n;
    }
  // Decode 1, verify 8 and prefill of every family.
  std::set<std::string> families;
  for (const auto &[key, cell] : served)
    families.insert(std::get<0>(key));
  EXPECT_TRUE(families.count("kv_store") && families.count("sparse_attention"));
  EXPECT_EQ(served.size(), 3 * families.size());
  for (const auto &[key, cell] : served) {
    EXPECT_EQ(cell.size(), 384u);
    EXPECT_EQ(cell.begin()->first, 1);
    EXPECT_EQ(cell.rbegin()->first, 384);
  }
}

TEST_F(Cli, BuildAndInspect) {
  std::string path = buildTiny();
  Outcome text = run({"inspect", path});
  EXPECT_EQ(text.exitCode, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("every check passed"));
  Outcome asJson = run({"inspect", path, "--json"});
  ASSERT_EQ(asJson.exitCode, 0) << asJson.err;
  json inspected = json::parse(asJson.out);
  auto bundle = nvfp4rt::Bundle::openFile(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(inspected.at("build_id"), bundle->manifest().buildId);
  EXPECT_EQ(inspected.at("variants").size(), bundle->manifest().variants.size());
  EXPECT_EQ(inspected.at("kernels").size(), bundle->manifest().kernels.size());
}

TEST_F(Cli, BuildReportIsJsonOnStdoutAlone) {
  Outcome outcome =
      run({"build", kSpecs + "tiny.toml", "-o", folder / "x.hsaco", "--json", "--no-cache"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("bytes"), fs::file_size(folder / "x.hsaco"));
  EXPECT_GT(report.at("total_seconds"), 0.0);
  for (const json &kernel : report.at("kernels"))
    EXPECT_GT(kernel.at("seconds"), 0.0);
}

// Another folder, another number of jobs: the same bytes.
TEST_F(Cli, BuildsAreReproducible) {
  fs::create_directories(folder / "elsewhere");
  fs::copy_file(kSpecs + "tiny.toml", folder / "elsewhere" / "tiny.toml");
  Outcome outcome = run({"build", folder / "elsewhere" / "tiny.toml", "-j", "2", "-o",
                         folder / "elsewhere" / "other-name.hsaco"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_EQ(read(buildTiny()), read(folder / "elsewhere" / "other-name.hsaco"));
}

TEST_F(Cli, FailedBuildLeavesNoFile) {
  fs::create_directories(folder / "out");
  std::ofstream(folder / "bad.toml") << "schema = 2\n";
  EXPECT_EQ(run({"build", folder / "bad.toml", "-o", folder / "out" / "x.hsaco"}).exitCode, 1);
  EXPECT_EQ(run({"build", kSpecs + "tiny.toml", "-o", folder / "missing" / "x.hsaco"}).exitCode, 1);
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

// A build that is killed at any moment leaves no file under the final name, or a whole one.
TEST_F(Cli, InterruptedBuildLeavesNoPartialFile) {
  std::string path = folder / "x.hsaco", spec = kSpecs + "tiny.toml";
  for (int milliseconds : {5, 20, 40, 60, 80, 100, 120, 160, 200, 300}) {
    for (int signal : {SIGKILL, SIGINT}) {
      fs::remove(path);
      pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::execl(NVFP4GEN, "nvfp4gen", "build", spec.c_str(), "-o", path.c_str(), "--json",
                "--no-cache", nullptr);
        ::_exit(127);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      ::kill(child, signal);
      int status = 0;
      ::waitpid(child, &status, 0);
      ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0) << "the build failed by itself";
      if (!fs::exists(path))
        continue;
      auto bundle = nvfp4rt::Bundle::openFile(path);
      EXPECT_TRUE(bundle) << bundle.error().message;
    }
  }
}

TEST_F(Cli, EmitWritesOneFileAKernel) {
  for (auto [stage, extension, text] :
       {std::tuple("mlir", ".mlir", "gpu.module @kernels"), std::tuple("llvm", ".ll", "; ModuleID"),
        std::tuple("asm", ".s", "\t.amdgcn_target"),
        std::tuple("obj", ".o",
                   "\x7f"
                   "ELF")}) {
    fs::path out = folder / stage;
    Outcome outcome =
        run({"build", kSpecs + "tiny.toml", std::string("--emit=") + stage, "-o", out});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.err;
    size_t files = 0;
    for (const fs::directory_entry &entry : fs::directory_iterator(out)) {
      ++files;
      EXPECT_EQ(entry.path().extension(), extension);
      // In MLIR, attributes may stand before the module.
      EXPECT_THAT(read(entry.path()).substr(0, 400), HasSubstr(text));
    }
    EXPECT_GT(files, 0u);
  }
}

TEST_F(Cli, InspectRefusesWhatIsNoBundle) {
  std::ofstream(folder / "not-a-bundle") << "hello";
  Outcome outcome = run({"inspect", folder / "not-a-bundle"});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("nvfp4gen: error: bundle " + (folder / "not-a-bundle").string()));
  std::string bytes = read(buildTiny());
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(folder / "flipped", std::ios::binary) << bytes;
  EXPECT_EQ(run({"inspect", folder / "flipped"}).exitCode, 1);
}

TEST_F(Cli, VerifyRunsOnTheEmulatorByDefault) {
  Outcome outcome = run({"verify", buildTiny(), "--family", "kv_store"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("libgfx950emu-hip.so, device 0 (gfx950)"));
  EXPECT_THAT(outcome.out, HasSubstr(" 0 failed"));
}

// Every check by name, alone or all; the report says which ran.
TEST_F(Cli, VerifySwitchesChecksAndOrders) {
  std::string bundle = buildTiny();
  auto says = [&](std::vector<std::string> options, const char *text) {
    options.insert(options.begin(), {"verify", bundle, "--family", "kv_store"});
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(text));
  };
  says({}, "checks all, orders a launch 1\n");
  says({"--no-check"}, "checks none, orders a launch 1\n");
  says({"--check=waits,races"}, "checks races,waits, orders a launch 1\n");
  says({"--no-check=races,hazards", "--orders", "2"},
       "checks bounds,alignment,readonly,undefined,waits,barriers,progress, orders a launch 2\n");
  Outcome asJson =
      run({"verify", bundle, "--family", "kv_store", "--no-check", "--orders=2", "--json"});
  json report = json::parse(asJson.out);
  EXPECT_EQ(report.at("checks"), "none");
  EXPECT_EQ(report.at("orders"), 2);
}

TEST_F(Cli, VerifyRefusesUnknownChecks) {
  std::string bundle = buildTiny();
  for (const char *option : {"--check=race", "--no-check=race", "--no-check=races,race"}) {
    Outcome outcome = run({"verify", bundle, option});
    EXPECT_EQ(outcome.exitCode, 2) << option;
    EXPECT_THAT(outcome.err, HasSubstr("(bounds, alignment, readonly, undefined, races, waits, "
                                       "hazards, barriers, progress)"));
    EXPECT_THAT(outcome.err, HasSubstr("found 'race'"));
  }
  EXPECT_EQ(run({"verify", bundle, "--check", "--no-check=races"}).exitCode, 2);
  EXPECT_EQ(run({"verify", bundle, "--orders", "0"}).exitCode, 2);
  EXPECT_EQ(run({"verify", bundle, "--orders", "65"}).exitCode, 2);
}

// Another HIP library has no checks and no orders; asking it for some is refused.
TEST_F(Cli, VerifyAsksOnlyTheEmulatorForChecks) {
  std::string bundle = buildTiny();
  for (const char *option : {"--check", "--no-check=races", "--orders=2"}) {
    Outcome outcome = run({"verify", bundle, "--hip", "libc.so.6", option});
    EXPECT_EQ(outcome.exitCode, 1) << option;
    EXPECT_THAT(outcome.err, HasSubstr("need the emulator's HIP library, found libc.so.6"));
  }
}

// What cannot run says so; nothing falls back to another library or family.
TEST_F(Cli, VerifyRefusesWhatCannotRun) {
  std::string bundle = buildTiny();
  Outcome missing = run({"verify", bundle, "--hip", folder / "missing.so"});
  EXPECT_EQ(missing.exitCode, 1);
  EXPECT_THAT(missing.err, HasSubstr("found none; tried " + (folder / "missing.so").string()));
  Outcome family = run({"verify", bundle, "--family", "nosuch"});
  EXPECT_EQ(family.exitCode, 1);
  EXPECT_THAT(family.err, HasSubstr("family 'nosuch', found families: index_score"));
}

// A real ROCm library on a machine without a GPU: an error that names the call and its code.
TEST_F(Cli, VerifyOnRocmWithoutADevice) {
  const char *rocm = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";
  if (!fs::exists(rocm) || fs::exists("/dev/kfd"))
    GTEST_SKIP() << "needs " << rocm << " and no /dev/kfd";
  Outcome outcome = run({"verify", buildTiny(), "--hip", rocm});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.err, HasSubstr("hipGetDeviceCount: expected success, found error 100"));
}

// A bundle is a plain ELF: LLVM's tools read its notes, symbols and manifest.
TEST_F(Cli, ReadelfAndObjcopyReadABundle) {
  std::string path = buildTiny();
  auto bundle = nvfp4rt::Bundle::openFile(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  Outcome readelf = run({"--notes", "--symbols", "--sections", "--file-header", path}, READELF);
  ASSERT_EQ(readelf.exitCode, 0) << readelf.err;
  EXPECT_EQ(readelf.err, "");
  EXPECT_THAT(readelf.out, HasSubstr("EM_AMDGPU"));
  EXPECT_THAT(readelf.out, HasSubstr("gfx950"));
  for (const nvfp4rt::Kernel &kernel : bundle->manifest().kernels) {
    EXPECT_THAT(readelf.out, HasSubstr(".name:           " + kernel.symbol));
    EXPECT_THAT(readelf.out, HasSubstr(kernel.symbol + ".kd"));
  }
  std::string manifest = folder / "manifest.toml";
  Outcome dump =
      run({"--dump-section", ".nvfp4.manifest=" + manifest, path, folder / "copy.hsaco"}, OBJCOPY);
  ASSERT_EQ(dump.exitCode, 0) << dump.err;
  EXPECT_EQ(read(manifest), nvfp4rt::printManifest(bundle->manifest()));
}

} // namespace
