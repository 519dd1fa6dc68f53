//===- KernelBuilderTest.cpp - every stage of a small kernel ----------------===//

#include "compiler/bundle/ObjectInfo.h"
#include "compiler/lowering/Lowering.h"
#include "tests/compiler/lowering/TestKernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string lower(const KernelPlan &plan, Stage stage) {
  llvm::Expected<std::string> text = lowerKernel(plan, test::target(), stage);
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
  return *text;
}

TEST(KernelBuilder, EachStageHasItsForm) {
  KernelPlan plan = test::copyingKernel("copy");
  EXPECT_THAT(lower(plan, Stage::MLIR), AllOf(HasSubstr("gpu.func @copy("),
                                              HasSubstr("known_block_size = array<i32: 64, 1, 1>"),
                                              HasSubstr("llvm.load"), Not(HasSubstr("llvm.func"))));
  EXPECT_THAT(lower(plan, Stage::LLVM),
              AllOf(HasSubstr("define amdgpu_kernel void @copy("),
                    HasSubstr("\"amdgpu-no-implicitarg-ptr\""),
                    HasSubstr("\"amdgpu-ieee\"=\"false\""),
                    HasSubstr("\"amdgpu-flat-work-group-size\"=\"64,64\""),
                    HasSubstr("\"target-cpu\"=\"gfx950\"")));
  EXPECT_THAT(lower(plan, Stage::Assembly),
              AllOf(HasSubstr("amdgcn-amd-amdhsa--gfx950"), HasSubstr("global_load_dword v"),
                    HasSubstr("global_store_dword v"), HasSubstr(".amdhsa_code_object_version 5"),
                    HasSubstr(".amdhsa_ieee_mode 0"), Not(HasSubstr("hidden_"))));
  EXPECT_TRUE(llvm::StringRef(lower(plan, Stage::Object))
                  .starts_with("\x7f"
                               "ELF"));
}

// The kernel-argument segment is the C struct: LLVM's offsets must be the table's.
TEST(KernelBuilder, ArgumentsLieWhereTheStructHasThem) {
  llvm::Expected<std::vector<KernelObject>> kernels =
      readKernels(lower(test::copyingKernel("copy"), Stage::Object));
  ASSERT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
  ASSERT_EQ(kernels->size(), 1u);
  const nvfp4rt::ArgLayout &layout = *nvfp4rt::argLayout("kv_store");
  ASSERT_EQ(kernels->front().arguments.size(), layout.fields.size());
  for (size_t i = 0; i < layout.fields.size(); ++i) {
    EXPECT_EQ(kernels->front().arguments[i].offset, layout.fields[i].offset);
    EXPECT_EQ(kernels->front().arguments[i].size, nvfp4rt::argTypeSize(layout.fields[i].type));
  }
  EXPECT_EQ(kernels->front().kernargBytes, layout.size);
}

TEST(KernelBuilder, CodeObjectVersionFollowsTheTarget) {
  TargetSpec v6{"gfx950", 6};
  llvm::Expected<std::string> text = lowerKernel(test::copyingKernel("copy"), v6, Stage::Assembly);
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_THAT(*text, HasSubstr(".amdhsa_code_object_version 6"));
  EXPECT_NE(loweringFlags(v6, {}), loweringFlags(test::target(), {}));
}

// One form of v_pk_fma_f32 is reported wrong on gfx950: only kernels that ask get packed fp32.
TEST(KernelBuilder, PackedFp32OnRequest) {
  KernelPlan plan = test::kernel("pairs", [](KernelBuilder &kb) {
    Val lane = kb.zext(kb.workitemId(0), kb.i64Type()) << 4;
    Val x = kb.load(kb.vectorType(4, kb.f32Type()), kb.offset(kb.arg("k.base"), lane), 16);
    kb.store(kb.fma(x, x, x) * x, kb.offset(kb.arg("k_payload.base"), lane), 16);
  });
  EXPECT_THAT(lower(plan, Stage::Assembly), AllOf(HasSubstr("v_fma"), Not(HasSubstr("v_pk_"))));
  plan.packedFp32 = true;
  EXPECT_THAT(lower(plan, Stage::Assembly),
              AllOf(HasSubstr("v_pk_fma_f32"), Not(HasSubstr("op_sel:[0,1,0]"))));
}

// Operations carry the template's place, for diagnostics and debug information.
TEST(KernelBuilder, OperatorsCaptureTheirPlace) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  KernelPlan plan = test::copyingKernel("copy");
  KernelBuilder kb(context, plan, *nvfp4rt::argLayout("kv_store"));
  unsigned line = __LINE__ + 1;
  Val sum = kb.i32(1) + 2;
  auto place = mlir::dyn_cast<mlir::FileLineColLoc>(sum.get().getLoc());
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getLine(), line);
  EXPECT_THAT(place.getFilename().str(), HasSubstr("KernelBuilderTest.cpp"));
}

} // namespace
} // namespace nvfp4gen
