//===- Bundle.h - a bundle, opened and verified -----------------------------===//
//
// Owns the bytes of a bundle and its manifest. Opening makes every check that
// needs no device, before any HIP call: ELF, architecture, versions, digest of
// the file, manifest, and for each kernel its symbols, metadata, descriptor,
// checksum and argument layout. A Bundle that exists has passed all of them.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_BUNDLE_H
#define NVFP4_RUNTIME_BUNDLE_BUNDLE_H

#include "runtime/bundle/Elf.h"
#include "runtime/bundle/Manifest.h"
#include "runtime/support/Sha256.h"

#include <string>
#include <vector>

namespace nvfp4rt {

/// The architecture that this runtime serves.
inline constexpr std::string_view kArch = "gfx950";

/// SHA-256 of `file` with the 32 bytes at `digestOffset` taken as zero: what the section
/// kDigestSection holds. The caller has checked that they lie in the file.
Sha256Digest fileDigest(Bytes file, uint64_t digestOffset);

class Bundle {
public:
  /// `name` stands for the bundle in messages. Every message begins with "bundle NAME: ".
  static Result<Bundle> open(std::vector<uint8_t> bytes, std::string name);
  /// The path is the name. NVFP4RT_ERROR_IO when the file cannot be read or is no regular file.
  static Result<Bundle> openFile(const std::string &path);
  /// A folder with files that `nvfp4gen extract` has taken out of one bundle, all or some of them:
  /// every *.hsaco in it, each with all checks of a bundle. The error names the file.
  static Result<Bundle> openFolder(const std::string &path);
  /// Whichever of the two it is.
  static Result<Bundle> openPath(const std::string &path);

  const std::string &name() const { return name_; }
  const Manifest &manifest() const { return manifest_; }
  /// The whole file, empty of a folder; at one address for the life of the Bundle, moves included.
  Bytes bytes() const { return bytes_; }
  /// The code object with manifest().kernels[index]; at one address as well.
  Bytes image(size_t index) const { return parts_.empty() ? bytes_ : parts_[partOf_[index]]; }
  /// Position in manifest().kernels; every variant's symbol has one.
  size_t kernelIndex(std::string_view symbol) const;

private:
  Bundle() = default;
  Result<void> verify();

  std::string name_;
  std::vector<uint8_t> bytes_;
  std::vector<std::vector<uint8_t>> parts_; ///< the files of a folder
  std::vector<size_t> partOf_;              ///< of each kernel, its place in parts_
  Manifest manifest_;
};

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_BUNDLE_H
