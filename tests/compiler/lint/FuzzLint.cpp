//===- FuzzLint.cpp - any bytes as a code object, and as code ---------------===//

#include "compiler/lint/Lint.h"

using namespace nvfp4gen::lint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)lintCodeObject({data, size});
  static Decoder decoder = llvm::cantFail(Decoder::create());
  if (size)
    llvm::consumeError(lintCode(decoder, "fuzz", {data, size}, 0).takeError());
  return 0;
}
