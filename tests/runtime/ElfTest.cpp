//===- ElfTest.cpp - the ELF reader -----------------------------------------===//
//
// Objects from the real assembler and linker are read right; each field of the
// header and of the tables, when wrong, is a typed error.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Metadata.h"
#include "tests/runtime/TestBundle.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

template <typename T> void put(ByteVector &file, size_t offset, T value) {
  ASSERT_LE(offset + sizeof(T), file.size());
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

Error parseError(const ByteVector &file) {
  const Result<ElfFile> elf = ElfFile::parse(file);
  return elf ? Error{NVFP4RT_OK, "parsed"} : elf.error();
}

Elf64_Ehdr headerOf(const ByteVector &file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

} // namespace

TEST(Elf, ReadsWhatTheLinkerWrote) {
  const ByteVector file = testObject("good");
  const Result<ElfFile> elf = ElfFile::parse(file);
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ(elf->codeObjectVersion(), 5u);
  ASSERT_EQ(elf->symbols().size(), 4u);
  EXPECT_EQ(elf->symbols()[0].name, "kernel_a");
  EXPECT_EQ(elf->symbols()[3].name, "kernel_b.kd");
  EXPECT_EQ(elf->symbol("kernel_a")->size, 24u);
  EXPECT_EQ(elf->symbol("kernel_a")->type, STT_FUNC);
  EXPECT_EQ(elf->symbol("kernel_a.kd")->size, 64u);
  EXPECT_EQ(elf->symbol("kernel_a.k"), nullptr);
  EXPECT_EQ(elf->notes().size(), 2u); // one for each linked object
  ASSERT_NE(elf->section(".text"), nullptr);
  EXPECT_EQ(elf->section(".tex"), nullptr);

  // The code, through the segments: s_load_dwordx2 first, s_endpgm last.
  const std::optional<Bytes> code = elf->loaded(elf->symbol("kernel_b")->address, 20);
  ASSERT_TRUE(code);
  uint32_t last;
  std::memcpy(&last, code->data() + 16, 4);
  EXPECT_EQ(last, 0xbf810000u);
}

TEST(Elf, LoadedIsBoundedBySegments) {
  const ByteVector file = testObject("good");
  const Result<ElfFile> elf = ElfFile::parse(file);
  ASSERT_TRUE(elf);
  const uint64_t code = elf->symbol("kernel_b")->address;
  EXPECT_TRUE(elf->loaded(code, 0));
  EXPECT_FALSE(elf->loaded(code, 21));
  EXPECT_FALSE(elf->loaded(code, UINT64_MAX));
  EXPECT_FALSE(elf->loaded(UINT64_MAX, 1));
  EXPECT_FALSE(elf->loaded(UINT64_MAX, UINT64_MAX));
}

TEST(Elf, MetadataOfAllLinkedObjects) {
  const ByteVector file = testObject("good");
  const Result<ElfFile> elf = ElfFile::parse(file);
  ASSERT_TRUE(elf);
  const auto kernels = readMetadata(*elf);
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 2u);
  const KernelMetadata &a = (*kernels)[0];
  EXPECT_EQ(a.name, "kernel_a");
  EXPECT_EQ(a.descriptorSymbol, "kernel_a.kd");
  EXPECT_EQ(a.kernargBytes, 304u);
  EXPECT_EQ(a.ldsBytes, 1024u);
  EXPECT_EQ(a.scratchBytes, 0u);
  EXPECT_EQ(a.vgprs, 20u);
  EXPECT_EQ(a.agprs, 8u);
  EXPECT_EQ(a.sgprs, 24u);
  EXPECT_EQ(a.wavefrontSize, 64u);
  EXPECT_EQ(a.maxWorkgroup, 256u);
  EXPECT_FALSE(a.dynamicStack);
  ASSERT_EQ(a.args.size(), 39u);
  EXPECT_EQ(a.args[0].valueKind, "global_buffer");
  EXPECT_EQ(a.args[38].offset, 300u);
  EXPECT_EQ(a.args[38].size, 4u);
  EXPECT_EQ((*kernels)[1].name, "kernel_b");
}

TEST(Elf, DescriptorOfTheAssembler) {
  const ByteVector file = testObject("good");
  const Result<ElfFile> elf = ElfFile::parse(file);
  ASSERT_TRUE(elf);
  const ElfSymbol &symbol = *elf->symbol("kernel_a.kd");
  const KernelDescriptor kd = readDescriptor(*elf->loaded(symbol.address, 64));
  EXPECT_EQ(kd.ldsBytes, 1024u);
  EXPECT_EQ(kd.scratchBytes, 0u);
  EXPECT_EQ(kd.kernargBytes, 304u);
  EXPECT_EQ(kd.allocatedVgprs, 24u);
  EXPECT_EQ(symbol.address + static_cast<uint64_t>(kd.entryOffset),
            elf->symbol("kernel_a")->address);
  EXPECT_FALSE(kd.scratchEnabled || kd.wave32 || kd.dynamicStack);
}

TEST(Elf, HeaderFields) {
  struct Case {
    size_t offset;
    uint8_t value;
    nvfp4rt_status code;
    std::string_view message;
  };
  const Case cases[] = {
      {0, 0x7e, NVFP4RT_ERROR_BAD_ELF, "ELF magic: expected 7f 45 4c 46, found 7e 45 4c 46"},
      {EI_CLASS, 1, NVFP4RT_ERROR_BAD_ELF, "ELF class (EI_CLASS): expected 2, found 1"},
      {EI_DATA, 2, NVFP4RT_ERROR_BAD_ELF, "ELF byte order (EI_DATA): expected 1, found 2"},
      {EI_VERSION, 0, NVFP4RT_ERROR_BAD_ELF, "ELF version (EI_VERSION): expected 1, found 0"},
      {EI_OSABI, 0x41, NVFP4RT_ERROR_BAD_ELF, "ELF OS ABI (EI_OSABI): expected 64, found 65"},
      {EI_ABIVERSION, 2, NVFP4RT_ERROR_VERSION,
       "ELF ABI version (EI_ABIVERSION): expected 3 (code object 5) or 4 (code object 6), found 2"},
      {EI_ABIVERSION, 5, NVFP4RT_ERROR_VERSION,
       "ELF ABI version (EI_ABIVERSION): expected 3 (code object 5) or 4 (code object 6), found 5"},
      {offsetof(Elf64_Ehdr, e_type), ET_REL, NVFP4RT_ERROR_BAD_ELF,
       "ELF type (e_type): expected 3, found 1"},
      {offsetof(Elf64_Ehdr, e_machine), EM_X86_64, NVFP4RT_ERROR_BAD_ELF,
       "ELF machine (e_machine): expected 224, found 62"},
      {offsetof(Elf64_Ehdr, e_version), 2, NVFP4RT_ERROR_BAD_ELF,
       "ELF version (e_version): expected 1, found 2"},
      {offsetof(Elf64_Ehdr, e_ehsize), 63, NVFP4RT_ERROR_BAD_ELF,
       "ELF header size (e_ehsize): expected 64, found 63"},
      {offsetof(Elf64_Ehdr, e_phentsize), 32, NVFP4RT_ERROR_BAD_ELF,
       "ELF program header size (e_phentsize): expected 56, found 32"},
      {offsetof(Elf64_Ehdr, e_shentsize), 40, NVFP4RT_ERROR_BAD_ELF,
       "ELF section header size (e_shentsize): expected 64, found 40"},
      {offsetof(Elf64_Ehdr, e_shstrndx), 99, NVFP4RT_ERROR_BAD_ELF,
       "ELF section name table (e_shstrndx): expected a section below 14, found 99"},
      {offsetof(Elf64_Ehdr, e_flags), 0x4c, NVFP4RT_ERROR_WRONG_ARCH,
       "ELF architecture (e_flags 0x54c): expected gfx950, found gfx942"},
      {offsetof(Elf64_Ehdr, e_flags), 0x41, NVFP4RT_ERROR_WRONG_ARCH,
       "ELF architecture (e_flags 0x541): expected gfx950, found gfx1100"},
      {offsetof(Elf64_Ehdr, e_flags), 0x13, NVFP4RT_ERROR_WRONG_ARCH,
       "ELF architecture (e_flags 0x513): expected gfx950, found processor 0x13"},
  };
  const ByteVector good = testObject("good");
  ASSERT_EQ(parseError(good).code, NVFP4RT_OK);
  for (const Case &test : cases) {
    ByteVector file = good;
    file[test.offset] = test.value;
    const Error error = parseError(file);
    EXPECT_EQ(error.code, test.code) << test.message;
    EXPECT_EQ(error.message, test.message);
  }
}

TEST(Elf, TablesOutsideTheFile) {
  const ByteVector good = testObject("good");
  const Elf64_Ehdr header = headerOf(good);
  const auto expectBad = [&](size_t offset, uint64_t value, std::string_view part) {
    ByteVector file = good;
    put(file, offset, value);
    const Error error = parseError(file);
    EXPECT_EQ(error.code, NVFP4RT_ERROR_BAD_ELF) << part;
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  };
  for (uint64_t wild : {uint64_t{good.size()}, uint64_t{1} << 31, uint64_t{1} << 32, UINT64_MAX}) {
    expectBad(offsetof(Elf64_Ehdr, e_phoff), wild, "ELF program headers: expected bytes inside");
    expectBad(offsetof(Elf64_Ehdr, e_shoff), wild, "ELF section headers: expected bytes inside");
    // The first segment and the first real section, offset and size.
    expectBad(header.e_phoff + offsetof(Elf64_Phdr, p_offset), wild,
              "ELF segment 0: expected bytes");
    expectBad(header.e_phoff + offsetof(Elf64_Phdr, p_filesz), wild, "ELF segment 0: expected");
    const uint64_t section = header.e_shoff + sizeof(Elf64_Shdr);
    expectBad(section + offsetof(Elf64_Shdr, sh_offset), wild, "ELF section 1: expected bytes");
    expectBad(section + offsetof(Elf64_Shdr, sh_size), wild, "ELF section 1: expected bytes");
  }
  expectBad(header.e_phoff + offsetof(Elf64_Phdr, p_memsz), 1,
            "ELF segment 0: expected at least its");
  expectBad(header.e_phoff + offsetof(Elf64_Phdr, p_vaddr), UINT64_MAX, "below 2^64");
}

TEST(Elf, EveryTruncationIsATypedError) {
  const ByteVector good = testObject("good");
  for (size_t length = 0; length < good.size(); ++length) {
    const Error error =
        parseError(ByteVector(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_EQ(error.code, NVFP4RT_ERROR_BAD_ELF) << length;
  }
}

TEST(Elf, FilesOverTwoGigabytesAreRefusedUnread) {
  // A span of that size over nothing: no byte of it may be touched.
  const Error error = [&] {
    const Result<ElfFile> elf =
        ElfFile::parse({static_cast<const uint8_t *>(nullptr), (size_t{1} << 31) + 1});
    return elf ? Error{NVFP4RT_OK, ""} : elf.error();
  }();
  EXPECT_EQ(error.code, NVFP4RT_ERROR_BAD_ELF);
  EXPECT_EQ(error.message, "ELF file: expected at most 2147483648 bytes, found 2147483649");
}

TEST(Elf, NotesMustFitTheirSegment) {
  const ByteVector good = testObject("good");
  const Elf64_Ehdr header = headerOf(good);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, good.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type != PT_NOTE)
      continue;
    for (size_t field : {offsetof(Elf64_Nhdr, n_namesz), offsetof(Elf64_Nhdr, n_descsz)})
      for (uint32_t size : {0x7fffffffu, 0xfffffffcu, 0xffffffffu}) {
        ByteVector file = good;
        put(file, segment.p_offset + field, size);
        EXPECT_NE(parseError(file).message.find("ELF note: expected at most the"),
                  std::string::npos);
      }
    ByteVector file = good; // leaves 11 bytes after the second note's start
    put(file, segment.p_offset + offsetof(Elf64_Nhdr, n_descsz),
        static_cast<uint32_t>(segment.p_filesz - 12 - 8 - 11));
    EXPECT_NE(parseError(file).code, NVFP4RT_OK);
  }
}

// A level of nesting costs one byte; a reader that recurses into each would run out of stack.
TEST(Elf, MsgpackDepthIsBounded) {
  const ByteVector good = testObject("good");
  const Elf64_Ehdr header = headerOf(good);
  // A list of one element, and a map of one element with an empty key, over and over.
  for (const std::pair<uint8_t, uint8_t> opener : {std::pair{0x91, 0x91}, std::pair{0x81, 0xa0}}) {
    ByteVector file = good;
    ByteVector nested(size_t{16} << 20, opener.first);
    for (size_t i = 1; i < nested.size(); i += 2)
      nested[i] = opener.second;
    const Elf64_Nhdr note{
        .n_namesz = 7, .n_descsz = static_cast<uint32_t>(nested.size()), .n_type = 32};
    const uint64_t offset = file.size();
    file.resize(offset + sizeof(note));
    put(file, offset, note);
    for (char c : std::string_view("AMDGPU\0", 8))
      file.push_back(static_cast<uint8_t>(c));
    file.insert(file.end(), nested.begin(), nested.end());
    for (size_t i = 0; i < header.e_phnum; ++i) { // the note segment now is this note
      const size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
      Elf64_Phdr segment;
      std::memcpy(&segment, file.data() + at, sizeof(segment));
      if (segment.p_type != PT_NOTE)
        continue;
      segment.p_offset = offset;
      segment.p_filesz = segment.p_memsz = file.size() - offset;
      put(file, at, segment);
    }
    const Result<ElfFile> elf = ElfFile::parse(file);
    ASSERT_TRUE(elf) << elf.error().message;
    ASSERT_EQ(elf->notes().size(), 1u);
    const auto metadata = readMetadata(*elf);
    ASSERT_FALSE(metadata);
    EXPECT_EQ(metadata.error().code, NVFP4RT_ERROR_BAD_ELF);
    EXPECT_EQ(metadata.error().message,
              "AMDGPU note: description: expected a msgpack map, found bytes that are none");
  }
}
