//===- FuzzBundle.cpp - arbitrary bytes as a bundle -------------------------===//
//
// Opens the bytes as they are; as an object to which a manifest and a digest are
// added; and with the digest they have made right. The latter two get the input
// past the checksum, to everything behind it.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Metadata.h"
#include "tests/runtime/TestBundle.h"

#include <cstdlib>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

void openAndJudge(ByteVector file) {
  const Error error = openError(std::move(file));
  if (error.code != NVFP4RT_OK && !error.message.starts_with("bundle test: "))
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ByteVector good = testObject("good");
  static const Manifest manifest = testManifest(good);
  ByteVector file(data, data + size);
  openAndJudge(file);
  if (redigest(file))
    openAndJudge(file);
  if (const Result<ElfFile> elf = ElfFile::parse(file)) {
    (void)readMetadata(*elf);
    openAndJudge(addSections(file, {.manifest = printManifest(manifest)}));
  }
  return 0;
}
