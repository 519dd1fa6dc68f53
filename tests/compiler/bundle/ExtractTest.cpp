//===- ExtractTest.cpp - kernels as code objects of their own ---------------===//

#include "compiler/bundle/Extract.h"

#include "compiler/bundle/Build.h"
#include "compiler/bundle/ObjectInfo.h"
#include "tests/SpecFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

TEST(Extract, CarriesCodeMetadataAndManifestOver) {
  Spec spec = test::specOf("tiny");
  Bundle bundle = llvm::cantFail(buildBundle(spec, test::variantsOf(spec), {}));
  std::vector<KernelObject> originals = llvm::cantFail(readKernels(bundle.bytes));
  size_t variants = 0;
  for (const nvfp4rt::Kernel &kernel : bundle.manifest.kernels) {
    llvm::Expected<std::string> file = extractKernel(bundle.bytes, bundle.manifest, kernel);
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
    std::vector<KernelObject> alone = llvm::cantFail(readKernels(*file));
    ASSERT_EQ(alone.size(), 1u);
    const KernelObject &original = *llvm::find_if(
        originals, [&](const KernelObject &other) { return other.symbol == kernel.symbol; });
    EXPECT_EQ(alone[0].symbol, kernel.symbol);
    EXPECT_EQ(alone[0].resources, original.resources);
    EXPECT_EQ(alone[0].kernargBytes, original.kernargBytes);
    EXPECT_EQ(alone[0].maxWorkgroup, original.maxWorkgroup);
    ASSERT_EQ(alone[0].arguments.size(), original.arguments.size());
    EXPECT_EQ(llvm::cantFail(symbolContents(*file, kernel.symbol)).bytes,
              llvm::cantFail(symbolContents(bundle.bytes, kernel.symbol)).bytes);
    // The descriptors are the same but for the place of the code.
    std::string name = kernel.symbol + ".kd";
    SymbolContents now = llvm::cantFail(symbolContents(*file, name));
    SymbolContents old = llvm::cantFail(symbolContents(bundle.bytes, name));
    ASSERT_EQ(now.bytes.size(), 64u);
    EXPECT_EQ(now.bytes.take_front(16), old.bytes.take_front(16));
    EXPECT_EQ(now.bytes.drop_front(24), old.bytes.drop_front(24));
    int64_t offset;
    std::memcpy(&offset, now.bytes.data() + 16, sizeof(offset));
    EXPECT_EQ(now.address + uint64_t(offset),
              llvm::cantFail(symbolContents(*file, kernel.symbol)).address);
    variants += llvm::count_if(bundle.manifest.variants,
                               [&](const auto &v) { return v.symbol == kernel.symbol; });
  }
  EXPECT_EQ(variants, bundle.manifest.variants.size());
}

// A kernel with a table in .rodata refers to what would stay behind.
TEST(Extract, RefusesCodeThatNeedsMoreThanItself) {
  Spec spec = test::specOf("tiny");
  Bundle bundle = llvm::cantFail(buildBundle(spec, test::variantsOf(spec, "step_map"), {}));
  nvfp4rt::Manifest fewer = bundle.manifest; // .rodata then holds more than its descriptors
  nvfp4rt::Kernel kernel = fewer.kernels.back();
  fewer.kernels.pop_back();
  llvm::Expected<std::string> file = extractKernel(bundle.bytes, fewer, kernel);
  ASSERT_FALSE(bool(file));
  EXPECT_THAT(llvm::toString(file.takeError()), testing::HasSubstr("section .rodata"));
}

} // namespace
} // namespace nvfp4gen
