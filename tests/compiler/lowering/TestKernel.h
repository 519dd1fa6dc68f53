//===- TestKernel.h - small kernels for tests of the compiler ---------------===//
//
// A kernel plan whose body the test supplies; its arguments are those of kv_store.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_COMPILER_LOWERING_TESTKERNEL_H
#define NVFP4GEN_TESTS_COMPILER_LOWERING_TESTKERNEL_H

#include "compiler/ir/KernelBuilder.h"

namespace nvfp4gen::test {

inline KernelPlan kernel(std::string symbol, std::function<void(KernelBuilder &)> emit) {
  KernelPlan plan;
  plan.symbol = std::move(symbol);
  plan.family = "kv_store";
  plan.grid[0] = {"rows", 1, 64};
  plan.block[0] = 64;
  plan.emit = std::move(emit);
  return plan;
}

inline TargetSpec target() { return {"gfx950", 5}; }

/// A kernel that keeps more values alive than there are registers for a workgroup of 16 waves (128
/// a lane): every load may alias every store, so all loads come first.
inline KernelPlan spillingKernel(std::string symbol) {
  KernelPlan plan = kernel(std::move(symbol), [](KernelBuilder &kb) {
    constexpr int kValues = 160;
    Val lane = kb.zext(kb.workitemId(0), kb.i64Type()) << 2;
    Val from = kb.offset(kb.arg("k.base"), lane), to = kb.offset(kb.arg("k_payload.base"), lane);
    std::vector<Val> values;
    for (int i = 0; i < kValues; ++i)
      values.push_back(kb.load(kb.i32Type(), kb.offset(from, 256 * i), 4));
    for (int i = 0; i < kValues; ++i)
      kb.store(values[size_t(kValues - 1 - i)], kb.offset(to, 256 * i), 4);
  });
  plan.block[0] = 1024;
  return plan;
}

/// Its twin with few live values.
inline KernelPlan copyingKernel(std::string symbol) {
  return kernel(std::move(symbol), [](KernelBuilder &kb) {
    Val lane = kb.zext(kb.workitemId(0), kb.i64Type()) << 2;
    Val value = kb.load(kb.i32Type(), kb.offset(kb.arg("k.base"), lane), 4);
    kb.store(value, kb.offset(kb.arg("k_payload.base"), lane), 4);
  });
}

} // namespace nvfp4gen::test

#endif // NVFP4GEN_TESTS_COMPILER_LOWERING_TESTKERNEL_H
