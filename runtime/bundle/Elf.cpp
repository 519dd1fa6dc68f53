//===- Elf.cpp - a bounded reader of AMDGPU code objects --------------------===//
//
// See Elf.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Elf.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace nvfp4rt {
namespace {

// Facts of LLVM's AMDGPU back end that <elf.h> does not have.
constexpr uint8_t kOsAbiHsa = 0x40;
constexpr uint8_t kAbiVersionV5 = 3, kAbiVersionV6 = 4; // EI_ABIVERSION of code object 5 and 6
constexpr uint32_t kMachMask = 0xff;
constexpr uint32_t kMachGfx950 = 0x4f;

struct MachName {
  uint32_t mach;
  std::string_view name;
};
constexpr MachName kMachNames[] = {
    {0x2c, "gfx900"},        {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x3f, "gfx90a"},
    {0x40, "gfx940"},        {0x4b, "gfx941"},  {0x4c, "gfx942"},  {0x4f, "gfx950"},
    {0x33, "gfx1010"},       {0x36, "gfx1030"}, {0x41, "gfx1100"}, {0x46, "gfx1101"},
    {0x47, "gfx1102"},       {0x44, "gfx1103"}, {0x43, "gfx1150"}, {0x4a, "gfx1151"},
    {0x48, "gfx1200"},       {0x4e, "gfx1201"}, {0x49, "gfx1250"}, {0x51, "gfx9-generic"},
    {0x5f, "gfx9-4-generic"}};

tl::unexpected<Error> badElf(std::string_view where, std::string_view expected,
                             std::string_view found) {
  return fail(NVFP4RT_ERROR_BAD_ELF,
              fmt::format("ELF {}: expected {}, found {}", where, expected, found));
}

/// [offset, offset + size) of the file, if that lies in it.
std::optional<Bytes> slice(Bytes file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || size > file.size() - offset)
    return std::nullopt;
  return file.subspan(offset, size);
}

/// Entry `index` of a table of T; the caller has checked that the table holds it. Tables need not
/// be aligned in the file.
template <typename T> T entry(Bytes table, uint64_t index) {
  T value;
  std::memcpy(&value, table.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// The NUL-terminated string at `offset` of a string table.
std::optional<std::string_view> stringAt(Bytes table, uint64_t offset) {
  if (offset >= table.size())
    return std::nullopt;
  const Bytes rest = table.subspan(offset);
  const void *end = std::memchr(rest.data(), 0, rest.size());
  if (!end)
    return std::nullopt;
  const auto length = static_cast<size_t>(static_cast<const uint8_t *>(end) - rest.data());
  return std::string_view(reinterpret_cast<const char *>(rest.data()), length);
}

std::string rangeText(uint64_t offset, uint64_t size) {
  return fmt::format("{} bytes at offset {}", size, offset);
}

std::string insideText(Bytes file) {
  return fmt::format("bytes inside the file of {}", file.size());
}

} // namespace

std::string machName(uint32_t mach) {
  for (const MachName &known : kMachNames)
    if (known.mach == mach)
      return std::string(known.name);
  return fmt::format("processor 0x{:02x}", mach);
}

Result<ElfFile> ElfFile::parse(Bytes file) {
  ElfFile elf;
  Result<void> ok = elf.readHeader(file);
  if (ok)
    ok = elf.readSegments(file);
  if (ok)
    ok = elf.readSections(file);
  if (ok)
    ok = elf.readSymbols(file);
  if (ok)
    ok = elf.readNotes();
  if (!ok)
    return tl::unexpected(std::move(ok.error()));
  return elf;
}

Result<void> ElfFile::readHeader(Bytes file) {
  if (file.size() > kMaxFileBytes)
    return badElf("file", fmt::format("at most {} bytes", kMaxFileBytes),
                  std::to_string(file.size()));
  if (file.size() < sizeof(Elf64_Ehdr))
    return badElf("header", fmt::format("{} bytes", sizeof(Elf64_Ehdr)),
                  fmt::format("a file of {}", file.size()));
  header_ = entry<Elf64_Ehdr>(file, 0);
  const unsigned char *ident = header_.e_ident;
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return badElf(
        "magic", "7f 45 4c 46",
        fmt::format("{:02x} {:02x} {:02x} {:02x}", ident[0], ident[1], ident[2], ident[3]));

  struct Check {
    std::string_view where;
    uint64_t expected, found;
  };
  const Check identity[] = {
      {"class (EI_CLASS)", ELFCLASS64, ident[EI_CLASS]},
      {"byte order (EI_DATA)", ELFDATA2LSB, ident[EI_DATA]},
      {"version (EI_VERSION)", EV_CURRENT, ident[EI_VERSION]},
      {"machine (e_machine)", EM_AMDGPU, header_.e_machine},
      {"OS ABI (EI_OSABI)", kOsAbiHsa, ident[EI_OSABI]},
      {"type (e_type)", ET_DYN, header_.e_type},
      {"version (e_version)", EV_CURRENT, header_.e_version},
      {"header size (e_ehsize)", sizeof(Elf64_Ehdr), header_.e_ehsize},
  };
  for (const Check &check : identity)
    if (check.expected != check.found)
      return badElf(check.where, std::to_string(check.expected), std::to_string(check.found));

  if (const uint32_t mach = header_.e_flags & kMachMask; mach != kMachGfx950)
    return fail(NVFP4RT_ERROR_WRONG_ARCH,
                fmt::format("ELF architecture (e_flags 0x{:x}): expected gfx950, found {}",
                            header_.e_flags, machName(mach)));
  const uint8_t abiVersion = ident[EI_ABIVERSION];
  if (abiVersion != kAbiVersionV5 && abiVersion != kAbiVersionV6)
    return fail(NVFP4RT_ERROR_VERSION,
                fmt::format("ELF ABI version (EI_ABIVERSION): expected {} (code object 5) or {} "
                            "(code object 6), found {}",
                            kAbiVersionV5, kAbiVersionV6, abiVersion));
  codeObjectVersion_ = abiVersion == kAbiVersionV5 ? 5 : 6;
  return {};
}

Result<void> ElfFile::readSegments(Bytes file) {
  if (header_.e_phentsize != sizeof(Elf64_Phdr))
    return badElf("program header size (e_phentsize)", std::to_string(sizeof(Elf64_Phdr)),
                  std::to_string(header_.e_phentsize));
  const uint64_t size = uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr);
  const std::optional<Bytes> table = slice(file, header_.e_phoff, size);
  if (!table)
    return badElf("program headers", insideText(file), rangeText(header_.e_phoff, size));
  for (uint64_t i = 0; i < header_.e_phnum; ++i) {
    const auto header = entry<Elf64_Phdr>(*table, i);
    const std::optional<Bytes> bytes = slice(file, header.p_offset, header.p_filesz);
    if (!bytes)
      return badElf(fmt::format("segment {}", i), insideText(file),
                    rangeText(header.p_offset, header.p_filesz));
    uint64_t end = 0;
    if (header.p_filesz > header.p_memsz ||
        __builtin_add_overflow(header.p_vaddr, header.p_memsz, &end))
      return badElf(fmt::format("segment {}", i), "at least its file bytes, below 2^64, in memory",
                    fmt::format("{} bytes in the file, {} in memory at 0x{:x}", header.p_filesz,
                                header.p_memsz, header.p_vaddr));
    segments_.push_back({header.p_type, header.p_vaddr, *bytes});
  }
  return {};
}

Result<void> ElfFile::readSections(Bytes file) {
  if (header_.e_shentsize != sizeof(Elf64_Shdr))
    return badElf("section header size (e_shentsize)", std::to_string(sizeof(Elf64_Shdr)),
                  std::to_string(header_.e_shentsize));
  const uint64_t size = uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
  const std::optional<Bytes> table = slice(file, header_.e_shoff, size);
  if (!table)
    return badElf("section headers", insideText(file), rangeText(header_.e_shoff, size));

  std::vector<uint64_t> names;
  for (uint64_t i = 0; i < header_.e_shnum; ++i) {
    const auto header = entry<Elf64_Shdr>(*table, i);
    ElfSection section{{}, header.sh_type, header.sh_flags, header.sh_offset, {}};
    if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL) {
      const std::optional<Bytes> bytes = slice(file, header.sh_offset, header.sh_size);
      if (!bytes)
        return badElf(fmt::format("section {}", i), insideText(file),
                      rangeText(header.sh_offset, header.sh_size));
      section.bytes = *bytes;
    }
    sections_.push_back(section);
    names.push_back(header.sh_name);
  }
  if (header_.e_shstrndx >= sections_.size())
    return badElf("section name table (e_shstrndx)",
                  fmt::format("a section below {}", sections_.size()),
                  std::to_string(header_.e_shstrndx));
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].type == SHT_NULL)
      continue;
    const auto name = stringAt(sections_[header_.e_shstrndx].bytes, names[i]);
    if (!name)
      return badElf(fmt::format("name of section {}", i), "a string inside the name table",
                    fmt::format("offset {}", names[i]));
    sections_[i].name = *name;
  }
  return {};
}

Result<void> ElfFile::readSymbols(Bytes file) {
  const auto found = std::ranges::find(sections_, uint32_t{SHT_DYNSYM}, &ElfSection::type);
  if (found == sections_.end())
    return badElf("dynamic symbols", "a SHT_DYNSYM section", "none");
  if (found->bytes.size() % sizeof(Elf64_Sym) != 0)
    return badElf("dynamic symbols", fmt::format("a multiple of {} bytes", sizeof(Elf64_Sym)),
                  std::to_string(found->bytes.size()));
  const auto index = static_cast<uint64_t>(found - sections_.begin());
  const auto header = entry<Elf64_Shdr>(file.subspan(header_.e_shoff), index);
  if (header.sh_link >= sections_.size())
    return badElf("dynamic symbols", fmt::format("a string table below {}", sections_.size()),
                  std::to_string(header.sh_link));
  const Bytes strings = sections_[header.sh_link].bytes;
  for (uint64_t i = 0; i < found->bytes.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = entry<Elf64_Sym>(found->bytes, i);
    if (symbol.st_name == 0 || symbol.st_shndx == SHN_UNDEF)
      continue;
    const std::optional<std::string_view> name = stringAt(strings, symbol.st_name);
    if (!name)
      return badElf(fmt::format("name of dynamic symbol {}", i), "a string inside its table",
                    fmt::format("offset {}", symbol.st_name));
    symbols_.push_back({*name, static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)), symbol.st_value,
                        symbol.st_size});
  }
  // Sorted for look-up; a duplicate would make it ambiguous which one HIP launches.
  std::ranges::sort(symbols_, {}, &ElfSymbol::name);
  const auto twice = std::ranges::adjacent_find(symbols_, {}, &ElfSymbol::name);
  if (twice != symbols_.end())
    return badElf("dynamic symbols", "unique names", fmt::format("'{}' twice", twice->name));
  return {};
}

Result<void> ElfFile::readNotes() {
  const auto align4 = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  for (const ElfSegment &segment : segments_) {
    if (segment.type != PT_NOTE)
      continue;
    for (uint64_t at = 0; at < segment.bytes.size();) {
      const Bytes rest = segment.bytes.subspan(at);
      if (rest.size() < sizeof(Elf64_Nhdr))
        return badElf("note", fmt::format("a header of {} bytes", sizeof(Elf64_Nhdr)),
                      fmt::format("{} bytes", rest.size()));
      const auto header = entry<Elf64_Nhdr>(rest, 0);
      const uint64_t nameEnd = sizeof(Elf64_Nhdr) + align4(header.n_namesz);
      const uint64_t end = nameEnd + align4(header.n_descsz);
      // The padding after the last note may be cut off.
      if (nameEnd + header.n_descsz > rest.size())
        return badElf(
            "note", fmt::format("at most the {} bytes left in its segment", rest.size()),
            fmt::format("a name of {} and a description of {}", header.n_namesz, header.n_descsz));
      const Bytes owner = rest.subspan(sizeof(Elf64_Nhdr), header.n_namesz);
      notes_.push_back({stringAt(owner, 0).value_or(std::string_view()), header.n_type,
                        rest.subspan(nameEnd, header.n_descsz)});
      at += std::min<uint64_t>(end, rest.size());
    }
  }
  return {};
}

const ElfSection *ElfFile::section(std::string_view name) const {
  const auto first = std::ranges::find(sections_, name, &ElfSection::name);
  if (first == sections_.end())
    return nullptr;
  const bool unique = std::ranges::find(std::next(first), sections_.end(), name,
                                        &ElfSection::name) == sections_.end();
  return unique ? &*first : nullptr;
}

const ElfSymbol *ElfFile::symbol(std::string_view name) const {
  const auto found = std::ranges::lower_bound(symbols_, name, {}, &ElfSymbol::name);
  return found != symbols_.end() && found->name == name ? &*found : nullptr;
}

std::optional<Bytes> ElfFile::loaded(uint64_t address, uint64_t size) const {
  for (const ElfSegment &segment : segments_)
    if (segment.type == PT_LOAD && address >= segment.address)
      if (const auto bytes = slice(segment.bytes, address - segment.address, size))
        return bytes;
  return std::nullopt;
}

const ElfSegment *ElfFile::segmentAt(uint64_t address) const {
  for (const ElfSegment &segment : segments_)
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.bytes.size())
      return &segment;
  return nullptr;
}

} // namespace nvfp4rt
