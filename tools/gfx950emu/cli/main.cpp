//===- main.cpp - the command line of gfx950emu -----------------------------===//

#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"
#include "tools/support/StandardFiles.h"

#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace gfx950emu::cli;

namespace {

using gfx950emu::check::CheckOptions;
using gfx950emu::check::Listed;

/// The checks that an option switches on or off; none when that leaves no check.
std::optional<CheckOptions> checksOf(const char *option, const std::string &list, Listed listed) {
  llvm::Expected<CheckOptions> checks = gfx950emu::check::parseChecks(list, listed);
  if (!checks)
    throw CLI::ValidationError(option, toString(checks.takeError()));
  return anyCheck(*checks) ? std::optional(*checks) : std::nullopt;
}

int parseAndRun(int argc, char **argv) {
  CLI::App app{"gfx950emu: run and read gfx950 code objects on a CPU"};
  app.set_version_flag("--version", "gfx950emu " NVFP4GEN_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 a file cannot be read or written, 2 the command line is wrong "
             "or does not fit the kernel,\n3 not a gfx950 code object that can be loaded, 4 the "
             "kernel faulted, 5 audit found semantics that are open,\n6 a check found something, 7 "
             "seeds give different bytes. After 4, 6 and 7 no file is written.");
  int result = exitDone;

  RunCommand run;
  CLI::App *runCommand = app.add_subcommand("run", "Run a kernel on buffers from files");
  runCommand->add_option("object", run.object, "Code object (.hsaco)")->required();
  runCommand->add_option("--kernel", run.kernel, "Name of the kernel")->required();
  runCommand->add_option("--grid", run.grid, "Workgroups X,Y,Z")->required();
  runCommand->add_option("--block", run.block, "Work-items of a workgroup X,Y,Z")->required();
  runCommand->add_option("--shared", run.sharedBytes, "Bytes of dynamic LDS");
  runCommand
      ->add_option("--arg", run.args, std::string("An explicit argument, in order: ") + argSyntax)
      ->allow_extra_args(false);
  runCommand->add_flag("--once", run.once,
                       "Run once only: bytes of `out` that are never written are not reported");
  runCommand->add_option("--threads", run.options.threads, "CPU threads (default: one a core)")
      ->check(CLI::Range(1u, 1024u));
  runCommand
      ->add_option_function<std::string>(
          "--seed",
          [&](const std::string &text) { // CLI11 would cut what does not fit
            if (llvm::StringRef(text).getAsInteger(10, run.options.seed))
              throw CLI::ValidationError("--seed", "expected a number below 2^64, found " + text);
          },
          "Permutes workgroup and wave order (0: ascending)")
      ->type_name("UINT");
  runCommand
      ->add_option("--seeds", run.seeds,
                   "Run in so many orders, from --seed upwards, each on one thread and from the "
                   "same memory;\nreport every byte that differs (exit code 7)")
      ->check(CLI::Range(2u, 1000u));
  std::string check, noCheck;
  CLI::Option *checks = runCommand
                            ->add_flag("--check{all}", check,
                                       "Run under the checker, with all checks or --check=LIST of "
                                       "them, with commas between (exit code 6)")
                            ->join(',');
  CLI::Option *noChecks =
      runCommand
          ->add_flag("--no-check{all}", noCheck,
                     "--no-check=LIST: run under the checker with all checks but these")
          ->join(',')
          ->excludes(checks);
  runCommand->footer("Checks, for --check and --no-check:\n" + gfx950emu::check::checkHelp());
  runCommand
      ->add_option("--max-instructions", run.options.maxInstructions,
                   "Wave instructions until the kernel counts as stuck")
      ->check(CLI::PositiveNumber);
  runCommand->add_flag(
      "--count", run.count,
      "Print instructions by class and opcode, lanes, bytes, lines, LDS conflicts, MFMA passes");
  runCommand->add_flag("--cost", run.cost,
                       "Print an estimate of cycles by a stated model, limit by limit");
  runCommand->add_flag("--json", run.json, "Print one JSON object only");
  runCommand->callback([&] {
    if (*checks)
      run.checks = checksOf("--check", check, Listed::On);
    if (*noChecks)
      run.checks = checksOf("--no-check", noCheck, Listed::Off);
    result = runKernel(run);
  });

  DisasmCommand disasm;
  CLI::App *disasmCommand =
      app.add_subcommand("disasm", "Print kernels as the emulator decodes them");
  disasmCommand->add_option("object", disasm.object, "Code object (.hsaco)")->required();
  disasmCommand->add_option("--kernel", disasm.kernel, "Only this kernel");
  disasmCommand->callback([&] { result = runDisasm(disasm); });

  AuditCommand audit;
  CLI::App *auditCommand = app.add_subcommand(
      "audit", "List instructions whose semantics public sources leave open, and the guess taken");
  CLI::Option *object = auditCommand->add_option("object", audit.object, "Code object (.hsaco)");
  auditCommand->add_option("--kernel", audit.kernel, "Only this kernel");
  auditCommand->add_flag("--json", audit.json, "Print JSON");
  CLI::Option *table = auditCommand->add_flag("--table", audit.table,
                                              "Print the whole table as Markdown; no object");
  table->excludes(object);
  auditCommand->callback([&] {
    if (!*object && !*table)
      throw CLI::RequiredError("object");
    result = runAudit(audit);
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError &error) {
    // Of a word that is no command, the word is the news, not that a command is missing.
    const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
    if (unknown.empty())
      app.exit(error);
    else
      app.exit(CLI::ExtrasError(unknown));
    return exitUsage;
  } catch (const CLI::ParseError &error) {
    // --help and --version arrive here too, with exit code 0.
    return app.exit(error) == 0 ? exitDone : exitUsage;
  }
  return result;
}

} // namespace

int main(int argc, char **argv) {
  auto fail = [](const std::string &why) {
    llvm::errs() << "gfx950emu: error: " << why << '\n';
    return exitFile;
  };
  if (const std::string why = support::openStandardFiles(); !why.empty())
    return fail("stdin, stdout, stderr: " + why);
  int result = exitFile;
  try {
    result = parseAndRun(argc, argv);
  } catch (const std::exception &error) {
    return fail(std::string("unexpected failure: ") + error.what());
  }
  const std::string why = support::lostOutput();
  if (why.empty())
    return result;
  fail("stdout: expected to write every result, found: " + why);
  return result == exitDone ? exitFile : result;
}
