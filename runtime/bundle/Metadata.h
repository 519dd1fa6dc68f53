//===- Metadata.h - what the compiler says of each kernel -------------------===//
//
// Reads the AMDGPU notes (msgpack, one a linked object) and the 64-byte kernel
// descriptors. Both describe the same kernels; the bundle's checks compare them
// with the manifest.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_METADATA_H
#define NVFP4_RUNTIME_BUNDLE_METADATA_H

#include "runtime/bundle/Elf.h"

#include <string>
#include <vector>

namespace nvfp4rt {

struct KernelMetadataArg {
  uint64_t offset = 0, size = 0; ///< bytes
  std::string valueKind;         ///< "global_buffer", "by_value", "hidden_..."
};

/// One entry of "amdhsa.kernels"; sizes in bytes.
struct KernelMetadata {
  std::string name;
  std::string descriptorSymbol; ///< ".symbol", "<name>.kd"
  uint64_t kernargBytes = 0;
  uint64_t ldsBytes = 0;     ///< ".group_segment_fixed_size"
  uint64_t scratchBytes = 0; ///< ".private_segment_fixed_size", a lane
  uint64_t vgprs = 0;        ///< unified total, AGPRs included
  uint64_t agprs = 0;
  uint64_t sgprs = 0;
  uint64_t vgprSpills = 0, sgprSpills = 0;
  uint64_t wavefrontSize = 0;
  uint64_t maxWorkgroup = 0; ///< work-items
  bool dynamicStack = false;
  std::vector<KernelMetadataArg> args;
};

/// Kernels of all AMDGPU metadata notes of the file, sorted by name; duplicates, other targets than
/// gfx950 and malformed notes are NVFP4RT_ERROR_BAD_ELF.
Result<std::vector<KernelMetadata>> readMetadata(const ElfFile &elf);

/// The fields of a kernel descriptor that a launch depends on.
struct KernelDescriptor {
  static constexpr uint64_t kBytes = 64;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  uint32_t kernargBytes = 0;
  int64_t entryOffset = 0;     ///< of the code, relative to the descriptor's own address
  uint32_t allocatedVgprs = 0; ///< unified total, rounded up to the granule of 8
  bool scratchEnabled = false;
  bool wave32 = false;
  bool dynamicStack = false;
};

/// `bytes` has kBytes bytes.
KernelDescriptor readDescriptor(Bytes bytes);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_METADATA_H
