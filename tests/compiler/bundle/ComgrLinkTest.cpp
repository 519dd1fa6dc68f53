//===- ComgrLinkTest.cpp - linking through ROCm's library -------------------===//

#include "compiler/bundle/Build.h"
#include "compiler/bundle/Comgr.h"
#include "compiler/bundle/ComgrApi.h"
#include "compiler/bundle/Linker.h"
#include "compiler/bundle/ObjectInfo.h"
#include "compiler/lowering/Lowering.h"
#include "tests/SpecFixture.h"
#include "tests/compiler/lowering/TestKernel.h"

#include <amd_comgr.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

using testing::HasSubstr;

// Our declarations against the header of a ROCm.
static_assert(sizeof(amd_comgr_data_t) == sizeof(ComgrApi::Handle) &&
              sizeof(amd_comgr_data_set_t) == sizeof(ComgrApi::Handle) &&
              sizeof(amd_comgr_action_info_t) == sizeof(ComgrApi::Handle) &&
              sizeof(amd_comgr_metadata_node_t) == sizeof(ComgrApi::Handle));
static_assert(int(AMD_COMGR_STATUS_SUCCESS) == ComgrApi::kSuccess &&
              int(AMD_COMGR_DATA_KIND_LOG) == ComgrApi::kLog &&
              int(AMD_COMGR_DATA_KIND_RELOCATABLE) == ComgrApi::kRelocatable &&
              int(AMD_COMGR_DATA_KIND_EXECUTABLE) == ComgrApi::kExecutable);
static_assert(int(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE) ==
              ComgrApi::linkAction(AMD_COMGR_INTERFACE_VERSION_MAJOR));

Comgr load() {
  ::unsetenv("NVFP4GEN_COMGR_LIBRARY");
  return llvm::cantFail(Comgr::load());
}

/// Debian's comgr knows gfx90a. What is linked does not matter to a linker.
std::vector<std::string> objectsForGfx90a() {
  std::vector<std::string> objects;
  for (const char *symbol : {"first", "second"})
    objects.push_back(llvm::cantFail(
        lowerKernel(test::copyingKernel(symbol), TargetSpec{"gfx90a", 5}, Stage::Object)));
  return objects;
}

// The same kernels with the same metadata and code as through lld.
TEST(ComgrLink, GivesWhatLldGives) {
  Comgr comgr = load();
  std::vector<std::string> objects = objectsForGfx90a();
  llvm::Expected<std::string> linked = comgr.link(objects, "gfx90a");
  ASSERT_TRUE(bool(linked)) << llvm::toString(linked.takeError());
  std::vector<KernelObject> through = llvm::cantFail(readKernels(*linked));
  std::string plain = llvm::cantFail(linkObjects(objects));
  std::vector<KernelObject> direct = llvm::cantFail(readKernels(plain));
  ASSERT_EQ(through.size(), 2u);
  ASSERT_EQ(direct.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(through[i].symbol, direct[i].symbol);
    EXPECT_EQ(through[i].resources, direct[i].resources);
    EXPECT_EQ(through[i].kernargBytes, direct[i].kernargBytes);
    EXPECT_EQ(through[i].maxWorkgroup, direct[i].maxWorkgroup);
    ASSERT_EQ(through[i].arguments.size(), direct[i].arguments.size());
    for (size_t a = 0; a < through[i].arguments.size(); ++a) {
      EXPECT_EQ(through[i].arguments[a].kind, direct[i].arguments[a].kind);
      EXPECT_EQ(through[i].arguments[a].offset, direct[i].arguments[a].offset);
    }
    EXPECT_EQ(llvm::cantFail(symbolContents(*linked, through[i].symbol)).bytes,
              llvm::cantFail(symbolContents(plain, through[i].symbol)).bytes);
  }
  EXPECT_EQ(llvm::cantFail(comgr.kernelNames(*linked)),
            (std::vector<std::string>{"first", "second"}));
}

TEST(ComgrLink, NamesTheIsaItDoesNotKnowAndTheWayOut) {
  llvm::Expected<std::string> linked = load().link(objectsForGfx90a(), "gfx950");
  ASSERT_FALSE(bool(linked));
  std::string message = llvm::toString(linked.takeError());
  EXPECT_THAT(message, HasSubstr("does not know the ISA amdgcn-amd-amdhsa--gfx950"));
  EXPECT_THAT(message, HasSubstr("--backend=lld"));
}

// The whole build stops there, before a kernel is compiled; it does not go on with another linker.
TEST(ComgrLink, BuildOfAnUnknownIsaFails) {
  load();
  Spec spec = test::specOf("tiny");
  BuildOptions options;
  options.backend = Backend::Comgr;
  size_t kernels = 0;
  options.progress = [&](const KernelReport &) { ++kernels; };
  llvm::Expected<Bundle> bundle = buildBundle(spec, test::variantsOf(spec, "topk"), options);
  ASSERT_FALSE(bool(bundle));
  EXPECT_THAT(llvm::toString(bundle.takeError()), HasSubstr("does not know the ISA"));
  EXPECT_EQ(kernels, 0u);
}

TEST(ComgrLink, SaysWhyLinkingFailed) {
  llvm::Expected<std::string> linked = load().link({"not an object"}, "gfx90a");
  ASSERT_FALSE(bool(linked));
  EXPECT_THAT(llvm::toString(linked.takeError()), HasSubstr("amd_comgr_"));
  llvm::Expected<std::vector<std::string>> names = load().kernelNames("not a code object");
  ASSERT_FALSE(bool(names));
  llvm::consumeError(names.takeError());
}

TEST(ComgrLink, MissingLibraryIsNamed) {
  ::setenv("NVFP4GEN_COMGR_LIBRARY", "/nonexistent/libamd_comgr.so", 1);
  llvm::Expected<Comgr> comgr = Comgr::load();
  ASSERT_FALSE(bool(comgr));
  EXPECT_THAT(llvm::toString(comgr.takeError()), HasSubstr("/nonexistent/libamd_comgr.so"));
  ::setenv("NVFP4GEN_COMGR_LIBRARY", "libm.so.6", 1);
  llvm::Expected<Comgr> other = Comgr::load();
  ASSERT_FALSE(bool(other));
  EXPECT_THAT(llvm::toString(other.takeError()),
              HasSubstr("libm.so.6 lacks amd_comgr_get_version"));
  ::unsetenv("NVFP4GEN_COMGR_LIBRARY");
}

} // namespace
} // namespace nvfp4gen
