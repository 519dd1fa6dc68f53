//===- FuzzManifest.cpp - arbitrary text as a manifest ----------------------===//
//
// What parses must print and parse again to the same manifest.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Manifest.h"

#include <cstdlib>

using namespace nvfp4rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Result<Manifest> manifest = parseManifest({reinterpret_cast<const char *>(data), size});
  if (!manifest) {
    if (manifest.error().message.empty())
      std::abort();
    return 0;
  }
  const Result<Manifest> again = parseManifest(printManifest(*manifest));
  if (!again || *again != *manifest)
    std::abort();
  return 0;
}
