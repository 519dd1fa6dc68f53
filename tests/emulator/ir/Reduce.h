//===- Reduce.h - the smallest program that still fails --------------------===//
#ifndef TESTS_EMULATOR_IR_REDUCE_H
#define TESTS_EMULATOR_IR_REDUCE_H

#include "llvm/IR/Module.h"

#include <functional>
#include <memory>

namespace irfuzz {

/// Drop stores, branches and instructions of `module` as long as `fails` says that what is left
/// still fails. Guards stay as they are, so every program tried is defined. `fails` only sees
/// modules that verify.
std::unique_ptr<llvm::Module> reduce(const llvm::Module &module,
                                     const std::function<bool(const llvm::Module &)> &fails);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_REDUCE_H
