//===- CommandTest.cpp - the program gfx950emu ------------------------------===//
//
// Runs the built program: output, files and exit codes.
//
//===------------------------------------------------------------------------===//

#include "tests/tools/gfx950emu_cli/Command.h"

#include <algorithm>
#include <string>
#include <vector>

namespace {

const std::string object = KERNELS_GFX950;

TEST_F(Command, RunsAKernelOnFiles) {
  std::vector<float> a, b, expected;
  for (int i = 0; i < 100; ++i) {
    a.push_back(float(i));
    b.push_back(0.5f * float(i));
    expected.push_back(-2.0f * a.back() + b.back());
  }
  write("a.bin", a);
  write("b.bin", b);
  Outcome outcome = run("run " + object +
                        " --kernel vector_add --grid 2 --block 64,1,1 --arg buf:" + path("a.bin") +
                        " --arg i32:100 --arg buf:" + path("b.bin") +
                        " --arg out:" + path("c.bin") + ":400 --arg f32:-2");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("2 waves"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("c.bin: 400 bytes, all written"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(read<float>("c.bin"), expected);
  EXPECT_EQ(read<float>("a.bin"), a);
}

// What could not be printed is not done; a closed stdout is no place for an output file.
TEST_F(Command, OutputThatIsLostIsAFailure) {
  for (const std::string &arguments : {"disasm " + object, "audit " + object,
                                       std::string("audit --table"), std::string("--help")}) {
    std::string line = GFX950EMU " " + arguments + " >/dev/full 2>" + path("err");
    EXPECT_NE(std::system(line.c_str()), 0) << line;
    std::vector<char> error = read<char>("err");
    EXPECT_EQ(std::string(error.begin(), error.end()),
              "gfx950emu: error: stdout: expected to write every result, found: No space left on "
              "device\n")
        << line;
  }
  std::string command = "run " + object + " --kernel at_most_64 --grid 1 --block 64 --arg out:";
  ASSERT_EQ(run(command + path("open.bin") + ":300").exitCode, 0);
  std::string closed = GFX950EMU " " + command + path("closed.bin") + ":300 <&- >&- 2>&-";
  EXPECT_EQ(std::system(closed.c_str()), 0);
  EXPECT_EQ(read<unsigned>("closed.bin"), read<unsigned>("open.bin"));
}

TEST_F(Command, SeedsThatDoNotFitAreRefused) {
  for (const char *seed : {"-1", "18446744073709551616", "1x"}) {
    Outcome outcome =
        run("run " + object + " --kernel at_most_64 --grid 1 --block 64 --seed=" + seed +
            " --arg out:" + path("out.bin") + ":300");
    EXPECT_EQ(outcome.exitCode, 2) << seed;
    EXPECT_NE(outcome.output.find("--seed: expected a number below 2^64"), std::string::npos)
        << outcome.output;
  }
}

TEST_F(Command, ReportsWhatIsNeverWritten) {
  std::string common = "run " + object +
                       " --kernel at_most_64 --grid 1 --block 64 --arg out:" + path("out.bin") +
                       ":300";
  Outcome outcome = run(common);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.output.find("300 bytes, 44 never written: [256, 300)"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(read<unsigned>("out.bin"), [] {
    std::vector<unsigned> values(75, 0);
    std::fill_n(values.begin(), 64, 1u);
    return values;
  }());
  outcome = run(common + " --once");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output.find("never written"), std::string::npos) << outcome.output;
}

TEST_F(Command, ReadWriteBuffersAreUpdatedOnce) {
  write("data.bin", std::vector<unsigned>(64, 10));
  Outcome outcome = run("run " + object + " --kernel add_constant --grid 1 --block 64 --arg buf:" +
                        path("data.bin") + ":rw --arg i32:64 --arg i32:5 --seed 3 --threads 1");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_EQ(read<unsigned>("data.bin"), std::vector<unsigned>(64, 15));
}

TEST_F(Command, AFaultWritesNothing) {
  write("data.bin", std::vector<unsigned>(63, 10)); // one element short
  std::string common =
      "run " + object + " --kernel add_constant --grid 1 --block 64 --arg buf:" + path("data.bin");
  Outcome outcome = run(common + ":rw --arg i32:64 --arg i32:5");
  EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
  EXPECT_NE(outcome.output.find("add_constant"), std::string::npos) << outcome.output;
  EXPECT_EQ(read<unsigned>("data.bin"), std::vector<unsigned>(63, 10));
  outcome = run(common + " --arg i32:63 --arg i32:5"); // read-only
  EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
  outcome = run(common + ":rw --arg i32:63 --arg i32:5");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
}

TEST_F(Command, UsageErrors) {
  auto expectUsage = [](const std::string &arguments, const std::string &text) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments << '\n' << outcome.output;
    EXPECT_NE(outcome.output.find(text), std::string::npos) << outcome.output;
  };
  std::string kernel = "run " + object + " --kernel no_arguments";
  expectUsage("", "A subcommand is required");
  expectUsage("frobnicate", "not expected: frobnicate");
  expectUsage("run " + object + " --grid 1 --block 1", "--kernel");
  expectUsage(kernel + " --block 64", "--grid");
  expectUsage(kernel + " --grid 0 --block 64", "--grid: expected");
  expectUsage(kernel + " --grid 1 --block 64,64,x", "--block: expected");
  expectUsage(kernel + " --grid 1 --block 64 --arg i32:1", "expected 0 arguments, found 1");
  expectUsage(kernel + " --grid 1 --block 64 --arg u7:1", "unknown kind 'u7'");
  expectUsage(kernel + " --grid 1 --block 64 --threads 0", "--threads");
  expectUsage(kernel + " --grid 1 --block 64 --shared -1", "--shared");
  expectUsage(kernel + " --grid 1 --block 2048", "no_arguments"); // no dispatch of that size
  expectUsage("run " + object + " --kernel no_such --grid 1 --block 64", "vector_add");
  EXPECT_EQ(run(kernel + " --grid 1 --block 64").exitCode, 0);
}

TEST_F(Command, FilesAndObjects) {
  std::string rest = " --kernel at_most_64 --grid 1 --block 64 --arg ";
  EXPECT_EQ(run("run " + path("none.hsaco") + rest + "null").exitCode, 1);
  EXPECT_EQ(run("run " + object + rest + "buf:" + path("none.bin")).exitCode, 1);
  EXPECT_EQ(run("run " + object + rest + "out:" + path("no/folder/x:256")).exitCode, 1);
  write("empty.bin", std::vector<char>{});
  EXPECT_EQ(run("run " + object + rest + "buf:" + path("empty.bin")).exitCode, 2);
  write("text.hsaco", std::vector<char>(100, 'x'));
  Outcome outcome = run("run " + path("text.hsaco") + rest + "null");
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  outcome = run(std::string("disasm ") + KERNELS_GFX942);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_NE(outcome.output.find("gfx950"), std::string::npos) << outcome.output;
}

TEST_F(Command, CountsAndCost) {
  write("data.bin", std::vector<unsigned>(64, 10));
  std::string common = "run " + object +
                       " --kernel add_constant --grid 1 --block 64 --arg buf:" + path("data.bin") +
                       ":rw --arg i32:64 --arg i32:5";
  Outcome outcome = run(common + " --count");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("VMEM store"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("2 read, 2 written, 2 in all"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("estimate"), std::string::npos);
  outcome = run(common + " --cost");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("estimate by a stated model"), std::string::npos);
  EXPECT_NE(outcome.output.find("(binding)"), std::string::npos);
  EXPECT_EQ(outcome.output.find("VMEM store"), std::string::npos);
  outcome = run(common + " --count --cost --json");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_EQ(outcome.output.front(), '{') << "nothing but JSON";
  EXPECT_NE(outcome.output.find("\"lines_written\": 2"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\"cycles_per_cu\""), std::string::npos);
  EXPECT_EQ(read<unsigned>("data.bin"), std::vector<unsigned>(64, 25)) << "three runs";
  outcome = run(common + " --json");
  EXPECT_EQ(outcome.output.front(), '{') << outcome.output;
  EXPECT_EQ(outcome.output.find("\"counts\""), std::string::npos);
}

TEST_F(Command, Audit) {
  Outcome outcome = run("audit " + object + " --kernel vector_add");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "vector_add: nothing open\n");
  outcome = run("audit " + path("none.hsaco"));
  EXPECT_EQ(outcome.exitCode, 1) << outcome.output;
  outcome = run("audit --table");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_NE(outcome.output.find("| mfma-16bit |"), std::string::npos) << outcome.output;
  EXPECT_EQ(run("audit").exitCode, 2);
  EXPECT_EQ(run("audit --table " + object).exitCode, 2);
}

TEST_F(Command, Disassembly) {
  Outcome outcome = run("disasm " + object + " --kernel at_most_64");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("at_most_64: "), 0u);
  EXPECT_NE(outcome.output.find("argument at 0: global_buffer, 8 bytes"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("000000  c0060000 00000000"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("s_endpgm"), std::string::npos);
  EXPECT_EQ(outcome.output.find("vector_add"), std::string::npos);

  outcome = run("disasm " + object);
  EXPECT_EQ(outcome.exitCode, 0);
  for (const char *name : {"vector_add: ", "no_arguments: ", "static_lds: "})
    EXPECT_NE(outcome.output.find(name), std::string::npos) << name;
  EXPECT_NE(outcome.output.find("98304 bytes LDS"), std::string::npos);
  EXPECT_EQ(run("disasm " + object + " --kernel nope").exitCode, 2);
}

TEST_F(Command, Help) {
  EXPECT_EQ(run("--help").exitCode, 0);
  EXPECT_EQ(run("run --help").exitCode, 0);
  EXPECT_NE(run("--help").output.find("Exit codes"), std::string::npos);
  EXPECT_EQ(run("--version").exitCode, 0);
}

} // namespace
