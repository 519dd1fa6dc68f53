//===- SpecMalformedTest.cpp - text that is no spec -------------------------===//
//
// Not TOML, cut short, too long, too deep, random: always a SpecError.
//
//===------------------------------------------------------------------------===//
#include "tests/compiler/spec/SpecText.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace nvfp4gen::test {
namespace {

/// The first line of a fault list.
std::string firstFault(std::string_view text) {
  std::string faults = faultsOf(text);
  return faults.substr(0, faults.find('\n'));
}

TEST(SpecMalformed, SyntaxErrorsHaveAPosition) {
  EXPECT_EQ(faultsOf("schema = 1\nname == 2\n"),
            "s.toml:2:7: error: TOML: Error while parsing value: could not determine value type");
  EXPECT_EQ(
      faultsOf("schema = 1\nschema = 1\n"),
      "s.toml:2:10: error: TOML: Error while parsing key-value pair: cannot redefine existing "
      "integer 'schema'");
  EXPECT_EQ(faultsOf("schema = 99999999999999999999\n"),
            "s.toml:1:30: error: TOML: Error while parsing decimal integer: "
            "'99999999999999999999' is not representable in 64 bits");
  EXPECT_EQ(faultsOf("name = \"\xff\"\n"),
            "s.toml:1:8: error: TOML: Encountered invalid utf-8 sequence");
  EXPECT_EQ(faultsOf(withLine(std::string(kValidText), "[cache]", "[model]")),
            "s.toml:17:1: error: TOML: Error while parsing table header: cannot redefine existing "
            "table 'model'");
}

// toml++ asserts that a key begins like a key; a file need not.
TEST(SpecMalformed, HeadersThatBeginWithNoKey) {
  EXPECT_EQ(faultsOf("[.a]\n"),
            "s.toml:1:2: error: TOML: Error while parsing key: expected bare key "
            "starting character or string delimiter, saw '.'");
  EXPECT_EQ(faultsOf("[[=]]\n"), "s.toml:1:3: error: TOML: Error while parsing key: expected bare "
                                 "key starting character or string delimiter, saw '='");
}

// toml++ takes some letters outside ASCII for unreachable when it looks for white space.
TEST(SpecMalformed, LettersOutsideStrings) {
  EXPECT_EQ(faultsOf("schema = 1\u00e9\n"),
            "s.toml:1:11: error: TOML: Error while parsing decimal integer: expected digit, "
            "saw '\\xC3\\xA9'");
  for (unsigned c = 0x80; c < 0x10000; ++c) {
    if (c >= 0xd800 && c < 0xe000) // surrogates have no UTF-8
      continue;
    std::string letter;
    if (c >= 0x800)
      letter = {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
                static_cast<char>(0x80 | (c & 0x3f))};
    else
      letter = {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
    EXPECT_NE(faultsOf("schema " + letter + "= " + letter + "\n"), "") << c;
  }
}

TEST(SpecMalformed, EmptyTextLacksEverythingAtOnce) {
  EXPECT_EQ(faultsOf(""), R"(s.toml:1:1: error: cache: expected table, found nothing
s.toml:1:1: error: model: expected table, found nothing
s.toml:1:1: error: name: expected string of 1 to 64 of [a-z0-9_], found nothing (identifier of the deployment)
s.toml:1:1: error: schema: expected integer 1 (the schemas this version reads), found nothing (version of the spec's own format)
s.toml:1:1: error: serving: expected table, found nothing
s.toml:1:1: error: target: expected table, found nothing)");
}

TEST(SpecMalformed, TableOfAnotherType) {
  EXPECT_EQ(firstFault("model = 3\n"), "s.toml:1:1: error: cache: expected table, found nothing");
  EXPECT_NE(
      faultsOf("model = 3\n").find("s.toml:1:9: error: model: expected table, found integer 3"),
      std::string::npos);
  EXPECT_NE(
      faultsOf("[[model]]\n").find("s.toml:1:1: error: model: expected table, found array of 1"),
      std::string::npos);
}

TEST(SpecMalformed, EveryCutIsAnError) {
  std::string_view text = kValidText;
  // The last line may lose its newline; any other cut loses a value or a key.
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    if (text.substr(0, length).ends_with("code_object_version = 6"))
      continue;
    EXPECT_NE(faultsOf(text.substr(0, length)), "") << "cut at " << length;
  }
}

TEST(SpecMalformed, EverySingleByteChangeIsHandled) {
  std::string text(kValidText);
  for (size_t i = 0; i < text.size(); ++i)
    for (char replacement : {'\0', '\n', '"', '[', '.', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = replacement;
      faultsOf(changed); // fails on any other error type
    }
}

TEST(SpecMalformed, RandomBytesAreErrors) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 300, '\0');
    for (char &c : text)
      c = static_cast<char>(random());
    EXPECT_NE(faultsOf(text), "");
  }
}

TEST(SpecMalformed, SizeIsBounded) {
  std::string text(kValidText);
  text.append((1 << 20) - text.size(), '\n');
  EXPECT_EQ(faultsOf(text), "");
  text += '\n';
  EXPECT_EQ(faultsOf(text), "s.toml: error: expected at most 1048576 bytes, found 1048577 bytes");
}

// The TOML library walks nested tables by recursion; without a bound these would overflow the
// stack.
TEST(SpecMalformed, NestingIsBounded) {
  std::string path = "a";
  for (int i = 0; i < 500000; ++i)
    path += ".a";
  for (const std::string &line : {path + " = 1", "[" + path + "]", "[[" + path + "]]",
                                  "x = {" + path + " = 1}", "\t\"#\"." + path + " = 1"})
    EXPECT_EQ(faultsOf("schema = 1\n" + line + "\n"),
              fmt::format("s.toml:2:1: error: expected at most 16 dots in a line (they nest "
                          "tables), found {}",
                          std::count(line.begin(), line.end(), '.')));
  EXPECT_NE(faultsOf("x = " + std::string(500000, '[')), "");
  std::string arrays;
  for (int i = 0; i < 1000; ++i)
    arrays += "[\n{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = ";
  EXPECT_NE(faultsOf("x = " + arrays), "");
  // Dots in a comment nest nothing.
  EXPECT_EQ(faultsOf(" # " + std::string(100, '.') + "\n" + std::string(kValidText)), "");
}

TEST(SpecMalformed, ManyUnknownKeysAreAllReported) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += fmt::format("k{} = 0\n", i);
  std::string faults = faultsOf(text + std::string(kValidText));
  EXPECT_EQ(std::count(faults.begin(), faults.end(), '\n'), 1999);
}

} // namespace
} // namespace nvfp4gen::test
