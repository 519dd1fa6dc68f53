//===- QuantizeTest.cpp - F2..F8 exhaustively, against a second method ------===//

#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Oracle.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

using oracle::DType;
using oracle::Group;

namespace {

class QuantizeTest : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, QuantizeTest, testing::Values(DType::BF16, DType::FP16),
                         [](const auto &info) {
                           return info.param == DType::BF16 ? "bf16" : "fp16";
                         });

uint8_t codeAt(const Group &group, size_t element) {
  return element % 2 ? group.payload[element / 2] >> 4 : group.payload[element / 2] & 15;
}

// F4, F7: every pattern as the only value of a group, in a place that changes.
TEST_P(QuantizeTest, EveryPatternAsAmaxHasTheNearestScale) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    std::array<uint16_t, 16> group{};
    group[bits % 16] = static_cast<uint16_t>(bits);
    Group got = oracle::quantize(group, GetParam());
    long double x = second::value(static_cast<uint16_t>(bits), GetParam());
    ASSERT_EQ(got.scale, second::scale(std::isnan(x) ? 0 : std::fabs(x))) << std::hex << bits;
    ASSERT_EQ(got, second::quantize(group, GetParam())) << std::hex << bits;
    ASSERT_TRUE(got.scale >= 0x01 && got.scale <= 0x7E) << std::hex << bits; // F7
  }
}

// F5: every value up to the largest amax of every scale, both signs, under every scale.
TEST_P(QuantizeTest, EveryValueUnderEveryScale) {
  const DType dtype = GetParam();
  const uint32_t infinity = dtype == DType::BF16 ? 0x7F80 : 0x7C00;
  uint32_t top = 0, scales = 0;
  for (int scale = 1; scale <= 0x7E; ++scale) {
    // Patterns up to `top` have scales up to `scale`.
    while (top + 1 < infinity &&
           second::scale(second::value(static_cast<uint16_t>(top + 1), dtype)) <= scale)
      ++top;
    if (second::scale(second::value(static_cast<uint16_t>(top), dtype)) != scale)
      continue;
    ++scales;
    for (uint32_t first = 0; first <= top; first += 15) {
      std::array<uint16_t, 16> group{};
      group[0] = static_cast<uint16_t>(top);
      for (uint32_t i = 0; i < 15; ++i)
        group[i + 1] = static_cast<uint16_t>(std::min(first + i, top) | (i % 2 ? 0x8000 : 0));
      Group got = oracle::quantize(group, dtype);
      ASSERT_EQ(got.scale, scale);
      for (size_t i = 0; i < 16; ++i) {
        ASSERT_EQ(codeAt(got, i), second::code(second::value(group[i], dtype), got.scale))
            << std::hex << group[i] << " under scale " << scale;
        // F5's promise: a correctly rounded fp32 division gives the same code.
        float quotient =
            float(std::fabs(second::value(group[i], dtype))) / float(second::e4m3(got.scale));
        int index = second::nearest(std::fmin(quotient, 6.0f), 8,
                                    [](int n) { return second::kMagnitudes[size_t(n)]; });
        ASSERT_EQ(codeAt(got, i) & 7, index) << std::hex << group[i] << " under " << scale;
      }
    }
  }
  EXPECT_EQ(scales, 126u); // both dtypes reach every scale
}

TEST_P(QuantizeTest, RandomGroupsAgreeWithTheSecondMethod) {
  std::set<uint8_t> scales;
  for (const auto &group : oracle::randomGroups(GetParam(), 20000, 7)) {
    Group got = oracle::quantize(group, GetParam());
    ASSERT_EQ(got, second::quantize(group, GetParam()));
    scales.insert(got.scale);
  }
  EXPECT_GT(scales.size(), 60u);
}

TEST_P(QuantizeTest, RandomGroupsRepeatAndFollowTheSeed) {
  EXPECT_EQ(oracle::randomGroups(GetParam(), 64, 1), oracle::randomGroups(GetParam(), 64, 1));
  EXPECT_NE(oracle::randomGroups(GetParam(), 64, 1), oracle::randomGroups(GetParam(), 64, 2));
}

TEST_P(QuantizeTest, ValueIsExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    long double expected = second::value(static_cast<uint16_t>(bits), GetParam());
    double got = oracle::value(static_cast<uint16_t>(bits), GetParam());
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(got)
                                     : got == expected && std::signbit(got) == (bits >= 0x8000))
        << std::hex << bits;
  }
}

// F8 against a table of products, and its promise for every reader.
TEST(Dequantize, ProductsAreExactInBothModelDtypes) {
  for (int scale = 1; scale <= 0x7E; ++scale)
    for (uint8_t code = 0; code < 16; ++code) {
      double got = oracle::dequantize(code, static_cast<uint8_t>(scale));
      double expected = double(second::kMagnitudes[code & 7] * second::e4m3(scale));
      ASSERT_EQ(std::fabs(got), expected);
      ASSERT_EQ(std::signbit(got), code >= 8);
      if (expected == 0)
        continue;
      ASSERT_TRUE(expected >= std::ldexp(1, -10) && expected <= 2688);
      int exponent;
      double scaled = std::ldexp(std::frexp(expected, &exponent), 6);
      ASSERT_EQ(scaled, std::floor(scaled)) << "more than 6 significant bits";
      // Normal in fp16 (>= 2^-14) and in bf16, so 6 bits fit both.
      ASSERT_EQ(double(float(_Float16(expected))), expected);
      uint32_t word = std::bit_cast<uint32_t>(float(expected));
      ASSERT_EQ(word & 0xFFFF, 0u) << "not a bf16 value";
    }
}

TEST(Dequantize, ScaleBytesThatAreNeverWritten) {
  EXPECT_TRUE(std::isnan(oracle::dequantize(0, 0x7F)));
  EXPECT_TRUE(std::isnan(oracle::dequantize(7, 0xFF)));
  EXPECT_EQ(oracle::dequantize(7, 0x00), 0);
  EXPECT_EQ(oracle::dequantize(2, 0xB8), -1); // E4M3FN has a sign bit
}

// Bytes written down by hand from F2..F7.
TEST(Quantize, NibbleOrder) {
  // bf16: 0.5 1 1.5 2 3 4 6 0, then their negatives (the zero as -0).
  const std::array<uint16_t, 16> x = {0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040, 0x4080,
                                      0x40C0, 0x0000, 0xBF00, 0xBF80, 0xBFC0, 0xC000,
                                      0xC040, 0xC080, 0xC0C0, 0x8000};
  const Group expected{0x38, {0x21, 0x43, 0x65, 0x07, 0xA9, 0xCB, 0xED, 0x0F}};
  EXPECT_EQ(oracle::quantize(x, DType::BF16), expected);
}

TEST(Quantize, TiesOfF5) {
  // fp16, amax 6: .25 .75 1.25 1.75 2.5 3.5 5 and the next value above each.
  const std::array<uint16_t, 16> x = {0x3400, 0x3A00, 0x3D00, 0x3F00, 0x4100, 0x4300,
                                      0x4500, 0x4600, 0x3401, 0x3A01, 0x3D01, 0x3F01,
                                      0x4101, 0x4301, 0x4501, 0x0000};
  // 0 1 1 2 2 4 4 6 | .5 1 1.5 2 3 4 6 0
  const Group expected{0x38, {0x20, 0x42, 0x64, 0x76, 0x21, 0x43, 0x65, 0x07}};
  EXPECT_EQ(oracle::quantize(x, DType::FP16), expected);
}

TEST(Quantize, CornersOfF4AndF7) {
  auto one = [](uint16_t bits, DType dtype) {
    std::array<uint16_t, 16> x{};
    x[3] = bits;
    return oracle::quantize(x, dtype);
  };
  const Group zero{0x01, {}};
  EXPECT_EQ(one(0x0000, DType::BF16), zero);
  EXPECT_EQ(one(0x8000, DType::BF16), zero);
  EXPECT_EQ(one(0x0001, DType::BF16), zero);                     // smallest denormal
  EXPECT_EQ(one(0x7FC0, DType::BF16), zero);                     // NaN
  EXPECT_EQ(one(0xFF81, DType::BF16), zero);                     // signalling NaN
  EXPECT_EQ(one(0x7F80, DType::BF16), (Group{0x7E, {0, 0x70}})); // +Inf
  EXPECT_EQ(one(0xFC00, DType::FP16), (Group{0x7E, {0, 0xF0}})); // -Inf
  EXPECT_EQ(one(0x7BFF, DType::FP16), (Group{0x7E, {0, 0x70}})); // 65504
  EXPECT_EQ(one(0x4528, DType::BF16), (Group{0x7E, {0, 0x70}})); // 2688
  EXPECT_EQ(one(0x3C40, DType::BF16), (Group{0x01, {0, 0x70}})); // 6 * 2^-9
  EXPECT_EQ(one(0x3C90, DType::BF16), (Group{0x02, {0, 0x60}})); // 9 * 2^-9: tie, even byte
  EXPECT_EQ(one(0x3BC0, DType::BF16), (Group{0x01, {0, 0x50}})); // 3 * 2^-9: floor
}

} // namespace
