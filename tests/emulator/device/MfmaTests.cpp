//===- MfmaTests.cpp - every MFMA shape against a plain matrix product ---------------===//

#include "tests/emulator/device/Table.h"

#include <bit>
#include <cmath>

namespace gfx950emu::test {
namespace {

constexpr uint32_t inputs(uint32_t m, uint32_t k, uint32_t blocks) {
  return blocks * (2 * m * k + m * m);
}

/// Integers from -3 to 3: exact in every format, and so are their sums.
void smallIntegers(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i)
    in[i] = uint32_t(int32_t(random.next32() % 7) - 3);
}

/// All of int8 for A and B, all of int32 for C: sums wrap.
template <uint32_t M, uint32_t K> void allIntegers(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i)
    in[i] = i < 2 * M * K ? uint32_t(int32_t(int8_t(random.next32()))) : random.next32();
}

template <uint32_t M, uint32_t K, uint32_t Blocks, bool Integer> void product(const Data &d) {
  for (uint32_t n = 0; n < Blocks; ++n) {
    const uint32_t *a = d.in + n * M * K, *b = d.in + Blocks * M * K + n * K * M;
    for (uint32_t i = 0; i < M; ++i)
      for (uint32_t j = 0; j < M; ++j) {
        uint32_t cell = (n * M + i) * M + j, sum = d.in[2 * Blocks * M * K + cell];
        for (uint32_t k = 0; k < K; ++k)
          sum += a[i * K + k] * b[k * M + j];
        d.out[cell] = Integer ? sum : std::bit_cast<uint32_t>(float(int32_t(sum)));
      }
  }
}

/// Scales 2^-2 to 2^2 by their biased exponents, after A, B and C.
template <uint32_t M, uint32_t K>
void scaledIntegers(uint32_t *in, uint32_t words, Random &random) {
  smallIntegers(in, words, random);
  for (uint32_t i = inputs(M, K, 1); i < words; ++i)
    in[i] = 125 + random.next32() % 5;
}

/// 25 pairs of formats, of which each gives the same product.
template <uint32_t M, uint32_t K, bool Scaled> void formatPairs(const Data &d) {
  const uint32_t *a = d.in, *b = a + M * K, *c = b + K * M;
  const uint32_t *sa = c + M * M, *sb = sa + M * K / 32;
  for (uint32_t i = 0; i < M; ++i)
    for (uint32_t j = 0; j < M; ++j) {
      double sum = int32_t(c[i * M + j]);
      for (uint32_t k = 0; k < K; ++k) {
        int32_t product = int32_t(a[i * K + k] * b[k * M + j]);
        int scale = Scaled ? int(sa[i * K / 32 + k / 32] + sb[j * K / 32 + k / 32]) - 254 : 0;
        sum += std::ldexp(double(product), scale);
      }
      for (uint32_t pair = 0; pair < 25; ++pair)
        d.out[(pair * M + i) * M + j] = std::bit_cast<uint32_t>(float(sum));
    }
}

#define DENSE(NAME, M, K, BLOCKS)                                                                  \
  Row {                                                                                            \
    "Mfma", #NAME, 1, 64, inputs(M, K, BLOCKS), BLOCKS * M * M, smallIntegers,                     \
        product<M, K, BLOCKS, false>                                                               \
  }
#define INTEGER(NAME, M, K)                                                                        \
  Row { "Mfma", #NAME, 1, 64, inputs(M, K, 1), M *M, allIntegers<M, K>, product<M, K, 1, true> }
#define PAIRS(NAME, M, K)                                                                          \
  Row { "Mfma", #NAME, 1, 64, inputs(M, K, 1), 25 * M *M, smallIntegers, formatPairs<M, K, false> }
#define SCALED(NAME, M, K)                                                                         \
  Row {                                                                                            \
    "Mfma", #NAME, 1, 64, inputs(M, K, 1) + 2 * M *K / 32, 25 * M *M, scaledIntegers<M, K>,        \
        formatPairs<M, K, true>                                                                    \
  }

INSTANTIATE_TEST_SUITE_P(
    Mfma, Kernels,
    ::testing::Combine(
        ::testing::Values(DENSE(f32_16x16x4, 16, 4, 1), DENSE(f16_16x16x16, 16, 16, 1),
                          DENSE(f16_16x16x32, 16, 32, 1), DENSE(f16_32x32x16, 32, 16, 1),
                          DENSE(f16_4x4x4, 4, 4, 16), DENSE(bf16_16x16x16, 16, 16, 1),
                          DENSE(fp8_16x16x32, 16, 32, 1), INTEGER(i8_16x16x32, 16, 32),
                          INTEGER(i8_16x16x64, 16, 64), PAIRS(f8f6f4_16x16x128, 16, 128),
                          PAIRS(f8f6f4_32x32x64, 32, 64), SCALED(scaled_16x16x128, 16, 128),
                          SCALED(scaled_32x32x64, 32, 64)),
        ::testing::ValuesIn(levels)),
    rowName);

// GlobalISel of LLVM 22 does not translate these two.
INSTANTIATE_TEST_SUITE_P(Bfloat, Kernels,
                         ::testing::Combine(::testing::Values(DENSE(bf16_16x16x32, 16, 32, 1),
                                                              DENSE(bf16_32x32x16, 32, 16, 1)),
                                            ::testing::Values("O1", "O3", "Flush")),
                         rowName);

} // namespace
} // namespace gfx950emu::test
