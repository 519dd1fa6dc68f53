//===- Quantize.cpp ---------------------------------------------------------===//

#include "templates/fragments/Quantize.h"

namespace nvfp4gen::fragments {

namespace {
constexpr double kMaxCode = 6.0;    // e2m1
constexpr double kMaxScale = 448.0; // E4M3FN
constexpr uint32_t kMagnitudes = 0x77777777u;
constexpr uint32_t kSigns = 0x88888888u;
} // namespace

llvm::SmallVector<Val> liftPacked(KernelBuilder &kb, DType dtype, llvm::ArrayRef<Val> words) {
  llvm::SmallVector<Val> x;
  for (Val word : words) {
    if (dtype == DType::BF16) {
      x.push_back(kb.bitcast(word << 16, kb.f32Type()));
      x.push_back(kb.bitcast(word & 0xFFFF0000u, kb.f32Type()));
    } else {
      for (Val half : {word, lshr(word, 16)})
        x.push_back(kb.fpext(kb.bitcast(kb.trunc(half, kb.i16Type()), kb.f16Type())));
    }
  }
  return x;
}

QuantizedLane quantize(KernelBuilder &kb, llvm::ArrayRef<Val> x) {
  // |x| clamped to the largest value a group can hold. Nothing changes by it: above 6 * 448 the
  // scale is 448 (F4) and the code is 6 (F5). It turns infinities into numbers, and v_med3 turns
  // NaN into 0, which is what F4 and F7 want of a NaN.
  Val zero = kb.f32(0.0);
  Val limit = kb.f32(kMaxCode * kMaxScale);
  llvm::SmallVector<Val> magnitude;
  for (Val value : x)
    magnitude.push_back(kb.fmed3(kb.fabs(value), zero, limit));

  Val amax = magnitude[0];
  for (Val value : llvm::drop_begin(magnitude))
    amax = kb.fmax(amax, value);
  amax = kb.fmax(amax, kb.dpp(amax, Dpp::QuadXor1));

  // F4. amax has at most 11 significant bits, a rounding boundary of E4M3 at most 5, so amax/6 is
  // either exactly on a boundary or at least 2^-19 away from it, relatively: multiplying by
  // fl(1/6), whose relative error is 2^-25, rounds to the boundary exactly in the first case and
  // stays on its side in the second.
  Val raw = kb.toE4M3(amax * kb.f32(1.0 / 6.0));
  Val scale = kb.select(ult(raw, 1), kb.i32(1), raw); // s = max(s, 2^-9)

  // F5 wants the rounding of the real quotient |x|/s. v_rcp_f32 is a few ulp off and a product
  // with the reciprocal misses ties, so one Newton step corrects it: the remainder is exact in an
  // fma, and the corrected quotient is the correctly rounded one, exact at every tie.
  Val s = kb.fromE4M3(scale);
  Val reciprocal = kb.rcp(s);
  llvm::SmallVector<Val> quotient;
  for (auto [value, m] : llvm::zip(x, magnitude)) {
    Val estimate = m * reciprocal;
    Val remainder = kb.fma(kb.fneg(estimate), s, m);
    quotient.push_back(kb.copysign(kb.fma(remainder, reciprocal, estimate), value));
  }

  Val codes = kb.i32(0);
  for (unsigned i = 0; i < kElementsPerLane / 2; ++i)
    codes = kb.packE2M1(codes, quotient[2 * i], quotient[2 * i + 1], i); // F2
  // F6: adding 7 to a magnitude reaches bit 3 of its nibble unless the magnitude is 0.
  Val nonZero = ((codes & kMagnitudes) + kMagnitudes) & kSigns;
  return {codes & (nonZero | kMagnitudes), scale};
}

Val gatherScales(KernelBuilder &kb, Val scale, Val lane) {
  Val dword = scale << ((lane << 2) & 24); // byte (lane / 2) % 4
  dword = dword | kb.dpp(dword, Dpp::QuadXor2);
  return dword | kb.dpp(dword, Dpp::RowHalfMirror);
}

} // namespace nvfp4gen::fragments
