//===- ResourceGate.h - rule G7 checked at build time -----------------------===//
#ifndef NVFP4GEN_COMPILER_LINT_RESOURCEGATE_H
#define NVFP4GEN_COMPILER_LINT_RESOURCEGATE_H

#include "compiler/bundle/ObjectInfo.h"
#include "compiler/variants/Family.h"
#include "runtime/args/ArgLayout.h"

namespace nvfp4gen {

/// LDS of a gfx950 compute unit, bytes.
inline constexpr uint32_t kMaxLdsBytes = 163840;

/// Refuses a kernel with spills, scratch, a dynamic stack, hidden arguments, more LDS than the
/// hardware has, an argument segment that is not exactly `layout`, or another workgroup size than
/// the plan's. The error names the kernel and every fault.
llvm::Error checkResources(const KernelPlan &plan, const nvfp4rt::ArgLayout &layout,
                           const KernelObject &object);

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_LINT_RESOURCEGATE_H
