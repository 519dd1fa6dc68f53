//===- Fuzz.cpp - ranges of seeds, and reports of what failed --------------===//
#include "tests/emulator/ir/Fuzz.h"

#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Inputs.h"
#include "tests/emulator/ir/Program.h"
#include "tests/emulator/ir/Reduce.h"

#include "fmt/format.h"

using namespace llvm;

namespace irfuzz {
namespace {

std::string textOf(const Module &module) {
  std::string text;
  raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

/// The one verdict on a module of one program; tool errors are passed.
std::optional<Verdict> verdictOn(const Module &module, const Config &config,
                                 const Mutation &mutation) {
  auto outcome = compare(module, config, mutation);
  if (!outcome) {
    consumeError(outcome.takeError());
    return std::nullopt;
  }
  return outcome->verdicts.front();
}

std::string describe(const Verdict &verdict) {
  if (!verdict.fault.empty())
    return "  the emulator: " + verdict.fault + "\n";
  std::string text;
  Inputs inputs = inputsOf(verdict.seed);
  text += fmt::format("  {} slots differ\n", verdict.differences.size());
  unsigned shown = 0;
  for (const Difference &difference : verdict.differences) {
    if (++shown > 4)
      break;
    text += fmt::format("  lane {} slot {}: expected {:#018x}, found {:#018x}\n", difference.lane,
                        difference.slot, difference.expected, difference.found);
    text += "    input:";
    for (unsigned slot = 0; slot < InputSlots; ++slot)
      text += fmt::format("{}{:#018x}", slot % 4 ? " " : "\n      ",
                          inputs.lanes[size_t(difference.lane) * InputSlots + slot]);
    text += '\n';
  }
  if (verdict.differences.empty())
    return text;
  text += "  uniform:";
  for (unsigned slot = 0; slot < UniformSlots; ++slot)
    text += fmt::format("{}{:#018x}", slot % 4 ? " " : "\n      ", inputs.uniform[slot]);
  return text + '\n';
}

std::string report(const Verdict &verdict, const Config &config, const FuzzOptions &options) {
  std::string text = fmt::format("program {} ({}):\n", verdict.seed, config.text());
  text += describe(verdict);
  if (!options.reduce)
    return text;
  LLVMContext context;
  std::unique_ptr<Module> module = programAlone(context, verdict.seed);
  const bool faulted = !verdict.fault.empty();
  auto fails = [&](const Module &trial) {
    std::optional<Verdict> result = verdictOn(trial, config, options.mutation);
    return result && result->failed() && faulted == !result->fault.empty();
  };
  if (!fails(*module))
    return text + "  alone in its module it passes\n" + textOf(*module);
  std::unique_ptr<Module> reduced = reduce(*module, fails);
  if (std::optional<Verdict> result = verdictOn(*reduced, config, options.mutation))
    text += "reduced:\n" + describe(*result);
  text += textOf(*reduced);
  auto assembly = deviceAssembly(*reduced, config, options.mutation);
  return text + (assembly ? *assembly : toString(assembly.takeError()));
}

/// `count` programs from `first` in one module.
void fuzzModule(uint64_t first, uint64_t count, const Config &config, const FuzzOptions &options,
                Tally &tally) {
  LLVMContext context;
  std::unique_ptr<Module> module = emptyModule(context);
  for (uint64_t i = 0; i < count; ++i)
    addProgram(*module, first + i);
  auto outcome = compare(*module, config, options.mutation);
  if (!outcome) {
    Error error = outcome.takeError();
    if (count > 1) { // one by one, to lose only one program
      consumeError(std::move(error));
      for (uint64_t i = 0; i < count; ++i)
        fuzzModule(first + i, 1, config, options, tally);
      return;
    }
    tally.programs += count;
    tally.failures.push_back(
        fmt::format("program {} ({}): {}\n", first, config.text(), toString(std::move(error))));
    return;
  }
  tally.programs += count;
  tally.instructions += outcome->instructions;
  tally.fallbacks += outcome->fallbacks;
  tally.stored += outcome->stored;
  for (const Verdict &verdict : outcome->verdicts)
    if (verdict.failed())
      tally.failures.push_back(report(verdict, config, options));
}

} // namespace

std::unique_ptr<Module> programAlone(LLVMContext &context, uint64_t seed) {
  std::unique_ptr<Module> module = emptyModule(context);
  addProgram(*module, seed);
  return module;
}

Tally fuzz(uint64_t first, uint64_t count, const FuzzOptions &options) {
  Tally tally;
  while (count > 0) {
    uint64_t size = std::min(ProgramsPerModule - first % ProgramsPerModule, count);
    fuzzModule(first, size, configOf(first), options, tally);
    first += size;
    count -= size;
  }
  return tally;
}

} // namespace irfuzz
