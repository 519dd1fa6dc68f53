//===- main.cpp - the command line of nvfp4gen ------------------------------===//

#include "tools/gfx950emu/check/Switches.h"
#include "tools/nvfp4gen/Commands.h"

#include <CLI/CLI.hpp>

using namespace nvfp4gen;

namespace {

/// The checks that an option leaves on.
std::string checksOf(const char *option, const std::string &list, gfx950emu::check::Listed listed) {
  llvm::Expected<gfx950emu::check::CheckOptions> checks =
      gfx950emu::check::parseChecks(list, listed);
  if (!checks)
    throw CLI::ValidationError(option, toString(checks.takeError()));
  return checkNames(*checks);
}

int parseAndRun(int argc, char **argv) {
  CLI::App app{"nvfp4gen: ahead-of-time NVFP4 attention kernels for gfx950"};
  app.set_version_flag("--version", "nvfp4gen " NVFP4GEN_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 refused or failed, 2 usage, 3 verify found a difference.");
  int result = kExitDone;

  ListOptions list;
  CLI::App *listCommand = app.add_subcommand(
      "list", "Print every variant of a spec and which step each one serves; compiles nothing");
  listCommand->add_option("spec", list.spec, "Spec (TOML)")->required();
  listCommand->add_flag("--json", list.json, "Print the map as JSON");
  listCommand->callback([&] { result = runList(list); });

  BuildCommandOptions build;
  CLI::App *buildCommand =
      app.add_subcommand("build", "Build the bundle of a spec, or one stage of its kernels");
  buildCommand->add_option("spec", build.spec, "Spec (TOML)")->required();
  buildCommand
      ->add_option("-o,--output", build.output,
                   "Bundle to write; with --emit a folder for one file a kernel")
      ->required();
  buildCommand
      ->add_option("--emit", build.emit, "Write a stage of every kernel instead of the bundle")
      ->check(CLI::IsMember({"mlir", "llvm", "asm", "obj"}));
  buildCommand->add_option("-j,--jobs", build.jobs, "Kernels built at once (default: one a core)")
      ->check(CLI::Range(1u, 1024u));
  buildCommand->add_flag("--json", build.json, "Print the report as JSON");
  buildCommand->callback([&] { result = runBuild(build); });

  InspectOptions inspect;
  CLI::App *inspectCommand = app.add_subcommand("inspect", "Check a bundle and print its manifest");
  inspectCommand->add_option("bundle", inspect.bundle, "Bundle (.hsaco)")->required();
  inspectCommand->add_flag("--json", inspect.json, "Print as JSON");
  inspectCommand->callback([&] { result = runInspect(inspect); });

  VerifyCommandOptions verify;
  CLI::App *verifyCommand = app.add_subcommand(
      "verify", "Run every variant of a bundle and compare it with the reference, exactly");
  verifyCommand->add_option("bundle", verify.bundle, "Bundle (.hsaco)")->required();
  verifyCommand->add_option("--family", verify.family, "Only this kernel family");
  verifyCommand->add_option("--hip", verify.hipLibrary,
                            "HIP library to run on (default: the gfx950 emulator)");
  std::string check, noCheck;
  CLI::Option *checks =
      verifyCommand
          ->add_flag("--check{all}", check,
                     "--check=LIST: of the emulator's checks run only these, with commas between "
                     "(default: all)")
          ->join(',');
  CLI::Option *noChecks =
      verifyCommand
          ->add_flag("--no-check{all}", noCheck,
                     "Run without the emulator's checks, or with --no-check=LIST without these")
          ->join(',')
          ->excludes(checks);
  verifyCommand
      ->add_option("--orders", verify.orders,
                   "Run each launch in so many orders of workgroups and waves, and report bytes "
                   "that differ")
      ->check(CLI::Range(1u, 64u));
  verifyCommand->footer("Checks, for --check and --no-check:\n" + gfx950emu::check::checkHelp());
  verifyCommand->add_option("--seed", verify.seed, "Seed of the random inputs");
  verifyCommand->add_flag("--json", verify.json, "Print the report as JSON");
  verifyCommand->callback([&] {
    using gfx950emu::check::Listed;
    if (*checks)
      verify.checks = checksOf("--check", check, Listed::On);
    if (*noChecks)
      verify.checks = checksOf("--no-check", noCheck, Listed::Off);
    verify.checksAsked = *checks || *noChecks;
    result = runVerify(verify);
  });

  BenchCommandOptions bench;
  CLI::App *benchCommand = app.add_subcommand(
      "bench", "Count what every kernel family of a bundle does on the emulator: "
               "bytes, instructions, registers, balance");
  benchCommand->add_option("bundle", bench.bundle, "Bundle (.hsaco)")->required();
  benchCommand->add_option("--family", bench.family, "Only this kernel family");
  benchCommand->add_option("--shape", bench.shape, "Only this shape");
  benchCommand
      ->add_option("--sample", bench.sample,
                   "Of prefill shapes run one row in N, from the middle of the chunk; the table "
                   "says so. Fewer pages a workgroup then share its fixed cost (default: all)")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
  benchCommand->add_flag("--json", bench.json, "Print the report as JSON");
  benchCommand->footer(benchDefinitions());
  benchCommand->callback([&] { result = runBench(bench); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // --help and --version arrive here too, with exit code 0.
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return result;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return parseAndRun(argc, argv);
  } catch (const std::exception &error) {
    return reportError(std::string("unexpected failure: ") + error.what());
  }
}
