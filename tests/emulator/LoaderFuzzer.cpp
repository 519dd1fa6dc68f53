//===- LoaderFuzzer.cpp - any bytes as a code object ------------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"

using namespace gfx950emu;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryMap memory;
  auto object = CodeObject::load(llvm::ArrayRef(data, size), memory);
  if (!object) {
    llvm::consumeError(object.takeError());
    return 0;
  }
  for (const KernelInfo &kernel : (*object)->kernels()) {
    std::vector<uint8_t> arguments(kernel.kernargBytes);
    Dispatch d;
    d.object = object->get();
    d.kernel = &kernel;
    d.block = {65, 1, 1};
    d.kernarg = arguments;
    RunOptions options;
    options.threads = 1;
    options.maxInstructions = 2000;
    if (auto r = run(d, memory, options); !r)
      llvm::consumeError(r.takeError());
  }
  return 0;
}
