//===- FamilyChecks.h - one check a kernel family ---------------------------===//
//
// Owns: the table from family name to its check, made from templates/Families.def:
// a row without verify<CamelName> does not link.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_FAMILYCHECKS_H
#define NVFP4GEN_TOOLS_VERIFY_FAMILYCHECKS_H

#include "tools/verify/Target.h"
#include "tools/verify/Verify.h"

#include <span>
#include <string_view>

namespace verify {

/// One variant to check.
struct Job {
  Target &target;
  const nvfp4rt::Manifest &manifest; ///< of all families: a check may launch other families too
  const nvfp4rt::Variant &variant;
  uint64_t seed = 0;
  VariantReport &report;
  /// Set on one variant of each kernel: run what needs to run only once a kernel, and say what.
  KernelReport *kernelReport = nullptr;

  /// Keep the first fault.
  void fault(std::string message) {
    if (!report.firstFault)
      report.firstFault = std::move(message);
  }
};

/// Launches and compares; everything it finds is in job.report.
using FamilyCheck = void (*)(Job &job);

struct FamilyEntry {
  std::string_view name;
  FamilyCheck check;
};

/// All families, in registry order.
std::span<const FamilyEntry> familyEntries();

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_FAMILYCHECKS_H
