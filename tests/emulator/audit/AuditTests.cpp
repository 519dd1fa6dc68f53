//===- AuditTests.cpp - open semantics found in assembled kernels -------------------===//

#include "tests/emulator/isa/Assembler.h"
#include "tests/emulator/isa/Kernel.h"
#include "tools/gfx950emu/audit/Audit.h"
#include "tools/gfx950emu/core/OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <map>
#include <set>
#include <string>

namespace gfx950emu::test {
namespace {

struct Audited {
  MemoryMap memory;
  std::unique_ptr<CodeObject> object; // behind `memory`, which it leaves on destruction
  std::vector<audit::KernelAudit> kernels;
};

void auditText(const std::string &body, Audited &result) {
  isatest::Assembled assembled = isatest::assemble(isatest::rawModuleText(body, 1, 4096, 0));
  ASSERT_EQ(assembled.error, "");
  auto object = CodeObject::load(assembled.image, result.memory);
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  result.object = std::move(*object);
  result.kernels = audit::audit(*result.object);
}

/// Ids of the rows that one instruction meets.
std::set<std::string> idsOf(const std::string &text) {
  Audited a;
  auditText(text + "\n", a);
  std::set<std::string> ids;
  for (const audit::KernelAudit &k : a.kernels)
    for (const audit::Use &use : k.uses)
      ids.insert(use.open ? use.open->id.str() : "unknown " + use.mnemonic);
  return ids;
}

/// One instruction for each row of the table that meets it.
const std::multimap<std::string, std::string> planted = {
    {"mfma-16bit", "v_mfma_f32_16x16x32_f16 v[0:3], v[32:35], v[36:39], v[0:3]"},
    {"mfma-16bit", "v_mfma_f32_4x4x4_16b_bf16 v[0:3], v[32:33], v[34:35], v[0:3]"},
    {"mfma-fp8", "v_mfma_f32_16x16x32_fp8_bf8 v[0:3], v[32:33], v[34:35], v[0:3]"},
    {"mfma-f32-f64", "v_mfma_f32_16x16x4_f32 v[0:3], v32, v33, v[0:3]"},
    {"mfma-f32-f64", "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[32:33], v[34:35], v[0:1]"},
    {"mfma-f8f6f4", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[16:23], v[24:31], v[0:3]"},
    {"mfma-scale", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[32:35], v[36:39], v[0:3], v4, v5 "
                   "cbsz:4 blgp:4"},
    {"transcendental-bits", "v_rcp_f32_e32 v1, v2"},
    {"transcendental-bits", "v_exp_f16_e32 v1, v2"},
    {"narrow-nan", "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4"},
    {"cvt-scale-codes", "v_cvt_scalef32_pk_f16_fp4 v1, v2, v3"},
    {"stochastic-bits", "v_cvt_sr_fp8_f32 v1, v2, v3"},
    {"stochastic-byte", "v_cvt_scalef32_sr_pk_fp4_f16 v1, v2, v3, v4"},
    {"2xpk16-order", "v_cvt_scalef32_2xpk16_fp6_f32 v[0:5], v[6:21], v[22:37], v38"},
    {"minmax3-dx10-clamp", "v_maximum3_f32 v1, v2, v3, v4"},
    {"minmax3-dx10-clamp", "v_pk_minimum3_f16 v1, v2, v3, v4"},
    {"permlane-swap-exec", "v_permlane32_swap_b32 v1, v2"},
    {"dpp-partial-rows", "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf"},
    {"ds-read-tr", "ds_read_b64_tr_b8 v[2:3], v1"},
    {"dot2-order", "v_dot2c_f32_f16_e32 v1, v2, v3"},
    {"dot2-order", "v_dot2_f32_bf16 v1, v2, v3, v4"},
    {"div-scale", "v_div_scale_f32 v1, vcc, v2, v3, v2"},
    {"div-fixup-nan", "v_div_fixup_f64 v[0:1], v[2:3], v[4:5], v[6:7]"},
    {"buffer-soffset", "buffer_load_dwordx4 v[0:3], v4, s[4:7], s8 offen"},
    {"lds-m0", "ds_write_b32 v1, v2"},
    {"lds-m0", "ds_wrxchg_rtn_b32 v1, v2, v3"},
    {"float-atomic-order", "global_atomic_add_f32 v1, v2, s[4:5]"},
    {"lds-float-atomic-order", "ds_add_f32 v1, v2"},
};

TEST(Audit, EveryRowIsFound) {
  std::set<std::string> rows;
  for (const audit::OpenSemantic &row : audit::openSemantics())
    EXPECT_TRUE(rows.insert(row.id.str()).second) << row.id.str() << " twice";
  for (const auto &[id, text] : planted) {
    EXPECT_TRUE(idsOf(text).contains(id)) << id << ": " << text;
    EXPECT_TRUE(rows.contains(id)) << "no row " << id;
  }
  for (const std::string &id : rows)
    EXPECT_TRUE(planted.contains(id)) << "no instruction of this test meets " << id;
}

TEST(Audit, EveryPatternNamesInstructionsOfTheEmulator) {
  // Each row names at least one mnemonic of the opcode list.
  auto file = llvm::MemoryBuffer::getFile(OPCODE_LIST);
  ASSERT_TRUE(bool(file));
  llvm::SmallVector<llvm::StringRef> names;
  (*file)->getBuffer().split(names, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_GT(names.size(), 400u);
  std::set<llvm::StringRef> met;
  for (llvm::StringRef name : names)
    for (const audit::OpenSemantic *row : audit::openSemanticsOf(name.trim(), /*form=*/0xff))
      met.insert(row->id);
  for (const audit::OpenSemantic &row : audit::openSemantics())
    if (row.id != "2xpk16-order") // not in the list
      EXPECT_TRUE(met.contains(row.id)) << row.id.str();
}

TEST(Audit, SettledInstructionsAreNotListed) {
  for (const char *text :
       {"v_mfma_i32_16x16x64_i8 v[0:3], v[32:35], v[36:39], v[0:3]", "v_add_f32_e32 v1, v2, v3",
        "v_mov_b32_e32 v1, v2", "v_max3_f32 v1, v2, v3, v4", "v_div_fmas_f32 v1, v2, v3, v4",
        "v_cvt_pk_fp8_f32 v1, v2, v3", "ds_bpermute_b32 v1, v2, v3", "ds_swizzle_b32 v1, v2",
        "global_atomic_add v1, v2, s[4:5]", "v_dot4_i32_i8 v1, v2, v3, v4",
        "v_readlane_b32 s4, v1, 3", "global_load_dwordx4 v[0:3], v4, s[4:5]"})
    EXPECT_EQ(idsOf(text), std::set<std::string>()) << text;
  EXPECT_FALSE(idsOf("ds_read_b64_tr_b16 v[2:3], v1").contains("ds-read-tr"))
      << "checked on a device";
}

TEST(Audit, CountsAndPlaces) {
  Audited a;
  auditText("v_mov_b32_e32 v1, v2\n"
            "v_rcp_f32_e32 v1, v2\n"
            "v_rcp_f32_e32 v3, v2\n"
            "v_rsq_f32_e32 v3, v2\n",
            a);
  ASSERT_EQ(a.kernels.size(), 1u);
  EXPECT_EQ(a.kernels[0].kernel, isatest::kernelName(0));
  ASSERT_EQ(a.kernels[0].uses.size(), 2u);
  EXPECT_EQ(a.kernels[0].uses[0].mnemonic, "v_rcp_f32");
  EXPECT_EQ(a.kernels[0].uses[0].count, 2u);
  EXPECT_EQ(a.kernels[0].uses[0].first, isatest::kernelName(0) + "+0x4");
  EXPECT_EQ(a.kernels[0].uses[1].mnemonic, "v_rsq_f32");
  std::string text;
  llvm::raw_string_ostream os(text);
  audit::printAudit(a.kernels, os);
  EXPECT_NE(text.find("v_rcp_f32 (2, first at k0+0x4) [transcendental-bits]"), std::string::npos)
      << text;
  llvm::json::Array json = audit::toJson(a.kernels);
  const llvm::json::Object *use = json[0].getAsObject()->getArray("uses")->front().getAsObject();
  EXPECT_EQ(use->getString("id"), "transcendental-bits");
  EXPECT_EQ(use->getInteger("count"), 2);
}

TEST(Audit, InstructionsWithoutHandler) {
  std::set<std::string> ids = idsOf("s_mov_b32 s4, 0\n.long 0x00000000\n.long 0xffffffff");
  EXPECT_TRUE(ids.contains("unknown <no instruction>"));
}

TEST(Audit, MarkdownPageIsTheTable) {
  auto file = llvm::MemoryBuffer::getFile(OPEN_SEMANTICS_PAGE);
  ASSERT_TRUE(bool(file));
  EXPECT_EQ((*file)->getBuffer().str(), audit::markdown())
      << "write it anew: gfx950emu audit --table";
}

} // namespace
} // namespace gfx950emu::test
