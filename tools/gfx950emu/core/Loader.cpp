//===- Loader.cpp -------------------------------------------------------------===//

#include "tools/gfx950emu/core/Loader.h"

#include "tools/gfx950emu/core/Wave.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

using namespace llvm;
using namespace llvm::object;

namespace gfx950emu {

namespace {

using Elf = ELFFile<ELF64LE>;

/// Far above any real code object; keeps a hostile header from mapping the address space.
constexpr uint64_t imageLimit = uint64_t(1) << 30;
constexpr uint64_t pageSize = 4096;

std::string hex(uint64_t value) { return "0x" + utohexstr(value, /*LowerCase=*/true); }

/// Turn an error of LLVM's object library into ours.
Error objectError(Error error, const Twine &where) {
  return badCodeObject(where + ": " + toString(std::move(error)));
}

/// The processor of an e_flags machine byte, for messages.
std::string machineName(unsigned mach) {
  static constexpr std::pair<unsigned, const char *> names[] = {
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX906, "gfx906"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX908, "gfx908"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, "gfx90a"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, "gfx942"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, "gfx950"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1010, "gfx1010"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101, "gfx1101"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102, "gfx1102"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"},
      {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1250, "gfx1250"},
  };
  for (auto [value, name] : names)
    if (value == mach)
      return name;
  return "machine " + hex(mach);
}

Error checkHeader(const Elf &elf) {
  const auto &header = elf.getHeader();
  if (header.e_machine != ELF::EM_AMDGPU)
    return badCodeObject("e_machine: expected 224 (AMDGPU), found " + Twine(header.e_machine));
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return badCodeObject("EI_OSABI: expected 64 (AMDGPU_HSA), found " +
                         Twine(header.e_ident[ELF::EI_OSABI]));
  unsigned mach = header.e_flags & ELF::EF_AMDGPU_MACH;
  if (mach != ELF::EF_AMDGPU_MACH_AMDGCN_GFX950)
    return make_error<Fault>(FaultKind::WrongArch, "the code object is for " + machineName(mach) +
                                                       ", the device is gfx950");
  unsigned abi = header.e_ident[ELF::EI_ABIVERSION];
  if (abi != ELF::ELFABIVERSION_AMDGPU_HSA_V5 && abi != ELF::ELFABIVERSION_AMDGPU_HSA_V6)
    return badCodeObject("EI_ABIVERSION: expected 3 (V5) or 4 (V6), found " + Twine(abi));
  if (header.e_type != ELF::ET_DYN)
    return badCodeObject("e_type: expected 3 (ET_DYN), found " + Twine(header.e_type));
  return Error::success();
}

class ImageLoader {
public:
  ImageLoader(const Elf &elf, ArrayRef<uint8_t> image) : elf(elf), image(image) {}

  Expected<LoadedImage> run() {
    if (Error e = checkHeader(elf))
      return std::move(e);
    if (Error e = mapSegments())
      return std::move(e);
    if (Error e = readSections())
      return std::move(e);
    if (Error e = readNotes())
      return std::move(e);
    return std::move(out);
  }

private:
  uint64_t base() const { return reinterpret_cast<uint64_t>(out.mapping.data()); }

  Error mapSegments() {
    auto headers = elf.program_headers();
    if (!headers)
      return objectError(headers.takeError(), "program headers");
    uint64_t end = 0;
    for (const auto &h : *headers) {
      if (h.p_type != ELF::PT_LOAD || h.p_memsz == 0)
        continue;
      std::string where = "segment at " + hex(h.p_vaddr);
      if (h.p_filesz > h.p_memsz)
        return badCodeObject(where + ": file size " + hex(h.p_filesz) + " exceeds memory size " +
                             hex(h.p_memsz));
      if (h.p_offset > image.size() || h.p_filesz > image.size() - h.p_offset)
        return badCodeObject(where + ": file bytes " + hex(h.p_offset) + "+" + hex(h.p_filesz) +
                             " lie outside the image of " + hex(image.size()) + " bytes");
      if (h.p_vaddr > imageLimit || h.p_memsz > imageLimit - h.p_vaddr)
        return badCodeObject(where + ": address and size exceed the limit of " + hex(imageLimit));
      if (h.p_align > pageSize)
        return badCodeObject(where + ": alignment " + hex(h.p_align) + " exceeds " + hex(pageSize));
      for (const LoadedImage::Segment &s : out.segments)
        if (h.p_vaddr < s.offset + s.size && s.offset < h.p_vaddr + h.p_memsz)
          return badCodeObject(where + ": overlaps the segment at " + hex(s.offset));
      bool executable = h.p_flags & ELF::PF_X;
      if (executable && hasCode)
        return badCodeObject(where + ": a second executable segment");
      if (executable) {
        hasCode = true;
        out.codeSegment = out.segments.size();
      }
      out.segments.push_back({h.p_vaddr, h.p_memsz, (h.p_flags & ELF::PF_W) != 0, executable});
      end = std::max<uint64_t>(end, h.p_vaddr + h.p_memsz);
    }
    if (!hasCode)
      return badCodeObject("no executable segment");
    if (out.segments[out.codeSegment].offset % 4)
      return badCodeObject("the code segment is not 4-byte aligned");
    if (!out.mapping.map(end))
      return badCodeObject("cannot map " + hex(end) + " bytes");
    for (const auto &h : *headers)
      if (h.p_type == ELF::PT_LOAD && h.p_memsz && h.p_filesz)
        memcpy(out.mapping.data() + h.p_vaddr, image.data() + h.p_offset, h.p_filesz);
    return Error::success();
  }

  /// Relocations and symbols are found through the section headers, as ROCm's loader does.
  Error readSections() {
    auto sections = elf.sections();
    if (!sections)
      return objectError(sections.takeError(), "section headers");
    for (const auto &s : *sections) {
      if (s.sh_type == ELF::SHT_RELA && (s.sh_flags & ELF::SHF_ALLOC)) {
        if (Error e = relocate(s))
          return e;
      } else if (s.sh_type == ELF::SHT_REL && (s.sh_flags & ELF::SHF_ALLOC)) {
        return badCodeObject("relocations without addends are not used on AMDGPU");
      }
    }
    const Elf::Elf_Shdr *symbols = nullptr;
    for (const auto &s : *sections)
      if (s.sh_type == ELF::SHT_SYMTAB || (s.sh_type == ELF::SHT_DYNSYM && !symbols))
        symbols = &s;
    return symbols ? readSymbols(*symbols) : badCodeObject("no symbol table");
  }

  Error relocate(const Elf::Elf_Shdr &section) {
    auto relas = elf.relas(section);
    if (!relas)
      return objectError(relas.takeError(), "relocations");
    auto symtab = elf.getSection(section.sh_link);
    if (!symtab)
      return objectError(symtab.takeError(), "symbol table of relocations");
    for (const auto &r : *relas) {
      uint32_t type = r.getType(false);
      std::string where = "relocation at " + hex(r.r_offset);
      if (r.r_offset > out.mapping.size() || out.mapping.size() - r.r_offset < 8)
        return badCodeObject(where + ": outside the mapped segments");
      uint64_t value = base() + uint64_t(r.r_addend);
      if (type == ELF::R_AMDGPU_ABS64) {
        auto symbol = elf.getSymbol(*symtab, r.getSymbol(false));
        if (!symbol)
          return objectError(symbol.takeError(), where);
        if (!*symbol)
          return badCodeObject(where + ": R_AMDGPU_ABS64 without a symbol");
        if ((*symbol)->st_shndx == ELF::SHN_UNDEF) {
          if ((*symbol)->getBinding() != ELF::STB_WEAK)
            return badCodeObject(where + ": the symbol is undefined");
          value = uint64_t(r.r_addend);
        } else {
          value += (*symbol)->st_value;
        }
      } else if (type != ELF::R_AMDGPU_RELATIVE64) {
        return badCodeObject(where + ": type " + Twine(type) +
                             ", expected R_AMDGPU_RELATIVE64 (13) or R_AMDGPU_ABS64 (3)");
      }
      support::endian::write64le(out.mapping.data() + r.r_offset, value);
    }
    return Error::success();
  }

  Error readSymbols(const Elf::Elf_Shdr &section) {
    auto symbols = elf.symbols(&section);
    if (!symbols)
      return objectError(symbols.takeError(), "symbols");
    auto strings = elf.getStringTableForSymtab(section);
    if (!strings)
      return objectError(strings.takeError(), "symbol names");
    const LoadedImage::Segment &code = out.segments[out.codeSegment];
    for (const auto &s : *symbols) {
      if (s.getType() != ELF::STT_FUNC && s.getType() != ELF::STT_OBJECT)
        continue;
      auto name = s.getName(*strings);
      if (!name)
        return objectError(name.takeError(), "symbol name");
      if (s.st_shndx == ELF::SHN_UNDEF)
        continue;
      if (s.getType() == ELF::STT_FUNC && s.st_value >= code.offset &&
          s.st_value - code.offset < code.size)
        out.functions.push_back({base() + s.st_value, s.st_size, name->str()});
      if (s.getType() == ELF::STT_OBJECT && name->ends_with(".kd"))
        if (Error e = readKernel(s, name->drop_back(3)))
          return e;
    }
    for (KernelInfo &k : out.kernels)
      for (const DecodedProgram::Symbol &f : out.functions)
        if (f.name == k.name && f.address == k.entry)
          k.codeBytes = uint32_t(std::min<uint64_t>(f.size, UINT32_MAX));
    return Error::success();
  }

  Error readKernel(const Elf::Elf_Sym &s, StringRef name) {
    std::string where = "kernel " + name.str();
    for (const KernelInfo &k : out.kernels)
      if (k.name == name)
        return badCodeObject(where + ": two descriptors");
    if (s.st_size != 64)
      return badCodeObject(where + ": descriptor size: expected 64, found " + Twine(s.st_size));
    bool mapped = false;
    for (const LoadedImage::Segment &g : out.segments)
      mapped |= s.st_value >= g.offset && s.st_value - g.offset < g.size &&
                g.size - (s.st_value - g.offset) >= 64;
    if (!mapped || s.st_value % 64)
      return badCodeObject(where + ": descriptor at " + hex(s.st_value) +
                           " is not 64-byte aligned inside a segment");
    KernelInfo kernel;
    kernel.name = name.str();
    uint64_t address = base() + s.st_value;
    if (Error e = parseDescriptor(ArrayRef(out.mapping.data() + s.st_value, 64), address, kernel))
      return e;
    const LoadedImage::Segment &code = out.segments[out.codeSegment];
    uint64_t entry = kernel.entry - base();
    if (entry < code.offset || entry - code.offset >= code.size || entry % 256)
      return badCodeObject(where + ": entry " + hex(entry) +
                           " is not a 256-byte aligned address of the code segment " +
                           hex(code.offset) + "+" + hex(code.size));
    out.kernels.push_back(std::move(kernel));
    return Error::success();
  }

  Error readNotes() {
    auto headers = elf.program_headers();
    if (!headers)
      return objectError(headers.takeError(), "program headers");
    for (const auto &h : *headers) {
      if (h.p_type != ELF::PT_NOTE)
        continue;
      Error error = Error::success();
      Error metadata = Error::success();
      for (const auto &note : elf.notes(h, error)) {
        if (metadata || note.getName() != "AMDGPU" || note.getType() != ELF::NT_AMDGPU_METADATA)
          continue;
        // The iterator takes alignments 0 and 1 as 4; the description must be taken the same way.
        ArrayRef<uint8_t> desc = note.getDesc(std::max<uint64_t>(h.p_align, 4));
        metadata = parseMetadata(
            StringRef(reinterpret_cast<const char *>(desc.data()), desc.size()), out.kernels);
      }
      if (error) {
        consumeError(std::move(metadata));
        return objectError(std::move(error), "notes");
      }
      if (metadata)
        return metadata;
    }
    return Error::success();
  }

  const Elf &elf;
  ArrayRef<uint8_t> image;
  LoadedImage out;
  bool hasCode = false;
};

} // namespace

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(base, other.base);
  std::swap(bytes, other.bytes);
  return *this;
}

Mapping::~Mapping() {
  if (base)
    munmap(base, bytes);
}

bool Mapping::map(uint64_t size) {
  bytes = (size + pageSize - 1) / pageSize * pageSize;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  base = p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
  return base != nullptr;
}

Error badCodeObject(const Twine &message) {
  return make_error<Fault>(FaultKind::BadCodeObject, message.str());
}

Expected<LoadedImage> loadImage(ArrayRef<uint8_t> image) {
  // ELFFile::create looks no further than the size, so the identification is checked here.
  if (image.size() < sizeof(Elf::Elf_Ehdr) || memcmp(image.data(), ELF::ElfMagic, 4) != 0)
    return badCodeObject("not an ELF file (" + Twine(image.size()) + " bytes)");
  if (image[ELF::EI_CLASS] != ELF::ELFCLASS64 || image[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return badCodeObject("expected a 64-bit little-endian ELF file");
  // LLVM reads headers in place and wants them aligned.
  std::vector<uint64_t> aligned((image.size() + 7) / 8);
  memcpy(aligned.data(), image.data(), image.size());
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(aligned.data()), image.size());
  auto elf = Elf::create(StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  if (!elf)
    return objectError(elf.takeError(), "ELF header");
  return ImageLoader(*elf, bytes).run();
}

} // namespace gfx950emu
