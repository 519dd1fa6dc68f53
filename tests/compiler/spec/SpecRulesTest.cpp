//===- SpecRulesTest.cpp - each rule over several fields, broken and kept ---===//
#include "tests/compiler/spec/SpecText.h"

#include "compiler/spec/SpecRules.h"

#include <utility>
#include <vector>

namespace nvfp4gen::test {
namespace {

struct Case {
  std::vector<std::pair<std::string_view, std::string_view>> edits; ///< line start, new line
  std::string_view fault;                                           ///< empty: the rule holds
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.edits.front().first; }

class SpecRule : public testing::TestWithParam<Case> {};

TEST_P(SpecRule, SaysExactly) {
  std::string text(kValidText);
  for (const auto &[start, line] : GetParam().edits)
    text = withLine(text, start, line);
  EXPECT_EQ(faultsOf(text), GetParam().fault);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(ForcedBlocksK2, SpecRule, testing::Values(
  Case{{{"top_k", "top_k = 3"}}, ""},
  Case{{{"top_k", "top_k = 2"}}, "s.toml:9:9: error: model.top_k: expected at least init_blocks + local_blocks = 1 + 2 = 3 (K2), found 2"},
  Case{{{"init_blocks", "init_blocks = 65534"}, {"local_blocks", "local_blocks = 65534"}}, "s.toml:9:9: error: model.top_k: expected at least init_blocks + local_blocks = 65534 + 65534 = 131068 (K2), found 16"}));

INSTANTIATE_TEST_SUITE_P(BlockIdsK3, SpecRule, testing::Values(
  Case{{{"max_context", "max_context = 8388352"}}, ""}, // 65534 * 128
  Case{{{"max_context", "max_context = 8388353"}}, "s.toml:26:15: error: serving.max_context: expected at most 65534 blocks of 128 tokens (K3), found 8388353 tokens = 65535 blocks"},
  Case{{{"max_context", "max_context = 2147483647"}}, "s.toml:26:15: error: serving.max_context: expected at most 65534 blocks of 128 tokens (K3), found 2147483647 tokens = 16777216 blocks"}));

INSTANTIATE_TEST_SUITE_P(GroupsA5, SpecRule, testing::Values(
  Case{{{"q_heads", "q_heads = 32"}}, ""},
  Case{{{"q_heads", "q_heads = 24"}, {"kv_heads", "kv_heads = 3"}, {"index_heads", "index_heads = 3"}}, ""},
  Case{{{"q_heads", "q_heads = 17"}}, "s.toml:4:11: error: model.q_heads: expected a multiple of kv_heads = 2, found 17"},
  Case{{{"q_heads", "q_heads = 8"}}, "s.toml:4:11: error: model.q_heads: expected 8 or 16 q heads per kv head (A5), found 8 / 2 = 4"},
  Case{{{"q_heads", "q_heads = 64"}}, "s.toml:4:11: error: model.q_heads: expected 8 or 16 q heads per kv head (A5), found 64 / 2 = 32"}));

INSTANTIATE_TEST_SUITE_P(IndexHeads, SpecRule, testing::Values(
  Case{{{"index_heads", "index_heads = 1"}}, "s.toml:7:15: error: model.index_heads: expected kv_heads = 2 (index head i selects for kv head i), found 1"}));

INSTANTIATE_TEST_SUITE_P(RotaryDim, SpecRule, testing::Values(
  Case{{{"rotary_dim", "rotary_dim = 128"}}, ""},
  Case{{{"rotary_dim", "rotary_dim = 16"}}, ""},
  Case{{{"rotary_dim", "rotary_dim = 0"}}, ""},
  Case{{{"rotary_dim", "rotary_dim = 8"}}, "s.toml:15:14: error: model.rotary_dim: expected 0 or a power of two from 16 (the RoPE that templates support), found 8"},
  Case{{{"rotary_dim", "rotary_dim = 96"}}, "s.toml:15:14: error: model.rotary_dim: expected 0 or a power of two from 16 (the RoPE that templates support), found 96"},
  Case{{{"rotary_dim", "rotary_dim = 130"}}, "s.toml:15:14: error: model.rotary_dim: expected at most head_dim = 128, found 130"}));

INSTANTIATE_TEST_SUITE_P(PhasesAndQueryLens, SpecRule, testing::Values(
  Case{{{"phases", "phases = [\"decode\"]"}, {"query_lens", "query_lens = [1]"}}, ""},
  Case{{{"phases", "phases = [\"verify\"]"}, {"query_lens", "query_lens = [2]"}}, ""},
  Case{{{"phases", "phases = [\"prefill\"]"}, {"query_lens", "query_lens = []"}}, ""},
  Case{{{"query_lens", "query_lens = [3]"}}, "s.toml:25:14: error: serving.query_lens: expected 1 among them because phases has \"decode\", found [3]"},
  Case{{{"query_lens", "query_lens = [1]"}}, "s.toml:25:14: error: serving.query_lens: expected one above 1 because phases has \"verify\", found [1]"},
  Case{{{"query_lens", "query_lens = []"}},
       "s.toml:25:14: error: serving.query_lens: expected 1 among them because phases has \"decode\", found []\n"
       "s.toml:25:14: error: serving.query_lens: expected one above 1 because phases has \"verify\", found []"},
  Case{{{"phases", "phases = [\"verify\"]"}}, "s.toml:27:10: error: serving.phases: expected \"decode\" among them because query_lens = [1, 3, 8] has 1, found none"},
  Case{{{"phases", "phases = [\"decode\"]"}}, "s.toml:27:10: error: serving.phases: expected \"verify\" among them because query_lens = [1, 3, 8] has 8, found none"}));

INSTANTIATE_TEST_SUITE_P(QueryFitsContext, SpecRule, testing::Values(
  Case{{{"max_context", "max_context = 8"}}, ""},
  Case{{{"max_context", "max_context = 7"}}, "s.toml:25:14: error: serving.query_lens: expected at most max_context = 7, found 8"}));

INSTANTIATE_TEST_SUITE_P(RowsFit, SpecRule, testing::Values(
  Case{{{"request_buckets", "request_buckets = [65536]"}, {"query_lens", "query_lens = [1, 32767]"}, {"max_context", "max_context = 32768"}}, ""},
  Case{{{"request_buckets", "request_buckets = [65536]"}, {"query_lens", "query_lens = [1, 32768]"}, {"max_context", "max_context = 32768"}},
       "s.toml:25:14: error: serving.query_lens: expected at most 2147483647 rows in a step, found 65536 requests of 32768 rows = 2147483648"}));

// A rule says nothing while one of its fields is in doubt: here kv_heads = 0 must not divide, and an
// absent q_heads must not read as 0.
INSTANTIATE_TEST_SUITE_P(OnlyOnValidFields, SpecRule, testing::Values(
  Case{{{"kv_heads", "kv_heads = 0"}}, "s.toml:5:12: error: model.kv_heads: expected integer in [1, 1024], found integer 0"},
  Case{{{"q_heads", ""}}, "s.toml:3:1: error: model.q_heads: expected integer in [1, 1024], found nothing (query heads on this rank)"},
  Case{{{"request_buckets", "request_buckets = []"}}, "s.toml:24:19: error: serving.request_buckets: expected array of 1 to 128 ascending integers in [1, 65536], found array of 0"},
  Case{{{"block_size", "block_size = 0"}}, "s.toml:12:14: error: model.block_size: expected integer 128 (the sparse block that templates support), found integer 0"}));
// clang-format on

TEST(SpecRules, EveryRuleReadsTheFieldItReportsAt) {
  for (const spec::Rule &rule : spec::rules())
    EXPECT_NE(rule.reads & (spec::FieldSet{1} << rule.at), 0u) << spec::kFields[rule.at].key;
}

TEST(SpecRules, BlocksOfAContextDoNotOverflow) {
  Spec spec;
  EXPECT_EQ(spec.maxBlocks(), 0);
  spec.model.blockSize = 128;
  spec.serving.maxContext = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(spec.maxBlocks(), int64_t{1} << 56);
}

} // namespace
} // namespace nvfp4gen::test
