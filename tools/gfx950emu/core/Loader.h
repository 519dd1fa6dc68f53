//===- Loader.h - from an ELF image to mapped segments and kernels ---------------===//
//
// Owns everything that reads a code object: ELF, relocations, kernel descriptors
// and the metadata note. All input is hostile: whatever is wrong is a Fault.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_LOADER_H
#define GFX950EMU_CORE_LOADER_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu {

/// Memory that holds the segments of a code object at their final addresses.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept { *this = std::move(other); }
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();
  /// Zero-filled, page-aligned; false when the OS refuses.
  bool map(uint64_t size);
  uint8_t *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  uint8_t *base = nullptr;
  uint64_t bytes = 0;
};

struct LoadedImage {
  struct Segment {
    uint64_t offset = 0, size = 0; ///< in the mapping
    bool writable = false, executable = false;
  };
  Mapping mapping;
  std::vector<Segment> segments;
  size_t codeSegment = 0; ///< the executable one
  std::vector<DecodedProgram::Symbol> functions;
  std::vector<KernelInfo> kernels;
};

/// Read, map and relocate `image`.
llvm::Expected<LoadedImage> loadImage(llvm::ArrayRef<uint8_t> image);

/// Parse the 64-byte descriptor at `descriptor` (address `address`) into `kernel`; name is set.
llvm::Error parseDescriptor(llvm::ArrayRef<uint8_t> descriptor, uint64_t address,
                            KernelInfo &kernel);

/// Merge the metadata note (msgpack) into kernels of the same symbol.
llvm::Error parseMetadata(llvm::StringRef blob, std::vector<KernelInfo> &kernels);

llvm::Error badCodeObject(const llvm::Twine &message);

} // namespace gfx950emu

#endif // GFX950EMU_CORE_LOADER_H
