//===- Manifest.h - what a bundle says of itself ----------------------------===//
//
// The manifest is TOML text in the ELF section ".nvfp4.manifest" (not loaded to
// the device). The generator prints it, the runtime parses it; both directions
// are here so that they cannot drift.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_MANIFEST_H
#define NVFP4_RUNTIME_BUNDLE_MANIFEST_H

#include "runtime/guard/Guard.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvfp4rt {

inline constexpr int64_t kBundleFormat = 1;
inline constexpr std::string_view kManifestSection = ".nvfp4.manifest";
/// 32 bytes: SHA-256 of the whole file with these 32 bytes taken as zero.
inline constexpr std::string_view kDigestSection = ".nvfp4.digest";

/// Workgroups along one axis: ceil(args.<per> * mul / div), or the constant `mul` when `per` is
/// empty (div is 1 then). `per` names a 32-bit member of the family's argument struct.
struct GridAxis {
  std::string per;
  uint32_t mul = 1;
  uint32_t div = 1;
  bool operator==(const GridAxis &) const = default;
};

struct Resources {
  uint32_t vgprs = 0; ///< unified total, AGPRs included
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  uint32_t codeBytes = 0; ///< size of the function symbol
  bool operator==(const Resources &) const = default;
};

/// One function in .text; several variants may share it.
struct Kernel {
  std::string symbol;
  std::string family;
  std::string argsHash; ///< hex SHA-256 of ArgLayout::text()
  uint32_t argsSize = 0;
  GridAxis grid[3];
  uint32_t block[3] = {1, 1, 1}; ///< work-items of a workgroup
  Resources resources;
  std::string
      sha256; ///< hex, over the function's bytes in .text followed by its 64-byte descriptor
  bool operator==(const Kernel &) const = default;
};

/// Workspace of one launch: bytes = fixed + perRequest * (upper bound of the guard's "requests").
struct Workspace {
  uint64_t fixed = 0;
  uint64_t perRequest = 0;
  bool operator==(const Workspace &) const = default;
};

struct Variant {
  std::string name;
  std::string family;
  std::string symbol; ///< the Kernel that serves it
  Guard guard;
  Workspace workspace;
  bool operator==(const Variant &) const = default;
};

/// Bytes of one sparse block of one layer on this rank, and layers (rule P6); printed by `inspect`.
struct CacheBytes {
  uint64_t kvPerBlock = 0;
  uint64_t indexPerBlock = 0;
  uint64_t layers = 1;
  uint64_t draftPerBlock = 0; ///< K and V of a draft layer
  uint64_t draftLayers = 0;
  // The same cache in fp8_e4m3, for comparison.
  uint64_t fp8KvPerBlock = 0;
  uint64_t fp8IndexPerBlock = 0;
  bool operator==(const CacheBytes &) const = default;
};

struct Manifest {
  int64_t format = kBundleFormat;
  std::string buildId;   ///< hex SHA-256 over spec, toolchain, flags and template sources
  std::string generator; ///< "nvfp4gen 0.1.0"
  std::string toolchain; ///< "LLVM 22.1.8"
  std::string flags;     ///< compile flags that change code
  std::string specName;
  std::string specSha256;
  std::string arch; ///< "gfx950"
  uint32_t codeObjectVersion = 5;
  CacheBytes cacheBytes;
  std::vector<Kernel> kernels;   ///< sorted by symbol
  std::vector<Variant> variants; ///< in enumeration order
  bool operator==(const Manifest &) const = default;
};

/// TOML text; byte-identical for equal manifests.
std::string printManifest(const Manifest &manifest);

/// Parse and validate: unknown, missing, mistyped or out-of-range keys, duplicate symbols and
/// names, variants without a kernel, families this runtime does not know:
/// NVFP4RT_ERROR_BAD_MANIFEST with line and column; another format number: NVFP4RT_ERROR_VERSION.
Result<Manifest> parseManifest(std::string_view text);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_MANIFEST_H
