//===- NormRopeTest.cpp - W2 of the host reference --------------------------===//

#include "tools/oracle/NormRope.h"
#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"

#include <gtest/gtest.h>

#include <complex>

using oracle::DType;
using oracle::NormRopeShape;
using oracle::NormRopeValue;

namespace {

// The rounding under W2: both neighbours of every midpoint, the midpoint to even, values
// themselves.
TEST(RoundBits, EveryMidpoint) {
  for (DType dtype : {DType::BF16, DType::FP16}) {
    const uint16_t infinity = dtype == DType::BF16 ? 0x7F80 : 0x7C00;
    for (uint16_t bits = 0; bits < infinity; ++bits) {
      const double low = double(second::value(bits, dtype));
      const double below = double(second::value(uint16_t(bits ? bits - 1 : 1), dtype));
      const double high = bits + 1 < infinity ? double(second::value(uint16_t(bits + 1), dtype))
                                              : low + std::fabs(low - below);
      const double middle = low + (high - low) / 2;
      const uint16_t even = bits % 2 ? bits + 1 : bits;
      ASSERT_EQ(oracle::roundBits(low, dtype), bits);
      ASSERT_EQ(oracle::roundBits(-low, dtype), bits | 0x8000);
      ASSERT_EQ(oracle::roundBits(middle, dtype), even) << bits;
      ASSERT_EQ(oracle::roundBits(-middle, dtype), even | 0x8000);
      ASSERT_EQ(oracle::roundBits(std::nextafter(middle, 0), dtype), bits);
      ASSERT_EQ(oracle::roundBits(std::nextafter(middle, high), dtype), bits + 1);
    }
    EXPECT_EQ(oracle::roundBits(1e300, dtype), infinity);
    EXPECT_EQ(oracle::roundBits(-std::numeric_limits<double>::infinity(), dtype),
              infinity | 0x8000);
    EXPECT_TRUE(std::isnan(
        second::value(oracle::roundBits(std::numeric_limits<double>::quiet_NaN(), dtype), dtype)));
  }
}

std::vector<double> valuesOf(const std::vector<NormRopeValue> &result) {
  std::vector<double> values;
  for (const NormRopeValue &v : result)
    values.push_back(v.value);
  return values;
}

// W2 by hand: x = (3, 3, 4, 4): mean square 12.5, so x / sqrt(12.5); a quarter turn.
TEST(NormRope, ByHand) {
  NormRopeShape shape;
  shape.rotaryDim = 2;
  shape.eps = 0;
  const std::vector<double> x = {3, 3, 4, 4}, w = {0, 1, 0, 0.5}, quarter = {0, 1};
  const double n = std::sqrt(12.5);
  const auto turned = valuesOf(oracle::normRope(shape, x, w, quarter));
  EXPECT_DOUBLE_EQ(turned[0], -6 / n); // - partner * sin
  EXPECT_DOUBLE_EQ(turned[1], 3 / n);
  EXPECT_DOUBLE_EQ(turned[2], 4 / n);
  EXPECT_DOUBLE_EQ(turned[3], 6 / n);
  shape.gemma = false;
  shape.rotaryDim = 0;
  const auto plain = valuesOf(oracle::normRope(shape, x, w, {}));
  EXPECT_EQ(plain[0], 0);
  EXPECT_DOUBLE_EQ(plain[1], 3 / n);
  EXPECT_DOUBLE_EQ(plain[3], 2 / n);
  shape.eps = 1e-6;
  EXPECT_EQ(valuesOf(oracle::normRope(shape, std::vector<double>(4, 0.0), w, {})),
            std::vector<double>(4, 0.0));
}

// W2, one rounding of an fp32 result: one pattern, both beside a midpoint, more where RoPE cancels.
TEST(NormRope, RoundsToNoNeighbour) {
  for (DType dtype : {DType::BF16, DType::FP16}) {
    const double ulp = dtype == DType::BF16 ? 0x1p-7 : 0x1p-10; // of [1, 2)
    const uint16_t one = oracle::roundBits(1, dtype), above = one + 1,
                   infinity = oracle::roundBits(INFINITY, dtype);
    auto rounds = [&](double value, uint16_t got, double magnitude = 1) {
      return oracle::rounds({value, magnitude}, got, dtype);
    };
    EXPECT_TRUE(rounds(1, one));
    EXPECT_FALSE(rounds(1, above)) << "allows() lets this pass";
    EXPECT_TRUE(oracle::allows({1, 1}, above, dtype));
    EXPECT_FALSE(rounds(1, one - 1));
    EXPECT_FALSE(rounds(1, one | 0x8000));
    EXPECT_FALSE(rounds(1 + 0.4 * ulp, above));
    EXPECT_FALSE(rounds(1 + 0.6 * ulp, one));
    for (double off : {-0x1p-21, 0.0, 0x1p-21}) { // the midpoint, within fp32's error
      EXPECT_TRUE(rounds(1 + ulp / 2 + off, one)) << off;
      EXPECT_TRUE(rounds(1 + ulp / 2 + off, above)) << off;
    }
    EXPECT_FALSE(rounds(1 + ulp / 2 + 0x1p-19, one));
    EXPECT_FALSE(rounds(1 + ulp / 2 - 0x1p-19, above));
    // 2^-18 of terms of 2^4: fp32 knows it to 2^-16.
    EXPECT_TRUE(rounds(0x1p-18, oracle::roundBits(-0x1p-17, dtype), 16));
    EXPECT_FALSE(rounds(0x1p-18, oracle::roundBits(-0x1p-15, dtype), 16));
    EXPECT_TRUE(rounds(0, 0x8000, 0) && rounds(-0.0, 0, 0));
    EXPECT_TRUE(rounds(NAN, infinity + 1));
    EXPECT_FALSE(rounds(NAN, infinity));
    EXPECT_FALSE(rounds(1, infinity + 1));
    EXPECT_TRUE(rounds(1e300, infinity, 1e300));
    EXPECT_FALSE(rounds(1e300, infinity - 1, 1e300));
    // A weight after a number below fp32's normal ones takes its last step along.
    EXPECT_FALSE(rounds(0x1p-20, 0, 0));
    EXPECT_TRUE(oracle::rounds({0x1p-20, 0, 0x1p-22}, 0, dtype));
  }
  NormRopeShape shape;
  shape.rotaryDim = 0;
  shape.gemma = false;
  const auto result =
      oracle::normRope(shape, std::vector<double>(2, 1.0), std::vector<double>{0.5, 0x1p100}, {});
  EXPECT_EQ(result[0].underflow, 0x1p-149);
  EXPECT_EQ(result[1].underflow, 0x1p-49);
}

/// Random inputs of a launch.
struct NormRopeCase {
  NormRopeShape shape;
  std::vector<uint16_t> packed;
  std::vector<int64_t> positions, slots, indexSlots;
  std::vector<double> weights[4], cosSin;
  std::vector<uint16_t> q, indexQ;
  std::vector<uint8_t> planes[6];
  int64_t pages = 3;

  NormRopeCase(DType dtype, int64_t qHeads, int64_t kvHeads, int64_t indexHeads, int64_t rotary) {
    shape.store = {dtype, kvHeads, 128, 128, 16, true, true, true};
    shape.qHeads = qHeads;
    shape.indexHeads = indexHeads;
    shape.rotaryDim = rotary;
    positions = {7, 0, 31, 2, 9};
    slots = {5, -1, 47, 48, 16};
    indexSlots = {6, 40, -1, 3, 1000};
    oracle::Random random(uint64_t(qHeads * 10 + rotary));
    for (const auto &group : oracle::randomGroups(dtype, positions.size() * width() / 16, 3))
      packed.insert(packed.end(), group.begin(), group.end());
    for (auto &weight : weights)
      for (size_t d = 0; d < 128; ++d)
        weight.push_back(std::ldexp(double(random.below(256)) - 128, -8));
    for (int64_t position = 0; position < 32; ++position)
      for (int64_t i = 0; i < rotary; ++i) {
        const double angle =
            double(position) * std::pow(5e6, -2.0 * double(i % (rotary / 2)) / double(rotary));
        cosSin.push_back(float(i < rotary / 2 ? std::cos(angle) : std::sin(angle)));
      }
    q.assign(positions.size() * size_t(qHeads) * 128, 0xDEAD);
    indexQ.assign(positions.size() * size_t(indexHeads) * 128, 0xDEAD);
    for (size_t n = 0; n < 6; ++n)
      planes[n].assign(size_t(pages * 16 * (n < 4 ? kvHeads : 1) * (n % 2 ? 8 : 64)), 0xA5);
  }

  size_t width() const {
    const int64_t index = shape.indexHeads ? shape.indexHeads + 1 : 0;
    return size_t(shape.qHeads + 2 * shape.store.kvHeads + index) * 128;
  }
  nvfp4rt_plane plane(size_t n) {
    const int64_t row = n % 2 ? 8 : 64, heads = n < 4 ? shape.store.kvHeads : 1;
    return {planes[n].data(), 16 * heads * row, heads * row, row};
  }
  oracle::NormRopeInputs inputs() {
    oracle::NormRopeInputs in;
    in.packed = packed.data();
    in.packedStride = int64_t(width()) * 2;
    in.positions = positions.data();
    in.qWeight = weights[0];
    in.kWeight = weights[1];
    in.indexQWeight = weights[2];
    in.indexKWeight = weights[3];
    in.cosSin = cosSin;
    in.q = {q.data(), shape.qHeads * 256, 256};
    in.indexQ = {indexQ.data(), shape.indexHeads * 256, 256};
    in.cache.k_payload = plane(0);
    in.cache.k_scale = plane(1);
    in.cache.v_payload = plane(2);
    in.cache.v_scale = plane(3);
    in.cache.index_payload = plane(4);
    in.cache.index_scale = plane(5);
    in.cache.slots = slots.data();
    in.cache.index_slots = indexSlots.data();
    in.cache.pages = in.cache.index_pages = pages;
    in.cache.rows = uint32_t(positions.size());
    return in;
  }
  /// x of a head of the packed row.
  std::vector<double> head(size_t row, int64_t index) const {
    std::vector<double> x;
    for (size_t d = 0; d < 128; ++d)
      x.push_back(double(
          second::value(packed[row * width() + size_t(index) * 128 + d], shape.store.dtype)));
    return x;
  }
  std::span<const double> turn(size_t row) const {
    return std::span(cosSin).subspan(size_t(positions[row] * shape.rotaryDim),
                                     size_t(shape.rotaryDim));
  }
};

enum class Fault {
  None,
  PlainWeight,  ///< w for 1 + w
  Interleaved,  ///< partner is the neighbour (GPT-J)
  SineTurned,   ///< the turn goes the other way
  PartnerRaw,   ///< the partner is not normed
  SineFirst,    ///< the cache holds sines first
  MeanOfRotary, ///< mean over the rotary part
  NoMean,       ///< the sum of squares
  NoTurn,
  TurnsEverything ///< the turn goes over the whole head
};

/// W2 once more: complex numbers, in `Real`.
template <typename Real>
std::vector<Real> secondNormRope(const NormRopeShape &shape, const std::vector<double> &x,
                                 const std::vector<double> &w, std::span<const double> cosSin,
                                 Fault fault) {
  const size_t n = x.size();
  size_t half = size_t(shape.rotaryDim) / 2;
  Real sum = 0;
  for (size_t d = 0; d < (fault == Fault::MeanOfRotary ? 2 * half : n); ++d)
    sum += Real(x[d]) * Real(x[d]);
  const Real mean = fault == Fault::NoMean ? sum : sum / Real(n);
  std::vector<Real> y, out;
  for (size_t d = 0; d < n; ++d)
    y.push_back(Real(x[d]) / std::sqrt(mean + Real(shape.eps)) *
                (shape.gemma && fault != Fault::PlainWeight ? 1 + Real(w[d]) : Real(w[d])));
  out = y;
  if (fault == Fault::NoTurn)
    return out;
  const size_t step = half;
  if (fault == Fault::TurnsEverything)
    half = n / 2;
  for (size_t i = 0; i < half; ++i) {
    std::complex<Real> turn{static_cast<Real>(cosSin[i % step]),
                            static_cast<Real>(cosSin[step + i % step])};
    if (fault == Fault::SineTurned)
      turn = std::conj(turn);
    if (fault == Fault::SineFirst)
      turn = {turn.imag(), turn.real()};
    const size_t a = fault == Fault::Interleaved ? 2 * i : i;
    const size_t b = fault == Fault::Interleaved ? 2 * i + 1 : i + half;
    const Real partner = fault == Fault::PartnerRaw ? Real(x[b]) : y[b];
    const std::complex<Real> turned = std::complex<Real>(y[a], partner) * turn;
    out[a] = turned.real();
    out[b] = turned.imag();
  }
  return out;
}

TEST(NormRope, SecondMethodAgrees) {
  for (int64_t rotary : {64, 128, 0})
    for (bool gemma : {true, false}) {
      NormRopeCase c(DType::BF16, 4, 1, 1, rotary);
      c.shape.gemma = gemma;
      for (size_t row = 0; row < 5; ++row)
        for (int64_t head = 0; head < 4; ++head) {
          const auto got = oracle::normRope(c.shape, c.head(row, head), c.weights[0], c.turn(row));
          const auto expected = secondNormRope<long double>(c.shape, c.head(row, head),
                                                            c.weights[0], c.turn(row), Fault::None);
          for (size_t d = 0; d < 128; ++d)
            ASSERT_NEAR(got[d].value, double(expected[d]), 1e-14 * (1e-300 + got[d].magnitude));
        }
    }
}

class NormRopeFault : public testing::TestWithParam<std::tuple<DType, int>> {};
INSTANTIATE_TEST_SUITE_P(Faults, NormRopeFault,
                         testing::Combine(testing::Values(DType::BF16, DType::FP16),
                                          testing::Range(0, int(Fault::TurnsEverything) + 1)));

// fp32 arithmetic, rounded once, is allowed, and so is its quantization; every fault is not.
TEST_P(NormRopeFault, AllowsTellsFaultFromTwin) {
  const auto [dtype, number] = GetParam();
  const Fault fault = Fault(number);
  NormRopeCase c(dtype, 8, 1, 1, 64);
  size_t wrong = 0, wrongGroups = 0;
  for (size_t row = 0; row < 5; ++row)
    for (int64_t head = 0; head < 8; ++head) {
      const auto expected = oracle::normRope(c.shape, c.head(row, head), c.weights[0], c.turn(row));
      const auto got =
          secondNormRope<float>(c.shape, c.head(row, head), c.weights[0], c.turn(row), fault);
      for (size_t g = 0; g < 8; ++g) {
        std::array<uint16_t, 16> bits;
        for (size_t i = 0; i < 16; ++i) {
          bits[i] = oracle::roundBits(got[g * 16 + i], dtype);
          wrong += !oracle::allows(expected[g * 16 + i], bits[i], dtype);
        }
        wrongGroups +=
            !oracle::allows(std::span<const NormRopeValue, 16>(expected.data() + g * 16, 16),
                            oracle::quantize(bits, dtype), dtype);
      }
    }
  EXPECT_EQ(wrong != 0, fault != Fault::None);
  EXPECT_EQ(wrongGroups != 0, fault != Fault::None);
}

// One ulp is allowed, two are not; signs, NaN and infinities are not mixed up.
TEST(NormRope, AllowsOneUlp) {
  const NormRopeValue one{1.0, 1.0}, zero{0, 0}, nan{std::nan(""), 0}, tiny{1e-9, 1.0};
  const DType bf16 = DType::BF16;
  for (uint16_t bits : {0x3F7F, 0x3F80, 0x3F81})
    EXPECT_TRUE(oracle::allows(one, bits, bf16));
  for (uint16_t bits : {0x3F7E, 0x3F82, 0xBF80, 0x7FC0, 0x7F80, 0x0000})
    EXPECT_FALSE(oracle::allows(one, bits, bf16));
  for (uint16_t bits : {0x0000, 0x8000, 0x0001, 0x8001})
    EXPECT_TRUE(oracle::allows(zero, bits, bf16));
  EXPECT_FALSE(oracle::allows(zero, 0x0002, bf16));
  EXPECT_TRUE(oracle::allows(nan, 0x7FC1, bf16));
  EXPECT_FALSE(oracle::allows(nan, 0x7F80, bf16));
  EXPECT_TRUE(oracle::allows(tiny, oracle::roundBits(-5e-7, bf16), bf16)); // cancelled
  EXPECT_FALSE(oracle::allows(tiny, oracle::roundBits(2e-6, bf16), bf16));
}

TEST(NormRope, AllowsGroups) {
  std::array<NormRopeValue, 16> values{};
  std::array<uint16_t, 16> bits{};
  for (size_t i = 0; i < 16; ++i) {
    values[i].value = i == 5 ? 6 : double(i) / 4 - 2; // scale 1
    values[i].magnitude = std::fabs(values[i].value);
    bits[i] = oracle::roundBits(values[i].value, DType::BF16);
  }
  const oracle::Group good = oracle::quantize(bits, DType::BF16);
  EXPECT_EQ(good.scale, 0x38);
  EXPECT_TRUE(oracle::allows(values, good, DType::BF16));
  // 0.25 and 1.25 are ties: an ulp more gives the next code; 1 is none.
  oracle::Group next = good;
  next.payload[9 / 2] = static_cast<uint8_t>(next.payload[9 / 2] + 0x10); // element 9: 0.25
  EXPECT_TRUE(oracle::allows(values, next, DType::BF16));
  for (size_t i : {0, 3, 6})
    for (int step : {1, -1}) {
      oracle::Group wrong = good;
      wrong.payload[i] = static_cast<uint8_t>(wrong.payload[i] + step); // elements 0, 6, 12
      EXPECT_FALSE(oracle::allows(values, wrong, DType::BF16)) << i << step;
    }
  for (int step : {1, -1}) {
    oracle::Group wrong = good;
    wrong.scale = static_cast<uint8_t>(wrong.scale + step);
    EXPECT_FALSE(oracle::allows(values, wrong, DType::BF16));
  }
  oracle::Group minusZero = good;
  minusZero.payload[4] |= 8; // element 8: 0
  EXPECT_FALSE(oracle::allows(values, minusZero, DType::BF16));
  values[2].value = std::nan("");
  EXPECT_FALSE(oracle::allows(values, good, DType::BF16));
  bits[2] = 0x7FC0;
  EXPECT_TRUE(oracle::allows(values, oracle::quantize(bits, DType::BF16), DType::BF16));
}

// W2 as its rule says it: norm and RoPE rounded to model dtype, then W1 on exactly these rows.
TEST(NormRope, LaunchIsNormRopeThenKvStore) {
  for (DType dtype : {DType::BF16, DType::FP16})
    for (int64_t kvHeads : {1, 2}) {
      NormRopeCase c(dtype, 4, kvHeads, 2, 64);
      oracle::qkNormRopeStore(c.shape, c.inputs());
      std::vector<uint16_t> q, k, v, indexQ, indexK;
      auto normed = [&](std::vector<uint16_t> &to, size_t row, int64_t head, size_t weight) {
        for (const auto &value :
             oracle::normRope(c.shape, c.head(row, head), c.weights[weight], c.turn(row)))
          to.push_back(oracle::roundBits(value.value, dtype));
      };
      for (size_t row = 0; row < 5; ++row) {
        int64_t next = 0;
        for (int64_t h = 0; h < 4; ++h)
          normed(q, row, next++, 0);
        for (int64_t h = 0; h < kvHeads; ++h)
          normed(k, row, next++, 1);
        const auto from = c.packed.begin() + ptrdiff_t(row * c.width() + size_t(next) * 128);
        v.insert(v.end(), from, from + kvHeads * 128);
        next += kvHeads;
        for (int64_t h = 0; h < 2; ++h)
          normed(indexQ, row, next++, 2);
        normed(indexK, row, next++, 3);
        EXPECT_EQ(size_t(next) * 128, c.width());
      }
      EXPECT_EQ(c.q, q); // of padded rows too
      EXPECT_EQ(c.indexQ, indexQ);
      NormRopeCase staged(dtype, 4, kvHeads, 2, 64);
      nvfp4rt_kv_store_args args = staged.inputs().cache;
      args.k = {k.data(), kvHeads * 256, 256};
      args.v = {v.data(), kvHeads * 256, 256};
      args.index_k = {indexK.data(), 256, 0};
      oracle::kvStore(c.shape.store, args);
      for (size_t n = 0; n < 6; ++n)
        EXPECT_EQ(c.planes[n], staged.planes[n]);
      EXPECT_NE(c.planes[0], std::vector<uint8_t>(c.planes[0].size(), 0xA5));
    }
}

// In place: q and index_q take their own room in the packed row, the rest stays.
TEST(NormRope, InPlace) {
  NormRopeCase apart(DType::BF16, 2, 1, 1, 64), inPlace(DType::BF16, 2, 1, 1, 64);
  oracle::qkNormRopeStore(apart.shape, apart.inputs());
  auto inputs = inPlace.inputs();
  const int64_t stride = inputs.packedStride;
  inputs.q = {inPlace.packed.data(), stride, 256};
  inputs.indexQ = {inPlace.packed.data() + 4 * 128, stride, 256};
  oracle::qkNormRopeStore(inPlace.shape, inputs);
  for (size_t n = 0; n < 6; ++n)
    EXPECT_EQ(apart.planes[n], inPlace.planes[n]);
  for (size_t row = 0; row < 5; ++row)
    for (size_t d = 0; d < inPlace.width(); ++d) {
      const uint16_t expected = d < 256        ? apart.q[row * 256 + d]
                                : d / 128 == 4 ? apart.indexQ[row * 128 + d % 128]
                                               : apart.packed[row * apart.width() + d];
      ASSERT_EQ(inPlace.packed[row * inPlace.width() + d], expected);
    }
}

// A layer without the index branch: no index head in the row, index planes untouched.
TEST(NormRope, NoIndexBranch) {
  NormRopeCase c(DType::FP16, 2, 1, 0, 128);
  auto inputs = c.inputs();
  inputs.cache.index_payload = inputs.cache.index_scale = {};
  inputs.cache.index_slots = nullptr;
  inputs.indexQ = {};
  oracle::qkNormRopeStore(c.shape, inputs);
  EXPECT_NE(c.planes[1], std::vector<uint8_t>(c.planes[1].size(), 0xA5));
  EXPECT_EQ(c.planes[4], std::vector<uint8_t>(c.planes[4].size(), 0xA5));
}

// The largest finite rows: fp32 squares overflow, the result does not. F7 for what is not finite.
TEST(NormRope, HugeAndSpecialRows) {
  NormRopeShape shape;
  shape.rotaryDim = 0;
  const std::vector<double> w(128, 0.0);
  const double largest = double(second::value(0x7F7F, DType::BF16));
  for (const NormRopeValue &v : oracle::normRope(shape, std::vector<double>(128, -largest), w, {}))
    EXPECT_DOUBLE_EQ(v.value, -1);
  std::vector<double> x(128, 1.0);
  x[3] = std::numeric_limits<double>::infinity();
  auto result = oracle::normRope(shape, x, w, {});
  for (size_t d = 0; d < 128; ++d)
    EXPECT_TRUE(d == 3 ? std::isnan(result[d].value) : result[d].value == 0);
  x[3] = std::nan("");
  for (const NormRopeValue &v : oracle::normRope(shape, x, w, {}))
    EXPECT_TRUE(std::isnan(v.value));
  const auto bits = oracle::roundValues(oracle::normRope(shape, x, w, {}), DType::BF16);
  const oracle::Group group =
      oracle::quantize(std::span<const uint16_t, 16>(bits.data(), 16), DType::BF16);
  EXPECT_EQ(group, (oracle::Group{0x01, {}}));
}

} // namespace
