//===- FaultFixture.h - checks of one variant, faults planted or not --------===//
//
// Owns: the run of a family's check on a fake target, what a clean run must show, and
// the test that a planted fault is found and named. The fakes say which faults exist.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_FAULTFIXTURE_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_FAULTFIXTURE_H

#include "tests/tools/verify/HostTarget.h"
#include "tools/verify/FamilyChecks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <ostream>
#include <string>

namespace fake {

/// What a check has reported.
struct Checked {
  verify::VariantReport variant;
  verify::KernelReport kernel;
  std::string fault() const { return variant.firstFault.value_or(""); }
};

/// Check the variant family__bucket; once-a-kernel cases only if asked for.
inline Checked check(const nvfp4rt::Manifest &manifest, const std::string &family,
                     const std::string &bucket, HostTarget &target, bool onceAKernel) {
  Checked checked;
  const auto entries = verify::familyEntries();
  const auto entry = std::ranges::find(entries, family, &verify::FamilyEntry::name);
  const auto variant =
      std::ranges::find(manifest.variants, family + "__" + bucket, &nvfp4rt::Variant::name);
  if (entry == entries.end() || variant == manifest.variants.end()) {
    ADD_FAILURE() << "no variant of " << family << " for " << bucket;
    return checked;
  }
  verify::Job job{target, manifest,        *variant,
                  1,      checked.variant, onceAKernel ? &checked.kernel : nullptr};
  entry->check(job);
  return checked;
}

/// Nothing was wrong, left out, or left behind on the target.
inline void expectClean(const Checked &checked, const HostTarget &target, uint64_t leastValues) {
  EXPECT_TRUE(checked.variant.passed()) << checked.fault();
  EXPECT_THAT(checked.variant.skipped, testing::IsEmpty());
  EXPECT_EQ(checked.variant.mismatchingBytes, 0u);
  EXPECT_GT(checked.variant.values, leastValues);
  EXPECT_GT(checked.variant.launches, 5u);
  EXPECT_LE(checked.variant.worstError, 1);
  EXPECT_EQ(target.liveAllocations(), 0u);
}

template <typename Fault> struct Planted {
  const char *name; ///< of the fault
  const char *family;
  Fault fault;
  const char *bucket;
  const char *words;        ///< of the message
  bool onceAKernel = false; ///< only those cases show it
};

template <typename Fault> std::string nameOf(const Planted<Fault> &planted) {
  return std::string(planted.family) + "_" + planted.name + "_" + planted.bucket;
}

template <typename Fault> void PrintTo(const Planted<Fault> &planted, std::ostream *stream) {
  *stream << nameOf(planted);
}

/// `Fake` with the parameter's fault in the kernels of its family, launched by `manifest`.
template <typename Fake, typename Fault, nvfp4rt::Manifest (*manifest)()>
class FaultTest : public testing::TestWithParam<Planted<Fault>> {
protected:
  void expectFound() const {
    const Planted<Fault> &planted = this->GetParam();
    Fake target(planted.family, planted.fault);
    const Checked checked =
        check(manifest(), planted.family, planted.bucket, target, planted.onceAKernel);
    ASSERT_FALSE(checked.variant.passed());
    EXPECT_THAT(checked.fault(), testing::HasSubstr(planted.words));
    std::cout << checked.fault() << "\n";
  }
};

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_FAULTFIXTURE_H
