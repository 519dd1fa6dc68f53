//===- BundleTest.cpp - opening a bundle: every check, both ways ------------===//
//
// One planted fault for each thing that opening compares, over a bundle that
// opens without it.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/TestBundle.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

/// Bundle of the good object whose manifest was changed.
template <typename Change> Error changed(Change change) {
  Manifest manifest = testManifest(testObject("good"));
  change(manifest);
  return openError(bundleWith(manifest));
}

/// Bundle of another object with the manifest of the good one and the right checksums.
Error openObject(const std::string &name) {
  const ByteVector object = testObject(name);
  EXPECT_FALSE(object.empty()) << name;
  return openError(addSections(object, {.manifest = printManifest(testManifest(object))}));
}

void expectError(const Error &error, nvfp4rt_status code, std::string_view part) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos)
      << "expected: " << part << "\nfound:    " << error.message;
  EXPECT_TRUE(error.message.starts_with("bundle test: ")) << error.message;
}

struct TemporaryFile {
  std::string path;
  TemporaryFile() {
    char name[] = "/tmp/nvfp4rt_test_XXXXXX";
    const int fd = mkstemp(name);
    EXPECT_GE(fd, 0);
    close(fd);
    path = name;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

} // namespace

TEST(Bundle, OpensAndKeepsTheManifest) {
  const ByteVector file = goodBundle();
  const Result<Bundle> bundle = Bundle::open(file, "test");
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->manifest(), testManifest(testObject("good")));
  EXPECT_EQ(ByteVector(bundle->bytes().begin(), bundle->bytes().end()), file);
  EXPECT_EQ(bundle->kernelIndex("kernel_a"), 0u);
  EXPECT_EQ(bundle->kernelIndex("kernel_b"), 1u);
}

TEST(Bundle, OpensCodeObjectVersion6) { EXPECT_EQ(openObject("v6").code, NVFP4RT_OK); }

TEST(Bundle, OtherObjects) {
  expectError(openObject("gfx942"), NVFP4RT_ERROR_WRONG_ARCH, "expected gfx950, found gfx942");
  expectError(openObject("v4"), NVFP4RT_ERROR_VERSION, "expected 3 (code object 5)");
  expectError(openObject("note_target"), NVFP4RT_ERROR_BAD_ELF,
              "AMDGPU note: amdhsa.target: expected \"amdgcn-amd-amdhsa--gfx950\", found "
              "\"amdgcn-amd-amdhsa--gfx942\"");
  // G7: no spills, no stack, no hidden arguments.
  expectError(openObject("spills"), NVFP4RT_ERROR_BAD_MANIFEST,
              "kernel kernel_a: SGPR spills in the note (G7): expected 0, found 3");
  expectError(openObject("dynamic_stack"), NVFP4RT_ERROR_BAD_MANIFEST,
              "kernel kernel_a: dynamic stack in the note (G7): expected 0, found 1");
  expectError(
      openObject("hidden_arg"), NVFP4RT_ERROR_BAD_MANIFEST,
      "kernel kernel_a: argument 38 (reserved) in the note: expected by_value of 4 bytes at "
      "300, found hidden_block_count_x of 4 bytes at 300");
}

TEST(Bundle, NotesAndSymbolsThatDisagree) {
  expectError(
      openObject("argument_offset"), NVFP4RT_ERROR_BAD_MANIFEST,
      "kernel kernel_a: argument 37 (rows) in the note: expected by_value of 4 bytes at 296, "
      "found by_value of 4 bytes at 292");
  expectError(openObject("note_symbol"), NVFP4RT_ERROR_BAD_MANIFEST,
              "kernel kernel_a: descriptor symbol in the note: expected kernel_a.kd, found "
              "kernel_c.kd");
  expectError(openObject("extra_descriptor"), NVFP4RT_ERROR_BAD_MANIFEST,
              "kernels in the symbols: expected 2 (manifest), found 3");
}

TEST(Bundle, Sections) {
  const ByteVector object = testObject("good");
  const std::string manifest = printManifest(testManifest(object));
  expectError(openError(object), NVFP4RT_ERROR_CHECKSUM,
              "section .nvfp4.digest: expected one, found none or several");
  expectError(openError(addSections(object, {.manifest = {}})), NVFP4RT_ERROR_BAD_MANIFEST,
              "section .nvfp4.manifest: expected one, found none or several");
  expectError(openError(addSections(addSections(object, {.manifest = manifest}), {.manifest = {}})),
              NVFP4RT_ERROR_CHECKSUM, "found none or several");
  expectError(openError(addSections(addSections(object, {.manifest = manifest, .digest = false}),
                                    {.manifest = manifest})),
              NVFP4RT_ERROR_BAD_MANIFEST, "found none or several");
  expectError(openError(addSections(object, {.manifest = ""})), NVFP4RT_ERROR_BAD_MANIFEST,
              "manifest:1:1: format: expected this key, found none");
  expectError(openError({}), NVFP4RT_ERROR_BAD_ELF,
              "ELF header: expected 64 bytes, found a file of 0");
}

TEST(Bundle, DigestOfTheWholeFile) {
  ByteVector file = goodBundle();
  const Result<ElfFile> elf = ElfFile::parse(file);
  ASSERT_TRUE(elf);
  const uint64_t digest = elf->section(kDigestSection)->offset;
  file[digest] ^= 1;
  expectError(openError(file), NVFP4RT_ERROR_CHECKSUM, "SHA-256 of the file: expected ");
  file[digest] ^= 1;
  EXPECT_EQ(openError(file).code, NVFP4RT_OK);
  file.push_back(0); // bytes after the end count as well
  expectError(openError(file), NVFP4RT_ERROR_CHECKSUM, "SHA-256 of the file: expected ");
}

TEST(Bundle, ManifestAgainstElf) {
  expectError(changed([](Manifest &m) { m.format = 2; }), NVFP4RT_ERROR_VERSION,
              "manifest:1:10: format: expected 1, found 2");
  expectError(changed([](Manifest &m) { m.codeObjectVersion = 6; }), NVFP4RT_ERROR_VERSION,
              "code object version: expected 6 (manifest), found 5 (ELF)");
  expectError(changed([](Manifest &m) { m.arch = "gfx942"; }), NVFP4RT_ERROR_WRONG_ARCH,
              "manifest arch: expected gfx950, found gfx942");
}

TEST(Bundle, ArgumentLayout) {
  expectError(changed([](Manifest &m) { changeDigit(m.kernels[0].argsHash[5]); }),
              NVFP4RT_ERROR_ARGS_LAYOUT,
              "kernel kernel_a: hash of the argument layout of kv_store: expected ");
  expectError(changed([](Manifest &m) { m.kernels[1].argsSize = 308; }), NVFP4RT_ERROR_ARGS_LAYOUT,
              "kernel kernel_b: bytes of arguments: expected 304, found 308");
  expectError(changed([](Manifest &m) { m.kernels[0].grid[0].per = "row"; }),
              NVFP4RT_ERROR_BAD_MANIFEST,
              "grid[0].per: expected a 32-bit argument of kv_store, found \"row\"");
  expectError(changed([](Manifest &m) { m.kernels[0].grid[0].per = "pages"; }),
              NVFP4RT_ERROR_BAD_MANIFEST, "grid[0].per: expected a 32-bit argument");
}

TEST(Bundle, KernelSets) {
  expectError(changed([](Manifest &m) { m.kernels.pop_back(), m.variants.pop_back(); }),
              NVFP4RT_ERROR_BAD_MANIFEST,
              "kernels in the note: expected no more (manifest), found kernel_b");
  expectError(changed([](Manifest &m) {
                m.kernels.push_back(m.kernels[1]);
                m.kernels[2].symbol = "kernel_c";
              }),
              NVFP4RT_ERROR_BAD_MANIFEST,
              "kernels in the note: expected kernel_c (manifest), found no more");
  expectError(changed([](Manifest &m) { m.kernels[1].symbol = m.variants[3].symbol = "kernel_c"; }),
              NVFP4RT_ERROR_BAD_MANIFEST,
              "kernels in the note: expected kernel_c (manifest), found kernel_b");
}

TEST(Bundle, Resources) {
  struct Case {
    void (*change)(Kernel &);
    std::string_view part;
  };
  const Case cases[] = {
      {[](Kernel &k) { k.resources.vgprs = 21; }, "VGPRs in the note: expected 21, found 20"},
      {[](Kernel &k) { k.resources.agprs = 0; }, "AGPRs in the note: expected 0, found 8"},
      {[](Kernel &k) { k.resources.sgprs = 16; }, "SGPRs in the note: expected 16, found 24"},
      {[](Kernel &k) { k.resources.ldsBytes = 0; },
       "LDS bytes in the note: expected 0, found 1024"},
      {[](Kernel &k) { k.resources.scratchBytes = 4; },
       "scratch bytes in the note: expected 4, found 0"},
      {[](Kernel &k) { k.resources.codeBytes = 28; },
       "symbol kernel_a: expected type 2 of 28 bytes, found type 2 of 24 bytes"},
      {[](Kernel &k) { k.block[0] = 512; },
       "work-items of a workgroup: expected at most 256 (note), found 512"},
  };
  for (const Case &test : cases)
    expectError(changed([&](Manifest &m) { test.change(m.kernels[0]); }),
                NVFP4RT_ERROR_BAD_MANIFEST, test.part);
}

TEST(Bundle, KernelChecksum) {
  expectError(changed([](Manifest &m) { changeDigit(m.kernels[1].sha256[0]); }),
              NVFP4RT_ERROR_CHECKSUM, "kernel kernel_b: SHA-256 of code and descriptor: expected ");
  // A byte of code or descriptor changed, the file's digest made right again.
  const ByteVector good = goodBundle();
  const Result<ElfFile> elf = ElfFile::parse(good);
  ASSERT_TRUE(elf);
  for (const char *name : {"kernel_a", "kernel_a.kd", "kernel_b", "kernel_b.kd"}) {
    const ElfSymbol &symbol = *elf->symbol(name);
    const Bytes bytes = *elf->loaded(symbol.address, symbol.size);
    for (size_t i = 0; i < bytes.size(); ++i) {
      ByteVector file = good;
      file[static_cast<size_t>(bytes.data() - good.data()) + i] ^= 0x80;
      ASSERT_TRUE(redigest(file));
      expectError(openError(file), NVFP4RT_ERROR_CHECKSUM, "SHA-256 of code and descriptor");
    }
  }
}

// The descriptor is what the hardware obeys, so it is compared even when its checksum is right.
TEST(Bundle, Descriptor) {
  struct Case {
    size_t offset;
    uint8_t flip;
    std::string_view part;
  };
  const Case cases[] = {
      {0, 1, "LDS bytes in the descriptor: expected 1024, found 1025"},
      {4, 4, "scratch bytes in the descriptor: expected 0, found 4"},
      {8, 16, "kernel-argument bytes in the descriptor: expected 304, found 288"},
      {16, 4, "entry address in the descriptor: expected"},
      {48, 1, "VGPRs allocated by the descriptor: expected 24, found 32"},
      {52, 1, "scratch enabled in the descriptor: expected 0, found 1"},
      {57, 4, "wave32 in the descriptor: expected 0, found 1"},
      {57, 8, "dynamic stack in the descriptor (G7): expected 0, found 1"},
  };
  const ByteVector good = testObject("good");
  const Result<ElfFile> elf = ElfFile::parse(good);
  ASSERT_TRUE(elf);
  const Bytes descriptor = *elf->loaded(elf->symbol("kernel_a.kd")->address, 64);
  for (const Case &test : cases) {
    ByteVector object = good;
    object[static_cast<size_t>(descriptor.data() - good.data()) + test.offset] ^= test.flip;
    expectError(openError(addSections(object, {.manifest = printManifest(testManifest(object))})),
                NVFP4RT_ERROR_BAD_MANIFEST, test.part);
  }
}

TEST(Bundle, Files) {
  const TemporaryFile file;
  const ByteVector bytes = goodBundle();
  FILE *out = std::fopen(file.path.c_str(), "wb");
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), out), bytes.size());
  std::fclose(out);
  const Result<Bundle> bundle = Bundle::openFile(file.path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->name(), file.path);

  const Result<Bundle> missing = Bundle::openFile(file.path + ".none");
  EXPECT_EQ(missing.error().code, NVFP4RT_ERROR_IO);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  const Result<Bundle> directory = Bundle::openFile("/tmp");
  EXPECT_EQ(directory.error().code, NVFP4RT_ERROR_IO);
  EXPECT_NE(directory.error().message.find("expected a regular file"), std::string::npos);
}

TEST(Bundle, AFifoIsRefusedAtOnce) {
  const TemporaryFile file;
  std::remove(file.path.c_str());
  ASSERT_EQ(mkfifo(file.path.c_str(), 0600), 0);
  EXPECT_EQ(Bundle::openFile(file.path).error().code, NVFP4RT_ERROR_IO);
}

TEST(Bundle, FilesOverTwoGigabytesAreRefusedUnread) {
  const TemporaryFile file;
  const int fd = open(file.path.c_str(), O_WRONLY);
  ASSERT_EQ(ftruncate(fd, off_t{3} << 30), 0); // sparse
  close(fd);
  const Result<Bundle> bundle = Bundle::openFile(file.path);
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().code, NVFP4RT_ERROR_BAD_ELF);
  EXPECT_NE(bundle.error().message.find("expected at most 2147483648 bytes, found 3221225472"),
            std::string::npos);
}
