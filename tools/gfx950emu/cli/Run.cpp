//===- Run.cpp - gfx950emu run ----------------------------------------------===//

#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"

#include "llvm/Support/raw_ostream.h"

namespace gfx950emu::cli {

namespace {

llvm::Error writeBuffer(const std::string &file, llvm::ArrayRef<uint8_t> contents) {
  llvm::Error error = llvm::writeToOutput(file, [&](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(contents.data()), contents.size());
    return llvm::Error::success();
  });
  return error ? llvm::createFileError(file, std::move(error)) : llvm::Error::success();
}

void printUnwritten(const std::vector<std::pair<uint64_t, uint64_t>> &ranges) {
  constexpr size_t shown = 8;
  uint64_t total = 0;
  for (auto [begin, end] : ranges)
    total += end - begin;
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
  llvm::Expected<RunStats> stats = gfx950emu::run(dispatch, memory, command.options);
  if (!stats)
    return stats.takeError();
  llvm::outs() << command.kernel << ": " << stats->waves << " waves, " << stats->instructions
               << " wave instructions, " << stats->globalBytesRead << " bytes read, "
               << stats->globalBytesWritten << " bytes written\n";

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
  size_t index = 0;
  for (const Arguments::Buffer &buffer : arguments->buffers()) {
    if (buffer.spec.kind == ArgSpec::Kind::Input)
      continue;
    const std::vector<uint8_t> &result = results[index++];
    if (llvm::Error error = writeBuffer(buffer.spec.file, result))
      return error;
    llvm::outs() << buffer.spec.file << ": " << buffer.bytes << " bytes";
    if (check && buffer.spec.kind == ArgSpec::Kind::Output)
      printUnwritten(unwrittenRanges(result, {buffer.data, buffer.bytes}));
    llvm::outs() << '\n';
  }
  return llvm::Error::success();
}

} // namespace

int runKernel(const RunCommand &command) {
  if (llvm::Error error = run(command))
    return reportError(std::move(error));
  return exitDone;
}

} // namespace gfx950emu::cli
