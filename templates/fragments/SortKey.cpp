//===- SortKey.cpp ----------------------------------------------------------===//

#include "templates/fragments/SortKey.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen::fragments {

Val noKey(KernelBuilder &kb) { return kb.f64(0); }
Val aboveKeys(KernelBuilder &kb) {
  return kb.bitcast(kb.i64((int64_t(1) << 52) - 1), kb.f64Type());
}

Val sortKey(KernelBuilder &kb, Val score, Val block) {
  // ordered(): negative values are inverted, the others get the sign bit; NaN is 0, below the image
  // of -inf.
  Val bits = kb.bitcast(score, kb.i32Type());
  Val ordered = bits ^ (ashr(bits, 31) | int64_t(INT32_MIN));
  ordered = kb.select(kb.isNaN(score), kb.i32(0), ordered);
  Val high = kb.funnelShiftRight(kb.i32(1), ordered, 16);
  Val low = (ordered << 16) | (block + 1);
  return kb.bits64(low, high, kb.f64Type());
}

Val scoreOf(KernelBuilder &kb, Val key) {
  llvm::SmallVector<Val> words = kb.elements(kb.bitcast(key, kb.vectorType(2, kb.i32Type())));
  Val ordered = kb.funnelShiftRight(words[1], words[0], 16);
  // Without the sign bit it was negative and inverted; 0 becomes a NaN.
  Val mask = ashr(ordered ^ -1, 31) | int64_t(INT32_MIN);
  return kb.bitcast(ordered ^ mask, kb.f32Type());
}

Val blockOf(KernelBuilder &kb, Val key) {
  return (kb.trunc(kb.bitcast(key, kb.i64Type()), kb.i32Type()) & 0xFFFF) - 1;
}

Val forcedScore(KernelBuilder &kb, Val score, Val block, Val validBlocks, Val initBlocks,
                Val localBlocks) {
  Val initial = kb.select(ult(block, initBlocks), kb.f32(1e30), score);
  return kb.select(sle(validBlocks - localBlocks, block), kb.f32(1e29), initial);
}

namespace {

/// Largest first.
void compareExchange(KernelBuilder &kb, Val &a, Val &b) {
  Val larger = kb.fmaxNumber(a, b);
  b = kb.fminNumber(a, b);
  a = larger;
}

/// Half-cleaners of a bitonic list, from distance `distance` down to 1.
void cleanBitonic(KernelBuilder &kb, Keys &keys, size_t begin, size_t length) {
  for (size_t distance = length / 2; distance >= 1; distance /= 2)
    for (size_t i = begin; i < begin + length; ++i)
      if (((i - begin) & distance) == 0)
        compareExchange(kb, keys[i], keys[i + distance]);
}

} // namespace

Keys insert(KernelBuilder &kb, const Keys &list, Val before, Val key) {
  Keys result;
  for (Val entry : list) {
    result.push_back(kb.fmaxNumber(entry, kb.fminNumber(before, key)));
    before = entry;
  }
  return result;
}

Keys sortDescending(KernelBuilder &kb, Keys keys) {
  assert(llvm::isPowerOf2_64(keys.size()));
  for (size_t length = 2; length <= keys.size(); length *= 2)
    for (size_t begin = 0; begin < keys.size(); begin += length) {
      // Two descending halves: the second one, read backwards, makes them bitonic.
      for (size_t i = 0; i < length / 2; ++i)
        compareExchange(kb, keys[begin + i], keys[begin + length - 1 - i]);
      cleanBitonic(kb, keys, begin, length / 2);
      cleanBitonic(kb, keys, begin + length / 2, length / 2);
    }
  return keys;
}

Keys mergeTop(KernelBuilder &kb, const Keys &a, const Keys &b) {
  assert(a.size() == b.size() && llvm::isPowerOf2_64(a.size()));
  Keys top;
  for (size_t i = 0; i < a.size(); ++i)
    top.push_back(kb.fmaxNumber(a[i], b[b.size() - 1 - i]));
  cleanBitonic(kb, top, 0, top.size());
  return top;
}

Keys mergeTopOfWave(KernelBuilder &kb, Keys list) {
  // Each step doubles the lanes that share one list, so a mirror does for an exchange by xor.
  for (Dpp control : {Dpp::QuadXor1, Dpp::QuadXor2, Dpp::RowHalfMirror, Dpp::RowMirror}) {
    Keys other;
    for (Val key : list)
      other.push_back(kb.dpp(key, control));
    list = mergeTop(kb, list, other);
  }
  for (auto swap : {&KernelBuilder::swapRows16, &KernelBuilder::swapHalves}) {
    Keys first, second;
    for (Val key : list) {
      auto [a, b] = (kb.*swap)(key, key, std::source_location::current());
      first.push_back(a);
      second.push_back(b);
    }
    list = mergeTop(kb, first, second);
  }
  return list;
}

} // namespace nvfp4gen::fragments
