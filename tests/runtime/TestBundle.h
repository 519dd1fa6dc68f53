//===- TestBundle.h - bundles made for tests --------------------------------===//
//
// Takes a code object made from kernels.s by the real assembler and linker, and
// appends the manifest and digest sections. Tests plant faults by changing the
// manifest or bytes of the result.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_TESTS_RUNTIME_TESTBUNDLE_H
#define NVFP4_TESTS_RUNTIME_TESTBUNDLE_H

#include "runtime/bundle/Bundle.h"

#include <optional>
#include <string>
#include <vector>

namespace nvfp4rt::test {

using ByteVector = std::vector<uint8_t>;

/// Contents of a file; empty if it cannot be read.
ByteVector readBytes(const std::string &path);
/// Code object NAME.hsaco of the build's test objects.
ByteVector testObject(const std::string &name);

/// A manifest that is right for the code object: kernel_a and kernel_b, of the family kv_store.
/// Variants: decode with 1 query row in buckets [1, 1], [2, 8] and [9, 48] (kernel_a), verify with
/// query_len in {4, 8} and requests in [1, 48] (kernel_b); dtype bf16 in all.
Manifest testManifest(Bytes object);

/// `object` with sections for `manifest` and a correct digest. An absent text leaves the section
/// out.
struct Sections {
  std::optional<std::string> manifest;
  bool digest = true;
};
ByteVector addSections(Bytes object, const Sections &sections);

/// testManifest() and addSections() over the object "good".
ByteVector goodBundle();
ByteVector bundleWith(const Manifest &manifest);

/// Write the right digest into the .nvfp4.digest section again after bytes were changed. False when
/// the file has no such section of 32 bytes.
bool redigest(ByteVector &file);

/// Make a hex digit another hex digit.
inline void changeDigit(char &digit) { digit = digit == '0' ? '1' : '0'; }

/// Status and message of opening `file`.
Error openError(ByteVector file);

} // namespace nvfp4rt::test

#endif // NVFP4_TESTS_RUNTIME_TESTBUNDLE_H
