//===- QuantizeArithmeticTest.cpp - why the quantizer's arithmetic is exact -===//
//
// The emulator runs the quantizer with one model of v_rcp_f32; the device's bits are
// not published. These tests walk through every model-dtype value and every scale
// with the reciprocal off by up to 4 ulp either way, so that the claims made in
// templates/fragments/Quantize.cpp hold for any reciprocal the device may have.
//
//===------------------------------------------------------------------------===//

#include "tools/oracle/Oracle.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace {

/// Every finite value >= 0 of a dtype, not above 6 * 448 (the quantizer clamps there).
std::vector<float> magnitudes(oracle::DType dtype) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 0x8000; ++bits) {
    float value = 0;
    if (dtype == oracle::DType::BF16) {
      value = std::bit_cast<float>(bits << 16);
    } else {
      uint32_t exponent = bits >> 10, mantissa = bits & 0x3FF;
      if (exponent == 31)
        continue;
      value = exponent ? std::ldexp(float(1024 + mantissa), int(exponent) - 25)
                       : std::ldexp(float(mantissa), -24);
    }
    if (value <= 2688.0f) // false for NaN
      values.push_back(value);
  }
  return values;
}

/// Distance from `value` to the nearest E4M3 number is found by search: the exact RNE of value / 6.
uint8_t nearestScaleOfSixth(double value) {
  uint8_t best = 0;
  for (unsigned byte = 0; byte <= 0x7E; ++byte) {
    // |value / 6 - s| compared without the division: |value - 6 s| is exact in double.
    double distance = std::fabs(value - 6 * oracle::dequantize(2 /* 1.0 */, uint8_t(byte)));
    double bestDistance = std::fabs(value - 6 * oracle::dequantize(2, best));
    if (distance < bestDistance || (distance == bestDistance && !(byte & 1)))
      best = uint8_t(byte);
  }
  return best;
}

/// E4M3 RNE of an fp32 value in [0, 448], as v_cvt_pk_fp8_f32 is specified.
uint8_t scaleOf(float value) {
  uint8_t best = 0;
  for (unsigned byte = 0; byte <= 0x7E; ++byte) {
    double distance = std::fabs(double(value) - oracle::dequantize(2, uint8_t(byte)));
    double bestDistance = std::fabs(double(value) - oracle::dequantize(2, best));
    if (distance < bestDistance || (distance == bestDistance && !(byte & 1)))
      best = uint8_t(byte);
  }
  return best;
}

class Arithmetic : public testing::TestWithParam<oracle::DType> {};

// F4: rounding fl(amax * fl(1/6)) to E4M3 is rounding the real quotient.
TEST_P(Arithmetic, SixthByMultiplication) {
  const float sixth = float(1.0 / 6.0);
  for (float amax : magnitudes(GetParam()))
    ASSERT_EQ(scaleOf(amax * sixth), nearestScaleOfSixth(amax)) << amax;
}

/// The code of a quotient by F5's thresholds on an fp32 value: what v_cvt_scalef32_pk_fp4_f32 does.
unsigned codeOf(float q) {
  return q > 5.f      ? 7
         : q >= 3.5f  ? 6
         : q > 2.5f   ? 5
         : q >= 1.75f ? 4
         : q > 1.25f  ? 3
         : q >= .75f  ? 2
         : q > .25f   ? 1
                      : 0;
}
/// F5 on the real quotient: |x| against t * s, which is exact in double.
unsigned exactCode(double x, double s) {
  return x > 5 * s       ? 7
         : x >= 3.5 * s  ? 6
         : x > 2.5 * s   ? 5
         : x >= 1.75 * s ? 4
         : x > 1.25 * s  ? 3
         : x >= .75 * s  ? 2
         : x > .25 * s   ? 1
                         : 0;
}

/// Codes that are wrong with a reciprocal `ulps` off, with or without the Newton step.
uint64_t wrongCodes(oracle::DType dtype, int ulps, bool newton) {
  std::vector<float> values = magnitudes(dtype);
  uint64_t wrong = 0;
  for (unsigned byte = 1; byte <= 0x7E; ++byte) {
    float s = float(oracle::dequantize(2, uint8_t(byte)));
    float reciprocal = std::bit_cast<float>(std::bit_cast<uint32_t>(1.0f / s) + uint32_t(ulps));
    for (float x : values) {
      float quotient = x * reciprocal;
      if (newton)
        quotient = std::fma(std::fma(-quotient, s, x), reciprocal, quotient);
      wrong += codeOf(quotient) != exactCode(x, s);
    }
  }
  return wrong;
}

// F5: the corrected quotient gives the exact code for every value and scale, whatever v_rcp_f32 is.
TEST_P(Arithmetic, CorrectedQuotientIsExactForAnyReciprocal) {
  for (int ulps : {-4, -2, -1, 0, 1, 2, 4})
    EXPECT_EQ(wrongCodes(GetParam(), ulps, true), 0u) << ulps << " ulp";
}

// The fault the correction is there for: without it even a correctly rounded reciprocal misses
// ties.
TEST_P(Arithmetic, PlainReciprocalMissesTies) { EXPECT_GT(wrongCodes(GetParam(), 0, false), 0u); }

INSTANTIATE_TEST_SUITE_P(Quantize, Arithmetic,
                         testing::Values(oracle::DType::BF16, oracle::DType::FP16),
                         [](const auto &info) {
                           return info.param == oracle::DType::BF16 ? "bf16" : "fp16";
                         });

} // namespace
