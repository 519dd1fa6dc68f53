//===- ScoreTest.cpp - K1 of the host reference -----------------------------===//

#include "tests/oracle/IndexCase.h"
#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Exact.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>

using oracle::Compare;
using oracle::DType;
using oracle::IndexCase;

namespace {

constexpr float kScale = 0.08838834764831845f * 1.4426950409f;

/// fp16 RNE of a bf16 or fp16 pattern: the nearest of all fp16 numbers, ties to the even pattern.
uint16_t nearestFp16(uint16_t bits, DType dtype) {
  const long double x = std::fabs(second::value(bits, dtype));
  if (std::isnan(x))
    return 0x7E00;
  uint16_t sign = bits & 0x8000;
  if (x >= 65520)
    return sign | 0x7C00;
  int low = 0, high = 0x7C00; // value(low) <= x < value(high)
  while (high - low > 1) {
    int middle = (low + high) / 2;
    (second::value(uint16_t(middle), DType::FP16) <= x ? low : high) = middle;
  }
  if (low == 0x7BFF)
    return sign | 0x7BFF;
  const long double below = x - second::value(uint16_t(low), DType::FP16);
  const long double above = second::value(uint16_t(low + 1), DType::FP16) - x;
  return static_cast<uint16_t>(sign |
                               (below < above || (below == above && low % 2 == 0) ? low : low + 1));
}

// K1: every bf16 pattern; fp16 patterns stay as they are.
TEST(ToFp16, EveryPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t got = oracle::toFp16(uint16_t(bits), DType::BF16);
    if (std::isnan(second::value(uint16_t(bits), DType::BF16)))
      ASSERT_TRUE(std::isnan(second::value(got, DType::FP16)));
    else
      ASSERT_EQ(got, nearestFp16(uint16_t(bits), DType::BF16)) << std::hex << bits;
    ASSERT_EQ(oracle::toFp16(uint16_t(bits), DType::FP16), bits);
  }
}

/// One request of `len` tokens, one row, ones in q and k.
IndexCase ones(int32_t len, int64_t pageSize = 128) {
  IndexCase c = IndexCase::dense(1, {len}, 1, pageSize);
  c.map();
  c.fill(1);
  std::fill(c.q.begin(), c.q.end(), 0x3F80);
  std::fill(c.payload.begin(), c.payload.end(), 0x22);
  std::fill(c.scale.begin(), c.scale.end(), 0x38);
  return c;
}

/// Payload and scale row of a position of request 0.
uint8_t *payloadAt(IndexCase &c, int64_t position) {
  return c.payload.data() + (c.table[size_t(position / c.shape.pageSize)] * c.shape.pageSize +
                             position % c.shape.pageSize) *
                                64;
}
uint8_t *scaleAt(IndexCase &c, int64_t position) {
  return c.scale.data() + (payloadAt(c, position) - c.payload.data()) / 8;
}

// K1 by hand: 128 ones against ones are 128; one token with 6 * 448 in its last group adds.
TEST(IndexScore, ByHand) {
  IndexCase c = ones(300);
  payloadAt(c, 256 + 20)[63] = 0xF7; // elements 126, 127: 6 and -6
  scaleAt(c, 256 + 20)[7] = 0x40;    // the whole last group doubled: 112 + 14 * 2 + 12 - 12
  payloadAt(c, 5)[0] = 0x92;         // elements 0, 1: 1 and -0.5, not the largest of its block
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  EXPECT_EQ(c.scores, (std::vector<float>{128 * kScale, 128 * kScale, 140 * kScale}));
}

// K1: only tokens before the causal length count, and at least one does.
TEST(IndexScore, CausalEdge) {
  IndexCase c = ones(129);
  std::fill_n(payloadAt(c, 128), 64, uint8_t{0x11}); // 0.5: the only token of block 1
  std::fill_n(payloadAt(c, 129), 64, uint8_t{0x77});
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  EXPECT_EQ(c.scores[0], 128 * kScale);
  EXPECT_EQ(c.scores[1], 64 * kScale);
}

// P4, P5: tokens of pages that are none, and NaN tokens, do not count; with no other, NaN.
TEST(IndexScore, PagesOutsideThePoolAndNaNTokens) {
  for (int32_t none : {-1, 1 << 30, std::numeric_limits<int32_t>::min(), 0 /* pages */}) {
    IndexCase c = ones(384, 64);
    std::fill_n(payloadAt(c, 64 + 3), 64, uint8_t{0x77});
    std::fill_n(payloadAt(c, 7), 64, uint8_t{0x33});
    *scaleAt(c, 9) = 0x7F;
    for (int64_t t = 128; t < 256; ++t)
      scaleAt(c, t)[t % 8] = 0x7F; // block 1: NaN alone
    if (none == 0)
      none = int32_t(c.pages);
    c.table[1] = none;              // half of block 0
    c.table[4] = c.table[5] = none; // block 2
    EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
    EXPECT_EQ(c.scores[0], 1.5f * 128 * kScale);
    EXPECT_TRUE(std::isnan(c.scores[1]));
    EXPECT_TRUE(std::isnan(c.scores[2]));
    EXPECT_EQ(c.scores[3], -77.0f); // not a valid block: not written
  }
}

// K1: q is converted to fp16 first: 70000 is +inf, 2^-26 is 0.
TEST(IndexScore, QueriesOutsideFp16) {
  IndexCase c = ones(1);
  c.q[5] = 0x4789; // 70144
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  EXPECT_EQ(c.scores[0], std::numeric_limits<float>::infinity());
  std::fill(c.q.begin(), c.q.end(), 0x3280); // 2^-26
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  EXPECT_EQ(c.scores[0], 0.0f);
}

/// K1 once more, token by token in long double or in fp32 as a device would; Fault changes it.
enum class Fault {
  None,
  CausalOffByOne, ///< pos <= causal_len
  CausalShort,    ///< pos < causal_len - 1
  NaNWins,
  NoPageCheck,  ///< an id outside the pool is read as page 0
  HighNibble,   ///< element 2j in the high nibble
  GroupShifted, ///< scale of the next group
  NoFp16,       ///< q as it is
  LastDropped,  ///< element 127
  FirstHead,    ///< q of head 0 for every head
  NoScale,      ///< score_scale forgotten
  SumNotMax,    ///< the last token in place of the largest
};
constexpr int kFaults = int(Fault::SumNotMax) + 1;

/// F8, each value worked out once.
long double keyValue(int code, uint8_t scale) {
  static std::array<std::array<long double, 16>, 256> known;
  static std::array<bool, 256> done;
  if (!done[scale])
    for (int n = 0; n < 16; ++n) {
      const long double magnitude = scale == 0x7F
                                        ? std::numeric_limits<long double>::quiet_NaN()
                                        : second::kMagnitudes[size_t(n & 7)] * second::e4m3(scale);
      known[scale][size_t(n)] = n & 8 ? -magnitude : magnitude;
    }
  done[scale] = true;
  return known[scale][size_t(code)];
}

template <typename Accumulator>
void secondScores(IndexCase &c, Fault fault, std::vector<float> &scores) {
  const int64_t heads = c.shape.indexHeads;
  for (uint32_t row = 0; row < c.rows; ++row)
    for (int64_t head = 0; head < heads; ++head) {
      std::array<long double, 128> q;
      for (size_t d = 0; d < 128; ++d) {
        const uint16_t bits =
            c.q[(row * size_t(heads) + size_t(fault == Fault::FirstHead ? 0 : head)) * 128 + d];
        q[d] = fault == Fault::NoFp16
                   ? second::value(bits, c.shape.dtype)
                   : second::value(nearestFp16(bits, c.shape.dtype), DType::FP16);
      }
      for (int64_t block = 0; block * 128 < c.stepRows[row].causal_len; ++block) {
        Accumulator best = -std::numeric_limits<Accumulator>::infinity();
        bool any = false;
        int64_t end = c.stepRows[row].causal_len + (fault == Fault::CausalOffByOne) -
                      (fault == Fault::CausalShort);
        for (int64_t pos = block * 128; pos < std::min(end, block * 128 + 128); ++pos) {
          int64_t page = c.table[size_t(c.stepRows[row].request * c.tableWidth +
                                        std::min(pos / c.shape.pageSize, c.tableWidth - 1))];
          if (page < 0 || page >= c.pages) {
            if (fault != Fault::NoPageCheck)
              continue;
            page = 0;
          }
          const size_t token = size_t(page * c.shape.pageSize + pos % c.shape.pageSize);
          Accumulator sum = 0;
          for (size_t d = 0; d < (fault == Fault::LastDropped ? 127u : 128u); ++d) {
            uint8_t pair = c.payload[token * 64 + d / 2];
            bool high = (d % 2 == 1) != (fault == Fault::HighNibble);
            uint8_t byte = c.scale[token * 8 + (d / 16 + (fault == Fault::GroupShifted)) % 8];
            sum += Accumulator(q[d] * keyValue(high ? pair >> 4 : pair & 15, byte));
          }
          if (std::isnan(sum) && fault != Fault::NaNWins)
            continue;
          any = true;
          if (!(sum <= best) || fault == Fault::SumNotMax)
            best = sum;
        }
        float score = any ? float(Accumulator(best)) : std::numeric_limits<float>::quiet_NaN();
        scores[size_t((head * c.rows + row) * c.scoreRow + block)] =
            fault == Fault::NoScale ? score : score * c.scoreArgs().score_scale;
      }
    }
}

/// Queries of all magnitudes, keys of any codes under any scale: not exact. NaN keys, pages that
/// are none, poison past every length.
IndexCase rough(uint64_t seed, uint32_t queryLen, int64_t pageSize, int64_t heads, DType dtype) {
  IndexCase c = IndexCase::dense(queryLen, {300, 0, 129, 1, 517}, 3, pageSize, heads, dtype);
  c.map();
  c.fill(seed);
  oracle::Random random(seed);
  const auto groups = oracle::randomGroups(dtype, c.q.size() / 16, seed);
  for (size_t i = 0; i < c.q.size(); ++i)
    c.q[i] = groups[i / 16][i % 16];
  for (uint8_t &byte : c.scale)
    byte = static_cast<uint8_t>(1 + random.below(0x7E));
  for (size_t i = 0; i < 3; ++i)
    c.scale[random.below(c.scale.size())] = 0x7F;
  c.table[size_t(c.tableWidth * 4)] = c.table[size_t(c.tableWidth * 4 + 1)] = -1;
  if (dtype == DType::BF16) { // too large, too small and too fine for fp16
    c.q[3] = 0x4789;
    for (size_t d = 128 * size_t(heads); d < 256 * size_t(heads) && d < c.q.size(); ++d)
      c.q[d] = uint16_t(0x3300 | (c.q[d] & 0x80FF));
  }
  return c;
}

// K1 in exact arithmetic agrees; exact data say so, rough data do not.
TEST(IndexScore, SecondMethodAgrees) {
  for (DType dtype : {DType::BF16, DType::FP16})
    for (int64_t pageSize : {16, 64, 128, 256})
      for (int64_t heads : {1, 2}) {
        IndexCase c = IndexCase::dense(3, {300, 0, 129, 1, 517}, 3, pageSize, heads, dtype);
        c.map();
        c.fill(7);
        std::vector<float> expected = c.scores;
        secondScores<long double>(c, Fault::None, expected);
        ASSERT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
        ASSERT_EQ(c.scores, expected);
        ASSERT_EQ(oracle::checkScores(c.shape, c.scoreArgs(), Compare::Exact), std::nullopt);
        // fp32 sums of such data are exact as well.
        secondScores<float>(c, Fault::None, c.scores);
        ASSERT_EQ(c.scores, expected);

        IndexCase d = rough(9, 2, pageSize, heads, dtype);
        secondScores<long double>(d, Fault::None, d.scores);
        ASSERT_EQ(oracle::checkScores(d.shape, d.scoreArgs(), Compare::Bounded), std::nullopt);
        secondScores<float>(d, Fault::None, d.scores);
        ASSERT_EQ(oracle::checkScores(d.shape, d.scoreArgs(), Compare::Bounded), std::nullopt);
        ASSERT_TRUE(oracle::checkScores(d.shape, d.scoreArgs(), Compare::Exact));
        ASSERT_FALSE(oracle::indexScore(d.shape, d.scoreArgs()));
      }
}

class ScoreFault : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, ScoreFault, testing::Range(0, kFaults));

// The bounded comparison sees every fault on rough data, in either dtype where it exists.
TEST_P(ScoreFault, IsSeenWithinTheBound) {
  const Fault fault = Fault(GetParam());
  IndexCase c = rough(21, 2, 64, 2, DType::BF16);
  secondScores<float>(c, fault, c.scores);
  EXPECT_EQ(oracle::checkScores(c.shape, c.scoreArgs(), Compare::Bounded).has_value(),
            fault != Fault::None);
}

// The bound is not slack: 4 bounds away is seen, and the bound is what the issue says.
TEST(IndexScore, BoundIsTight) {
  IndexCase c = rough(3, 1, 128, 1, DType::FP16);
  auto args = c.scoreArgs();
  size_t seen = 0;
  oracle::visitScores(c.shape, args, [&](uint32_t, int64_t, int64_t, const oracle::Score &score) {
    if (score.exact || std::isnan(score.value))
      return;
    ++seen;
    EXPECT_LT(score.low, score.value);
    EXPECT_LT(score.value, score.high);
    EXPECT_TRUE(score.allows(float(score.value)));
    EXPECT_FALSE(score.allows(float(score.value + 4 * (score.high - score.value))));
    EXPECT_FALSE(score.allows(float(score.value - 4 * (score.value - score.low))));
  });
  EXPECT_GT(seen, 5u);
  // One token, q = k = 1 + 2^-10 in every element would be exact; take 2^-10 and 448 in one row.
  IndexCase one = IndexCase::dense(1, {1}, 1, 128, 1, DType::FP16);
  one.map();
  one.fill(1);
  std::fill(one.q.begin(), one.q.end(), uint16_t(0x3C01)); // 1 + 2^-10
  std::fill_n(payloadAt(one, 0), 64, uint8_t{0x77});
  std::fill_n(scaleAt(one, 0), 8, uint8_t{0x7E});
  one.q[0] = 0x0001; // 2^-24: the sum needs more than 24 bits
  oracle::visitScores(
      one.shape, one.scoreArgs(), [&](uint32_t, int64_t, int64_t, const oracle::Score &score) {
        const double sum = 2688 * (127 * (1 + std::ldexp(1, -10)) + std::ldexp(1, -24));
        EXPECT_FALSE(score.exact);
        EXPECT_DOUBLE_EQ(score.value, sum * kScale);
        EXPECT_DOUBLE_EQ(score.high, sum * (1 + std::ldexp(40, -24)) * kScale);
        EXPECT_DOUBLE_EQ(score.low, sum * (1 - std::ldexp(40, -24)) * kScale);
      });
}

// P5: whatever lies past the causal length changes nothing.
TEST(IndexScore, PoisonedTail) {
  IndexCase c = IndexCase::dense(2, {300}, 1, 128);
  c.map();
  c.fill(5);
  oracle::indexScore(c.shape, c.scoreArgs());
  const auto clean = c.scores;
  for (int64_t t = 300; t < 384; ++t) {
    std::fill_n(payloadAt(c, t), 64, uint8_t{0x77});
    std::fill_n(scaleAt(c, t), 8, uint8_t(t % 2 ? 0x7F : 0x7E));
  }
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  EXPECT_EQ(c.scores, clean);
}

// 16 columns over 128 blocks: quick enough for thousands of comparisons.
TEST(IndexScore, Speed) {
  IndexCase c = IndexCase::dense(8, {128 * 128}, 4, 128, 2);
  c.map();
  c.fill(2);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::cout << "16 columns, 128 blocks: " << time.count() << " s\n";
}

} // namespace
