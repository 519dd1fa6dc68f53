//===- CommandLine.cpp ------------------------------------------------------===//

#include "tools/nvfp4gen/CommandLine.h"

#include "compiler/bundle/Build.h"
#include "tools/gfx950emu/check/Switches.h"
#include "tools/nvfp4gen/Commands.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>

namespace nvfp4gen {

namespace {

constexpr const char *kPath = "PATH";

/// The checks that an option leaves on.
std::string checksOf(const char *option, const std::string &list, gfx950emu::check::Listed listed) {
  llvm::Expected<gfx950emu::check::CheckOptions> checks =
      gfx950emu::check::parseChecks(list, listed);
  if (!checks)
    throw CLI::ValidationError(option, toString(checks.takeError()));
  return checkNames(*checks);
}

/// "1048576", "1024K", "1M".
uint64_t parseSize(const std::string &text) {
  constexpr std::string_view kUnits = "KMG";
  llvm::StringRef digits = text;
  size_t unit = digits.empty() ? kUnits.npos : kUnits.find(llvm::toUpper(digits.back()));
  unsigned shift = unit == kUnits.npos ? 0 : 10 * unsigned(unit + 1);
  uint64_t number = 0;
  if ((shift ? digits.drop_back() : digits).getAsInteger(10, number) || number == 0 ||
      number > (UINT64_MAX >> shift))
    throw CLI::ValidationError("--cache-size", "expected a size such as 500M, found " + text);
  return number << shift;
}

/// Declares every command on a tree, with the options each fills in; `result` is the exit code of
/// the one that ran.
class Commands {
public:
  Commands();
  CLI::App app{"Ahead-of-time NVFP4 attention kernels for gfx950", "nvfp4gen"};
  int result = kExitDone;

private:
  void addList();
  void addBuild();
  void addExplain();
  void addInspect();
  void addDiff();
  void addDisasm();
  void addExtract();
  void addLint();
  void addVerify();
  void addBench();
  void addCache();
  void addDocuments();

  CLI::App *add(const char *name, const char *description, bool &json) {
    CLI::App *command = app.add_subcommand(name, description);
    command->add_flag("--json", json, "Print as JSON");
    return command;
  }
  /// In front of what every command says: exit codes and environment.
  void addFooter(CLI::App *command, const std::string &text) {
    command->footer(text + "\n" + app.get_footer());
  }
  static void addBundle(CLI::App *command, std::string &path) {
    command->add_option("bundle", path, "Bundle (.hsaco)")->required()->type_name(kPath);
  }
  static void addSpec(CLI::App *command, std::string &path) {
    command->add_option("spec", path, "Spec (TOML)")->required()->type_name(kPath);
  }
  static void addCacheFolder(CLI::App *command, CacheCommandOptions &options) {
    command->add_option("--cache-dir", options.directory, "Folder of the cache of compiled kernels")
        ->type_name(kPath);
  }

  ListOptions list;
  BuildCommandOptions build;
  ExplainOptions explain;
  InspectOptions inspect;
  DiffOptions diff;
  DisasmOptions disasm;
  ExtractOptions extract;
  LintOptions lint;
  VerifyCommandOptions verify;
  std::string check, noCheck;
  BenchCommandOptions bench;
  CacheCommandOptions cacheStat, cacheClear;
  std::string shell;
};

Commands::Commands() {
  app.set_version_flag("--version", "nvfp4gen " NVFP4GEN_VERSION);
  app.require_subcommand(1);
  std::string footer = "Exit codes:\n";
  for (const ExitCode &exit : kExitCodes)
    footer += fmt::format("  {}  {}\n", exit.code, exit.meaning);
  footer += "Environment:\n";
  for (const EnvironmentVariable &variable : kEnvironment)
    footer += fmt::format("  {}: {}\n", variable.name, variable.meaning);
  footer += "Progress, warnings and errors go to stderr, results to stdout. "
            "'nvfp4gen man | man -l -' shows all commands.";
  app.footer(footer);

  addBuild();
  addList();
  addExplain();
  addInspect();
  addDiff();
  addDisasm();
  addExtract();
  addLint();
  addVerify();
  addBench();
  addCache();
  addDocuments();
}

void Commands::addList() {
  CLI::App *command =
      add("list", "Print every variant of a spec and which step each one serves; compiles nothing",
          list.json);
  command->add_option("spec", list.specs, "Specs (TOML)")->required()->type_name(kPath);
  command
      ->add_option("--coverage", list.coverage,
                   "Print the coverage of all specs as one table: a row for each family, phase, "
                   "query length and range of request counts, with the variant that serves it")
      ->check(CLI::IsMember({"csv", "json"}));
  command->callback([this] { result = runList(list); });
}

void Commands::addBuild() {
  CLI::App *command =
      add("build", "Build the bundle of a spec, or one stage of its kernels", build.json);
  addSpec(command, build.spec);
  command
      ->add_option("-o,--output", build.output,
                   "Bundle to write; with --emit a folder for one file a kernel")
      ->required()
      ->type_name(kPath);
  CLI::Option *emit =
      command
          ->add_option("--emit", build.emit, "Write a stage of every kernel instead of the bundle")
          ->check(CLI::IsMember({"mlir", "llvm", "asm", "obj"}));
  command->add_option("-j,--jobs", build.jobs, "Kernels built at once (default: one a core)")
      ->check(CLI::Range(1u, kMaxJobs));
  command
      ->add_option(
          "--backend", build.backend,
          "What links the kernels: lld, in process, or ROCm's comgr library (default: lld)")
      ->check(CLI::IsMember({"lld", "comgr"}))
      ->excludes(emit);
  command->add_flag("--debug-lines", build.debugLines,
                    "Add line tables that lead from an instruction to the template; the code is "
                    "the same");
  addCacheFolder(command, build.cache);
  command
      ->add_option_function<std::string>(
          "--cache-size",
          [this](const std::string &text) { build.cache.maxBytes = parseSize(text); },
          "Size of the cache in bytes, or with a suffix K, M or G; what was used longest ago goes "
          "first (default: 1G)")
      ->type_name("SIZE");
  command->add_flag("--no-cache", build.cache.off, "Compile every kernel and keep none");
  command->callback([this] { result = runBuild(build); });
}

void Commands::addExplain() {
  CLI::App *command = add("explain",
                          "Say which variant of a spec serves a step, and of each other one why "
                          "not; compiles nothing",
                          explain.json);
  addSpec(command, explain.spec);
  command->add_option("--family", explain.family, "Kernel family")->required();
  // CLI11 reads a number that is too large as the largest: a range refuses both.
  command->add_option("--requests", explain.requests, "Requests in the step")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}));
  command
      ->add_option("--q", explain.queryLen,
                   "Query rows a request; 0, ragged, is prefill (default: 1)")
      ->check(CLI::Range(int64_t{0}, int64_t{INT32_MAX}));
  command
      ->add_option("--phase", explain.phase,
                   "Phase of the step (default: decode for 1 row, verify for more, prefill for 0)")
      ->check(CLI::IsMember({"decode", "verify", "prefill"}));
  command->callback([this] { result = runExplain(explain); });
}

void Commands::addInspect() {
  CLI::App *command = add("inspect", "Check a bundle and print its manifest", inspect.json);
  addBundle(command, inspect.bundle);
  command->callback([this] { result = runInspect(inspect); });
}

void Commands::addDiff() {
  CLI::App *command = add("diff",
                          "Compare two bundles: variants, registers, LDS, code bytes and "
                          "instructions",
                          diff.json);
  command->add_option("before", diff.before, "Bundle (.hsaco)")->required()->type_name(kPath);
  command->add_option("after", diff.after, "Bundle (.hsaco)")->required()->type_name(kPath);
  command
      ->add_option_function<std::string>(
          "--max-growth",
          [this](const std::string &text) {
            llvm::StringRef number = text;
            number.consume_back("%");
            double percent = 0;
            if (number.getAsDouble(percent) || !std::isfinite(percent) || percent < 0)
              throw CLI::ValidationError("--max-growth",
                                         "expected a percentage such as 2%, found " + text);
            diff.maxGrowth = percent;
          },
          "Exit with 3 when a figure of a kernel grows by more than this, or a variant is gone")
      ->type_name("PERCENT");
  command->callback([this] { result = runDiff(diff); });
}

void Commands::addDisasm() {
  CLI::App *command = add("disasm", "Print the machine code of a kernel", disasm.json);
  addBundle(command, disasm.bundle);
  command->add_option("--variant", disasm.variant,
                      "Name of a variant or symbol of a kernel (default: every kernel)");
  CLI::Option *source =
      command->add_flag("--source", disasm.source,
                        "Put the template's line above the instructions that came from it; needs a "
                        "bundle built with --debug-lines");
  command
      ->add_option("--source-root", disasm.sourceRoot,
                   "Folder of the templates' source tree (default: this one)")
      ->needs(source)
      ->type_name(kPath);
  command->callback([this] { result = runDisasm(disasm); });
}

void Commands::addExtract() {
  CLI::App *command = add("extract",
                          "Write each kernel of a bundle as a code object of its own, with its "
                          "part of the manifest",
                          extract.json);
  addBundle(command, extract.bundle);
  command->add_option("-o,--output", extract.output, "Folder for SYMBOL.hsaco files")
      ->required()
      ->type_name(kPath);
  command->add_option("--variant", extract.variant,
                      "Only the kernel of this variant, or with this symbol");
  command->callback([this] { result = runExtract(extract); });
}

void Commands::addLint() {
  CLI::App *command = add("lint",
                          "Check the machine code of any gfx950 code object: hazards on every "
                          "path, resources, instructions that kernels must not have",
                          lint.json);
  command->add_option("file", lint.file, "Code object (.hsaco), of this generator or not")
      ->required()
      ->type_name(kPath);
  command->add_flag("--strict", lint.strict, "Exit with 4 for warnings too");
  addFooter(command, "Rules:\n" + lintRules());
  command->callback([this] { result = runLint(lint); });
}

void Commands::addVerify() {
  CLI::App *command =
      add("verify", "Run every variant of a bundle and compare it with the reference, exactly",
          verify.json);
  addBundle(command, verify.bundle);
  command->add_option("--family", verify.family, "Only this kernel family");
  command
      ->add_option("--hip", verify.hipLibrary,
                   "HIP library to run on (default: the gfx950 emulator)")
      ->type_name(kPath);
  CLI::Option *checks =
      command
          ->add_flag("--check{all}", check,
                     "--check=LIST: of the emulator's checks run only these, with commas between "
                     "(default: all)")
          ->join(',');
  CLI::Option *noChecks =
      command
          ->add_flag("--no-check{all}", noCheck,
                     "Run without the emulator's checks, or with --no-check=LIST without these")
          ->join(',')
          ->excludes(checks);
  command
      ->add_option("--orders", verify.orders,
                   "Run each launch in so many orders of workgroups and waves, and report bytes "
                   "that differ")
      ->check(CLI::Range(1u, 64u));
  addFooter(command, "Checks, for --check and --no-check:\n" + gfx950emu::check::checkHelp());
  command
      ->add_option_function<std::string>(
          "--seed",
          [this](const std::string &text) {
            if (llvm::StringRef(text).getAsInteger(10, verify.seed))
              throw CLI::ValidationError("--seed", "expected a number below 2^64, found " + text);
          },
          "Seed of the random inputs")
      ->type_name("UINT");
  command->callback([this, checks, noChecks] {
    using gfx950emu::check::Listed;
    if (*checks)
      verify.checks = checksOf("--check", check, Listed::On);
    if (*noChecks)
      verify.checks = checksOf("--no-check", noCheck, Listed::Off);
    verify.checksAsked = *checks || *noChecks;
    result = runVerify(verify);
  });
}

void Commands::addBench() {
  CLI::App *command = add("bench",
                          "Count what every kernel family of a bundle does on the emulator: "
                          "bytes, instructions, registers, balance",
                          bench.json);
  addBundle(command, bench.bundle);
  command->add_option("--family", bench.family, "Only this kernel family");
  command->add_option("--shape", bench.shape, "Only this shape");
  command
      ->add_option("--sample", bench.sample,
                   "Of prefill shapes run one row in N, from the middle of the chunk; the table "
                   "says so. Fewer pages a workgroup then share its fixed cost (default: all)")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
  addFooter(command, benchDefinitions());
  command->callback([this] { result = runBench(bench); });
}

void Commands::addCache() {
  CLI::App *command = app.add_subcommand("cache", "Look at the cache of compiled kernels");
  command->require_subcommand(1);
  CLI::App *stat = command->add_subcommand("stat", "Print its folder, entries and bytes");
  addCacheFolder(stat, cacheStat);
  stat->add_flag("--json", cacheStat.json, "Print as JSON");
  stat->callback([this] { result = runCacheStat(cacheStat); });
  CLI::App *clear = command->add_subcommand("clear", "Remove every entry");
  addCacheFolder(clear, cacheClear);
  clear->add_flag("--json", cacheClear.json, "Print as JSON");
  clear->callback([this] { result = runCacheClear(cacheClear); });
}

void Commands::addDocuments() {
  CLI::App *completion = app.add_subcommand(
      "completion", "Print a completion script, e.g. for: source <(nvfp4gen completion bash)");
  completion->add_option("shell", shell, "Shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([this] { fmt::print("{}", completionScript(app, shell)); });
  CLI::App *man = app.add_subcommand("man", "Print the manual page");
  man->callback([this] { fmt::print("{}", manualPage(app)); });
}

void collect(const CLI::App &app, const std::string &prefix, std::vector<CommandEntry> &entries) {
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    std::string name = prefix + command->get_name();
    size_t before = entries.size();
    collect(*command, name + " ", entries);
    if (entries.size() == before)
      entries.push_back({name, command});
  }
}

} // namespace

int runCommandLine(int argc, const char *const *argv) {
  Commands commands;
  try {
    commands.app.parse(argc, argv);
  } catch (const CLI::RequiredError &error) {
    // Of a word that is no command, the word is the news, not that a command is missing.
    const std::vector<std::string> unknown = commands.app.remaining(/*recurse=*/true);
    if (unknown.empty())
      commands.app.exit(error);
    else
      commands.app.exit(CLI::ExtrasError(unknown));
    return kExitUsage;
  } catch (const CLI::ParseError &error) {
    // --help and --version arrive here too, with exit code 0.
    return commands.app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return commands.result;
}

std::vector<CommandEntry> commandsOf(const CLI::App &root) {
  std::vector<CommandEntry> entries;
  collect(root, "", entries);
  return entries;
}

std::vector<std::string> choicesOf(const CLI::Option &option) {
  // CLI11 keeps a set of values only as the text that its help prints: "TEXT:{csv,json}".
  std::string type = option.get_type_name();
  size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos)
    return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

bool takesPath(const CLI::Option &option) { return option.get_type_name() == kPath; }

} // namespace nvfp4gen
