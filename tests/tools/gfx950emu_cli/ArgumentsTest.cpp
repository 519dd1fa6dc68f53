//===- ArgumentsTest.cpp - the --arg syntax and its check -------------------===//

#include "tools/gfx950emu/cli/Arguments.h"
#include "tools/gfx950emu/cli/Commands.h"

#include <gtest/gtest.h>

using namespace gfx950emu;
using namespace gfx950emu::cli;

namespace {

using Bytes = std::vector<uint8_t>;
using Kind = ArgSpec::Kind;

ArgSpec parsed(llvm::StringRef text) {
  llvm::Expected<ArgSpec> spec = parseArg(text);
  if (spec)
    return *spec;
  ADD_FAILURE() << toString(spec.takeError());
  return {};
}

/// The message of a refusal, which has to be a UsageError.
std::string refusal(llvm::Error error) {
  std::string text;
  handleAllErrors(
      std::move(error), [&](const UsageError &usage) { text = usage.text; },
      [](const llvm::ErrorInfoBase &other) { ADD_FAILURE() << other.message(); });
  return text;
}

TEST(ArgSyntax, Buffers) {
  ArgSpec in = parsed("buf:a.bin"), inOut = parsed("buf:dir/a:b.bin:rw"),
          out = parsed("out:c:d.bin:4096");
  EXPECT_EQ(in.kind, Kind::Input);
  EXPECT_EQ(in.file, "a.bin");
  EXPECT_EQ(inOut.kind, Kind::InOut);
  EXPECT_EQ(inOut.file, "dir/a:b.bin");
  EXPECT_EQ(out.kind, Kind::Output);
  EXPECT_EQ(out.file, "c:d.bin");
  EXPECT_EQ(out.bytes, 4096u);
  EXPECT_EQ(parsed("null").kind, Kind::Null);
}

TEST(ArgSyntax, Values) {
  EXPECT_EQ(parsed("i32:-2").value, (Bytes{0xfe, 0xff, 0xff, 0xff}));
  EXPECT_EQ(parsed("i32:4294967295").value, (Bytes{0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(parsed("i32:0x10").value, (Bytes{16, 0, 0, 0}));
  EXPECT_EQ(parsed("i32:-2147483648").value, (Bytes{0, 0, 0, 0x80}));
  EXPECT_EQ(parsed("i8:255").value, Bytes{255});
  EXPECT_EQ(parsed("i16:-1").value, (Bytes{255, 255}));
  EXPECT_EQ(parsed("i64:-1").value, Bytes(8, 255));
  EXPECT_EQ(parsed("i64:18446744073709551615").value, Bytes(8, 255));
  EXPECT_EQ(parsed("f32:1.5").value, (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(parsed("f32:-inf").value, (Bytes{0, 0, 0x80, 0xff}));
  EXPECT_EQ(parsed("f64:-2").value, (Bytes{0, 0, 0, 0, 0, 0, 0, 0xc0}));
  EXPECT_EQ(parsed("bytes:0aFF").value, (Bytes{0x0a, 0xff}));
}

TEST(ArgSyntax, Refusals) {
  for (const char *text : {"",
                           "i32",
                           "i32:",
                           "i32:4294967296",
                           "i32:-2147483649",
                           "i32:1.0",
                           "i32:1x",
                           "i32:+1",
                           "i32: 1",
                           "i32:0x",
                           "i32:--1",
                           "i8:256",
                           "i64:18446744073709551616",
                           "f32:",
                           "f32:one",
                           "f32:1.0f",
                           "bytes:",
                           "bytes:abc",
                           "bytes:zz",
                           "u32:1",
                           "buf:",
                           "buf::rw",
                           "out:x",
                           "out:x:",
                           "out::16",
                           "out:x:0",
                           "out:x:-1",
                           "out:x:99999999999999",
                           "null:",
                           "Null"}) {
    llvm::Expected<ArgSpec> spec = parseArg(text);
    ASSERT_FALSE(bool(spec)) << text;
    std::string message = refusal(spec.takeError());
    EXPECT_EQ(message.find("--arg " + std::string(text) + ": "), 0u) << message;
  }
}

TEST(Extents, OneToThreePositiveNumbers) {
  auto extents = [](const char *text) { return parseExtents("--grid", text); };
  EXPECT_EQ(*extents("7"), (std::array<uint32_t, 3>{7, 1, 1}));
  EXPECT_EQ(*extents("7,8,9"), (std::array<uint32_t, 3>{7, 8, 9}));
  for (const char *text :
       {"", "0", "1,0", "1,2,3,4", "1,,2", ",1", "1,", "-1", "x", "4294967296"}) {
    llvm::Expected<std::array<uint32_t, 3>> bad = extents(text);
    ASSERT_FALSE(bool(bad)) << text;
    EXPECT_EQ(refusal(bad.takeError()).find("--grid: expected"), 0u);
  }
}

/// (const int *, int, double, hidden)
KernelInfo kernelWithArgs() {
  KernelInfo kernel;
  kernel.name = "k";
  kernel.args = {{"global_buffer", 0, 8},
                 {"by_value", 8, 4},
                 {"by_value", 16, 8},
                 {"hidden_block_count_x", 24, 4}};
  return kernel;
}

TEST(Bind, PacksByTheMetadata) {
  MemoryMap memory;
  KernelInfo kernel = kernelWithArgs();
  {
    llvm::Expected<Arguments> bound =
        Arguments::bind(kernel, {parsed("out:x:100"), parsed("i32:7"), parsed("f64:-2")}, memory);
    ASSERT_TRUE(bool(bound));
    ASSERT_EQ(bound->kernarg().size(), 24u);
    EXPECT_EQ(bound->kernarg().slice(8, 4), llvm::ArrayRef<uint8_t>({7, 0, 0, 0}));
    EXPECT_EQ(bound->kernarg()[23], 0xc0);
    ASSERT_EQ(bound->buffers().size(), 1u);
    const Arguments::Buffer &buffer = bound->buffers()[0];
    uint64_t address;
    memcpy(&address, bound->kernarg().data(), 8);
    EXPECT_EQ(address, reinterpret_cast<uint64_t>(buffer.data));
    std::optional<MemoryMap::Region> region = memory.find(address);
    ASSERT_TRUE(region.has_value());
    EXPECT_TRUE(region->writable);
    bound->reset(0xff);
    EXPECT_EQ(buffer.data[99], 0xff);
  }
  EXPECT_EQ(memory.allocatedBytes(), 0u);
}

TEST(Bind, InputsAreReadOnlyAndBackAfterReset) {
  MemoryMap memory;
  KernelInfo kernel;
  kernel.args = {{"global_buffer", 0, 8}, {"global_buffer", 8, 8}};
  llvm::Expected<Arguments> bound = Arguments::bind(
      kernel, {parsed("buf:" EXAMPLE_FILE), parsed("buf:" EXAMPLE_FILE ":rw")}, memory);
  ASSERT_TRUE(bool(bound));
  EXPECT_FALSE(memory.find(reinterpret_cast<uint64_t>(bound->buffers()[0].data))->writable);
  const Arguments::Buffer &inOut = bound->buffers()[1];
  EXPECT_TRUE(memory.find(reinterpret_cast<uint64_t>(inOut.data))->writable);
  bound->reset(0);
  EXPECT_EQ(llvm::ArrayRef<uint8_t>(inOut.data, inOut.bytes), llvm::ArrayRef(inOut.initial));
  inOut.data[0] ^= 0xff;
  bound->reset(0);
  EXPECT_EQ(inOut.data[0], inOut.initial[0]);
}

TEST(Bind, RefusesWhatDoesNotFit) {
  MemoryMap memory;
  KernelInfo kernel = kernelWithArgs();
  auto message = [&](std::vector<ArgSpec> specs) {
    llvm::Expected<Arguments> bound = Arguments::bind(kernel, specs, memory);
    return bound ? std::string() : refusal(bound.takeError());
  };
  EXPECT_EQ(message({parsed("null"), parsed("i32:7"), parsed("f64:1")}), "");
  EXPECT_EQ(message({parsed("null"), parsed("f32:7"), parsed("i64:1")}), "");
  EXPECT_NE(message({parsed("null"), parsed("i32:7")}).find("expected 3 arguments, found 2"),
            std::string::npos);
  EXPECT_EQ(message({parsed("i64:0"), parsed("i32:7"), parsed("f64:1")}),
            "kernel 'k', argument 1: expected global_buffer of 8 bytes at offset 0, found 'i64:0'");
  EXPECT_EQ(message({parsed("null"), parsed("i64:7"), parsed("f64:1")}),
            "kernel 'k', argument 2: expected by_value of 4 bytes at offset 8, found 'i64:7'");
  EXPECT_EQ(message({parsed("null"), parsed("null"), parsed("f64:1")}),
            "kernel 'k', argument 2: expected by_value of 4 bytes at offset 8, found 'null'");
  EXPECT_EQ(memory.allocatedBytes(), 0u);
}

TEST(Unwritten, OnlyBytesThatKeptBothFills) {
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
  EXPECT_EQ(unwrittenRanges({0, 0, 5, 0}, {0xff, 0xff, 5, 0xff}), (Ranges{{0, 2}, {3, 4}}));
  EXPECT_EQ(unwrittenRanges({0, 0xff}, {0, 0xff}), Ranges{}); // both fill values, written
  EXPECT_EQ(unwrittenRanges({}, {}), Ranges{});
}

} // namespace
