//===- VerifyOrdersTest.cpp - a kernel that depends on the order fails verify -===//
//
// The emulator reads its environment once a process, so this is a binary of its own: no
// checks, three orders a launch.
//
//===------------------------------------------------------------------------===//

#include "compiler/ir/KernelBuilder.h"
#include "tests/VerifyFixture.h"
#include "tools/verify/HipTarget.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace nvfp4gen {
namespace {

using testing::HasSubstr;

const int environment = setenv("GFX950EMU_CHECK", "0", 1) | setenv("GFX950EMU_ORDERS", "3", 1);

/// Verify the tiny spec with `before` in front of its kernel.
verify::Report verified(void (*before)(KernelBuilder &)) {
  Spec spec = test::specOf("tiny");
  VariantList list = test::variantsOf(spec, "kv_store");
  for (KernelPlan &kernel : list.kernels)
    kernel.emit = [emit = kernel.emit, before](KernelBuilder &kb) {
      before(kb);
      emit(kb);
    };
  verify::VerifyOptions options;
  options.checks = "none";
  options.orders = 3;
  return test::verified(spec, list, options);
}

/// Every workgroup leaves its number in the first row's slot; the last one wins.
void lastWriterWins(KernelBuilder &kb) { kb.store(kb.workgroupId(0), kb.arg("k_payload.base"), 4); }
/// The same place, the same value.
void allWriteTheSame(KernelBuilder &kb) { kb.store(kb.i32(7), kb.arg("k_payload.base"), 4); }

TEST(VerifyOrders, ReportSaysWhichSeedsDiffer) {
  ASSERT_EQ(environment, 0);
  verify::Report report = verified(lastWriterWins);
  EXPECT_FALSE(report.passed());
  std::string faults;
  for (const verify::VariantReport &variant : report.variants)
    faults += variant.firstFault.value_or("") + "\n";
  EXPECT_THAT(faults, HasSubstr("order dependence: kernel kv_store__"));
  EXPECT_THAT(faults, HasSubstr("bytes differ between seeds 0 and "));
  EXPECT_THAT(verify::reportTable(report), HasSubstr("checks none, orders a launch 3\n"));
}

// Wrong bytes for the oracle, but the same in every order.
TEST(VerifyOrders, AWrongKernelIsNotAnOrderDependentOne) {
  verify::Report report = verified(allWriteTheSame);
  EXPECT_FALSE(report.passed());
  for (const verify::VariantReport &variant : report.variants)
    EXPECT_THAT(variant.firstFault.value_or(""), Not(HasSubstr("order dependence")));
}

TEST(VerifyOrders, RepairedTwinPasses) {
  verify::Report report = verified([](KernelBuilder &) {});
  for (const verify::VariantReport &variant : report.variants)
    EXPECT_TRUE(variant.passed()) << *variant.firstFault;
  EXPECT_FALSE(report.variants.empty());
}

TEST(VerifyOrders, OnlyTheEmulatorCountsAsOne) {
  EXPECT_TRUE(verify::isEmulator(EMULATOR_LIBRARY));
  EXPECT_FALSE(verify::isEmulator("/nonexistent/libamdhip64.so"));
  EXPECT_FALSE(verify::isEmulator("libc.so.6"));
}

} // namespace
} // namespace nvfp4gen
