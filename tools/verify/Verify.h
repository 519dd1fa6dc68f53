//===- Verify.h - run every variant of a bundle against the oracle ----------===//
//
// Owns: the entry point of `nvfp4gen verify`, what it reports, and the two
// printed forms of the report.
//
// Each variant is launched through the runtime (libnvfp4rt and HIP, the emulator's
// or ROCm's) with requests at both ends of its guard; every byte of the memory it
// may write, gaps included, is compared with the oracle's: bit for bit where the
// rule is exact, within the rule's bound where it is not.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_VERIFY_H
#define NVFP4GEN_TOOLS_VERIFY_VERIFY_H

#include "runtime/bundle/Manifest.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace verify {

using nvfp4rt::Error;
using nvfp4rt::Result;

class Target;

/// What one variant showed.
struct VariantReport {
  std::string name, family, symbol;
  nvfp4rt::Guard guard;
  nvfp4rt::Resources resources;
  uint64_t launches = 0;
  uint64_t values = 0;           ///< compared with the oracle: elements, scores, ids, keys, entries
  uint64_t pinnedValues = 0;     ///< of `values`: pinned inputs; 0 where another variant ran them
  uint64_t bytesCompared = 0;    ///< canaries included
  uint64_t mismatchingBytes = 0; ///< canaries included
  /// Largest error as a share of the rule's bound. Where a rule is exact: 0, or infinity when a
  /// value is wrong.
  double worstError = 0;
  std::vector<std::string> skipped;      ///< checks that could not run, each with its reason
  std::optional<std::string> firstFault; ///< the first mismatch or failed call, in words
  double seconds = 0;
  bool passed() const { return !firstFault; }
};

/// Checks that run once a kernel, because they do not depend on the shape guard.
struct KernelReport {
  std::string symbol;
  std::string variant; ///< the variant whose launches carried them
  struct Set {
    std::string name;
    uint64_t values = 0; ///< kv_store: in each tensor
  };
  std::vector<Set> pinnedSets; ///< inputs that ran once a kernel
  bool usesPools = false;      ///< the family reads or writes pools
  /// The largest pools whose addresses were checked; 0 when the device had no room for any that
  /// pass 2^32 bytes.
  int64_t poolPages = 0;
  uint64_t poolBytes = 0; ///< of all planes
};

struct Report {
  std::string bundle, buildId, specName, arch;
  std::string device; ///< HIP library and device that ran the kernels
  uint64_t seed = 0;
  std::string checks;  ///< that the emulator ran the kernels under; empty: not said
  unsigned orders = 1; ///< of workgroups and waves in which each launch ran
  std::vector<KernelReport> kernels;
  std::vector<VariantReport> variants; ///< in manifest order
  double seconds = 0;
  bool passed() const;
};

struct VerifyOptions {
  std::string bundlePath;
  std::string family;     ///< only this family; empty = all
  std::string hipLibrary; ///< empty = the runtime's own search
  uint64_t seed = 1;      ///< of random inputs and slots
  int device = 0;
  /// What the HIP library was told through its environment, for the report.
  std::string checks;
  unsigned orders = 1;
  /// Called after each variant, for progress; may be empty.
  std::function<void(const VariantReport &, size_t done, size_t total)> onVariant;
};

/// Run everything. An error means that nothing could be run (bundle, library or device); a variant
/// that computes wrong bytes or whose launch fails is in the report. Not thread-safe: names the HIP
/// library to the runtime through the environment of the process.
Result<Report> verifyBundle(const VerifyOptions &options);

/// The same for a manifest on any target; verifyBundle is this on HIP.
Result<Report> verifyManifest(const nvfp4rt::Manifest &manifest, Target &target,
                              const VerifyOptions &options);

/// A table for people: guard terms that all variants of a family share are printed once.
std::string reportTable(const Report &report);
nlohmann::json reportJson(const Report &report);

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_VERIFY_H
