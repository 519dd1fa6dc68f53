//===- BudgetTest.cpp - what kernels of the TP4 bundle may cost ---------------===//
//
// Owns: the table of figures that `nvfp4gen bench` printed for small shapes, and the
// test that none of them has risen since by more than 1 %. The counts of a kernel are
// the same on every run; the 1 % is for changes of the compiler. Who makes a kernel
// cheaper writes its new figures here.
//
//===------------------------------------------------------------------------===//
#include "tests/BundleFixture.h"
#include "tools/bench/Bench.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace nvfp4gen {
namespace {

using nlohmann::json;
using test::BundleFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Figures {
  double instructions; ///< a page, or a row of a writer
  double ratio;        ///< of bytes to their floor
  double vgprs;
  double waves; ///< a SIMD; the only one that must not fall
};

struct Budget {
  const char *family;
  const char *shape;
  int64_t sample; ///< of prefill shapes, see bench::sampled
  Figures printed;
};

constexpr Budget kBudgets[] = {
    {"index_topk", "bs128-8k-q1", 1, {507.5, 1.0048, 116, 4}},
    {"index_topk", "bs128-8k-q8", 1, {510.4, 1.0238, 116, 4}},
    {"index_topk", "prefill-16k-0", 32, {2522.2, 3.7829, 232, 2}},
    {"index_score", "bs128-8k-q1", 1, {445.2, 1.0039, 96, 5}},
    {"index_score", "bs128-8k-q8", 1, {447.9, 1.0168, 96, 5}},
    {"index_score", "prefill-16k-0", 32, {1897.7, 2.8496, 186, 2}},
    {"sparse_attention", "attn-8", 1, {1221.0, 1.0375, 110, 4}},
    {"sparse_attention", "attn-8-q8", 1, {1230.6, 1.0391, 110, 4}},
    {"sparse_attention", "attn-64", 1, {1221.0, 1.0375, 110, 4}},
    {"sparse_attention", "attn-4096", 32, {1097.2, 1.0316, 212, 2}},
    {"kv_store", "rows-1", 1, {708.0, 1.0080, 31, 8}},
    {"kv_store", "rows-64", 1, {128.2, 1.0080, 31, 8}},
    {"kv_store", "rows-4096", 1, {128.2, 1.0080, 31, 8}},
    {"qk_norm_rope_store", "rows-1", 1, {823.0, 1.0000, 79, 6}},
    {"qk_norm_rope_store", "rows-64", 1, {823.0, 1.1010, 79, 6}},
    {"qk_norm_rope_store", "rows-4096", 1, {648.3, 1.0147, 106, 4}},
};

constexpr double kMargin = 1.01;

/// What is over the budget, a line each.
std::vector<std::string> excessOf(const Figures &found, const Figures &printed) {
  std::vector<std::string> lines;
  for (const auto &[what, figure] :
       {std::pair("instructions", &Figures::instructions),
        std::pair("bytes / floor", &Figures::ratio), std::pair("VGPRs", &Figures::vgprs)})
    if (const double bound = kMargin * printed.*figure; found.*figure > bound)
      lines.push_back(
          fmt::format("{}: expected at most {:.4f}, found {:.4f}", what, bound, found.*figure));
  if (found.waves < printed.waves)
    lines.push_back(fmt::format("waves a SIMD: expected at least {:g}, found {:g}", printed.waves,
                                found.waves));
  return lines;
}

/// The figures that bench prints. Empty after a failure.
std::optional<Figures> benched(const BundleFile &bundle, const Budget &budget) {
  bench::BenchOptions options;
  options.bundlePath = bundle.path();
  options.family = budget.family;
  options.shape = budget.shape;
  options.sample = budget.sample;
  auto report = bench::benchBundle(options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return std::nullopt;
  }
  const json printed = bench::reportJson(*report);
  const json &rows = printed.at("rows"), &kernels = printed.at("kernels");
  if (rows.size() != 1 || kernels.size() != 1 || !rows[0].contains("instructions")) {
    ADD_FAILURE() << "expected one row that ran, found " << rows.dump();
    return std::nullopt;
  }
  return Figures{rows[0].at("instructions").at("per_unit"), rows[0].at("bytes").at("ratio"),
                 kernels[0].at("vgprs"), rows[0].at("waves_per_simd")};
}

/// As `figures`, but for one that is too low in each.
std::vector<Figures> lowered(const Figures &figures) {
  std::vector<Figures> twins(4, figures);
  twins[0].instructions /= 1.02;
  twins[1].ratio /= 1.02;
  twins[2].vgprs /= 1.02;
  twins[3].waves += 1;
  return twins;
}

class BenchBudget : public testing::TestWithParam<const char *> {};

TEST_P(BenchBudget, NoFigureHasRisen) {
  const BundleFile bundle(test::specOf("minimax_m3_1_tp4_bf16"), {"step_map", GetParam()});
  size_t rows = 0;
  for (const Budget &budget : kBudgets) {
    if (std::string_view(budget.family) != GetParam())
      continue;
    SCOPED_TRACE(budget.shape);
    ++rows;
    const std::optional<Figures> found = benched(bundle, budget);
    if (!found)
      continue;
    fmt::print("{} {}: {:.1f} instructions (bound {:.1f}), bytes / floor {:.4f} ({:.4f}), {:g} "
               "VGPRs ({:g}), {:g} waves a SIMD ({:g})\n",
               budget.family, budget.shape, found->instructions,
               kMargin * budget.printed.instructions, found->ratio, kMargin * budget.printed.ratio,
               found->vgprs, kMargin * budget.printed.vgprs, found->waves, budget.printed.waves);
    EXPECT_THAT(excessOf(*found, budget.printed), IsEmpty());
    // Planted faults: the same figures against bounds below them.
    for (const Figures &twin : lowered(*found))
      EXPECT_EQ(excessOf(*found, twin).size(), 1u);
  }
  EXPECT_GE(rows, 3u);
}

INSTANTIATE_TEST_SUITE_P(Tp4, BenchBudget,
                         testing::Values("index_topk", "index_score", "sparse_attention",
                                         "kv_store", "qk_norm_rope_store"),
                         [](const auto &info) { return std::string(info.param); });

TEST(BenchBudget, SaysWhatHasRisen) {
  const Figures printed{100, 1, 100, 4};
  EXPECT_THAT(excessOf({101, 1.01, 101, 4}, printed), IsEmpty());
  EXPECT_THAT(excessOf({50, 1, 50, 8}, printed), IsEmpty());
  EXPECT_THAT(excessOf({101.1, 1.02, 102, 3}, printed),
              ElementsAre(HasSubstr("instructions: expected at most 101.0000, found 101.1000"),
                          HasSubstr("bytes / floor: expected at most 1.0100, found 1.0200"),
                          HasSubstr("VGPRs: expected at most 101.0000, found 102.0000"),
                          HasSubstr("waves a SIMD: expected at least 4, found 3")));
}

} // namespace
} // namespace nvfp4gen
