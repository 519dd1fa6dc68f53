//===- VariantsTest.cpp - cells, names, guards and sharing of kernels -------===//
#include "tests/compiler/variants/FakeFamilies.h"

#include <map>

namespace nvfp4gen::test {
namespace {

using nvfp4rt::Field;

std::vector<std::string> texts(const std::vector<Cell> &cells) {
  std::vector<std::string> result;
  for (const Cell &cell : cells)
    result.push_back(fmt::format("{} q{} {}..{}", static_cast<int>(cell.phase), cell.queryLen,
                                 cell.requestsLow, cell.requestsHigh));
  return result;
}

TEST(Cells, PhasesThenQueryLensThenBuckets) {
  Spec spec = load("tiny");
  spec.serving.requestBuckets = {2, 7};
  spec.serving.queryLens = {1, 3, 8};
  EXPECT_EQ(texts(cellsOf(spec)),
            (std::vector<std::string>{"0 q1 1..2", "0 q1 3..7", "1 q3 1..2", "1 q3 3..7",
                                      "1 q8 1..2", "1 q8 3..7", "2 q0 1..2", "2 q0 3..7"}));
  spec.serving.phases = {Phase::Prefill};
  EXPECT_EQ(texts(cellsOf(spec)), (std::vector<std::string>{"2 q0 1..2", "2 q0 3..7"}));
}

TEST(Variants, NamesAndGuardsAreWritten) {
  VariantList list = enumerate(load("tiny"), {&kShared});
  std::vector<std::string> names;
  for (const nvfp4rt::Variant &variant : list.variants)
    names.push_back(variant.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"shared__hkv2__decode_q1_b1", "shared__hkv2__decode_q1_b2",
                                      "shared__hkv2__decode_q1_b4", "shared__hkv2__verify_q2_b1",
                                      "shared__hkv2__verify_q2_b2", "shared__hkv2__verify_q2_b4",
                                      "shared__hkv2__prefill_b1", "shared__hkv2__prefill_b2",
                                      "shared__hkv2__prefill_b4"}));
  // The terms of the cell come first, then the family's own in its order (G4 reports the first).
  EXPECT_EQ(list.variants[5].guard.text(), "phase == verify, query_len == 2, requests in [3, 4], "
                                           "dtype == bf16, kv_heads == 2");
  EXPECT_EQ(list.variants[6].guard.text(), "phase == prefill, query_len == 0, requests in [1, 1], "
                                           "dtype == bf16, kv_heads == 2");
  for (const nvfp4rt::Variant &variant : list.variants) {
    EXPECT_EQ(variant.family, "shared");
    EXPECT_EQ(variant.symbol, "shared__hkv2");
    EXPECT_EQ(variant.workspace, (nvfp4rt::Workspace{16, 8}));
  }
}

TEST(Variants, CellsWithOneAnswerShareOneKernel) {
  VariantList list = enumerate(load("tiny"), {&kShared, &kUnused, &kPerBucket});
  std::vector<std::string> symbols;
  for (const KernelPlan &kernel : list.kernels)
    symbols.push_back(kernel.symbol);
  EXPECT_EQ(symbols, (std::vector<std::string>{"bucket__hkv2_b1", "bucket__hkv2_b2",
                                               "bucket__hkv2_b4", "shared__hkv2"}));
  EXPECT_EQ(list.variants.size(), 18u);
  EXPECT_EQ(list.variants.front().family, "shared"); // families in the order given
  EXPECT_EQ(list.variants.back().family, "bucket");
  EXPECT_EQ(list.kernels[3].grid[0], (nvfp4rt::GridAxis{"rows", 4, 2}));
  EXPECT_EQ(list.kernels[3].block[0], 64u);
}

/// G2 for every shipped spec: every count of every step goes to the smallest bucket that holds it,
/// and to nothing else.
TEST(Variants, EveryCountGoesToItsSmallestBucket) {
  for (std::string_view name :
       {"minimax_m3_1_tp1_bf16", "minimax_m3_1_tp2_bf16", "minimax_m3_1_tp4_bf16",
        "minimax_m3_1_tp8_bf16", "minimax_m3_1_tp4_fp16", "minimax_m3_1_tp4_page16_bf16"}) {
    Spec spec = load(name);
    VariantList list = enumerate(spec, {&kShared});
    EXPECT_EQ(list.variants.size(), 42u);
    for (const auto &[phase, queryLen, prefix] :
         {std::tuple(0, 1, "decode_q1"), std::tuple(1, 8, "verify_q8"),
          std::tuple(2, 0, "prefill")}) {
      size_t bucket = 0;
      for (int64_t requests = 1; requests <= 384; ++requests) {
        if (requests > spec.serving.requestBuckets[bucket])
          ++bucket;
        nvfp4rt::Request request;
        request.set(Field::phase, phase);
        request.set(Field::query_len, queryLen);
        request.set(Field::requests, requests);
        request.set(Field::dtype, static_cast<int64_t>(spec.model.dtype));
        request.set(Field::kv_heads, spec.model.kvHeads);
        std::vector<std::string> matches;
        for (const nvfp4rt::Variant &variant : list.variants)
          if (!nvfp4rt::mismatch(variant.guard, request))
            matches.push_back(variant.name);
        EXPECT_EQ(matches, std::vector{fmt::format("shared__hkv{}__{}_b{}", spec.model.kvHeads,
                                                   prefix, spec.serving.requestBuckets[bucket])})
            << name << " " << request.text();
      }
    }
  }
}

TEST(Variants, SomeCellsAndNotOthersIsAnError) {
  static constexpr Family half = {
      "half", [](const Spec &spec, const Cell &cell) -> std::optional<CellPlan> {
        if (cell.phase == Phase::Prefill)
          return std::nullopt;
        return sharedPlan(spec, "half");
      }};
  Spec spec = load("tiny");
  EXPECT_EQ(faultOf(spec, {&half}), "family half: serves verify_q2_b4 and not prefill_b1 (G2)");
  spec.serving.phases = {Phase::Decode, Phase::Verify};
  EXPECT_EQ(faultOf(spec, {&half}), "");
}

TEST(Variants, OneSymbolWithTwoPlansIsAnError) {
  static constexpr Family block = {
      "block", [](const Spec &spec, const Cell &cell) -> std::optional<CellPlan> {
        CellPlan plan = sharedPlan(spec, "block");
        plan.kernel.block[0] = cell.requestsHigh == 4 ? 256 : 64;
        return plan;
      }};
  static constexpr Family grid = {
      "grid", [](const Spec &spec, const Cell &cell) -> std::optional<CellPlan> {
        CellPlan plan = sharedPlan(spec, "grid");
        plan.kernel.grid[1].mul = cell.requestsHigh == 4 ? 2 : 1;
        return plan;
      }};
  static constexpr Family thief = {"thief",
                                   [](const Spec &spec, const Cell &) -> std::optional<CellPlan> {
                                     CellPlan plan = sharedPlan(spec, "thief");
                                     plan.kernel.symbol = "shared__hkv2";
                                     return plan;
                                   }};
  Spec spec = load("tiny");
  EXPECT_EQ(faultOf(spec, {&block}),
            "kernel block__hkv2: one symbol, two plans: "
            "family block, grid ceil(rows * 4 / 2) x 1 x 1, block 64 x 1 x 1 for "
            "block__hkv2__decode_q1_b1; "
            "family block, grid ceil(rows * 4 / 2) x 1 x 1, block 256 x 1 x 1 for "
            "block__hkv2__decode_q1_b4");
  EXPECT_EQ(faultOf(spec, {&grid}),
            "kernel grid__hkv2: one symbol, two plans: "
            "family grid, grid ceil(rows * 4 / 2) x 1 x 1, block 64 x 1 x 1 for "
            "grid__hkv2__decode_q1_b1; "
            "family grid, grid ceil(rows * 4 / 2) x 2 x 1, block 64 x 1 x 1 for "
            "grid__hkv2__decode_q1_b4");
  EXPECT_EQ(faultOf(spec, {&thief}), "");
  EXPECT_EQ(faultOf(spec, {&kShared, &thief}),
            "kernel shared__hkv2: one symbol, two plans: "
            "family shared, grid ceil(rows * 4 / 2) x 1 x 1, block 64 x 1 x 1 for "
            "shared__hkv2__decode_q1_b1; "
            "family thief, grid ceil(rows * 4 / 2) x 1 x 1, block 64 x 1 x 1 for "
            "shared__hkv2__decode_q1_b1");
  spec.serving.requestBuckets = {1, 2}; // no bucket 4: block and grid are the same everywhere
  EXPECT_EQ(faultOf(spec, {&block, &grid}), "");
}

TEST(Variants, AGuardHasEachFieldOnce) {
  static constexpr Family twice = {
      "twice", [](const Spec &spec, const Cell &) -> std::optional<CellPlan> {
        CellPlan plan = sharedPlan(spec, "twice");
        plan.config.push_back({Field::requests, nvfp4rt::Relation::Equal, {1}});
        return plan;
      }};
  EXPECT_EQ(faultOf(load("tiny"), {&twice}),
            "variant twice__hkv2__decode_q1_b1: its guard has the field requests twice: "
            "requests in [1, 1] and requests == 1");
}

TEST(Variants, ErrorsOfAllFamiliesAreReported) {
  static constexpr Family wrong = {"wrong",
                                   [](const Spec &spec, const Cell &) -> std::optional<CellPlan> {
                                     CellPlan plan = sharedPlan(spec, "wrong");
                                     plan.config[1].values = {3};
                                     return plan;
                                   }};
  static constexpr Family half = {
      "half", [](const Spec &spec, const Cell &cell) -> std::optional<CellPlan> {
        if (cell.requestsHigh > 1)
          return std::nullopt;
        return sharedPlan(spec, "half");
      }};
  EXPECT_EQ(faultOf(load("tiny"), {&wrong, &kShared, &half}),
            "family wrong: decode q1 with requests = 1 has no variant (G2); nearest is "
            "wrong__hkv2__decode_q1_b1: expected kv_heads == 3, found 2\n"
            "family half: serves decode_q1_b1 and not decode_q1_b2 (G2)");
}

TEST(ConfigValue, IsWhatTheSpecSays) {
  Spec spec = load("tiny");
  spec.model.dtype = DType::FP16;
  spec.cache.planeOrder = PlaneOrder::HND;
  spec.cache.pageSize = 32;
  std::map<std::string, std::string> values;
  for (size_t i = 0; i < nvfp4rt::kFieldCount; ++i) {
    auto field = static_cast<Field>(i);
    std::optional<int64_t> value = configValue(spec, field);
    values[std::string(nvfp4rt::fieldName(field))] =
        value ? nvfp4rt::valueText(field, *value) : "none";
  }
  EXPECT_EQ(values, (std::map<std::string, std::string>{{"phase", "none"},
                                                        {"query_len", "none"},
                                                        {"requests", "none"},
                                                        {"dtype", "fp16"},
                                                        {"kv_format", "nvfp4"},
                                                        {"index_format", "nvfp4"},
                                                        {"q_heads", "16"},
                                                        {"kv_heads", "2"},
                                                        {"head_dim", "128"},
                                                        {"index_heads", "2"},
                                                        {"index_head_dim", "128"},
                                                        {"rotary_dim", "64"},
                                                        {"planes", "kvi"},
                                                        {"page_size", "32"},
                                                        {"block_size", "128"},
                                                        {"top_k", "16"},
                                                        {"plane_order", "hnd"}}));
}

TEST(ConfigValue, PlaneSetsAreTheirSymbols) {
  Spec spec = load("tiny");
  auto symbol = [&](std::vector<Plane> planes) {
    spec.cache.planes = std::move(planes);
    return nvfp4rt::valueText(Field::planes, *configValue(spec, Field::planes));
  };
  EXPECT_EQ(symbol({Plane::K}), "k");
  EXPECT_EQ(symbol({Plane::V}), "v");
  EXPECT_EQ(symbol({Plane::K, Plane::V}), "kv");
  EXPECT_EQ(symbol({Plane::IndexK}), "i");
  EXPECT_EQ(symbol({Plane::K, Plane::IndexK}), "ki");
  EXPECT_EQ(symbol({Plane::V, Plane::IndexK}), "vi");
  EXPECT_EQ(symbol({Plane::K, Plane::V, Plane::IndexK}), "kvi");
}

} // namespace
} // namespace nvfp4gen::test
