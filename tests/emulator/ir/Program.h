//===- Program.h - random programs from seeds ------------------------------===//
//
// Owns the shape of a program. Program `seed` is the function
//   void p<seed>(input, uniform, output, lds)
// (address spaces 1, 4, 1, 3) in which one lane loads from its input and from
// the uniform block, computes, and stores to its output; the LDS part is its own
// too. The IR is that of the device (private memory is address space 5); on a
// host all those address spaces are the one there is.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_IR_PROGRAM_H
#define TESTS_EMULATOR_IR_PROGRAM_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>

namespace irfuzz {

/// Programs of one module share the compiler configuration; module m holds seeds from
/// m * ProgramsPerModule on.
constexpr unsigned ProgramsPerModule = 25;

/// A module for programs, with triple and data layout of the device.
std::unique_ptr<llvm::Module> emptyModule(llvm::LLVMContext &context);

/// How a module is compiled for the device.
struct Config {
  unsigned level = 0;               ///< 0, 1 or 3
  bool globalISel = false;          ///< with fallback where it cannot select
  unsigned codeObjectVersion = 600; ///< 500 or 600
  std::string text() const;
};

/// The configuration of program `seed` and its module: all six pairs of level and selector in turn.
Config configOf(uint64_t seed);

llvm::FunctionType *programType(llvm::LLVMContext &context);

/// Add program `seed` to `module`.
llvm::Function *addProgram(llvm::Module &module, uint64_t seed);

/// A copy of `module` in a context of its own.
llvm::Expected<std::unique_ptr<llvm::Module>> copyTo(llvm::LLVMContext &context,
                                                     const llvm::Module &module);

/// The seed in a program's name; none for other functions.
std::optional<uint64_t> seedOf(llvm::StringRef name);

/// Mixes seeds of programs, which are consecutive, for independent uses.
uint64_t mixed(uint64_t seed, uint64_t use);

} // namespace irfuzz

#endif // TESTS_EMULATOR_IR_PROGRAM_H
