//===- PinnedTest.cpp - the pinned sets hold what they promise --------------===//

#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using oracle::DType;

namespace {

class PinnedTest : public testing::TestWithParam<DType> {
protected:
  const std::vector<oracle::PinnedSet> sets = oracle::pinnedSets(GetParam());

  const oracle::PinnedSet &set(const std::string &prefix) const {
    for (const auto &s : sets)
      if (s.name.starts_with(prefix))
        return s;
    ADD_FAILURE() << "no set " << prefix;
    return sets.front();
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, PinnedTest, testing::Values(DType::BF16, DType::FP16),
                         [](const auto &info) {
                           return info.param == DType::BF16 ? "bf16" : "fp16";
                         });

TEST_P(PinnedTest, EverySetAgreesWithTheSecondMethod) {
  size_t groups = 0;
  for (const auto &s : sets) {
    EXPECT_FALSE(s.groups.empty()) << s.name;
    for (const auto &group : s.groups)
      ASSERT_EQ(oracle::quantize(group, GetParam()), second::quantize(group, GetParam())) << s.name;
    groups += s.groups.size();
    std::cout << s.name << ": " << s.groups.size() << " groups\n";
  }
  std::cout << groups << " groups\n";
}

// Every pattern stands alone in a group; every value from s/8 to the largest amax meets its scale.
TEST_P(PinnedTest, ExhaustiveSetsAreThatAndAgreeWithTheSecondMethod) {
  const auto exhaustive = oracle::exhaustiveSets(GetParam());
  ASSERT_EQ(exhaustive.size(), 2u);
  std::set<uint16_t> alone;
  for (const auto &group : exhaustive[0].groups) {
    ASSERT_EQ(oracle::quantize(group, GetParam()), second::quantize(group, GetParam()));
    if (std::count(group.begin(), group.end(), 0) == 15)
      alone.insert(*std::max_element(group.begin(), group.end()));
  }
  EXPECT_EQ(alone.size(), 0xFFFFu); // and zero, in a group of zeros

  std::map<uint8_t, std::set<uint16_t>> values;
  for (const auto &group : exhaustive[1].groups) {
    const oracle::Group quantized = oracle::quantize(group, GetParam());
    ASSERT_EQ(quantized, second::quantize(group, GetParam()));
    values[quantized.scale].insert(group.begin(), group.end());
  }
  EXPECT_EQ(values.size(), 126u);
  for (const auto &[scale, seen] : values)
    for (uint32_t bits = 1; bits < (GetParam() == DType::BF16 ? 0x7F80 : 0x7C00); ++bits) {
      const long double x = second::value(static_cast<uint16_t>(bits), GetParam());
      if (x < second::e4m3(scale) / 8)
        continue;
      if (second::scale(x) > scale)
        break;
      ASSERT_TRUE(seen.contains(static_cast<uint16_t>(bits)) &&
                  seen.contains(static_cast<uint16_t>(bits | 0x8000)))
          << std::hex << bits << " under " << int(scale);
    }
  std::cout << exhaustive[0].groups.size() << " and " << exhaustive[1].groups.size() << " groups\n";
}

// F5: every midpoint and both neighbours, both signs, under all 126 scales (both dtypes reach them
// all, and under each scale amax can exceed 5 s, so no midpoint is out of reach).
TEST_P(PinnedTest, MidpointsOfEveryScaleAreThere) {
  std::map<uint8_t, std::set<uint16_t>> seen;
  for (const auto &group : set("F5").groups) {
    auto &values = seen[oracle::quantize(group, GetParam()).scale];
    values.insert(group.begin(), group.end());
  }
  ASSERT_EQ(seen.size(), 126u);
  for (const auto &[scale, values] : seen)
    for (long double t : {0.25L, 0.75L, 1.25L, 1.75L, 2.5L, 3.5L, 5.0L}) {
      long double product = t * second::e4m3(scale);
      // The pattern of the product: model-dtype values of the set equal to it.
      uint16_t exact = 0;
      for (uint16_t bits : values)
        if (second::value(bits, GetParam()) == product)
          exact = bits;
      ASSERT_NE(exact, 0) << "scale " << int(scale) << " t " << double(t);
      for (int step : {-1, 0, 1})
        for (int sign : {0, 0x8000})
          ASSERT_TRUE(values.contains(static_cast<uint16_t>((exact + step) | sign)))
              << "scale " << int(scale) << " t " << double(t) << " step " << step;
    }
}

// F4: every boundary between two scales, at and around.
TEST_P(PinnedTest, BoundariesOfEveryScaleAreThere) {
  std::set<long double> amaxes;
  std::set<uint8_t> scales;
  for (const auto &group : set("F4 scale midpoints").groups) {
    long double amax = 0;
    for (uint16_t bits : group)
      amax = std::fmax(amax, std::fabs(second::value(bits, GetParam())));
    amaxes.insert(amax);
    scales.insert(oracle::quantize(group, GetParam()).scale);
  }
  EXPECT_EQ(scales.size(), 126u);
  for (int byte = 0; byte < 0x7E; ++byte) {
    long double boundary = 3 * (second::e4m3(byte) + second::e4m3(byte + 1));
    auto at = amaxes.find(boundary);
    ASSERT_NE(at, amaxes.end()) << byte;
    // The neighbours lie within 2^-7 of it.
    ASSERT_LT(boundary - *std::prev(at), boundary / 127);
    ASSERT_LT(*std::next(at) - boundary, boundary / 127);
  }
}

TEST_P(PinnedTest, CornersAreThere) {
  const bool bf16 = GetParam() == DType::BF16;
  const uint16_t infinity = bf16 ? 0x7F80 : 0x7C00, quiet = bf16 ? 0x7FC0 : 0x7E00;
  std::array<std::set<uint16_t>, 16> seen; // by place
  for (const auto &s : sets)
    for (const auto &group : s.groups)
      for (size_t i = 0; i < 16; ++i)
        seen[i].insert(group[i]);
  std::vector<uint16_t> everywhere = {0, 0x8000};
  for (uint16_t bits : {infinity, quiet, static_cast<uint16_t>(infinity + 1)}) {
    everywhere.push_back(bits);
    everywhere.push_back(bits | 0x8000);
  }
  for (uint16_t bits : everywhere)
    for (size_t i = 0; i < 16; ++i)
      EXPECT_TRUE(seen[i].contains(bits)) << std::hex << bits << " at " << i;

  std::set<uint16_t> anywhere;
  for (const auto &place : seen)
    anywhere.insert(place.begin(), place.end());
  auto holds = [&](long double x) {
    return std::any_of(anywhere.begin(), anywhere.end(),
                       [&](uint16_t bits) { return second::value(bits, GetParam()) == x; });
  };
  EXPECT_TRUE(holds(std::ldexp(6.0L, -9)));
  EXPECT_TRUE(holds(2688));
  EXPECT_TRUE(holds(bf16 ? 2704 : 2700)); // 2700 has 10 significant bits
  EXPECT_TRUE(holds(bf16 ? 65280 : 65504));
  EXPECT_TRUE(anywhere.contains(static_cast<uint16_t>(infinity - 1)));
  EXPECT_TRUE(anywhere.contains(1));
}

// F2: each of the 15 codes in each of the 16 places.
TEST_P(PinnedTest, EveryCodeInEveryPlace) {
  std::set<std::pair<size_t, int>> seen;
  for (const auto &group : set("F2").groups) {
    auto quantized = oracle::quantize(group, GetParam());
    for (size_t i = 0; i < 16; ++i)
      seen.insert({i, quantized.payload[i / 2] >> (i % 2 * 4) & 15});
  }
  EXPECT_EQ(seen.size(), 16u * 15u); // code 8 (-0) does not exist
}

} // namespace
