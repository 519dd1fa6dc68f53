//===- InternalsTest.cpp - image and environment parsers --------------------===//
//
// The parts that parse what comes from outside, below the C API.
//
//===------------------------------------------------------------------------===//

#include "tests/tools/hip/HipClient.h"

#include "tools/gfx950emu/hip/Image.h"
#include "tools/gfx950emu/hip/Settings.h"

#include <cstring>
#include <map>

using namespace gfx950emu::hip;

namespace {

llvm::ArrayRef<uint8_t> bytesOf(const std::vector<char> &data) {
  return {reinterpret_cast<const uint8_t *>(data.data()), data.size()};
}

/// The HIP code of an image; hipSuccess if a code object is found in it.
hipError_t codeOf(llvm::ArrayRef<uint8_t> data) {
  BufferSource source(data);
  llvm::Expected<std::vector<uint8_t>> found = extractCodeObject(source);
  hipError_t code = hipSuccess;
  if (!found)
    handleAllErrors(found.takeError(), [&](const ImageError &error) { code = error.code; });
  return code;
}

TEST(Image, ElfEndsWithItsFurthestPart) {
  // Followed by junk, as in a larger buffer: the code object is what its headers say.
  std::vector<char> padded = kernelImage();
  padded.insert(padded.end(), 1000, 'j');
  BufferSource source(bytesOf(padded));
  llvm::Expected<std::vector<uint8_t>> found = extractCodeObject(source);
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(llvm::ArrayRef<uint8_t>(*found), bytesOf(kernelImage()));
}

TEST(Image, EveryTruncationIsRefused) {
  for (const char *path : {KERNELS_GFX950, BUNDLE_GFX942}) {
    std::vector<char> whole = readFile(path);
    size_t step = 1;
    for (size_t length = 0; length < whole.size(); length += step) {
      EXPECT_NE(codeOf(bytesOf(whole).take_front(length)), hipSuccess) << path << ' ' << length;
      step = length < 512 ? 1 : 37;
    }
  }
}

TEST(Image, LyingSizesAreRefused) {
  auto with = [](size_t offset, auto value) {
    std::vector<char> image = kernelImage();
    memcpy(&image[offset], &value, sizeof value);
    return codeOf(bytesOf(image));
  };
  EXPECT_EQ(with(0x28, uint64_t{1} << 62), hipErrorInvalidImage); // e_shoff
  EXPECT_EQ(with(0x20, ~uint64_t{0}), hipErrorInvalidImage);      // e_phoff
  EXPECT_EQ(with(0x3a, uint16_t{1}), hipErrorInvalidImage);       // e_shentsize
  EXPECT_EQ(with(0x3c, uint16_t{0xffff}), hipErrorInvalidImage);  // e_shnum
  EXPECT_EQ(with(0x04, uint8_t{1}), hipErrorInvalidImage);        // 32-bit
  EXPECT_EQ(with(0x05, uint8_t{2}), hipErrorInvalidImage);        // big-endian
}

/// An offload bundle by hand: entries of (target, contents).
std::vector<char> bundle(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::vector<char> out;
  auto text = [&](const std::string &value) { out.insert(out.end(), value.begin(), value.end()); };
  auto number = [&](uint64_t value) {
    auto *raw = reinterpret_cast<const char *>(&value);
    out.insert(out.end(), raw, raw + 8);
  };
  text("__CLANG_OFFLOAD_BUNDLE__");
  number(entries.size());
  size_t at = 32;
  for (const auto &[target, contents] : entries)
    at += 24 + target.size();
  for (const auto &[target, contents] : entries) {
    number(at);
    number(contents.size());
    number(target.size());
    text(target);
    at += contents.size();
  }
  for (const auto &[target, contents] : entries)
    text(contents);
  return out;
}

TEST(Image, BundleEntryMustFitTheDevice) {
  const std::string triple = "hipv4-amdgcn-amd-amdhsa--";
  auto picked = [&](const std::vector<std::string> &targets) -> std::string {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const std::string &target : targets)
      entries.emplace_back(target, "code of " + target);
    std::vector<char> data = bundle(entries);
    BufferSource source(bytesOf(data));
    llvm::Expected<std::vector<uint8_t>> found = extractCodeObject(source);
    if (!found) {
      llvm::consumeError(found.takeError());
      return "";
    }
    return std::string(found->begin(), found->end());
  };
  for (const char *target :
       {"gfx950", "gfx950:xnack-", "gfx950:sramecc+", "gfx950:sramecc+:xnack-"})
    EXPECT_EQ(picked({"host-x86_64-unknown-linux--", triple + "gfx942", triple + target}),
              "code of " + triple + target);
  for (const char *target : {"gfx950:xnack+", "gfx950:sramecc-", "gfx9500", "gfx95", "gfx942", ""})
    EXPECT_EQ(picked({triple + target}), "") << target;
  EXPECT_EQ(picked({}), "");
  EXPECT_EQ(codeOf(bytesOf(bundle({{triple + "gfx942", "x"}}))), hipErrorNoBinaryForGpu);
}

TEST(Image, MalformedBundles) {
  const std::string id = "hipv4-amdgcn-amd-amdhsa--gfx950";
  std::vector<char> good = bundle({{id, "code"}});
  EXPECT_EQ(codeOf(bytesOf(good)), hipSuccess);
  auto with = [&](size_t offset, uint64_t value) {
    std::vector<char> bad = good;
    memcpy(&bad[offset], &value, 8);
    return codeOf(bytesOf(bad));
  };
  EXPECT_EQ(with(24, uint64_t{1} << 40), hipErrorInvalidImage); // entries
  EXPECT_EQ(with(32, ~uint64_t{0}), hipErrorInvalidImage);      // offset
  EXPECT_EQ(with(40, 5), hipErrorInvalidImage);                 // size
  EXPECT_EQ(with(48, ~uint64_t{0}), hipErrorInvalidImage);      // target length
  EXPECT_EQ(codeOf(bytesOf({'C', 'C', 'O', 'B', 0, 0, 0, 0})), hipErrorInvalidImage);
}

llvm::Expected<Settings> parse(const std::map<std::string, std::string> &variables) {
  return parseSettings([&](const char *name) {
    auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(Environment, Parses) {
  llvm::Expected<Settings> settings = parse({{"GFX950EMU_DEVICES", "64"},
                                             {"GFX950EMU_THREADS", "3"},
                                             {"GFX950EMU_SEED", "18446744073709551615"},
                                             {"GFX950EMU_MAX_INSTRUCTIONS", "1"}});
  ASSERT_TRUE(bool(settings));
  EXPECT_EQ(settings->devices, 64u);
  EXPECT_EQ(settings->run.threads, 3u);
  EXPECT_EQ(settings->run.seed, UINT64_MAX);
  EXPECT_EQ(settings->run.maxInstructions, 1u);
  settings = parse({{"GFX950EMU_DEVICES", ""}}); // empty means unset
  ASSERT_TRUE(bool(settings));
  EXPECT_EQ(settings->devices, 1u);
}

TEST(Environment, RefusesEverythingElse) {
  for (const char *bad :
       {"0", "65", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0", "one", "18446744073709551616"}) {
    llvm::Expected<Settings> settings = parse({{"GFX950EMU_DEVICES", bad}});
    ASSERT_FALSE(bool(settings)) << bad;
    std::string text = toString(settings.takeError());
    EXPECT_EQ(text, "GFX950EMU_DEVICES: expected a decimal number from 1 to 64, found '" +
                        std::string(bad) + "'");
  }
  llvm::Expected<Settings> several =
      parse({{"GFX950EMU_THREADS", "1025"}, {"GFX950EMU_MAX_INSTRUCTIONS", "0"}});
  ASSERT_FALSE(bool(several));
  std::string text = toString(several.takeError());
  EXPECT_NE(text.find("GFX950EMU_THREADS"), std::string::npos);
  EXPECT_NE(text.find("GFX950EMU_MAX_INSTRUCTIONS"), std::string::npos);
}

} // namespace
