//===- ScalarInterpreter.h - the plain loop that the emulator is compared with ------------===//
//
// Owns an interpreter of the same decoded instructions that works lane by lane, with no
// vectors and no caches: a switch over the operation, a loop over the lanes, operands by
// bank and index. It knows what the kernels of the benchmark need and checks nothing.
//
//===------------------------------------------------------------------------------===//
#ifndef GFX950EMU_BENCH_SCALARINTERPRETER_H
#define GFX950EMU_BENCH_SCALARINTERPRETER_H

#include "tools/gfx950emu/core/Emulator.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace gfx950emu::bench {

class ScalarInterpreter {
public:
  virtual ~ScalarInterpreter() = default;
  /// Run one workgroup of one wave; returns the instructions executed.
  virtual uint64_t run(uint32_t workgroup, const void *kernarg) = 0;
};

/// The two compilations of the same source. Both fail on a kernel that has other instructions than
/// those known here.
/// For any x86-64, as the rest of the program.
llvm::Expected<std::unique_ptr<ScalarInterpreter>> createScalar(const CodeObject &object,
                                                                const KernelInfo &kernel);
/// With the machine's scalar fused multiply-add and f16 conversion.
llvm::Expected<std::unique_ptr<ScalarInterpreter>> createScalarFma(const CodeObject &object,
                                                                   const KernelInfo &kernel);

} // namespace gfx950emu::bench

#endif // GFX950EMU_BENCH_SCALARINTERPRETER_H
