//===- Host.h - programs compiled for and run on this machine --------------===//
//
// Owns LLVM's JIT for x86-64. Code is generated without optimization, so the
// two sides of a comparison share as little as they can. Operations that x86
// has no instruction for are done by APFloat.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_IR_HOST_H
#define TESTS_EMULATOR_IR_HOST_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace irfuzz {

using HostFunction = void (*)(const void *input, const void *uniform, void *output, void *lds);

class HostPrograms {
public:
  /// `programs` is a module as Program.h makes them.
  static llvm::Expected<HostPrograms> compile(const llvm::Module &programs);
  HostPrograms(HostPrograms &&);
  ~HostPrograms();

  llvm::Expected<HostFunction> find(llvm::StringRef name) const;

private:
  explicit HostPrograms(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_HOST_H
