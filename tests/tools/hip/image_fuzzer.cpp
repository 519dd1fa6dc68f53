//===- image_fuzzer.cpp - ELF and offload bundle images ---------------------===//

#include "tools/gfx950emu/hip/Image.h"

using namespace gfx950emu::hip;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  BufferSource source({data, size});
  llvm::Expected<std::vector<uint8_t>> found = extractCodeObject(source);
  if (!found)
    llvm::consumeError(found.takeError());
  return 0;
}
