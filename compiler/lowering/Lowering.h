//===- Lowering.h - from a kernel plan to gfx950 machine code ---------------===//
//
// Template -> MLIR -> LLVM IR -> assembly or object. Every stage has a text form.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_LOWERING_LOWERING_H
#define NVFP4GEN_COMPILER_LOWERING_LOWERING_H

#include "compiler/variants/Family.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace nvfp4gen {

enum class Stage : uint8_t {
  MLIR,     ///< as the template emitted it (.mlir)
  LLVM,     ///< LLVM IR after optimization (.ll)
  Assembly, ///< .s
  Object,   ///< relocatable ELF (.o)
};

struct LoweringOptions {
  bool debugLines = false; ///< line tables that lead from an instruction to the template
};

/// Compile flags that change code or what is beside it; part of the build id.
std::string loweringFlags(const TargetSpec &target, const LoweringOptions &options);
/// What of a kernel's plan changes its code beside the MLIR: workgroup size, packed fp32.
std::string kernelFlags(const KernelPlan &plan);
/// "LLVM 22.1.8"
std::string toolchainVersion();

/// A kernel as its template emitted it: everything that decides its machine code except the flags,
/// those of the target (loweringFlags) and its own (kernelFlags).
/// Kernels of a build are lowered on several threads, each with a context of its own.
class EmittedKernel {
public:
  /// Run the template of `plan`, which must outlive the result.
  static llvm::Expected<EmittedKernel> emit(const KernelPlan &plan);
  EmittedKernel(EmittedKernel &&) noexcept;
  ~EmittedKernel();

  /// The module as MLIR; with `locations` also the place in a template that each line comes from.
  std::string text(bool locations) const;
  /// Text of `stage`, or the bytes of the object. Consumes the module: call once.
  llvm::Expected<std::string> lower(const TargetSpec &target, Stage stage,
                                    const LoweringOptions &options);

private:
  struct Impl;
  explicit EmittedKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Emit `plan` and lower it to `stage`. Thread-safe.
llvm::Expected<std::string> lowerKernel(const KernelPlan &plan, const TargetSpec &target,
                                        Stage stage, const LoweringOptions &options = {});

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_LOWERING_LOWERING_H
