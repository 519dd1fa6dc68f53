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
#include "tools/gfx950emu/core/Program.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gfx950emu::bench {

class ScalarInterpreter {
public:
  /// Fails on a kernel that has other instructions than those known here.
  static llvm::Expected<std::unique_ptr<ScalarInterpreter>> create(const CodeObject &object,
                                                                   const KernelInfo &kernel);

  /// Run one workgroup of one wave; returns the instructions executed.
  uint64_t run(uint32_t workgroup, const void *kernarg);

private:
  enum class Op : uint8_t;
  ScalarInterpreter() = default;
  static bool lookUp(llvm::StringRef mnemonic, Op &op);

  uint32_t read(Operand op, unsigned lane) const;
  float readFloat(Operand op, unsigned lane) const;
  template <class F> void forEachLane(const Inst &in, F compute);
  uint64_t address(const Inst &in, unsigned lane) const;
  void matrix(const Inst &in);

  const DecodedProgram *program = nullptr;
  const Inst *entry = nullptr;
  std::vector<Op> ops; ///< by instruction index
  uint32_t sgpr[SgprFileSize] = {};
  uint32_t vgpr[32][waveSize] = {};
  uint8_t lds[1024] = {};
};

} // namespace gfx950emu::bench

#endif // GFX950EMU_BENCH_SCALARINTERPRETER_H
