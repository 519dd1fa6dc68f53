//===- Counted.cpp ------------------------------------------------------------===//

#include "tests/emulator/count/Counted.h"

#include "tests/emulator/isa/Assembler.h"
#include "tests/emulator/isa/Kernel.h"
#include "tools/gfx950emu/count/Counter.h"

#include "gtest/gtest.h"

namespace gfx950emu::test {

Counted runCounted(const std::string &body, const Launch &launch) {
  Counted result;
  isatest::Assembled assembled =
      isatest::assemble(isatest::rawModuleText(body, 1, launch.ldsBytes, /*scratchBytes=*/64));
  EXPECT_EQ(assembled.error, "");
  if (!assembled.error.empty())
    return result;
  MemoryMap memory;
  auto object = CodeObject::load(assembled.image, memory);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return result;
  }
  uint64_t address = reinterpret_cast<uint64_t>(memory.allocate(launch.bufferBytes));
  Dispatch dispatch;
  dispatch.object = object->get();
  dispatch.kernel = (*object)->find(isatest::kernelName(0));
  dispatch.grid = {launch.grid, 1, 1};
  dispatch.block = {launch.block, 1, 1};
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(&address), sizeof address};
  count::Counter counter;
  RunOptions options;
  options.threads = launch.threads;
  options.seed = launch.seed;
  options.observer = &counter;
  auto stats = run(dispatch, memory, options);
  if (!stats) {
    ADD_FAILURE() << llvm::toString(stats.takeError());
    return result;
  }
  result.stats = *stats;
  result.kernel = *dispatch.kernel;
  EXPECT_EQ(counter.results().size(), 1u);
  result.counts = counter.results().front();
  return result;
}

} // namespace gfx950emu::test
