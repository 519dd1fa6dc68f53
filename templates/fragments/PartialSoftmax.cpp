//===- PartialSoftmax.cpp ---------------------------------------------------===//

#include "templates/fragments/PartialSoftmax.h"

#include <limits>

namespace nvfp4gen::fragments {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

llvm::SmallVector<Val> PartialSoftmax::values() const {
  llvm::SmallVector<Val> result = {max, sum};
  result.append(acc);
  return result;
}

PartialSoftmax PartialSoftmax::of(llvm::ArrayRef<Val> values) {
  return {values[0], values[1], llvm::SmallVector<Val>(values.drop_front(2))};
}

PartialSoftmax PartialSoftmax::none(KernelBuilder &kb, unsigned vectors) {
  return {kb.f32(-kInfinity), kb.f32(0),
          llvm::SmallVector<Val>(vectors, kb.zero(kb.vectorType(4, kb.f32Type())))};
}

Val four(KernelBuilder &kb, Val value) { return kb.pack(llvm::SmallVector<Val>(4, value)); }

Val finiteMax(KernelBuilder &kb, Val max) {
  return kb.select(flt(kb.f32(-kInfinity), max), max, kb.f32(0));
}

PartialSoftmax merge(KernelBuilder &kb, const PartialSoftmax &a, const PartialSoftmax &b) {
  PartialSoftmax result;
  result.max = kb.fmax(a.max, b.max);
  Val base = finiteMax(kb, result.max);
  Val factorA = kb.exp2(a.max - base), factorB = kb.exp2(b.max - base);
  result.sum = kb.fma(a.sum, factorA, b.sum * factorB);
  Val fourA = four(kb, factorA), fourB = four(kb, factorB);
  for (auto [x, y] : llvm::zip_equal(a.acc, b.acc))
    result.acc.push_back(kb.fma(x, fourA, y * fourB));
  return result;
}

llvm::SmallVector<Val> normalize(KernelBuilder &kb, const PartialSoftmax &partial) {
  Val inverse = kb.select(flt(kb.f32(0), partial.sum), kb.rcp(partial.sum), kb.f32(0));
  llvm::SmallVector<Val> result;
  for (Val vector : partial.acc)
    result.append(kb.elements(kb.fma(vector, four(kb, inverse), four(kb, kb.f32(0)))));
  return result;
}

} // namespace nvfp4gen::fragments
