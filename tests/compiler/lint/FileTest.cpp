//===- FileTest.cpp - the rules over files, whole and damaged ---------------===//

#include "tests/compiler/lint/Fixture.h"

#include "compiler/lint/Lint.h"

#include <cstring>

namespace nvfp4gen::lint {
namespace {

nvfp4rt::Bytes bytesOf(const std::string &file) {
  return {reinterpret_cast<const uint8_t *>(file.data()), file.size()};
}

std::string object(const std::string &name) {
  std::string file = readFile(LINT_OBJECT_DIR "/" + name + ".hsaco");
  EXPECT_FALSE(file.empty()) << name;
  return file;
}

struct Planted {
  const char *object, *rule, *detail;
};

TEST(LintFile, ReportsEachPlantedFaultAlone) {
  const Planted planted[] = {
      {"scratch", "scratch", "expected 0 bytes a lane, found 16"},
      {"dynamic_stack", "scratch", "expected a stack of fixed size, found a dynamic one"},
      {"vgpr_spills", "vgpr-spills", "expected 0, found 3"},
      {"sgpr_spills", "sgpr-spills", "expected 0, found 2"},
      {"hidden_arg", "hidden-arguments", "hidden_block_count_x at offset 8"},
      {"preload", "kernarg-preload", "2 dwords at dword 0"},
      {"lds", "lds", "expected at most 163840 bytes, found 163841"},
      {"long_text", "text-size", "expected at most 32768 bytes, found 32772"},
  };
  for (const Planted &p : planted) {
    nvfp4rt::Result<LintReport> report = lintCodeObject(bytesOf(object(p.object)));
    ASSERT_TRUE(report) << p.object << ": " << report.error().message;
    ASSERT_EQ(report->kernels.size(), 1u);
    ASSERT_EQ(report->kernels[0].findings.size(), 1u) << p.object;
    const Finding &finding = report->kernels[0].findings[0];
    EXPECT_EQ(finding.rule->id, p.rule);
    EXPECT_EQ(finding.detail, p.detail);
    EXPECT_EQ(finding.kernel, "kernel");
    bool warning = std::string(p.object) == "long_text";
    EXPECT_EQ(report->count(Severity::Warning), warning ? 1u : 0u);
    EXPECT_EQ(report->count(Severity::Error), warning ? 0u : 1u);
  }
}

TEST(LintFile, HasNothingToSayOfTheCleanTwin) {
  // 160 KiB of LDS and 32 KiB of code are the most that is allowed (G7).
  nvfp4rt::Result<LintReport> report = lintCodeObject(bytesOf(object("clean")));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->kernels.size(), 1u);
  EXPECT_TRUE(report->kernels[0].findings.empty());
  EXPECT_EQ(report->kernels[0].instructions, 3u);
  EXPECT_EQ(report->kernels[0].codeBytes, 32768u);
}

TEST(LintFile, DescribesAHazardInOneLine) {
  nvfp4rt::Result<LintReport> report = lintCodeObject(bytesOf(object("hazard")));
  ASSERT_TRUE(report) << report.error().message;
  std::vector<std::string> lines;
  for (const Finding &finding : report->kernels[0].findings)
    if (finding.isHazard())
      lines.push_back(describe(finding));
  EXPECT_EQ(lines, std::vector<std::string>(
                       {"kernel+0x10: error: [mfma-valu-read] a matrix result is read by a VALU "
                        "instruction too early: 8 wait states needed, 0 found between "
                        "'v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], 0' (+0x8) and "
                        "'v_mov_b32_e32 v12, v0'"}));
}

TEST(LintFile, RefusesOtherFilesByKind) {
  nvfp4rt::Result<LintReport> other = lintCodeObject(bytesOf(object("gfx942")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, NVFP4RT_ERROR_WRONG_ARCH);
  nvfp4rt::Result<LintReport> text = lintCodeObject(bytesOf("no code object"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, NVFP4RT_ERROR_BAD_ELF);
  nvfp4rt::Result<LintReport> symbol = lintCodeObject(bytesOf(object("note_symbol")));
  ASSERT_FALSE(symbol);
  EXPECT_EQ(symbol.error().code, NVFP4RT_ERROR_BAD_ELF);
  EXPECT_EQ(symbol.error().message,
            "kernel 'kernel': expected a descriptor symbol 'other.kd', found none");
}

/// The descriptor of `file`, found by its entry offset; the file has one kernel.
size_t descriptorAt(const std::string &file) {
  nvfp4rt::Result<nvfp4rt::ElfFile> elf = nvfp4rt::ElfFile::parse(bytesOf(file));
  EXPECT_TRUE(elf);
  std::optional<nvfp4rt::Bytes> bytes = elf->loaded(elf->symbol("kernel.kd")->address, 64);
  return size_t(bytes->data() - bytesOf(file).data());
}

TEST(LintFile, RefusesAnEntryOutsideOfTheFile) {
  const std::string file = object("clean");
  for (int64_t entry : {int64_t(1) << 40, -(int64_t(1) << 40), INT64_MIN, INT64_MAX, int64_t(-1)}) {
    std::string damaged = file;
    memcpy(damaged.data() + descriptorAt(file) + 16, &entry, sizeof(entry));
    nvfp4rt::Result<LintReport> report = lintCodeObject(bytesOf(damaged));
    ASSERT_FALSE(report) << entry;
    EXPECT_EQ(report.error().code, NVFP4RT_ERROR_BAD_ELF) << report.error().message;
    EXPECT_NE(report.error().message.find("expected code at"), std::string::npos);
  }
}

TEST(LintFile, TruncatedAnywhereIsAnError) {
  const std::string file = object("hazard");
  for (size_t size = 0; size < file.size(); size += size < 1024 ? 1 : 61) {
    // A copy of its own, so that a read past the end is one past an allocation.
    std::vector<uint8_t> copy(file.begin(), file.begin() + ptrdiff_t(size));
    nvfp4rt::Result<LintReport> report = lintCodeObject(copy);
    EXPECT_FALSE(report) << "cut to " << size << " of " << file.size() << " bytes";
  }
}

TEST(LintFile, AnyFlippedByteGivesFindingsOrAnError) {
  const std::string file = object("hazard");
  size_t errors = 0, reports = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    for (uint8_t bits : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged(file.begin(), file.end());
      damaged[at] ^= bits;
      nvfp4rt::Result<LintReport> report = lintCodeObject(damaged);
      if (report) {
        ++reports;
      } else {
        ++errors;
        EXPECT_FALSE(report.error().message.empty());
      }
    }
  }
  EXPECT_GT(errors, 1000u);
  EXPECT_GT(reports, 1000u);
}

} // namespace
} // namespace nvfp4gen::lint
