//===- Fixture.cpp -------------------------------------------------------------===//

#include "tests/emulator/Fixture.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace gfx950emu::test {

const std::vector<uint8_t> &image(const std::string &name) {
  static std::map<std::string, std::vector<uint8_t>> images;
  auto [it, fresh] = images.try_emplace(name);
  if (fresh) {
    auto buffer = llvm::MemoryBuffer::getFile(EMULATOR_DEVICE_DIR "/" + name + ".hsaco");
    if (!buffer) {
      fprintf(stderr, "cannot read the test's code object %s\n", name.c_str());
      exit(1);
    }
    llvm::StringRef text = (*buffer)->getBuffer();
    it->second.assign(text.bytes_begin(), text.bytes_end());
  }
  return it->second;
}

FaultText faultOf(llvm::Error error) {
  FaultText result;
  result.message = "(no error)";
  llvm::handleAllErrors(std::move(error), [&](const Fault &fault) {
    result.kind = fault.kind;
    result.message = fault.message;
  });
  return result;
}

Runner runner = run;

Device::Device(const std::string &name) {
  options.threads = 1;
  auto loaded = CodeObject::load(image(name), memory);
  if (!loaded) {
    fprintf(stderr, "%s: %s\n", name.c_str(), faultOf(loaded.takeError()).message.c_str());
    exit(1);
  }
  object = std::move(*loaded);
}

Device::~Device() = default;

llvm::Expected<RunStats> Device::launch(const std::string &kernel, std::array<uint32_t, 3> grid,
                                        std::array<uint32_t, 3> block, const Args &args) {
  Dispatch d;
  d.object = object.get();
  d.kernel = object->find(kernel);
  if (!d.kernel)
    return llvm::createStringError("no kernel " + kernel);
  d.grid = grid;
  d.block = block;
  d.dynamicLdsBytes = dynamicLdsBytes;
  d.kernarg = args.get();
  return runner(d, memory, options);
}

} // namespace gfx950emu::test
