//===- QkNormRopeTest.cpp - qk_norm_rope_store's guards and machine code ----===//

#include "compiler/lowering/Lowering.h"
#include "compiler/variants/Variants.h"
#include "tests/SpecFixture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace nvfp4gen {
namespace {

using nvfp4rt::Field;

const Family &family() {
  return **llvm::find_if(families(),
                         [](const Family *f) { return f->name == "qk_norm_rope_store"; });
}

CellPlan planOf(const Spec &spec, Phase phase) {
  for (const Cell &cell : cellsOf(spec))
    if (cell.phase == phase)
      if (std::optional<CellPlan> plan = family().plan(spec, cell))
        return *plan;
  ADD_FAILURE() << spec.name << " has no plan";
  return {};
}

/// The machine code, without the kernel's name.
std::string assemblyOf(const Spec &spec, Phase phase) {
  KernelPlan plan = planOf(spec, phase).kernel;
  llvm::Expected<std::string> text = lowerKernel(plan, spec.target, Stage::Assembly);
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
  std::string result = *text;
  for (size_t at = result.find(plan.symbol); at != std::string::npos; at = result.find(plan.symbol))
    result.replace(at, plan.symbol.size(), "KERNEL");
  return result;
}

/// Lines that begin with an instruction of this name or prefix.
size_t count(llvm::StringRef code, const char *instruction) {
  return code.count((llvm::Twine("\n\t") + instruction).str());
}

/// Of a line like "\t.sgpr_spill_count: 0" in the metadata.
int64_t metadata(llvm::StringRef code, llvm::StringRef key) {
  int64_t value = -1;
  auto rest = code.split((llvm::Twine(".") + key + ":").str()).second;
  EXPECT_FALSE(rest.split('\n').first.trim().getAsInteger(10, value)) << key.str();
  return value;
}

Spec specOf(int64_t qHeads, int64_t kvHeads, DType dtype, int64_t rotaryDim) {
  Spec spec = test::specOf("minimax_m3_1_tp4_bf16");
  spec.model.qHeads = qHeads;
  spec.model.kvHeads = spec.model.indexHeads = kvHeads;
  spec.model.dtype = dtype;
  spec.model.rotaryDim = rotaryDim;
  return spec;
}

struct Resources {
  int64_t qHeads, kvHeads;
  DType dtype;
  int64_t rotaryDim;
};

class QkNormRopeResources : public testing::TestWithParam<Resources> {};

// G7, and what W2's kernel is to be: no LDS, no scratch, no spills, at least three waves a SIMD;
// model-dtype rows, weights, cosines and sines in accesses of 16 bytes.
TEST_P(QkNormRopeResources, NoLdsNoScratchWideAccesses) {
  const auto [qHeads, kvHeads, dtype, rotaryDim] = GetParam();
  for (Phase phase : {Phase::Decode, Phase::Prefill}) {
    std::string code = assemblyOf(specOf(qHeads, kvHeads, dtype, rotaryDim), phase);
    EXPECT_EQ(metadata(code, "group_segment_fixed_size"), 0);
    EXPECT_EQ(metadata(code, "private_segment_fixed_size"), 0);
    EXPECT_EQ(metadata(code, "sgpr_spill_count"), 0);
    EXPECT_EQ(metadata(code, "vgpr_spill_count"), 0);
    EXPECT_LE(metadata(code, "vgpr_count"), phase == Phase::Decode ? 96 : 168);
    for (const char *none : {"ds_", "scratch_", "flat_", "buffer_", "s_barrier"})
      EXPECT_EQ(count(code, none), 0u) << none;
    EXPECT_EQ(count(code, "global_load_"), count(code, "global_load_dwordx4"));
    EXPECT_EQ(count(code, "global_store_"),
              count(code, "global_store_dwordx4") + count(code, "global_store_dword "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specs, QkNormRopeResources,
    testing::Values(Resources{64, 4, DType::BF16, 64}, Resources{64, 4, DType::FP16, 64},
                    Resources{32, 2, DType::BF16, 64}, Resources{24, 3, DType::BF16, 64},
                    Resources{16, 1, DType::BF16, 0}, Resources{16, 1, DType::FP16, 128},
                    Resources{8, 1, DType::BF16, 16}));

// W2: each byte is read by one load and written by one store. TP4: four quads of q and one of
// (k, v, index_q, index_k), each a load; q's weights and those of the others; two loads of cosines
// and two of sines; a store a quad of q and one of index_q, a dword of codes and one of scales.
TEST(QkNormRope, OneLoadAndOneStoreAByte) {
  std::string code = assemblyOf(test::specOf("minimax_m3_1_tp4_bf16"), Phase::Decode);
  EXPECT_EQ(count(code, "global_load_dwordx4"), 5u + 2 + 4);
  EXPECT_EQ(count(code, "global_store_dwordx4"), 4u + 1);
  EXPECT_EQ(count(code, "global_store_dword "), 2u);
  // Without RoPE there is nothing to read of its cache.
  code = assemblyOf(specOf(16, 1, DType::BF16, 0), Phase::Decode);
  EXPECT_EQ(count(code, "global_load_dwordx4"), 5u + 2);
}

// ONE rounding: a conversion a pair of elements, in each of the five quads.
TEST(QkNormRope, RoundsOnce) {
  EXPECT_EQ(count(assemblyOf(specOf(16, 1, DType::BF16, 64), Phase::Decode), "v_cvt_pk_bf16_f32"),
            5u * 4);
  EXPECT_EQ(count(assemblyOf(specOf(16, 1, DType::FP16, 64), Phase::Decode), "v_cvt_pk_f16_f32"),
            5u * 4);
}

// A head that is not stored has no load: of TP2's kv heads and index key, one plane each.
TEST(QkNormRope, OnlyStoredPlanesAreRead) {
  Spec spec = specOf(16, 1, DType::BF16, 64);
  spec.cache.planes = {Plane::V};
  std::string code = assemblyOf(spec, Phase::Decode); // four quads of q, one of (v, index_q)
  EXPECT_EQ(count(code, "global_load_dwordx4"), 5u + 2 + 4);
  EXPECT_EQ(count(code, "global_store_dword "), 2u);
  EXPECT_THAT(code, testing::Not(testing::HasSubstr("ds_")));
  spec.cache.planes.clear();
  EXPECT_FALSE(family().plan(spec, cellsOf(spec).front()).has_value());
}

// G1: one name is one code. What the code does not depend on (strides, so the order of planes; the
// norm's kind and epsilon are arguments) is not in the name.
TEST(QkNormRope, OneNameIsOneCode) {
  std::vector<Spec> specs;
  for (DType dtype : {DType::BF16, DType::FP16})
    for (int64_t rotaryDim : {0, 64})
      for (int64_t pageSize : {16, 128})
        for (PlaneOrder order : {PlaneOrder::NHD, PlaneOrder::HND}) {
          Spec spec = specOf(8, 1, dtype, rotaryDim);
          spec.cache.pageSize = pageSize;
          spec.cache.planeOrder = order;
          spec.model.normEps = order == PlaneOrder::NHD ? 1e-6 : 1e-5;
          specs.push_back(spec);
        }
  specs.push_back(specOf(16, 1, DType::BF16, 64));
  specs.push_back(specOf(16, 2, DType::BF16, 64));
  specs.push_back(specOf(8, 1, DType::BF16, 64));
  specs.back().cache.planes = {Plane::K, Plane::V};
  std::map<std::string, std::string> codeOfName, nameOfCode;
  for (const Spec &spec : specs)
    for (Phase phase : {Phase::Decode, Phase::Prefill}) {
      std::string name = planOf(spec, phase).kernel.symbol;
      std::string code = assemblyOf(spec, phase);
      auto [known, isNew] = codeOfName.emplace(name, code);
      EXPECT_EQ(known->second, code) << name << ": one name, two codes";
      if (isNew)
        EXPECT_TRUE(nameOfCode.emplace(code, name).second)
            << name << " and " << nameOfCode[code] << ": one code, two names";
    }
  EXPECT_EQ(codeOfName.size(), 2u * (2 * 2 * 2 + 3));
}

// A workgroup of one wave has whole rows, one in decode; y are the parts of a row: at most 5 quads
// in decode, 10 in prefill. Rows a wave in prefill: 64 * weights / bytes of a row, rounded up: at
// TP4 64 * 1024 / 9688.
TEST(QkNormRope, GridCoversRowsAndParts) {
  struct Case {
    int64_t qHeads, kvHeads;
    uint32_t decodeParts, prefillParts, rows;
  };
  for (const Case &c :
       {Case{64, 4, 4, 2, 3}, Case{32, 2, 2, 1, 4}, Case{16, 1, 1, 1, 7}, Case{8, 1, 1, 1, 12}}) {
    Spec spec = specOf(c.qHeads, c.kvHeads, DType::BF16, 64);
    KernelPlan decode = planOf(spec, Phase::Decode).kernel;
    EXPECT_EQ(decode.block[0], 64u);
    EXPECT_EQ(decode.grid[0], (nvfp4rt::GridAxis{"rows", 1, 1}));
    EXPECT_EQ(decode.grid[1], (nvfp4rt::GridAxis{"", c.decodeParts, 1})) << c.qHeads;
    EXPECT_EQ(planOf(spec, Phase::Verify).kernel.symbol, decode.symbol);
    KernelPlan prefill = planOf(spec, Phase::Prefill).kernel;
    EXPECT_EQ(prefill.grid[0], (nvfp4rt::GridAxis{"rows", 1, c.rows})) << c.qHeads;
    EXPECT_EQ(prefill.grid[1], (nvfp4rt::GridAxis{"", c.prefillParts, 1})) << c.qHeads;
  }
}

// G1, G4: another RoPE width, page size or set of planes is refused by the guard.
TEST(QkNormRope, GuardNamesWhatTheCodeKnows) {
  CellPlan plan = planOf(test::specOf("minimax_m3_1_tp4_bf16"), Phase::Decode);
  std::set<Field> fields;
  for (const nvfp4rt::Term &term : plan.config) {
    EXPECT_TRUE(fields.insert(term.field).second);
    EXPECT_EQ(term.relation, nvfp4rt::Relation::Equal);
  }
  const std::set<Field> expected = {Field::kv_format,   Field::index_format,   Field::dtype,
                                    Field::q_heads,     Field::kv_heads,       Field::head_dim,
                                    Field::index_heads, Field::index_head_dim, Field::rotary_dim,
                                    Field::page_size,   Field::planes};
  EXPECT_EQ(fields, expected);
}

} // namespace
} // namespace nvfp4gen
