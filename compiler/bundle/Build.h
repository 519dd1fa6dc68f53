//===- Build.h - from a spec to a bundle ------------------------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_BUILD_H
#define NVFP4GEN_COMPILER_BUNDLE_BUILD_H

#include "compiler/bundle/Cache.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/variants/Variants.h"
#include "runtime/bundle/Manifest.h"

#include <functional>
#include <string>
#include <vector>

namespace nvfp4gen {

/// Where a kernel's code came from.
enum class Origin : uint8_t { Compiled, CachedObject, CachedBundle };

/// One kernel as it was built.
struct KernelReport {
  std::string symbol;
  double seconds = 0;  ///< template to object, or to the object in the cache
  size_t variants = 0; ///< guards that this kernel serves
  uint32_t codeBytes = 0;
  Origin origin = Origin::Compiled;
  unsigned repairs = 0; ///< instructions that this build put wait states before, against hazards
};

/// What links the kernels.
enum class Backend : uint8_t {
  LLD,   ///< in process
  Comgr, ///< ROCm's library, which also has to read the kernels' metadata back
};

inline constexpr unsigned kMaxJobs = 1024;

struct BuildOptions {
  unsigned jobs = 0; ///< kernels lowered at once; 0 = one a core
  /// Called after each kernel, from the thread that built it, one call at a time.
  std::function<void(const KernelReport &)> progress = nullptr;
  LoweringOptions lowering = {};
  Backend backend = Backend::LLD;
  Cache *cache = nullptr; ///< borrowed; null compiles everything
  /// Asked before each kernel, from any thread; true ends the build with operation_canceled.
  std::function<bool()> cancelled = nullptr;
};

struct Bundle {
  std::string bytes; ///< the whole file
  nvfp4rt::Manifest manifest;
  std::vector<KernelReport> kernels; ///< sorted by symbol
  double linkSeconds = 0;            ///< link, manifest, digest and read-back
  double lintSeconds = 0;            ///< of the linked code; 0 for a bundle from the cache
  size_t lintWarnings = 0;           ///< in the linked code; not counted of a bundle from the cache
  double totalSeconds = 0;
  size_t count(Origin origin) const;
  unsigned repairs() const; ///< of all kernels
};

/// Build every kernel of `list`, check each against rule G7 and the lint, which repairs hazards or
/// refuses the kernel, link them, add the manifest, and open
/// the result with the runtime's own checks. All refused kernels are reported at once.
///
/// With a cache, a bundle that this very generator has built of the same spec is taken as it is;
/// else each kernel whose template emits the same MLIR as before is. Both give the same bytes as a
/// build without. `spec.sha256` stands for all of the spec.
llvm::Expected<Bundle> buildBundle(const Spec &spec, const VariantList &list,
                                   const BuildOptions &options);

/// Every kernel of `list` at one stage: (symbol, text or object bytes), sorted by symbol. Objects
/// have passed the lint; the stages before them are as LLVM emits them.
llvm::Expected<std::vector<std::pair<std::string, std::string>>>
emitKernels(const Spec &spec, const VariantList &list, Stage stage, const BuildOptions &options);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_BUILD_H
