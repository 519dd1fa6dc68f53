//===- ResourceGateTest.cpp - rule G7 refuses by name -----------------------===//

#include "compiler/lint/ResourceGate.h"

#include "compiler/bundle/Build.h"
#include "tests/compiler/lowering/TestKernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvfp4gen {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const nvfp4rt::ArgLayout &layout() { return *nvfp4rt::argLayout("kv_store"); }

/// An object that the gate accepts for test::copyingKernel("k").
KernelObject cleanObject() {
  KernelObject object;
  object.symbol = "k";
  object.kernargBytes = layout().size;
  object.maxWorkgroup = 64;
  for (const nvfp4rt::ArgField &field : layout().fields)
    object.arguments.push_back(
        {field.type == nvfp4rt::ArgType::Pointer ? "global_buffer" : "by_value", field.offset,
         nvfp4rt::argTypeSize(field.type)});
  return object;
}

std::string verdict(const KernelObject &object) {
  llvm::Error error = checkResources(test::copyingKernel("k"), layout(), object);
  return error ? llvm::toString(std::move(error)) : std::string("accepted");
}

TEST(ResourceGate, CleanTwin) { EXPECT_EQ(verdict(cleanObject()), "accepted"); }

struct Fault {
  const char *name;
  void (*plant)(KernelObject &);
  const char *message;
};

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsRefusedByName) {
  KernelObject object = cleanObject();
  GetParam().plant(object);
  EXPECT_THAT(verdict(object),
              AllOf(HasSubstr("kernel 'k' is refused: "), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    ResourceGate, PlantedFault,
    testing::Values(Fault{"VgprSpill", [](KernelObject &o) { o.vgprSpills = 3; },
                          "found 3 VGPR and 0 SGPR spills"},
                    Fault{"SgprSpill", [](KernelObject &o) { o.sgprSpills = 2; },
                          "found 0 VGPR and 2 SGPR spills"},
                    Fault{"Scratch", [](KernelObject &o) { o.resources.scratchBytes = 16; },
                          "expected no scratch, found 16 bytes a lane"},
                    Fault{"DynamicStack", [](KernelObject &o) { o.dynamicStack = true; },
                          "a dynamic stack"},
                    Fault{"HiddenArgument",
                          [](KernelObject &o) {
                            o.arguments.push_back({"hidden_block_count_x", layout().size, 4});
                          },
                          "hidden argument hidden_block_count_x at offset"},
                    Fault{"KernargSize", [](KernelObject &o) { o.kernargBytes += 256; },
                          "bytes of kernel arguments, found"},
                    Fault{"ArgumentMoved", [](KernelObject &o) { o.arguments[1].offset += 8; },
                          "argument k.row_stride: expected 8 bytes at offset 8, found 8 at 16"},
                    Fault{"ArgumentMissing", [](KernelObject &o) { o.arguments.pop_back(); },
                          "arguments, found"},
                    Fault{"Lds", [](KernelObject &o) { o.resources.ldsBytes = kMaxLdsBytes + 1; },
                          "expected at most 163840 bytes of LDS, found 163841"},
                    Fault{"Workgroup", [](KernelObject &o) { o.maxWorkgroup = 1024; },
                          "expected a workgroup of 64 work-items, found 1024"},
                    Fault{"Symbol", [](KernelObject &o) { o.symbol = "other"; }, "found other"}),
    [](const auto &info) { return info.param.name; });

// End to end: a kernel that really spills does not become a bundle, and is named.
TEST(ResourceGate, SpillingKernelFailsTheBuild) {
  Spec spec;
  spec.name = "test";
  spec.target = test::target();
  VariantList list;
  list.kernels.push_back(test::spillingKernel("too_many_registers"));
  llvm::Expected<Bundle> bundle = buildBundle(spec, list, {});
  ASSERT_FALSE(bool(bundle));
  EXPECT_THAT(llvm::toString(bundle.takeError()),
              AllOf(HasSubstr("kernel 'too_many_registers' is refused"), HasSubstr("spills")));
}

} // namespace
} // namespace nvfp4gen
