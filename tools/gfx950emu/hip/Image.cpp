//===- Image.cpp - code object images handed over by address or by file -----===//

#include "tools/gfx950emu/hip/Image.h"
#include "tools/gfx950emu/hip/Properties.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ELF = llvm::ELF;

namespace gfx950emu::hip {

char ImageError::ID = 0;

namespace {

constexpr char bundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr char compressedMagic[] = "CCOB";
/// Far above any real code object; bounds what a corrupt header can make us copy.
constexpr uint64_t maxImageBytes = uint64_t{4} << 30;
constexpr uint64_t maxBundleEntries = 4096;
constexpr uint64_t maxTargetIdBytes = 512;

llvm::Error invalidImage(const llvm::Twine &text) {
  return llvm::make_error<ImageError>(hipErrorInvalidImage, text.str());
}

/// Grow `end` to offset + size; an error when that is out of reason.
llvm::Error include(uint64_t &end, uint64_t offset, uint64_t size, const char *what) {
  if (offset > maxImageBytes || size > maxImageBytes - offset)
    return invalidImage(llvm::Twine("ELF: ") + what + " ends past " + llvm::Twine(maxImageBytes) +
                        " bytes: offset " + llvm::Twine(offset) + ", size " + llvm::Twine(size));
  end = std::max(end, offset + size);
  return llvm::Error::success();
}

/// Read a table of `count` headers at `offset`, and make `end` cover it.
template <typename Header>
llvm::Expected<std::vector<Header>> readTable(ImageSource &source, uint64_t base, uint64_t offset,
                                              uint64_t count, uint64_t entrySize, uint64_t &end,
                                              const char *what) {
  std::vector<Header> table;
  if (count == 0)
    return table;
  if (entrySize != sizeof(Header))
    return invalidImage(llvm::Twine("ELF: ") + what + ": expected entries of " +
                        llvm::Twine(sizeof(Header)) + " bytes, found " + llvm::Twine(entrySize));
  if (llvm::Error error = include(end, offset, count * sizeof(Header), what))
    return error;
  table.resize(count);
  if (!source.read(base + offset, table.data(), count * sizeof(Header)))
    return invalidImage(llvm::Twine("ELF: ") + what + " is not readable");
  return table;
}

/// Bytes of the ELF file at `base`: the furthest end of its headers, segments and sections.
llvm::Expected<uint64_t> elfSize(ImageSource &source, uint64_t base) {
  ELF::Elf64_Ehdr header;
  if (!source.read(base, &header, sizeof header))
    return invalidImage("ELF: the file header is not readable");
  if (header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      header.e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return invalidImage("ELF: expected 64-bit little-endian");
  uint64_t end = sizeof header;
  auto segments = readTable<ELF::Elf64_Phdr>(source, base, header.e_phoff, header.e_phnum,
                                             header.e_phentsize, end, "program header table");
  if (!segments)
    return segments.takeError();
  for (const ELF::Elf64_Phdr &segment : *segments)
    if (llvm::Error error = include(end, segment.p_offset, segment.p_filesz, "a segment"))
      return error;
  auto sections = readTable<ELF::Elf64_Shdr>(source, base, header.e_shoff, header.e_shnum,
                                             header.e_shentsize, end, "section header table");
  if (!sections)
    return sections.takeError();
  for (const ELF::Elf64_Shdr &section : *sections)
    if (section.sh_type != ELF::SHT_NOBITS)
      if (llvm::Error error = include(end, section.sh_offset, section.sh_size, "a section"))
        return error;
  return end;
}

/// True if code for `target` ("gfx950", "gfx950:xnack-", ...) runs on this device: each feature
/// it names must have the device's setting.
bool runsHere(llvm::StringRef target) {
  llvm::SmallVector<llvm::StringRef> wanted, ours;
  target.split(wanted, ':');
  llvm::StringRef(gcnArchName).split(ours, ':');
  if (wanted.front() != ours.front())
    return false;
  return llvm::all_of(llvm::drop_begin(wanted),
                      [&](llvm::StringRef feature) { return llvm::is_contained(ours, feature); });
}

struct BundleEntry {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// The entry of an offload bundle whose code runs here.
llvm::Expected<BundleEntry> findBundled(ImageSource &source) {
  uint64_t at = sizeof bundleMagic - 1;
  auto next = [&](void *out, size_t size) {
    bool ok = source.read(at, out, size);
    at += size;
    return ok;
  };
  uint64_t count = 0;
  if (!next(&count, sizeof count) || count > maxBundleEntries)
    return invalidImage("offload bundle: bad number of entries");
  std::string seen;
  for (uint64_t i = 0; i < count; ++i) {
    BundleEntry entry;
    uint64_t idSize = 0;
    if (!next(&entry.offset, 8) || !next(&entry.size, 8) || !next(&idSize, 8) ||
        idSize > maxTargetIdBytes)
      return invalidImage("offload bundle: entry " + llvm::Twine(i) + " is malformed");
    std::string id(idSize, '\0');
    if (!next(id.data(), idSize))
      return invalidImage("offload bundle: entry " + llvm::Twine(i) + " is truncated");
    // "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+"; a host entry has no such triple.
    auto [kind, target] = llvm::StringRef(id).split("-amdgcn-amd-amdhsa--");
    if (kind.starts_with("hip") && !target.empty() && runsHere(target)) {
      if (entry.size > maxImageBytes || entry.offset > maxImageBytes)
        return invalidImage("offload bundle: entry '" + id + "' is out of reason");
      return entry;
    }
    seen += (seen.empty() ? "" : ", ") + id;
  }
  return llvm::make_error<ImageError>(hipErrorNoBinaryForGpu,
                                      "offload bundle: expected an entry for " +
                                          std::string(gcnArchName) + ", found: " + seen);
}

} // namespace

AddressSource::AddressSource(const void *address)
    : address(reinterpret_cast<uint64_t>(address)),
      file(memfd_create("gfx950emu-image", MFD_CLOEXEC)) {}

AddressSource::~AddressSource() {
  if (file >= 0)
    close(file);
}

bool AddressSource::read(uint64_t offset, void *out, size_t size) {
  if (file < 0 || offset > UINT64_MAX - address)
    return false;
  constexpr size_t chunk = 1 << 20;
  auto *to = static_cast<char *>(out);
  for (size_t done = 0; done < size;) {
    size_t part = std::min(chunk, size - done);
    // A system call rather than pwrite(): sanitizers check the arguments of the latter, and here
    // an unreadable address is an expected input.
    if (syscall(SYS_pwrite64, file, address + offset + done, part, 0) != static_cast<long>(part) ||
        pread(file, to + done, part, 0) != static_cast<ssize_t>(part))
      return false;
    done += part;
  }
  return true;
}

bool BufferSource::read(uint64_t offset, void *out, size_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return false;
  if (size != 0)
    memcpy(out, bytes.data() + offset, size);
  return true;
}

llvm::Expected<std::vector<uint8_t>> extractCodeObject(ImageSource &source) {
  char magic[sizeof bundleMagic - 1];
  if (!source.read(0, magic, 4))
    return invalidImage("the image is shorter than 4 bytes or not readable");
  BundleEntry entry;
  if (memcmp(magic, compressedMagic, 4) == 0)
    return invalidImage("compressed offload bundles are not supported");
  if (source.read(0, magic, sizeof magic) && memcmp(magic, bundleMagic, sizeof magic) == 0) {
    llvm::Expected<BundleEntry> found = findBundled(source);
    if (!found)
      return found.takeError();
    entry = *found;
  } else if (memcmp(magic, ELF::ElfMagic, 4) == 0) {
    llvm::Expected<uint64_t> size = elfSize(source, 0);
    if (!size)
      return size.takeError();
    entry.size = *size;
  } else {
    return invalidImage("expected an ELF file or an offload bundle, found bytes " +
                        llvm::toHex(llvm::StringRef(magic, 4)));
  }
  // Not resized at once: a size that is a lie must not cost its memory.
  std::vector<uint8_t> bytes;
  constexpr uint64_t step = 16 << 20;
  for (uint64_t done = 0; done < entry.size;) {
    uint64_t part = std::min(step, entry.size - done);
    bytes.resize(done + part);
    if (!source.read(entry.offset + done, bytes.data() + done, part))
      return invalidImage("the image ends before its headers say: expected " +
                          llvm::Twine(entry.size) + " bytes");
    done += part;
  }
  return bytes;
}

} // namespace gfx950emu::hip
