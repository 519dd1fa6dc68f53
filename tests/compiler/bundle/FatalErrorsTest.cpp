//===- FatalErrorsTest.cpp - what LLVM dies of is an error here -------------===//

#include "compiler/support/FatalErrors.h"

#include "compiler/bundle/Build.h"
#include "compiler/ir/KernelBuilder.h"
#include "tests/SpecFixture.h"

#include "llvm/Support/ErrorHandling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

using testing::HasSubstr;

TEST(FatalErrors, BecomeErrors) {
  FatalErrorScope scope;
  llvm::Error error =
      catchFatalErrors([]() -> llvm::Error { llvm::report_fatal_error("out of registers"); });
  EXPECT_EQ(llvm::toString(std::move(error)), "fatal error of LLVM: out of registers");
  error = catchFatalErrors([]() -> llvm::Error { throw std::runtime_error("thrown"); });
  EXPECT_EQ(llvm::toString(std::move(error)), "unexpected failure: thrown");
  EXPECT_FALSE(bool(catchFatalErrors([] { return llvm::Error::success(); })));
}

TEST(FatalErrorsDeathTest, ElsewhereEndTheProcess) {
  FatalErrorScope scope;
  EXPECT_DEATH(llvm::report_fatal_error("elsewhere"), "elsewhere");
}

// A template that asks for what its arguments lack is a fault of the generator: every such kernel
// is reported, the process lives, and the next build works.
TEST(FatalErrors, OfTemplatesAreReportedByKernel) {
  Spec spec = test::specOf("tiny");
  VariantList list = test::variantsOf(spec, "topk");
  VariantList broken = list;
  broken.kernels[0].emit = [](KernelBuilder &kb) { kb.arg("no_such_argument"); };
  llvm::Expected<Bundle> bundle = buildBundle(spec, broken, {});
  ASSERT_FALSE(bool(bundle));
  EXPECT_THAT(llvm::toString(bundle.takeError()), HasSubstr("no_such_argument"));
  EXPECT_TRUE(bool(buildBundle(spec, list, {})));
}

} // namespace
} // namespace nvfp4gen
