//===- ManifestTest.cpp - manifest text, both directions --------------------===//
//
// Round trip, byte-stability, and one malformed text for each rule that the
// parser enforces, each with the clean twin it was made from.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/TestBundle.h"

#include <gtest/gtest.h>
#include <random>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

Manifest clean() { return testManifest(testObject("good")); }

/// The text with the first `from` replaced.
std::string edited(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Error parseError(const std::string &text) {
  const Result<Manifest> parsed = parseManifest(text);
  return parsed ? Error{NVFP4RT_OK, "parsed"} : parsed.error();
}

} // namespace

TEST(Manifest, RoundTrip) {
  const Manifest manifest = clean();
  const std::string text = printManifest(manifest);
  const Result<Manifest> parsed = parseManifest(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, manifest);
  EXPECT_EQ(printManifest(*parsed), text);
}

TEST(Manifest, RoundTripOfAwkwardValues) {
  Manifest manifest = clean();
  manifest.flags =
      "quote \" backslash \\ newline \n tab \t bell \a delete \x7f # = [x] 'y' . \"\"\"";
  manifest.specName = "größe 数";
  manifest.variants[0].workspace = {.fixed = uint64_t{1} << 62, .perRequest = 0};
  manifest.kernels[0].grid[0] = {"rows", UINT32_MAX, UINT32_MAX};
  manifest.kernels[0].block[0] = 1;
  manifest.kernels[0].block[2] = 1024;
  manifest.variants[3].guard.terms.push_back(
      {Field::top_k, Relation::Range, {INT64_MIN, INT64_MAX}});
  manifest.variants[3].guard.terms.push_back({Field::planes, Relation::OneOf, {0, 2, 6}});
  const Result<Manifest> parsed = parseManifest(printManifest(manifest));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, manifest);
}

TEST(Manifest, EveryFieldReachesTheText) {
  const Manifest base = clean();
  const auto differs = [&](auto change) {
    Manifest changed = base;
    change(changed);
    EXPECT_NE(printManifest(changed), printManifest(base));
    const Result<Manifest> parsed = parseManifest(printManifest(changed));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, changed);
  };
  differs([](Manifest &m) { m.buildId[0] = 'a'; });
  differs([](Manifest &m) { m.generator += 'x'; });
  differs([](Manifest &m) { m.toolchain += 'x'; });
  differs([](Manifest &m) { m.flags += 'x'; });
  differs([](Manifest &m) { m.specName += 'x'; });
  differs([](Manifest &m) { m.specSha256[0] = 'a'; });
  differs([](Manifest &m) { m.arch += 'x'; });
  differs([](Manifest &m) { m.codeObjectVersion = 6; });
  differs([](Manifest &m) { m.cacheBytes.kvPerBlock++; });
  differs([](Manifest &m) { m.cacheBytes.indexPerBlock++; });
  differs([](Manifest &m) { m.cacheBytes.layers++; });
  differs([](Manifest &m) { m.cacheBytes.draftPerBlock++; });
  differs([](Manifest &m) { m.cacheBytes.draftLayers++; });
  differs([](Manifest &m) { m.cacheBytes.fp8KvPerBlock++; });
  differs([](Manifest &m) { m.cacheBytes.fp8IndexPerBlock++; });
  differs([](Manifest &m) { changeDigit(m.kernels[0].argsHash[0]); });
  differs([](Manifest &m) { m.kernels[0].argsSize++; });
  differs([](Manifest &m) { m.kernels[0].grid[0].per = "reserved"; });
  differs([](Manifest &m) { m.kernels[0].grid[2].mul++; });
  differs([](Manifest &m) { m.kernels[0].grid[0].div++; });
  differs([](Manifest &m) { m.kernels[0].block[2]++; });
  differs([](Manifest &m) { m.kernels[0].resources.vgprs++; });
  differs([](Manifest &m) { m.kernels[0].resources.agprs++; });
  differs([](Manifest &m) { m.kernels[0].resources.sgprs++; });
  differs([](Manifest &m) { m.kernels[0].resources.ldsBytes++; });
  differs([](Manifest &m) { m.kernels[0].resources.scratchBytes++; });
  differs([](Manifest &m) { m.kernels[0].resources.codeBytes++; });
  differs([](Manifest &m) { changeDigit(m.kernels[0].sha256[0]); });
  differs([](Manifest &m) { m.variants[0].name += 'x'; });
  differs([](Manifest &m) { m.variants[0].symbol = "kernel_b"; });
  differs([](Manifest &m) { m.variants[0].workspace.fixed++; });
  differs([](Manifest &m) { m.variants[0].workspace.perRequest++; });
  differs([](Manifest &m) { m.variants[3].guard.terms[1].values[0] = 5; });
  differs([](Manifest &m) { m.variants.pop_back(); });
}

// Fixed text: a change here changes every bundle, so kBundleFormat must change with it.
TEST(Manifest, TextIsStable) {
  Manifest manifest = clean();
  manifest.variants.erase(manifest.variants.begin(), manifest.variants.end() - 1);
  manifest.kernels.erase(manifest.kernels.begin());
  manifest.kernels[0].argsHash = std::string(64, 'd');
  manifest.kernels[0].sha256 = std::string(64, 'e');
  const std::string b(64, 'b'), c(64, 'c'), d(64, 'd'), e(64, 'e');
  EXPECT_EQ(printManifest(manifest),
            "format = 1\n"
            "build_id = \"" +
                b +
                "\"\n"
                "generator = \"test 0\"\n"
                "toolchain = \"LLVM 22\"\n"
                "flags = \"\"\n"
                "arch = \"gfx950\"\n"
                "code_object_version = 5\n"
                "\n[spec]\n"
                "name = \"test\"\n"
                "sha256 = \"" +
                c +
                "\"\n"
                "\n[cache_bytes]\n"
                "kv_per_block = 18432\n"
                "index_per_block = 9216\n"
                "layers = 60\n"
                "draft_per_block = 33792\n"
                "draft_layers = 5\n"
                "fp8_kv_per_block = 33792\n"
                "fp8_index_per_block = 16384\n"
                "\n[[kernel]]\n"
                "symbol = \"kernel_b\"\n"
                "family = \"kv_store\"\n"
                "args_hash = \"" +
                d +
                "\"\n"
                "args_size = 304\n"
                "grid = [{ per = \"\", mul = 7, div = 1 }, { per = \"rows\", mul = 1, div = 1 }, "
                "{ per = \"\", mul = 2, div = 1 }]\n"
                "block = [64, 2, 1]\n"
                "resources = { vgprs = 4, agprs = 0, sgprs = 12, lds_bytes = 0, scratch_bytes = 0, "
                "code_bytes = 20 }\n"
                "sha256 = \"" +
                e +
                "\"\n"
                "\n[[variant]]\n"
                "name = \"verify_b48\"\n"
                "family = \"kv_store\"\n"
                "symbol = \"kernel_b\"\n"
                "guard = [\n"
                "  { field = \"phase\", equal = \"verify\" },\n"
                "  { field = \"query_len\", one_of = [4, 8] },\n"
                "  { field = \"requests\", range = [1, 48] },\n"
                "  { field = \"dtype\", equal = \"bf16\" },\n"
                "]\n"
                "workspace = { fixed = 256, per_request = 64 }\n");
}

struct MalformedCase {
  std::string_view from, to; ///< edit of the clean text
  std::string_view part;     ///< of the message
  nvfp4rt_status code = NVFP4RT_ERROR_BAD_MANIFEST;
};

TEST(Manifest, MalformedTexts) {
  const std::string text = printManifest(clean());
  const MalformedCase cases[] = {
      // Not TOML.
      {"format = 1", "format = ", "manifest:1:"},
      {"format = 1", "format = 1\nformat = 1", "manifest:2:"},
      {"[spec]", "[spec", "manifest:9:"},
      {"\"LLVM 22\"", "\"LLVM \\q\"", "manifest:4:"},
      {"\"LLVM 22\"", "\"LLVM \xff\"", "manifest:4:"},
      // Constructs that the format does not have and that cost the parser depth.
      {"\"LLVM 22\"", "'LLVM 22'", "expected strings in single \" quotes, found a literal string"},
      {"\"LLVM 22\"", "\"\"\"LLVM 22\"\"\"", "found a multi-line string"},
      {"arch =", "a.b = 1\narch =", "manifest:6:2: text: expected no dotted keys"},
      {"format = 1", "format = 1.0",
       "manifest:1:11: text: expected no dotted keys and no fractions"},
      // Versions.
      {"format = 1", "format = 2", "manifest:1:10: format: expected 1, found 2",
       NVFP4RT_ERROR_VERSION},
      {"format = 1", "format = 0", "expected 1, found 0", NVFP4RT_ERROR_VERSION},
      {"format = 1", "format = \"1\"", "format: expected an integer, found a string"},
      // Keys: missing, unknown, mistyped.
      {"format = 1\n", "", "format: expected this key, found none"},
      {"generator = \"test 0\"\n", "", "generator: expected this key, found none"},
      {"[spec]", "[specs]", "spec: expected this key, found none"},
      {"args_size = 304\n", "", "kernel[0].args_size: expected this key, found none"},
      {"lds_bytes = 1024, ", "", "kernel[0].resources.lds_bytes: expected this key"},
      {"flags = \"\"", "flags = \"\"\nextra = 1",
       "extra: expected one of the keys format, build_id"},
      {"[cache_bytes]", "[cache_bytes]\nfoo = 1",
       "cache_bytes.foo: expected one of the keys kv_per"},
      {"fixed = 256, ", "fixed = 256, more = 1, ",
       "variant[0].workspace.more: expected one of the"},
      {"equal = \"decode\" }", "equal = \"decode\", range = [1, 2] }",
       "variant[0].guard[0].range: expected one of the keys field, equal, found an unknown key"},
      {"generator = \"test 0\"", "generator = 5", "generator: expected a string, found an integer"},
      {"generator = \"test 0\"", "generator = true", "expected a string, found a boolean"},
      {"generator = \"test 0\"", "generator = 1979-05-27", "expected a string, found a date"},
      {"args_size = 304", "args_size = \"304\"", "expected an integer, found a string"},
      {"args_size = 304", "args_size = 1e3", "expected an integer, found a float"},
      {"block = [256, 1, 1]", "block = 256",
       "kernel[0].block: expected an array, found an integer"},
      {"block = [256, 1, 1]", "block = [256, \"1\", 1]", "block[1]: expected an integer"},
      {"{ fixed = 256, per_request = 64 }", "[1]", "workspace: expected a table, found an array"},
      {"{ per = \"rows\", mul = 3, div = 4 }", "7", "grid[0]: expected a table, found an integer"},
      // Ranges.
      {"args_size = 304", "args_size = -1", "expected an integer in [0, 4294967295], found -1"},
      {"args_size = 304", "args_size = 4294967296", "in [0, 4294967295], found 4294967296"},
      {"args_size = 304", "args_size = 9223372036854775808", "manifest:"},
      {"block = [256, 1, 1]", "block = [256, 1]", "block: expected 3 elements, found 2"},
      {"block = [256, 1, 1]", "block = [0, 1, 1]", "block[0]: expected an integer in [1, 1024]"},
      {"block = [256, 1, 1]", "block = [256, 5, 1]",
       "at most 1024 work-items a workgroup, found 1280"},
      {"mul = 3", "mul = 0", "grid[0].mul: expected an integer in [1, 4294967295], found 0"},
      {"div = 4", "div = 0", "grid[0].div: expected an integer in [1, 4294967295], found 0"},
      {"per = \"\", mul = 1, div = 1", "per = \"\", mul = 1, div = 2",
       "grid[1].div: expected 1 when 'per' is empty, found 2"},
      {"code_bytes = 24", "code_bytes = 0", "code_bytes: expected an integer in [1,"},
      {"fixed = 256", "fixed = -1", "workspace.fixed: expected an integer in [0,"},
      // Texts.
      {"generator = \"test 0\"", "generator = \"\"", "expected a non-empty string"},
      {"generator = \"test 0\"", "generator = \"a\\u0000b\"", "a string without NUL characters"},
      {"bbbb\"", "bbb\"", "build_id: expected 64 lower-case hex digits"},
      {"bbbb\"", "bbbB\"", "build_id: expected 64 lower-case hex digits"},
      {"bbbb\"", "bbbg\"", "build_id: expected 64 lower-case hex digits"},
      // Kernels and variants.
      {"symbol = \"kernel_b\"\nfamily", "symbol = \"kernel_a\"\nfamily",
       "kernel[1].symbol: expected symbols in ascending order, so one after \"kernel_a\""},
      {"symbol = \"kernel_a\"\nfamily", "symbol = \"kernel_z\"\nfamily", "ascending order"},
      {"family = \"kv_store\"\nargs", "family = \"kv_stor\"\nargs",
       "kernel[0].family: expected one of kv_store, "},
      {"family = \"kv_store\"\nsymbol", "family = \"attention\"\nsymbol",
       "variant[0].family: expected one of kv_store, "},
      {"name = \"decode_b8\"", "name = \"decode_b1\"",
       "variant[1].name: expected a name of its own, found \"decode_b1\" again"},
      {"symbol = \"kernel_a\"\nguard", "symbol = \"kernel_c\"\nguard",
       "variant[0].symbol: expected the symbol of a [[kernel]], found \"kernel_c\""},
      // Guards (G1).
      {"field = \"phase\"", "field = \"phases\"",
       "variant[0].guard[0].field: expected a field this runtime knows, found \"phases\""},
      {"field = \"query_len\"", "field = \"phase\"", "guard[1].field: expected at most one term a"},
      {"equal = \"decode\"", "equal = \"decod\"",
       "guard[0].equal: expected one of decode, verify, prefill, found \"decod\""},
      {"equal = \"decode\"", "equal = 0", "expected a symbol of 'phase', found an integer"},
      {"equal = 1", "equal = \"one\"", "guard[1].equal: expected an integer, found a string"},
      {"equal = 1", "equal = [1]", "guard[1].equal: expected an integer, found an array"},
      {", equal = 1 ", " ", "query_len: expected one of the keys equal, one_of, range, found none"},
      {"range = [1, 1]", "range = [2, 1]", "expected [low, high] with low <= high, found [2, 1]"},
      {"range = [1, 1]", "range = [1]", "expected [low, high] with low <= high, found [1]"},
      {"range = [1, 1]", "range = [1, 1, 1]", "expected [low, high]"},
      {"range = [1, 1]", "range = 1", "range: expected an array, found an integer"},
      {"one_of = [4, 8]", "one_of = []", "a non-empty ascending list without duplicates, found []"},
      {"one_of = [4, 8]", "one_of = [8, 4]", "ascending list without duplicates, found [8, 4]"},
      {"one_of = [4, 8]", "one_of = [4, 4]", "ascending list without duplicates, found [4, 4]"},
      {"one_of = [4, 8]", "one_of = [4, \"8\"]", "one_of[1]: expected an integer"},
      // A request would have two variants (G2).
      {"range = [2, 8]", "range = [1, 8]",
       "variant[1].guard: expected a guard that shares no request with \"decode_b1\""},
      {"range = [2, 8]", "range = [2, 9]", "shares no request with \"decode_b8\""},
      {"range = [2, 8]", "range = [2, 100]", "shares no request with \"decode_b8\""},
      // Workspace that no size_t can hold.
      {"per_request = 64", "per_request = 9223372036854775807", "parsed", NVFP4RT_OK},
      {"range = [9, 48] },\n  { field = \"dtype\", equal = \"bf16\" },\n]\nworkspace = { fixed = "
       "256, "
       "per_request = 64",
       "range = [9, 48] },\n  { field = \"dtype\", equal = \"bf16\" },\n]\nworkspace = { fixed = "
       "256, "
       "per_request = 9223372036854775807",
       "variant[2].workspace: expected fixed + per_request * (upper bound of the guard's requests) "
       "to "
       "fit 64 bits, found fixed 256, per_request 9223372036854775807, upper bound 48"},
      {"range = [1, 1]", "range = [-2, -1]", "upper bound -1"},
  };
  for (const MalformedCase &test : cases) {
    const Error error = parseError(edited(text, test.from, test.to));
    EXPECT_EQ(error.code, test.code) << test.to << "\n" << error.message;
    EXPECT_NE(error.message.find(test.part), std::string::npos)
        << "expected: " << test.part << "\nfound:    " << error.message;
  }
}

TEST(Manifest, EmptyAndHugeTexts) {
  EXPECT_EQ(parseError("").code, NVFP4RT_ERROR_BAD_MANIFEST);
  EXPECT_EQ(parseError(std::string(1, '\0')).code, NVFP4RT_ERROR_BAD_MANIFEST);
  const Error huge = parseError(std::string((64u << 20) + 1, ' '));
  EXPECT_EQ(huge.code, NVFP4RT_ERROR_BAD_MANIFEST);
  EXPECT_EQ(huge.message, "manifest:1:1: text: expected at most 67108864 bytes, found 67108865");
}

// Nested values: the parser must not run out of stack.
TEST(Manifest, DeepNesting) {
  const size_t depth = 1'000'000;
  for (const char *open : {"[", "{a=", "[{a="})
    for (const char *prefix : {"x = ", "flags = "}) {
      std::string text = prefix;
      for (size_t i = 0; i < depth; ++i)
        text += open;
      EXPECT_EQ(parseError(text).code, NVFP4RT_ERROR_BAD_MANIFEST);
    }
  std::string dotted = "x = { a";
  for (size_t i = 0; i < depth; ++i)
    dotted += ".a";
  EXPECT_EQ(parseError(dotted + " = 1 }").code, NVFP4RT_ERROR_BAD_MANIFEST);
  EXPECT_EQ(parseError("# a comment may have ' and . and \"\"\"\n").message,
            "manifest:1:1: format: expected this key, found none");
}

TEST(Manifest, EveryTruncationIsATypedErrorOrWholeEntries) {
  const std::string text = printManifest(clean());
  size_t parsed = 0;
  for (size_t length = 0; length < text.size(); ++length) {
    const Result<Manifest> manifest = parseManifest(text.substr(0, length));
    if (!manifest) {
      EXPECT_EQ(manifest.error().code, NVFP4RT_ERROR_BAD_MANIFEST) << length;
      continue;
    }
    // Cut between two [[variant]] tables; the bundle's digest is what tells.
    ++parsed;
    EXPECT_TRUE(text.starts_with(printManifest(*manifest).substr(0, length))) << length;
  }
  // After each variant: without its line end, with it, and with the empty line that follows; the
  // last one has no empty line, and with its line end it is the whole text.
  EXPECT_EQ(parsed, 3u * 3 + 1);
}

TEST(Manifest, RandomByteChangesNeverCrash) {
  const std::string text = printManifest(clean());
  std::mt19937_64 random(7);
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string changed = text;
    for (int i = 0; i < 1 + round % 3; ++i)
      changed[random() % changed.size()] = static_cast<char>(random());
    const Error error = parseError(changed);
    if (error.code == NVFP4RT_OK)
      continue; // a change inside a text value
    ++refused;
    EXPECT_TRUE(error.code == NVFP4RT_ERROR_BAD_MANIFEST || error.code == NVFP4RT_ERROR_VERSION);
    EXPECT_TRUE(error.message.starts_with("manifest:")) << error.message;
  }
  EXPECT_GT(refused, 1500u);
}
