//===- Run.cpp - gfx950emu run ----------------------------------------------===//

#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"
#include "tools/gfx950emu/count/Cost.h"
#include "tools/gfx950emu/count/Counter.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace gfx950emu::cli {

namespace {

llvm::Error writeBuffer(const std::string &file, llvm::ArrayRef<uint8_t> contents) {
  llvm::Error error = llvm::writeToOutput(file, [&](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(contents.data()), contents.size());
    return llvm::Error::success();
  });
  return error ? llvm::createFileError(file, std::move(error)) : llvm::Error::success();
}

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

uint64_t totalBytes(const Ranges &ranges) {
  uint64_t total = 0;
  for (auto [begin, end] : ranges)
    total += end - begin;
  return total;
}

/// A buffer that the run gave back.
struct Result {
  std::string file;
  uint64_t bytes = 0;
  std::optional<Ranges> unwritten; ///< when it was looked for
};

void printUnwritten(const Ranges &ranges) {
  constexpr size_t shown = 8;
  uint64_t total = totalBytes(ranges);
  if (total == 0) {
    llvm::outs() << ", all written";
    return;
  }
  llvm::outs() << ", " << total << " never written:";
  for (size_t i = 0; i < ranges.size() && i < shown; ++i)
    llvm::outs() << " [" << ranges[i].first << ", " << ranges[i].second << ')';
  if (ranges.size() > shown)
    llvm::outs() << " and " << ranges.size() - shown << " more ranges";
}

/// What a run is reported with; counts are null unless they were asked for.
struct Report {
  const RunCommand &command;
  const Dispatch &dispatch;
  RunStats stats;
  const count::Counts *counts = nullptr;
  std::vector<Result> results;

  count::Cost cost() const {
    return count::estimateCost(*counts, *dispatch.kernel, dispatch.dynamicLdsBytes);
  }
  void print() const;
  void printJson() const;
};

void Report::print() const {
  llvm::outs() << command.kernel << ": " << stats.waves << " waves, " << stats.instructions
               << " wave instructions, " << stats.globalBytesRead << " bytes read, "
               << stats.globalBytesWritten << " bytes written\n";
  for (const Result &result : results) {
    llvm::outs() << result.file << ": " << result.bytes << " bytes";
    if (result.unwritten)
      printUnwritten(*result.unwritten);
    llvm::outs() << '\n';
  }
  if (command.count)
    count::printTable(*counts, llvm::outs());
  if (command.cost)
    count::printCost(cost(), llvm::outs());
}

void Report::printJson() const {
  llvm::json::Array buffers;
  for (const Result &result : results) {
    llvm::json::Object buffer{{"file", result.file}, {"bytes", result.bytes}};
    if (result.unwritten)
      buffer["never_written"] = totalBytes(*result.unwritten);
    buffers.push_back(std::move(buffer));
  }
  llvm::json::Object all{{"kernel", command.kernel},
                         {"waves", stats.waves},
                         {"instructions", stats.instructions},
                         {"buffers", std::move(buffers)}};
  if (command.count)
    all["counts"] = count::toJson(*counts);
  if (command.cost)
    all["cost"] = count::toJson(cost());
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << '\n';
}

llvm::Error run(const RunCommand &command) {
  auto grid = parseExtents("--grid", command.grid);
  if (!grid)
    return grid.takeError();
  auto block = parseExtents("--block", command.block);
  if (!block)
    return block.takeError();
  std::vector<ArgSpec> specs;
  bool hasOutput = false;
  for (const std::string &text : command.args) {
    llvm::Expected<ArgSpec> spec = parseArg(text);
    if (!spec)
      return spec.takeError();
    hasOutput |= spec->kind == ArgSpec::Kind::Output;
    specs.push_back(std::move(*spec));
  }

  MemoryMap memory;
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
  RunOptions options = command.options;
  if (command.count || command.cost)
    options.observer = &counter;
  llvm::Expected<RunStats> stats = gfx950emu::run(dispatch, memory, options);
  if (!stats)
    return stats.takeError();

  // The files hold the first run. What it wrote and what it found there only a second run on
  // another fill can tell apart.
  std::vector<std::vector<uint8_t>> results;
  for (const Arguments::Buffer &buffer : arguments->buffers())
    if (buffer.spec.kind != ArgSpec::Kind::Input)
      results.emplace_back(buffer.data, buffer.data + buffer.bytes);
  bool check = hasOutput && !command.once;
  if (check) {
    arguments->reset(0xff);
    if (llvm::Expected<RunStats> second = gfx950emu::run(dispatch, memory, command.options);
        !second)
      return second.takeError();
  }
  Report report{command,
                dispatch,
                *stats,
                counter.results().empty() ? nullptr : &counter.results().front(),
                {}};
  size_t index = 0;
  for (const Arguments::Buffer &buffer : arguments->buffers()) {
    if (buffer.spec.kind == ArgSpec::Kind::Input)
      continue;
    const std::vector<uint8_t> &contents = results[index++];
    if (llvm::Error error = writeBuffer(buffer.spec.file, contents))
      return error;
    Result &result = report.results.emplace_back(Result{buffer.spec.file, buffer.bytes, {}});
    if (check && buffer.spec.kind == ArgSpec::Kind::Output)
      result.unwritten = unwrittenRanges(contents, {buffer.data, buffer.bytes});
  }
  if (command.json)
    report.printJson();
  else
    report.print();
  return llvm::Error::success();
}

} // namespace

int runKernel(const RunCommand &command) {
  if (llvm::Error error = run(command))
    return reportError(std::move(error));
  return exitDone;
}

} // namespace gfx950emu::cli
