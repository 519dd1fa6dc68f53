//===- FolderTest.cpp - the runtime on a folder of extracted kernels --------===//

#include "compiler/bundle/Build.h"
#include "compiler/bundle/Extract.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/include/nvfp4rt.h"
#include "tests/SpecFixture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace nvfp4gen {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder : public testing::Test {
protected:
  static void SetUpTestSuite() {
    ::setenv("NVFP4RT_HIP_LIBRARY", EMULATOR_LIBRARY, 1);
    Spec spec = test::specOf("tiny");
    whole = llvm::cantFail(buildBundle(spec, test::variantsOf(spec, "step_map"), {}));
    ASSERT_GT(whole.manifest.kernels.size(), 1u);
  }
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("folder-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    for (const nvfp4rt::Kernel &kernel : whole.manifest.kernels)
      write(kernel.symbol + ".hsaco",
            llvm::cantFail(extractKernel(whole.bytes, whole.manifest, kernel)));
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &name, const std::string &bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string refusal() {
    nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openPath(folder);
    EXPECT_FALSE(bundle);
    return bundle ? "" : bundle.error().message;
  }

  static Bundle whole;
  fs::path folder;
};
Bundle Folder::whole;

TEST_F(Folder, IsTheBundleItCameFrom) {
  write("notes.txt", "not a code object, and not looked at");
  nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openPath(folder);
  ASSERT_TRUE(bundle) << bundle.error().message;
  const nvfp4rt::Manifest &parts = bundle->manifest();
  ASSERT_EQ(parts.kernels.size(), whole.manifest.kernels.size());
  for (size_t i = 0; i < parts.kernels.size(); ++i) {
    EXPECT_EQ(parts.kernels[i].symbol, whole.manifest.kernels[i].symbol);
    EXPECT_EQ(parts.kernels[i].resources, whole.manifest.kernels[i].resources);
    // Each kernel's own file.
    fs::path file = folder / (parts.kernels[i].symbol + ".hsaco");
    EXPECT_EQ(bundle->image(i).size(), fs::file_size(file));
  }
  EXPECT_TRUE(std::ranges::is_permutation(parts.variants, whole.manifest.variants));
}

// Through the C interface, on the emulator: every variant of the whole is found.
TEST_F(Folder, LoadsFreezesAndGivesPlans) {
  nvfp4rt_bundle *bundle = nullptr;
  ASSERT_EQ(nvfp4rt_bundle_open_file(folder.c_str(), &bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK) << nvfp4rt_last_error();
  ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  for (const nvfp4rt::Variant &variant : whole.manifest.variants) {
    std::vector<nvfp4rt_field> fields;
    for (const nvfp4rt::Term &term : variant.guard.terms) {
      std::span<const std::string_view> symbols = nvfp4rt::fieldSymbols(term.field);
      int64_t value = term.values.back();
      fields.push_back({nvfp4rt::fieldName(term.field).data(),
                        symbols.empty() ? nullptr : symbols[size_t(value)].data(), value});
    }
    nvfp4rt_plan *plan = nullptr;
    ASSERT_EQ(
        nvfp4rt_plan_create(bundle, 0, variant.family.c_str(), fields.data(), fields.size(), &plan),
        NVFP4RT_OK)
        << nvfp4rt_last_error();
    EXPECT_EQ(nvfp4rt_plan_variant(plan), variant.name);
    EXPECT_EQ(nvfp4rt_plan_symbol(plan), variant.symbol);
    nvfp4rt_plan_destroy(plan);
  }
  EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
}

TEST_F(Folder, MayHoldAPart) {
  const std::string &symbol = whole.manifest.kernels.front().symbol;
  fs::remove(folder / (symbol + ".hsaco"));
  nvfp4rt::Result<nvfp4rt::Bundle> bundle = nvfp4rt::Bundle::openPath(folder);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->manifest().kernels.size(), whole.manifest.kernels.size() - 1);
}

TEST_F(Folder, RefusesPartsOfTwoBundles) {
  Spec spec = test::specOf("minimax_m3_1_tp4_bf16");
  Bundle other = llvm::cantFail(buildBundle(spec, test::variantsOf(spec, "kv_store"), {}));
  write("other.hsaco",
        llvm::cantFail(extractKernel(other.bytes, other.manifest, other.manifest.kernels.front())));
  std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("build id of "));
  EXPECT_THAT(message, HasSubstr(whole.manifest.buildId));
  EXPECT_THAT(message, HasSubstr(other.manifest.buildId));
}

TEST_F(Folder, RefusesAKernelTwice) {
  fs::path file = folder / (whole.manifest.kernels.front().symbol + ".hsaco");
  fs::copy_file(file, folder / "again.hsaco");
  std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("expected it in one file"));
  EXPECT_THAT(message, HasSubstr("again.hsaco"));
}

TEST_F(Folder, RefusesADamagedPart) {
  fs::path file = folder / (whole.manifest.kernels.back().symbol + ".hsaco");
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(0x300);
  out.put('\x77');
  out.close();
  EXPECT_THAT(refusal(), HasSubstr("bundle " + file.string() + ": SHA-256 of the file"));
}

TEST_F(Folder, RefusesAnEmptyFolder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_THAT(refusal(), HasSubstr("expected *.hsaco files, found none"));
  fs::remove_all(folder);
  EXPECT_THAT(refusal(), HasSubstr("expected a readable file"));
}

} // namespace
} // namespace nvfp4gen
