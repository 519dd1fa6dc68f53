//===- Run.cpp - gfx950emu run ----------------------------------------------===//

#include "tools/gfx950emu/check/Beside.h"
#include "tools/gfx950emu/cli/RunReport.h"
#include "tools/gfx950emu/count/Counter.h"

#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace gfx950emu::cli {

namespace {

llvm::Error writeBuffer(const std::string &file, llvm::ArrayRef<uint8_t> contents) {
  llvm::Error error = llvm::writeToOutput(file, [&](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(contents.data()), contents.size());
    return llvm::Error::success();
  });
  return error ? llvm::createFileError(file, std::move(error)) : llvm::Error::success();
}

/// The run whose result counts, under all that was asked for, with as many other orders.
llvm::Error runWatched(const RunCommand &command, const Dispatch &dispatch, MemoryMap &memory,
                       count::Counter &counter, RunReport &report) {
  std::optional<check::Checker> checker;
  if (command.checks)
    checker.emplace(*command.checks);
  DispatchObserver *checks = checker ? &*checker : nullptr;
  check::Beside counted(counter, checks);
  DispatchObserver *first = command.count || command.cost ? &counted : checks;

  std::optional<llvm::Error> error;
  if (command.seeds > 1) {
    llvm::Expected<check::OrdersResult> orders = check::runOrders(
        dispatch, memory, command.options, command.seeds, std::numeric_limits<size_t>::max(),
        [&](size_t run) { return run == 0 ? first : checks; });
    if (orders) {
      report.stats = orders->stats;
      report.seeds = std::move(orders->seeds);
      report.differences = std::move(orders->differences);
    } else {
      error.emplace(orders.takeError());
    }
  } else {
    RunOptions options = command.options;
    options.observer = first;
    llvm::Expected<RunStats> stats = gfx950emu::run(dispatch, memory, options);
    if (stats)
      report.stats = *stats;
    else
      error.emplace(stats.takeError());
  }
  if (!counter.results().empty())
    report.counts = &counter.results().front();
  if (checker) {
    report.findings = checker->findings();
    report.droppedFindings = checker->dropped();
    report.skippedRaceAccesses = checker->skippedRaceAccesses();
  }
  return error ? std::move(*error) : llvm::Error::success();
}

/// Write the buffers to their files. They hold the first run; what it wrote and what it found there
/// only a second run on another fill can tell apart.
llvm::Error writeResults(const RunCommand &command, const Dispatch &dispatch, MemoryMap &memory,
                         Arguments &arguments, RunReport &report) {
  bool hasOutput = false;
  std::vector<std::vector<uint8_t>> contents;
  for (const Arguments::Buffer &buffer : arguments.buffers()) {
    contents.emplace_back();
    if (buffer.spec.kind != ArgSpec::Kind::Input)
      contents.back().assign(buffer.data, buffer.data + buffer.bytes);
    hasOutput |= buffer.spec.kind == ArgSpec::Kind::Output;
  }
  bool findUnwritten = hasOutput && !command.once;
  if (findUnwritten) {
    arguments.reset(0xff);
    if (auto second = gfx950emu::run(dispatch, memory, command.options); !second)
      return second.takeError();
  }
  for (size_t i = 0; i < contents.size(); ++i) {
    const Arguments::Buffer &buffer = arguments.buffers()[i];
    if (buffer.spec.kind == ArgSpec::Kind::Input)
      continue;
    if (llvm::Error error = writeBuffer(buffer.spec.file, contents[i]))
      return error;
    RunReport::Result &result =
        report.results.emplace_back(RunReport::Result{buffer.spec.file, buffer.bytes, {}});
    if (findUnwritten && buffer.spec.kind == ArgSpec::Kind::Output)
      result.unwritten = unwrittenRanges(contents[i], {buffer.data, buffer.bytes});
  }
  return llvm::Error::success();
}

/// The exit code of a run that has been reported.
llvm::Expected<int> run(const RunCommand &command) {
  auto grid = parseExtents("--grid", command.grid);
  if (!grid)
    return grid.takeError();
  auto block = parseExtents("--block", command.block);
  if (!block)
    return block.takeError();
  std::vector<ArgSpec> specs;
  for (const std::string &text : command.args) {
    llvm::Expected<ArgSpec> spec = parseArg(text);
    if (!spec)
      return spec.takeError();
    specs.push_back(std::move(*spec));
  }

  MemoryMap memory;
  if (command.checks && command.checks->undefined)
    memory.trackDefined();
  llvm::Expected<LoadedObject> loaded = loadObject(command.object, command.kernel, memory);
  if (!loaded)
    return loaded.takeError();
  llvm::Expected<Arguments> arguments = Arguments::bind(*loaded->kernel, specs, memory);
  if (!arguments)
    return arguments.takeError();

  Dispatch dispatch;
  dispatch.object = loaded->object.get();
  dispatch.kernel = loaded->kernel;
  dispatch.grid = *grid;
  dispatch.block = *block;
  dispatch.dynamicLdsBytes = command.sharedBytes;
  dispatch.kernarg = arguments->kernarg();
  arguments->reset(0x00);

  count::Counter counter;
  RunReport report(command, dispatch, *arguments);
  auto print = [&] { command.json ? report.printJson() : report.printText(); };
  llvm::Error error =
      handleErrors(runWatched(command, dispatch, memory, counter, report),
                   [&](std::unique_ptr<Fault> fault) -> llvm::Error {
                     if (fault->kind != FaultKind::BadDispatch)
                       report.fault = (faultKindName(fault->kind) + ": " + fault->message).str();
                     return llvm::Error(std::move(fault));
                   });
  if (error) {
    if (!report.findings.empty() || (command.json && !report.fault.empty()))
      print();
    int code = reportError(std::move(error));
    return report.findings.empty() ? code : exitFinding;
  }
  if (report.exitCode() == exitDone)
    if (llvm::Error failed = writeResults(command, dispatch, memory, *arguments, report))
      return std::move(failed);
  print();
  return report.exitCode();
}

} // namespace

int runKernel(const RunCommand &command) {
  llvm::Expected<int> code = run(command);
  return code ? *code : reportError(code.takeError());
}

} // namespace gfx950emu::cli
