//===- Device.h - programs compiled for gfx950 -----------------------------===//
//
// Owns the way from a module of programs to a code object: one kernel k<seed>
// for each program p<seed>, LLVM's passes and code generator, lld.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_IR_DEVICE_H
#define TESTS_EMULATOR_IR_DEVICE_H

#include "tests/emulator/ir/Program.h"

#include <functional>
#include <string>
#include <vector>

namespace irfuzz {

struct DeviceCode {
  std::vector<uint8_t> image; ///< code object
  unsigned fallbacks = 0;     ///< functions that GlobalISel left to SelectionDAG
};

/// Applied to the device's copy of a module only: plants a fault.
using Mutation = std::function<void(llvm::Module &)>;

llvm::Expected<DeviceCode> compileForDevice(const llvm::Module &programs, const Config &config,
                                            const Mutation &mutation = {});

/// Likewise, as assembly text.
llvm::Expected<std::string> deviceAssembly(const llvm::Module &programs, const Config &config,
                                           const Mutation &mutation = {});

/// Likewise, as the IR that the code generator gets.
llvm::Expected<std::string> deviceIr(const llvm::Module &programs, const Config &config);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_DEVICE_H
