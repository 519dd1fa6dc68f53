//===- Elf.h - a bounded reader of AMDGPU code objects ----------------------===//
//
// The runtime links no LLVM and must know a file to be whole before HIP sees it,
// so it reads ELF itself: ELF64, little-endian, ET_DYN, EM_AMDGPU only. Every
// offset and count is checked against the bytes at hand before it is used.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_BUNDLE_ELF_H
#define NVFP4_RUNTIME_BUNDLE_ELF_H

#include "runtime/support/Error.h"

#include <cstdint>
#include <elf.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace nvfp4rt {

using Bytes = std::span<const uint8_t>;

/// Largest file that is opened; loaders and indices of several ROCm tools are 32-bit signed.
inline constexpr uint64_t kMaxFileBytes = uint64_t{1} << 31;

struct ElfSection {
  std::string_view name; ///< borrowed from the file
  uint32_t type = 0;     ///< SHT_*
  uint64_t flags = 0;    ///< SHF_*
  uint64_t offset = 0;   ///< of its bytes in the file
  Bytes bytes;           ///< borrowed from the file; empty for SHT_NOBITS
};

struct ElfSegment {
  uint32_t type = 0;    ///< PT_*
  uint64_t address = 0; ///< p_vaddr
  Bytes bytes; ///< borrowed from the file; the zero-filled tail in memory is not part of it
};

struct ElfSymbol {
  std::string_view name; ///< borrowed from the file
  uint8_t type = 0;      ///< STT_*
  uint64_t address = 0;
  uint64_t size = 0;
};

struct ElfNote {
  std::string_view owner; ///< without the NUL; borrowed from the file
  uint32_t type = 0;
  Bytes description; ///< borrowed from the file
};

/// Views into the bytes given to parse(), which the caller keeps alive.
class ElfFile {
public:
  /// Header, then the tables. NVFP4RT_ERROR_WRONG_ARCH when the header is of another processor than
  /// gfx950, NVFP4RT_ERROR_VERSION when its code object version is neither 5 nor 6, else
  /// NVFP4RT_ERROR_BAD_ELF.
  static Result<ElfFile> parse(Bytes file);

  /// 5 or 6, from EI_ABIVERSION.
  uint32_t codeObjectVersion() const { return codeObjectVersion_; }
  /// The one section of this name; null if there is none or more than one.
  const ElfSection *section(std::string_view name) const;
  /// Named entries of .dynsym that are defined; what HIP's loader can find.
  const std::vector<ElfSymbol> &symbols() const { return symbols_; }
  const ElfSymbol *symbol(std::string_view name) const;
  /// All notes of the PT_NOTE segments, in file order.
  const std::vector<ElfNote> &notes() const { return notes_; }
  /// Bytes of the file that a PT_LOAD segment maps to [address, address + size); empty if none maps
  /// all of them.
  std::optional<Bytes> loaded(uint64_t address, uint64_t size) const;
  /// The PT_LOAD segment with bytes of the file at `address`; null if there is none.
  const ElfSegment *segmentAt(uint64_t address) const;

private:
  Result<void> readHeader(Bytes file);
  Result<void> readSegments(Bytes file);
  Result<void> readSections(Bytes file);
  Result<void> readSymbols(Bytes file);
  Result<void> readNotes();

  Elf64_Ehdr header_{};
  uint32_t codeObjectVersion_ = 0;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfNote> notes_;
};

/// "gfx942" for the processor number in e_flags, "processor 0x13" for one not known here.
std::string machName(uint32_t mach);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_BUNDLE_ELF_H
