//===- TestBundle.cpp - bundles made for tests ------------------------------===//
//
// See TestBundle.h.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/TestBundle.h"

#include "runtime/args/ArgLayout.h"
#include "runtime/support/Sha256.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace nvfp4rt::test {
namespace {

template <typename T> T load(Bytes file, uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

template <typename T> void store(ByteVector &file, uint64_t offset, const T &value) {
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

/// SHA-256 of a kernel's code and descriptor by the rule in Manifest.h.
std::string kernelDigest(const ElfFile &elf, const std::string &symbol) {
  const ElfSymbol *code = elf.symbol(symbol), *descriptor = elf.symbol(symbol + ".kd");
  return hexText(sha256({*elf.loaded(code->address, code->size),
                         *elf.loaded(descriptor->address, descriptor->size)}));
}

Variant variant(std::string name, std::string symbol, int64_t phase, Term queryLen, int64_t low,
                int64_t high) {
  Variant result{.name = std::move(name),
                 .family = "kv_store",
                 .symbol = std::move(symbol),
                 .guard = {},
                 .workspace = {.fixed = 256, .perRequest = 64}};
  result.guard.terms = {{Field::phase, Relation::Equal, {phase}},
                        std::move(queryLen),
                        {Field::requests, Relation::Range, {low, high}},
                        {Field::dtype, Relation::Equal, {0}}};
  return result;
}

} // namespace

ByteVector readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ByteVector testObject(const std::string &name) {
  return readBytes(std::string(TEST_OBJECT_DIR "/") + name + ".hsaco");
}

Manifest testManifest(Bytes object) {
  const Result<ElfFile> elf = ElfFile::parse(object);
  Manifest manifest;
  manifest.buildId = std::string(64, 'b');
  manifest.generator = "test 0";
  manifest.toolchain = "LLVM 22";
  manifest.specName = "test";
  manifest.specSha256 = std::string(64, 'c');
  manifest.arch = "gfx950";
  manifest.cacheBytes = {18432, 9216, 60, 33792, 5, 33792, 16384};

  const ArgLayout &layout = *argLayout("kv_store");
  Kernel a;
  a.symbol = "kernel_a";
  a.family = "kv_store";
  a.argsHash = hexText(sha256({asBytes(layout.text())}));
  a.argsSize = layout.size;
  a.grid[0] = {"rows", 3, 4};
  a.block[0] = 256;
  a.resources = {
      .vgprs = 20, .agprs = 8, .sgprs = 24, .ldsBytes = 1024, .scratchBytes = 0, .codeBytes = 24};
  Kernel b = a;
  b.symbol = "kernel_b";
  b.grid[0] = {"", 7, 1};
  b.grid[1] = {"rows", 1, 1};
  b.grid[2] = {"", 2, 1};
  b.block[0] = 64;
  b.block[1] = 2;
  b.resources = {
      .vgprs = 4, .agprs = 0, .sgprs = 12, .ldsBytes = 0, .scratchBytes = 0, .codeBytes = 20};
  if (elf) { // objects that the runtime refuses get a manifest as well
    a.sha256 = kernelDigest(*elf, a.symbol);
    b.sha256 = kernelDigest(*elf, b.symbol);
    manifest.codeObjectVersion = elf->codeObjectVersion();
  } else {
    a.sha256 = b.sha256 = std::string(64, '0');
  }
  manifest.kernels = {a, b};

  const Term one{Field::query_len, Relation::Equal, {1}};
  const Term some{Field::query_len, Relation::OneOf, {4, 8}};
  manifest.variants = {variant("decode_b1", "kernel_a", 0, one, 1, 1),
                       variant("decode_b8", "kernel_a", 0, one, 2, 8),
                       variant("decode_b48", "kernel_a", 0, one, 9, 48),
                       variant("verify_b48", "kernel_b", 1, some, 1, 48)};
  return manifest;
}

ByteVector addSections(Bytes object, const Sections &sections) {
  ByteVector file(object.begin(), object.end());
  auto header = load<Elf64_Ehdr>(object, 0);
  std::vector<Elf64_Shdr> table;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    table.push_back(load<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)));

  Elf64_Shdr &nameTable = table[header.e_shstrndx];
  ByteVector names(object.begin() + static_cast<ptrdiff_t>(nameTable.sh_offset),
                   object.begin() +
                       static_cast<ptrdiff_t>(nameTable.sh_offset + nameTable.sh_size));
  const auto append = [&](Bytes bytes) {
    const uint64_t offset = file.size();
    file.insert(file.end(), bytes.begin(), bytes.end());
    return offset;
  };
  const auto addSection = [&](std::string_view name, Bytes bytes) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = append(bytes);
    section.sh_size = bytes.size();
    section.sh_addralign = 1;
    names.insert(names.end(), name.begin(), name.end());
    names.push_back(0);
    table.push_back(section);
  };
  if (sections.manifest)
    addSection(kManifestSection, asBytes(*sections.manifest));
  if (sections.digest)
    addSection(kDigestSection, Sha256Digest{});
  Elf64_Shdr &movedNames = table[header.e_shstrndx];
  movedNames.sh_offset = append(names);
  movedNames.sh_size = names.size();

  header.e_shnum = static_cast<Elf64_Half>(table.size());
  header.e_shoff =
      append({reinterpret_cast<const uint8_t *>(table.data()), table.size() * sizeof(Elf64_Shdr)});
  store(file, 0, header);
  redigest(file);
  return file;
}

ByteVector goodBundle() { return bundleWith(testManifest(testObject("good"))); }

ByteVector bundleWith(const Manifest &manifest) {
  return addSections(testObject("good"), {.manifest = printManifest(manifest)});
}

bool redigest(ByteVector &file) {
  // Not through ElfFile: it refuses files that the digest must still be right for.
  if (file.size() < sizeof(Elf64_Ehdr))
    return false;
  const auto header = load<Elf64_Ehdr>(file, 0);
  const auto inside = [&](uint64_t offset, uint64_t size) {
    return offset <= file.size() && size <= file.size() - offset;
  };
  if (!inside(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)) ||
      header.e_shstrndx >= header.e_shnum)
    return false;
  const auto section = [&](uint64_t i) {
    return load<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr candidate = section(i);
    const uint64_t name = names.sh_offset + candidate.sh_name;
    if (candidate.sh_size != 32 || !inside(candidate.sh_offset, 32) ||
        !inside(name, kDigestSection.size() + 1) ||
        std::memcmp(file.data() + name, kDigestSection.data(), kDigestSection.size()) != 0)
      continue;
    store(file, candidate.sh_offset, fileDigest(file, candidate.sh_offset));
    return true;
  }
  return false;
}

Error openError(ByteVector file) {
  const Result<Bundle> bundle = Bundle::open(std::move(file), "test");
  return bundle ? Error{NVFP4RT_OK, "opened"} : bundle.error();
}

} // namespace nvfp4rt::test
