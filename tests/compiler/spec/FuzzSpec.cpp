//===- FuzzSpec.cpp - any bytes are a spec or a SpecError -------------------===//
#include "compiler/spec/Spec.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<nvfp4gen::Spec> spec = nvfp4gen::parseSpec(text, "fuzz");
  if (spec)
    return 0;
  llvm::Error error = spec.takeError();
  if (!error.isA<nvfp4gen::SpecError>())
    std::abort();
  llvm::consumeError(std::move(error));
  return 0;
}
