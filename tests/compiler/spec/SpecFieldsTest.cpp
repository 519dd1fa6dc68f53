//===- SpecFieldsTest.cpp - every key of a spec, good and bad ---------------===//
#include "tests/compiler/spec/SpecText.h"

#include "compiler/spec/SpecFields.h"

#include <fmt/format.h>

namespace nvfp4gen::test {
namespace {

TEST(SpecFields, ValidTextGivesEveryValue) {
  llvm::Expected<Spec> spec = parseSpec(kValidText, "s.toml");
  ASSERT_TRUE(!!spec) << llvm::toString(spec.takeError());
  EXPECT_EQ(spec->name, "valid");
  EXPECT_EQ(spec->model.qHeads, 16);
  EXPECT_EQ(spec->model.kvHeads, 2);
  EXPECT_EQ(spec->model.headDim, 128);
  EXPECT_EQ(spec->model.indexHeads, 2);
  EXPECT_EQ(spec->model.indexHeadDim, 128);
  EXPECT_EQ(spec->model.topK, 16);
  EXPECT_EQ(spec->model.initBlocks, 1);
  EXPECT_EQ(spec->model.localBlocks, 2);
  EXPECT_EQ(spec->model.blockSize, 128);
  EXPECT_EQ(spec->model.dtype, DType::BF16);
  EXPECT_EQ(spec->model.normEps, 1e-6);
  EXPECT_EQ(spec->model.rotaryDim, 64);
  EXPECT_EQ(spec->model.qkScale, 0.125);
  EXPECT_EQ(spec->cache.kvFormat, CacheFormat::NVFP4);
  EXPECT_EQ(spec->cache.indexFormat, CacheFormat::NVFP4);
  EXPECT_EQ(spec->cache.pageSize, 64);
  EXPECT_EQ(spec->cache.planeOrder, PlaneOrder::HND);
  EXPECT_EQ(spec->cache.planes, (std::vector{Plane::K, Plane::V}));
  EXPECT_TRUE(spec->hasPlane(Plane::V));
  EXPECT_FALSE(spec->hasPlane(Plane::IndexK));
  EXPECT_EQ(spec->serving.requestBuckets, (std::vector<int64_t>{1, 4, 6}));
  EXPECT_EQ(spec->serving.queryLens, (std::vector<int64_t>{1, 3, 8}));
  EXPECT_EQ(spec->serving.maxContext, 1000);
  EXPECT_EQ(spec->serving.phases, (std::vector{Phase::Decode, Phase::Verify}));
  EXPECT_EQ(spec->target.arch, "gfx950");
  EXPECT_EQ(spec->target.codeObjectVersion, 6);
  EXPECT_EQ(spec->maxBlocks(), 8); // ceil(1000 / 128)
}

TEST(SpecFields, Sha256IsOfTheText) {
  // sha256sum of kValidText, and of the same text with one more byte.
  llvm::Expected<Spec> spec = parseSpec(kValidText, "s.toml");
  ASSERT_TRUE(!!spec);
  EXPECT_EQ(spec->sha256, "cd0c455c93b101e3e289f8b578bd240070da2095fa65c4996c8b0a218a46a4a5");
  llvm::Expected<Spec> longer = parseSpec(std::string(kValidText) + "\n", "s.toml");
  ASSERT_TRUE(!!longer);
  EXPECT_EQ(longer->sha256, "fdee22c0a6dc874652b0d325874f3f06bfa81c320ccb72e47bd5b442cdc16b08");
}

struct Line {
  std::string_view start; ///< the line to replace
  std::string_view line;
  std::string_view fault; ///< all that is reported; empty when the line is valid
};

void PrintTo(const Line &line, std::ostream *os) { *os << line.start; }

class SpecLine : public testing::TestWithParam<Line> {};

TEST_P(SpecLine, SaysExactly) {
  const Line &line = GetParam();
  EXPECT_EQ(faultsOf(withLine(std::string(kValidText), line.start, line.line)), line.fault)
      << line.line;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(TopLevel, SpecLine, testing::Values(
  Line{"schema", "schema = 2", "s.toml:1:10: error: schema: expected integer 1 (the schemas this version reads), found integer 2"},
  Line{"schema", "schema = \"1\"", "s.toml:1:10: error: schema: expected integer 1 (the schemas this version reads), found string \"1\""},
  Line{"schema", "", "s.toml:1:1: error: schema: expected integer 1 (the schemas this version reads), found nothing (version of the spec's own format)"},
  Line{"name", "name = \"a_9\"", ""},
  Line{"name", "name = \"A\"", "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found string \"A\""},
  Line{"name", "name = \"\"", "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found string \"\""},
  Line{"name", "name = \"../x\"", "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found string \"../x\""},
  Line{"name", "name = \"\\u001b[31m\"", "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found string \"\\x1B[31m\""},
  Line{"name", "name = \"0123456789012345678901234567890123456789012345678901234567890123\"", ""},
  Line{"name", "name = \"01234567890123456789012345678901234567890123456789012345678901234\"",
       "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found string \"012345678901234567890123456789012345678901234567890123456789...\""},
  Line{"name", "name = 3", "s.toml:2:8: error: name: expected string of 1 to 64 of [a-z0-9_], found integer 3"}));

INSTANTIATE_TEST_SUITE_P(Model, SpecLine, testing::Values(
  Line{"kv_heads", "kv_heads = \"16\"", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found string \"16\""},
  Line{"kv_heads", "kv_heads = 0", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found integer 0"},
  Line{"kv_heads", "kv_heads = -9223372036854775808", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found integer -9223372036854775808"},
  Line{"kv_heads", "kv_heads = 2.0", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found float 2"},
  Line{"kv_heads", "kv_heads = true", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found boolean true"},
  Line{"kv_heads", "kv_heads = [1, 2]", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found array of 2"},
  Line{"kv_heads", "kv_heads = {}", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found table"},
  Line{"kv_heads", "kv_heads = 1979-05-27", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found date"},
  Line{"kv_heads", "kv_heads = 07:32:00", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found time"},
  Line{"kv_heads", "kv_heads = 1979-05-27T07:32:00Z", "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found date-time"},
  Line{"kv_heads", "", "s.toml:3:1: error: model.kv_heads: expected integer in [1, 1024], found nothing (KV heads on this rank)"},
  Line{"q_heads", "q_heads = 9223372036854775807", "s.toml:4:11: error: model.q_heads: expected integer in [1, 1024], found integer 9223372036854775807"},
  Line{"q_heads", "q_heads = 1025", "s.toml:4:11: error: model.q_heads: expected integer in [1, 1024], found integer 1025"},
  Line{"head_dim", "head_dim = 64", "s.toml:6:12: error: model.head_dim: expected integer 128 (the head sizes that templates support), found integer 64"},
  Line{"index_heads", "index_heads = 0", "s.toml:7:15: error: model.index_heads: expected integer in [1, 1024], found integer 0"},
  Line{"index_head_dim", "index_head_dim = 256", "s.toml:8:18: error: model.index_head_dim: expected integer 128 (the head sizes that templates support), found integer 256"},
  Line{"top_k", "top_k = 0", "s.toml:9:9: error: model.top_k: expected integer in [1, 16], found integer 0"},
  Line{"top_k", "top_k = 17", "s.toml:9:9: error: model.top_k: expected integer in [1, 16], found integer 17"},
  Line{"init_blocks", "init_blocks = 0", ""},
  Line{"init_blocks", "init_blocks = -1", "s.toml:10:15: error: model.init_blocks: expected integer in [0, 65534], found integer -1"},
  Line{"local_blocks", "local_blocks = 0", ""},
  Line{"local_blocks", "local_blocks = 9223372036854775807", "s.toml:11:16: error: model.local_blocks: expected integer in [0, 65534], found integer 9223372036854775807"},
  Line{"block_size", "block_size = 64", "s.toml:12:14: error: model.block_size: expected integer 128 (the sparse block that templates support), found integer 64"},
  Line{"dtype", "dtype = \"fp16\"", ""},
  Line{"dtype", "dtype = \"fp32\"", "s.toml:13:9: error: model.dtype: expected string \"bf16\" or \"fp16\", found string \"fp32\""},
  Line{"dtype", "dtype = 16", "s.toml:13:9: error: model.dtype: expected string \"bf16\" or \"fp16\", found integer 16"},
  Line{"norm_eps", "norm_eps = 1", ""},
  Line{"norm_eps", "norm_eps = 0", "s.toml:14:12: error: model.norm_eps: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found integer 0"},
  Line{"norm_eps", "norm_eps = nan", "s.toml:14:12: error: model.norm_eps: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found float nan"},
  Line{"norm_eps", "norm_eps = \"1e-6\"", "s.toml:14:12: error: model.norm_eps: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found string \"1e-6\""},
  Line{"rotary_dim", "rotary_dim = 0", ""},
  Line{"rotary_dim", "rotary_dim = 63", "s.toml:15:14: error: model.rotary_dim: expected integer in [0, 1024], multiple of 2, found integer 63"},
  Line{"rotary_dim", "rotary_dim = -2", "s.toml:15:14: error: model.rotary_dim: expected integer in [0, 1024], multiple of 2, found integer -2"},
  Line{"qk_scale", "qk_scale = inf", "s.toml:16:12: error: model.qk_scale: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found float inf"},
  Line{"qk_scale", "qk_scale = -0.5", "s.toml:16:12: error: model.qk_scale: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found float -0.5"},
  Line{"qk_scale", "qk_scale = 1e-300", "s.toml:16:12: error: model.qk_scale: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found float 1e-300"},
  Line{"qk_scale", "qk_scale = 1e300", "s.toml:16:12: error: model.qk_scale: expected number in [1.1754944e-38, 3.4028235e+38] (positive normal fp32), found float 1e+300"}));

INSTANTIATE_TEST_SUITE_P(Cache, SpecLine, testing::Values(
  Line{"kv_format", "kv_format = \"mxfp4\"", "s.toml:18:13: error: cache.kv_format: expected string \"nvfp4\", found string \"mxfp4\" (a known format, but no template of this version supports it; known: \"nvfp4\", \"mxfp4\" or \"fp8_e4m3\")"},
  Line{"kv_format", "kv_format = \"fp4\"", "s.toml:18:13: error: cache.kv_format: expected string \"nvfp4\", found string \"fp4\""},
  Line{"index_format", "index_format = \"fp8_e4m3\"", "s.toml:19:16: error: cache.index_format: expected string \"nvfp4\", found string \"fp8_e4m3\" (a known format, but no template of this version supports it; known: \"nvfp4\", \"mxfp4\" or \"fp8_e4m3\")"},
  Line{"page_size", "page_size = 16", ""},
  Line{"page_size", "page_size = 32", ""},
  Line{"page_size", "page_size = 128", ""},
  Line{"page_size", "page_size = 256", ""},
  Line{"page_size", "page_size = 8", "s.toml:20:13: error: cache.page_size: expected integer 16, 32, 64, 128 or 256 (the page sizes that templates support), found integer 8"},
  Line{"page_size", "page_size = 512", "s.toml:20:13: error: cache.page_size: expected integer 16, 32, 64, 128 or 256 (the page sizes that templates support), found integer 512"},
  Line{"plane_order", "plane_order = \"nhd\"", ""},
  Line{"plane_order", "plane_order = \"dhn\"", "s.toml:21:15: error: cache.plane_order: expected string \"nhd\" or \"hnd\", found string \"dhn\""},
  Line{"planes", "", ""},
  Line{"planes", "planes = [\"index_k\"]", ""},
  Line{"planes", "layers = 60\ndraft_layers = 5\ndraft_format = \"fp8_e4m3\"", ""},
  Line{"planes", "layers = 0", "s.toml:22:10: error: cache.layers: expected integer in [1, 4096], found integer 0"},
  Line{"planes", "draft_layers = -1", "s.toml:22:16: error: cache.draft_layers: expected integer in [0, 4096], found integer -1"},
  Line{"planes", "draft_format = \"nvfp4\"", "s.toml:22:16: error: cache.draft_format: expected string \"fp8_e4m3\", found string \"nvfp4\""},
  Line{"planes", "planes = []", "s.toml:22:10: error: cache.planes: expected array of 1 to 3 different strings out of \"k\", \"v\" or \"index_k\", found array of 0"},
  Line{"planes", "planes = \"k\"", "s.toml:22:10: error: cache.planes: expected array of 1 to 3 different strings out of \"k\", \"v\" or \"index_k\", found string \"k\""},
  Line{"planes", "planes = [\"k\", \"k\"]", "s.toml:22:16: error: cache.planes[1]: expected each string once, found string \"k\""},
  Line{"planes", "planes = [\"k\", \"q\"]", "s.toml:22:16: error: cache.planes[1]: expected string \"k\", \"v\" or \"index_k\", found string \"q\""}));

INSTANTIATE_TEST_SUITE_P(Serving, SpecLine, testing::Values(
  Line{"request_buckets", "request_buckets = [65536]", ""},
  Line{"request_buckets", "request_buckets = [65537]", "s.toml:24:20: error: serving.request_buckets[0]: expected integer in [1, 65536], found integer 65537"},
  Line{"request_buckets", "request_buckets = []", "s.toml:24:19: error: serving.request_buckets: expected array of 1 to 128 ascending integers in [1, 65536], found array of 0"},
  Line{"request_buckets", "request_buckets = 8", "s.toml:24:19: error: serving.request_buckets: expected array of 1 to 128 ascending integers in [1, 65536], found integer 8"},
  Line{"request_buckets", "request_buckets = [1, 4, 4]", "s.toml:24:26: error: serving.request_buckets[2]: expected integer above 4 (sorted, unique), found integer 4"},
  Line{"request_buckets", "request_buckets = [4, 1, 0]",
       "s.toml:24:23: error: serving.request_buckets[1]: expected integer above 4 (sorted, unique), found integer 1\n"
       "s.toml:24:26: error: serving.request_buckets[2]: expected integer in [1, 65536], found integer 0"},
  Line{"request_buckets", "request_buckets = [1, \"4\"]", "s.toml:24:23: error: serving.request_buckets[1]: expected integer in [1, 65536], found string \"4\""},
  Line{"query_lens", "query_lens = [1, 8, 3]", "s.toml:25:21: error: serving.query_lens[2]: expected integer above 8 (sorted, unique), found integer 3"},
  Line{"query_lens", "query_lens = [0, 1, 3]", "s.toml:25:15: error: serving.query_lens[0]: expected integer in [1, 65536], found integer 0"},
  Line{"max_context", "max_context = 0", "s.toml:26:15: error: serving.max_context: expected integer in [1, 2147483647], found integer 0"},
  Line{"phases", "phases = [\"decode\", \"verify\", \"prefill\"]", ""},
  Line{"phases", "phases = []", "s.toml:27:10: error: serving.phases: expected array of 1 to 3 different strings out of \"decode\", \"verify\" or \"prefill\", found array of 0"},
  Line{"phases", "phases = [\"verify\", \"decode\", \"verify\"]", "s.toml:27:31: error: serving.phases[2]: expected each string once, found string \"verify\""},
  Line{"phases", "phases = [\"verify\", \"draft\"]", "s.toml:27:21: error: serving.phases[1]: expected string \"decode\", \"verify\" or \"prefill\", found string \"draft\""},
  Line{"phases", "", "s.toml:23:1: error: serving.phases: expected array of 1 to 3 different strings out of \"decode\", \"verify\" or \"prefill\", found nothing (serving phases)"}));

INSTANTIATE_TEST_SUITE_P(Target, SpecLine, testing::Values(
  Line{"arch", "arch = \"gfx942\"", "s.toml:29:8: error: target.arch: expected string \"gfx950\", found string \"gfx942\""},
  Line{"code_object_version", "code_object_version = 5", ""},
  Line{"code_object_version", "code_object_version = 4", "s.toml:30:23: error: target.code_object_version: expected integer 5 or 6 (the versions that the runtime reads), found integer 4"}));

INSTANTIATE_TEST_SUITE_P(UnknownKeys, SpecLine, testing::Values(
  Line{"kv_heads", "kv_heads = 2\nkv_head = 2", "s.toml:6:1: error: model.kv_head: unknown key, did you mean \"kv_heads\"?"},
  Line{"kv_heads", "kv_heads = 2\nnum_layers_of_it = 2", "s.toml:6:1: error: model.num_layers_of_it: unknown key"},
  Line{"kv_heads", "kv_heads = 2\npage_size = 2", "s.toml:6:1: error: model.page_size: unknown key, did you mean \"cache.page_size\"?"},
  Line{"kv_heads", "kv_heads = 2\n\"\\n\\u00e9\" = 2", "s.toml:6:1: error: model.\\n\\xC3\\xA9: unknown key"},
  Line{"schema", "schema = 1\nschemas = 1", "s.toml:2:1: error: schemas: unknown key, did you mean \"schema\"?"},
  Line{"schema", "schema = 1\ntop_k = 1", "s.toml:2:1: error: top_k: unknown key, did you mean \"model.top_k\"?"},
  Line{"[target]", "[servings]\nx = 1\n[target]", "s.toml:28:2: error: servings: unknown key, did you mean \"serving\"?"}));
// clang-format on

/// Every key that is not optional is missed by its name, and nothing else is said.
TEST(SpecFields, RequiredKeysAreMissed) {
  std::vector<std::string> optional;
  for (const spec::FieldRow &row : spec::kFields) {
    std::string_view table = spec::kTableNames[static_cast<size_t>(row.table)];
    std::string name = table.empty() ? std::string(row.key) : fmt::format("{}.{}", table, row.key);
    if (row.whenAbsent) {
      optional.push_back(name);
      continue;
    }
    std::string faults =
        faultsOf(withLine(std::string(kValidText), fmt::format("{} =", row.key), ""));
    EXPECT_NE(faults.find(fmt::format("error: {}: expected ", name)), std::string::npos) << faults;
    EXPECT_TRUE(llvm::StringRef(faults).ends_with(fmt::format(", found nothing ({})", row.doc)))
        << faults;
    EXPECT_EQ(faults.find('\n'), std::string::npos) << faults;
  }
  EXPECT_EQ(optional, (std::vector<std::string>{"cache.planes", "cache.layers",
                                                "cache.draft_layers", "cache.draft_format"}));
}

TEST(SpecFields, AbsentPlanesAreAll) {
  llvm::Expected<Spec> spec = parseSpec(withLine(std::string(kValidText), "planes", ""), "s.toml");
  ASSERT_TRUE(!!spec);
  EXPECT_EQ(spec->cache.planes, (std::vector{Plane::K, Plane::V, Plane::IndexK}));
}

TEST(SpecFields, ListsAreBounded) {
  auto buckets = [](int64_t count) {
    std::string line = "request_buckets = [1";
    for (int64_t i = 2; i <= count; ++i)
      line += fmt::format(", {}", i);
    return faultsOf(withLine(std::string(kValidText), "request_buckets", line + "]"));
  };
  EXPECT_EQ(buckets(128), "");
  EXPECT_EQ(buckets(129),
            "s.toml:24:19: error: serving.request_buckets: expected array of 1 to 128 ascending "
            "integers in [1, 65536], found array of 129");
}

TEST(SpecFields, AllFaultsAtOnceInFileOrder) {
  std::string text(kValidText);
  text = withLine(text, "schema", "schema = 7");
  text = withLine(text, "kv_heads", "kv_heads = \"2\"");
  text = withLine(text, "top_k", "top_q = 16");
  text = withLine(text, "page_size", "page_size = 48");
  text = withLine(text, "request_buckets", "request_buckets = [4, 2]");
  text = withLine(text, "max_context", "max_context = 8388353");
  text = withLine(text, "[target]", "[targets]");
  EXPECT_EQ(faultsOf(text), R"(s.toml:1:1: error: target: expected table, found nothing
s.toml:1:10: error: schema: expected integer 1 (the schemas this version reads), found integer 7
s.toml:3:1: error: model.top_k: expected integer in [1, 16], found nothing (blocks selected per row)
s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found string "2"
s.toml:9:1: error: model.top_q: unknown key, did you mean "top_k"?
s.toml:20:13: error: cache.page_size: expected integer 16, 32, 64, 128 or 256 (the page sizes that templates support), found integer 48
s.toml:24:23: error: serving.request_buckets[1]: expected integer above 4 (sorted, unique), found integer 2
s.toml:26:15: error: serving.max_context: expected at most 65534 blocks of 128 tokens (K3), found 8388353 tokens = 65535 blocks
s.toml:28:2: error: targets: unknown key, did you mean "target"?)");
}

TEST(SpecFields, DiagnosticsCarryTheirPosition) {
  llvm::Expected<Spec> spec =
      parseSpec(withLine(std::string(kValidText), "top_k", "top_k = 0"), "dir/s.toml");
  ASSERT_FALSE(!!spec);
  llvm::handleAllErrors(spec.takeError(), [](const SpecError &error) {
    ASSERT_EQ(error.diagnostics.size(), 1u);
    EXPECT_EQ(error.diagnostics[0].path, "dir/s.toml");
    EXPECT_EQ(error.diagnostics[0].line, 9u);
    EXPECT_EQ(error.diagnostics[0].column, 9u);
    EXPECT_EQ(error.diagnostics[0].message,
              "model.top_k: expected integer in [1, 16], found integer 0");
  });
}

} // namespace
} // namespace nvfp4gen::test
