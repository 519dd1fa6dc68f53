//===- LoaderTests.cpp - code objects, good and hostile ----------------------------------===//

#include "tests/emulator/Fixture.h"

#include "tools/gfx950emu/core/OpTable.h"
#include "tools/gfx950emu/core/Program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gfx950emu::test {
namespace {

FaultText loadFault(llvm::ArrayRef<uint8_t> bytes) {
  MemoryMap memory;
  auto object = CodeObject::load(bytes, memory);
  if (object)
    return {FaultKind::Trap, "(loaded)"};
  return faultOf(object.takeError());
}

/// Offset of a kernel's descriptor in the file: found by its unique group segment size field.
size_t descriptorOffset(const std::vector<uint8_t> &bytes, const KernelInfo &kernel) {
  std::vector<uint8_t> pattern(64);
  for (size_t at = 0; at + 64 <= bytes.size(); at += 64) {
    auto u32 = [&](size_t o) {
      uint32_t v;
      memcpy(&v, &bytes[at + o], 4);
      return v;
    };
    if (u32(0) == kernel.ldsBytes && u32(8) == kernel.kernargBytes && u32(48) == kernel.rsrc1 &&
        u32(52) == kernel.rsrc2 && u32(44) == kernel.rsrc3)
      return at;
  }
  return 0;
}

TEST(Loader, ReadsDescriptorsAndMetadata) {
  for (const char *name : {"Narrow.O3", "NarrowV5"}) {
    MemoryMap memory;
    auto object = CodeObject::load(image(name), memory);
    ASSERT_TRUE(bool(object)) << faultOf(object.takeError()).message;
    ASSERT_EQ((*object)->kernels().size(), 1u);
    const KernelInfo *k = (*object)->find("narrow");
    ASSERT_NE(k, nullptr);
    EXPECT_EQ((*object)->find("other"), nullptr);
    EXPECT_EQ(k->ldsBytes, 0u);
    EXPECT_GE(k->kernargBytes, 36u);
    EXPECT_GT(k->codeBytes, 100u);
    EXPECT_EQ(k->vgprs % 8, 0u);
    EXPECT_EQ(k->maxWorkgroup, 1024u);
    ASSERT_GE(k->args.size(), 5u);
    EXPECT_EQ(k->args[0].valueKind, "global_buffer");
    EXPECT_EQ(k->args[3].offset, 24u);
    EXPECT_EQ(k->args[4].valueKind, "by_value");
    EXPECT_EQ(k->args[4].size, 4u);
    const DecodedProgram &p = (*object)->program();
    const Inst *first = p.at(k->entry);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(p.address(first), k->entry);
    EXPECT_FALSE(p.text(first).empty());
    // The code is readable, not writable, while the object lives.
    ASSERT_TRUE(memory.find(k->entry));
    EXPECT_FALSE(memory.find(k->entry)->writable);
    uint64_t entry = k->entry;
    object->reset();
    EXPECT_FALSE(memory.find(entry));
  }
}

TEST(Loader, NamesBothArchitectures) {
  std::vector<uint8_t> bytes = image("Narrow.O3");
  bytes[0x30] = 0x4c; // e_flags: gfx942
  FaultText fault = loadFault(bytes);
  EXPECT_EQ(fault.kind, FaultKind::WrongArch);
  EXPECT_NE(fault.message.find("gfx942"), std::string::npos) << fault.message;
  EXPECT_NE(fault.message.find("gfx950"), std::string::npos) << fault.message;
}

TEST(Loader, RefusesWrongHeaders) {
  const std::vector<uint8_t> &good = image("Narrow.O3");
  auto changed = [&](size_t offset, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[offset] = value;
    FaultText fault = loadFault(bytes);
    EXPECT_EQ(fault.kind, FaultKind::BadCodeObject) << offset << ": " << fault.message;
    return fault.message;
  };
  EXPECT_NE(changed(0, 0).find("not an ELF"), std::string::npos);
  EXPECT_NE(changed(4, 1).find("64-bit"), std::string::npos);
  EXPECT_NE(changed(7, 0).find("OSABI"), std::string::npos);
  EXPECT_NE(changed(8, 2).find("ABIVERSION"), std::string::npos);
  EXPECT_NE(changed(0x10, 1).find("ET_DYN"), std::string::npos);
  EXPECT_NE(changed(0x12, 62).find("224"), std::string::npos);
  EXPECT_EQ(loadFault({}).kind, FaultKind::BadCodeObject);
}

TEST(Loader, RefusesImpossibleDescriptors) {
  const std::vector<uint8_t> &good = image("Narrow.O3");
  MemoryMap memory;
  auto object = CodeObject::load(good, memory);
  ASSERT_TRUE(bool(object)) << faultOf(object.takeError()).message;
  const KernelInfo &k = (*object)->kernels().front();
  size_t at = descriptorOffset(good, k);
  ASSERT_NE(at, 0u);
  struct Change {
    unsigned offset;
    uint32_t value;
    const char *expected;
  };
  const Change changes[] = {
      {0, 163841, "group segment"},
      {4, 1u << 24, "private segment"},
      {8, 1u << 20, "kernarg"},
      {12, 1, "reserved"},
      {16, 0x10, "entry"},
      {16, 0x7fffff00, "entry"},
      {20, 0x7fffffff, "entry"},
      {28, 7, "reserved"},
      {44, 63, "accum_offset"},
      {52, k.rsrc2 | 3u << 11, "work-item id"},
      {52, 0, "user SGPRs"},
      {56, k.properties | 1u, "private segment buffer"},
      {56, k.properties | 1u << 5, "flat scratch"},
      {56, k.properties | 1u << 10, "wave32"},
      {60, 1, "reserved"},
  };
  for (const Change &c : changes) {
    std::vector<uint8_t> bytes = good;
    memcpy(&bytes[at + c.offset], &c.value, 4);
    FaultText fault = loadFault(bytes);
    EXPECT_EQ(fault.kind, FaultKind::BadCodeObject) << c.expected << ": " << fault.message;
    EXPECT_NE(fault.message.find(c.expected), std::string::npos) << fault.message;
    EXPECT_NE(fault.message.find("narrow"), std::string::npos) << fault.message;
  }
}

TEST(Loader, EveryTruncationIsAFault) {
  const std::vector<uint8_t> &good = image("Narrow.O3");
  for (size_t size = 0; size < good.size(); ++size) {
    // A copy of the exact size, so that a sanitizer sees reads behind it.
    std::vector<uint8_t> bytes(good.begin(), good.begin() + ptrdiff_t(size));
    FaultText fault = loadFault(bytes);
    ASSERT_EQ(fault.kind, FaultKind::BadCodeObject) << size << ": " << fault.message;
  }
}

/// Load a damaged image and, if that works, run its kernel on small buffers.
void loadAndRun(llvm::ArrayRef<uint8_t> bytes) {
  MemoryMap memory;
  auto object = CodeObject::load(bytes, memory);
  if (!object) {
    EXPECT_NE(faultOf(object.takeError()).message, "(no error)");
    return;
  }
  const KernelInfo *k = (*object)->find("narrow");
  if (!k)
    return;
  uint32_t *buffer = static_cast<uint32_t *>(memory.allocate(1 << 16));
  Args args;
  args.add(buffer).add(buffer).add(buffer).add(buffer).add(1.0f);
  Dispatch d;
  d.object = object->get();
  d.kernel = k;
  d.grid = {2, 1, 1};
  d.block = {96, 1, 1};
  d.kernarg = args.get();
  RunOptions options;
  options.threads = 1;
  options.maxInstructions = 20000;
  auto r = run(d, memory, options);
  if (!r)
    EXPECT_NE(faultOf(r.takeError()).message, "");
}

TEST(Loader, DamagedImagesNeverCrash) {
  const std::vector<uint8_t> &good = image("Narrow.O3");
  loadAndRun(good);
  Random random(11);
  for (int round = 0; round < 4000; ++round) {
    std::vector<uint8_t> bytes = good;
    unsigned flips = 1 + random.next32() % 8;
    for (unsigned i = 0; i < flips; ++i)
      bytes[random.next() % bytes.size()] ^= uint8_t(1u << random.next32() % 8);
    loadAndRun(bytes);
  }
  // The first bytes hold the headers: each with every value of a few.
  for (size_t at = 0; at < 512; ++at)
    for (uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> bytes = good;
      bytes[at] = value;
      loadAndRun(bytes);
    }
}

TEST(Loader, InstructionWhoseLiteralIsCutOff) {
  // 0x000000ff is v_cndmask_b32 with a literal to follow: as the last dword of the code it is none.
  std::vector<uint8_t> bytes = image("Narrow.O3");
  MemoryMap memory;
  auto object = CodeObject::load(bytes, memory);
  ASSERT_TRUE(bool(object)) << faultOf(object.takeError()).message;
  const DecodedProgram &program = (*object)->program();
  const auto *code = reinterpret_cast<const uint8_t *>(program.codeBase());
  auto where = std::search(bytes.begin(), bytes.end(), code, code + program.codeSize());
  ASSERT_NE(where, bytes.end());
  uint32_t word = 0xff;
  memcpy(&*where + program.codeSize() / 4 * 4 - 4, &word, 4);
  MemoryMap again;
  auto cut = CodeObject::load(bytes, again);
  ASSERT_TRUE(bool(cut)) << faultOf(cut.takeError()).message;
  const Inst &last = (*cut)->program().instructions().back();
  EXPECT_EQ(last.size, 4u);
  EXPECT_EQ(last.op, nullptr);
  EXPECT_EQ((*cut)->program().text(&last), "<no instruction>");
}

TEST(Loader, SegmentWithFileBytesButNoMemory) {
  std::vector<uint8_t> bytes = image("Narrow.O3");
  uint64_t headers;
  uint16_t count;
  memcpy(&headers, &bytes[0x20], 8);
  memcpy(&count, &bytes[0x38], 2);
  for (unsigned i = 0; i < count; ++i) {
    std::vector<uint8_t> changed = bytes;
    uint8_t *header = &changed[headers + 56 * i];
    uint64_t offset = uint64_t(1) << 40, none = 0;
    memcpy(header + 8, &offset, 8);
    memcpy(header + 40, &none, 8);
    loadAndRun(changed);
  }
}

// ELF takes a note segment's alignments 0 and 1 as 4.
TEST(Loader, NoteAlignment) {
  std::vector<uint8_t> bytes = image("Narrow.O3");
  uint64_t headers;
  uint16_t count;
  memcpy(&headers, &bytes[0x20], 8);
  memcpy(&count, &bytes[0x38], 2);
  for (uint64_t alignment : {0, 1, 3, 4}) {
    std::vector<uint8_t> changed = bytes;
    unsigned notes = 0;
    for (unsigned i = 0; i < count; ++i) {
      uint8_t *header = &changed[headers + 56 * i];
      uint32_t type;
      memcpy(&type, header, 4);
      if (type != 4) // PT_NOTE
        continue;
      ++notes;
      memcpy(header + 48, &alignment, 8);
    }
    ASSERT_GT(notes, 0u);
    if (alignment == 3) {
      EXPECT_EQ(loadFault(changed).kind, FaultKind::BadCodeObject);
      continue;
    }
    MemoryMap memory;
    auto object = CodeObject::load(changed, memory);
    ASSERT_TRUE(bool(object)) << alignment << ": " << faultOf(object.takeError()).message;
    EXPECT_GE((*object)->kernels()[0].args.size(), 5u) << alignment;
  }
}

/// Code of random words: whatever the words mean, the result is an end or a fault.
TEST(Loader, RandomCodeNeverCrashes) {
  const std::vector<uint8_t> &good = image("Narrow.O3");
  MemoryMap memory;
  auto object = CodeObject::load(good, memory);
  ASSERT_TRUE(bool(object)) << faultOf(object.takeError()).message;
  const KernelInfo &k = *(*object)->find("narrow");
  const auto *code = reinterpret_cast<const uint8_t *>(k.entry);
  auto where = std::search(good.begin(), good.end(), code, code + 64);
  ASSERT_NE(where, good.end());
  // Real instructions of the kernel with fields changed reach further than plain noise.
  Random random(12);
  for (int round = 0; round < 4000; ++round) {
    std::vector<uint8_t> bytes = good;
    size_t at = size_t(where - good.begin());
    for (uint32_t i = 0; i < k.codeBytes / 4; ++i) {
      uint32_t word = random.next32(), old;
      memcpy(&old, &bytes[at + 4 * i], 4);
      if (random.next32() % 8)
        word = old ^ (random.next32() % 3 ? 0 : 1u << random.next32() % 32);
      memcpy(&bytes[at + 4 * i], &word, 4);
    }
    loadAndRun(bytes);
  }
}

TEST(OpTable, BothLevelsHaveTheSameRowsOnce) {
  const OpTable &baseline = opTable(SimdLevel::Baseline), &avx2 = opTable(SimdLevel::Avx2);
  EXPECT_TRUE(baseline.duplicates().empty()) << baseline.duplicates().front();
  EXPECT_EQ(baseline.size(), avx2.size());
  EXPECT_GT(avx2.size(), 1000u);
  for (const char *name : {"v_add_f32", "s_endpgm", "global_load_dwordx4", "ds_read_b64_tr_b16"}) {
    ASSERT_NE(avx2.find(name), nullptr);
    EXPECT_EQ(avx2.find(name)->mnemonic, name);
    if (&avx2 != &baseline) // a build may have one level only
      EXPECT_NE(avx2.find(name)->handler, baseline.find(name)->handler);
  }
  EXPECT_EQ(avx2.find("v_no_such_instruction"), nullptr);
}

} // namespace
} // namespace gfx950emu::test
