//===- Main.cpp - the command ir_fuzz --------------------------------------===//
#include "tests/emulator/ir/Fuzz.h"
#include "tests/emulator/ir/Program.h"

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "llvm/Support/InitLLVM.h"

#include <ctime>

using namespace irfuzz;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CLI::App app{"Random LLVM IR on the gfx950 emulator against the same IR on the host."};
  uint64_t programs = 2000, seed = 0;
  bool print = false, printDevice = false;
  FuzzOptions options;
  bool noReduce = false;
  app.add_option("--programs", programs, "how many programs")->capture_default_str();
  app.add_option("--seed", seed, "number of the first program")->capture_default_str();
  app.add_flag("--no-reduce", noReduce, "report failures as they are");
  app.add_flag("--print", print, "print the IR of the programs and run nothing");
  app.add_flag("--print-device", printDevice,
               "print the IR of the programs as the device's code generator gets it");
  CLI11_PARSE(app, argc, argv);
  options.reduce = !noReduce;
  if (seed + programs < seed) {
    fmt::print(stderr, "ir_fuzz: --seed {} and --programs {} go beyond 64 bits\n", seed, programs);
    return 2;
  }

  if (print || printDevice) {
    for (uint64_t i = seed; i < seed + programs; ++i) {
      llvm::LLVMContext context;
      std::unique_ptr<llvm::Module> module = programAlone(context, i);
      if (print) {
        module->print(llvm::outs(), nullptr);
        continue;
      }
      auto text = deviceIr(*module, configOf(i));
      if (!text) {
        fmt::print(stderr, "ir_fuzz: program {}: {}\n", i, llvm::toString(text.takeError()));
        return 1;
      }
      fmt::print("{}", *text);
    }
    return 0;
  }

  constexpr uint64_t Chunk = 250;
  Tally total;
  for (uint64_t done = 0; done < programs; done += Chunk) {
    Tally tally = fuzz(seed + done, std::min(Chunk, programs - done), options);
    for (const std::string &failure : tally.failures)
      fmt::print("{}\n", failure);
    std::fflush(stdout);
    total.programs += tally.programs;
    total.instructions += tally.instructions;
    total.fallbacks += tally.fallbacks;
    total.stored += tally.stored;
    total.failures.insert(total.failures.end(), tally.failures.begin(), tally.failures.end());
  }
  fmt::print("{} programs from {}: {} failed; {} wave instructions, {} values compared, {} "
             "functions not selected by GlobalISel, {:.1f} s of CPU\n",
             total.programs, seed, total.failures.size(), total.instructions, total.stored,
             total.fallbacks, double(std::clock()) / CLOCKS_PER_SEC);
  return total.failures.empty() ? 0 : 1;
}
