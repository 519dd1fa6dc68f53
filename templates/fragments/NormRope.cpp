//===- NormRope.cpp ---------------------------------------------------------===//

#include "templates/fragments/NormRope.h"

#include "templates/fragments/Quantize.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace nvfp4gen::fragments {

namespace {

using Vals = KernelBuilder::Vals;

constexpr double kHeadDim = kLanesPerHead * kElementsPerLane;
constexpr int64_t kInfinity = 0x7F800000; ///< bits in fp32

/// Sum of x^2 over the 16 lanes, the same bits in each: every step adds the same two numbers in
/// both lanes that exchange them.
Val sumOfSquares(KernelBuilder &kb, llvm::ArrayRef<Val> x) {
  // Two chains, half as deep.
  Val even = x[0] * x[0], odd = x[1] * x[1];
  for (unsigned i = 2; i < kElementsPerLane; i += 2) {
    even = kb.fma(x[i], x[i], even);
    odd = kb.fma(x[i + 1], x[i + 1], odd);
  }
  Val sum = even + odd;
  for (Dpp step : {Dpp::QuadXor1, Dpp::QuadXor2, Dpp::RowHalfMirror, Dpp::RowMirror})
    sum = sum + kb.dpp(sum, step);
  return sum;
}

/// Lane `lane ^ distance` of the 16.
Val exchange(KernelBuilder &kb, Val value, unsigned distance) {
  switch (distance) {
  case 1:
    return kb.dpp(value, Dpp::QuadXor1);
  case 2:
    return kb.dpp(value, Dpp::QuadXor2);
  case 4: // 4 = 3 ^ 7
    return kb.dpp(kb.dpp(value, Dpp::QuadXor3), Dpp::RowHalfMirror);
  default:
    assert(distance == 8 && "a power of two inside 16 lanes");
    return kb.dpp(value, Dpp::RowRotate8);
  }
}

} // namespace

Vals normFactors(KernelBuilder &kb, DType dtype, llvm::ArrayRef<Vals> heads, Val eps) {
  Vals sums = llvm::map_to_vector(heads, [&](const Vals &x) { return sumOfSquares(kb, x); });
  Vals factors = llvm::map_to_vector(
      sums, [&](Val sum) { return kb.rsq(kb.fma(sum, kb.f32(1 / kHeadDim), eps)); });
  // 128 squares of fp16 are below 2^39.
  if (dtype == DType::FP16)
    return factors;

  // A sum that overflowed has the factor 0, as no other has. It is computed again from x * 2^-68,
  // below 128 * 2^(2 * (128 - 68)) = 2^127. The factor is then between 2^-128 and 2^-60; as a
  // subnormal number it still has 21 bits. What underflows in a square is nothing beside this sum,
  // which is at least 2^(128 - 136).
  auto bits = [&](Val value) { return kb.bitcast(value, kb.i32Type()); };
  Val most = bits(sums.front()); // sums are not negative, so their bits are in their order
  for (Val sum : llvm::drop_begin(sums))
    most = smax(most, bits(sum));
  return kb.ifElse(
      sle(kb.i32(kInfinity), most),
      [&] {
        Val down = kb.f32(std::ldexp(1, -68));
        Vals result;
        for (auto [x, factor] : llvm::zip_equal(heads, factors)) {
          Val scaled = sumOfSquares(kb, llvm::map_to_vector(x, [&](Val v) { return v * down; }));
          Val again = kb.rsq(kb.fma(scaled, kb.f32(1 / kHeadDim), eps * down * down)) * down;
          result.push_back(kb.select(eq(bits(factor), 0), again, factor));
        }
        return result;
      },
      [&] { return factors; });
}

Rotation loadRotation(KernelBuilder &kb, int64_t rotaryDim, Val cacheRow, Val headLane) {
  Rotation rotation;
  if (rotaryDim == 0)
    return rotation;
  rotation.distance = unsigned(rotaryDim / 2 / kElementsPerLane);
  assert(llvm::isPowerOf2_32(rotation.distance) && rotation.distance < kLanesPerHead);
  // Lanes of both halves, and those past rotary_dim, name the same bytes.
  Val place = kb.zext(headLane & int64_t(rotation.distance - 1), kb.i64Type()) << 5;
  // Not loadConstant: LLVM sinks such loads to their use, behind all that they should overlap with.
  auto load8 = [&](int64_t bytes) {
    Vals values;
    for (int64_t half : {0, 16})
      values.append(kb.elements(kb.load(kb.vectorType(4, kb.f32Type()),
                                        kb.offset(cacheRow, place + (bytes + half)), 16)));
    return values;
  };
  rotation.cos = load8(0);
  Val second = ne(headLane & int64_t(rotation.distance), 0);
  for (Val sine : load8(rotaryDim * 2))
    rotation.sin.push_back(kb.select(second, sine, kb.fneg(sine)));
  rotation.turned = ult(headLane, int64_t(2 * rotation.distance));
  return rotation;
}

Vals turn(KernelBuilder &kb, const Rotation &rotation, llvm::ArrayRef<Val> x) {
  if (rotation.distance == 0)
    return Vals(x);
  bool whole = 2 * rotation.distance == kLanesPerHead;
  Vals result;
  for (auto [i, value] : llvm::enumerate(x)) {
    Val partner = exchange(kb, value, rotation.distance);
    Val turned = kb.fma(value, rotation.cos[i], partner * rotation.sin[i]);
    // Not by a sine of 0: the product with an infinite partner would be NaN.
    result.push_back(whole ? turned : kb.select(rotation.turned, turned, value));
  }
  return result;
}

Vals roundPacked(KernelBuilder &kb, DType dtype, llvm::ArrayRef<Val> x) {
  Vals words;
  for (unsigned i = 0; i < kElementsPerLane; i += 2)
    words.push_back(kb.packRounded(dtype, x[i], x[i + 1]));
  return words;
}

} // namespace nvfp4gen::fragments
