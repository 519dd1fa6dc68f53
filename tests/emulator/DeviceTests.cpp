//===- DeviceTests.cpp - compiled device C against the same C on the host -------------===//

#include "tests/emulator/Fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

// The host's build of device/Same.cpp.
unsigned hostGlobalId;
extern "C" {
void sameInteger(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
void sameFloat(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
void sameDouble(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
void sameHalf(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
void sameRecursion(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
}

namespace gfx950emu::test {
namespace {

using SameKernel = void (*)(uint32_t *, const uint32_t *, const uint32_t *, uint32_t);

struct SameCase {
  const char *name;
  SameKernel host;
};

/// Device C at the levels of device/CMakeLists.txt.
class Same : public ::testing::TestWithParam<std::tuple<SameCase, const char *>> {};

/// Values where arithmetic is decided at an edge.
constexpr uint32_t edges[] = {
    0,          1,          2,          0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x3f800000,
    0xbf800000, 0x00800000, 0x007fffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3c003c00,
    0x7bff7bff, 0x04000001, 0x03ff03ff, 0x4b000000, 0x4effffff, 0xcf000000, 0x00000400, 0x33000000,
    0x477fefff, 0x477ff000, 0x38800000, 0x387fc000, 0x7ff00000, 0x00100000, 0x000fffff, 0xfff00001,
};

TEST_P(Same, DeviceAndHostGiveTheSameBytes) {
  const auto &[test, level] = GetParam();
  constexpr uint32_t n = 5000; // not a multiple of a wave
  Device device(std::string("Same.") + level);
  uint32_t *a = device.buffer<uint32_t>(n), *b = device.buffer<uint32_t>(n),
           *out = device.buffer<uint32_t>(8 * n);
  Random random(7);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t count = std::size(edges);
    bool edge = i < count * count;
    a[i] = edge ? edges[i % count] : random.next32();
    b[i] = edge ? edges[i / count] : random.next32();
    if (!edge && i % 3 == 0) // exponents near each other
      b[i] = (b[i] & 0x807fffff) | ((a[i] & 0x7f800000) + (random.next32() % 9 << 23)) % 0x7f800000;
  }
  auto stats = device.launch(test.name, {(n + 63) / 64, 1, 1}, {64, 1, 1},
                             Args().add(out).add(a).add(b).add(n));
  ASSERT_TRUE(bool(stats)) << faultOf(stats.takeError()).message;
  EXPECT_EQ(stats->waves, (n + 63) / 64);
  std::vector<uint32_t> expected(8 * n);
  for (hostGlobalId = 0; hostGlobalId < n; ++hostGlobalId)
    test.host(expected.data(), a, b, n);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < 8 * n; ++i)
    if (expected[i] != out[i] && wrong++ < 5)
      ADD_FAILURE() << "item " << i / 8 << " word " << i % 8 << " a " << std::hex << a[i / 8]
                    << " b " << b[i / 8] << " expected " << expected[i] << " found " << out[i];
  EXPECT_EQ(wrong, 0u);
}

std::string sameName(const ::testing::TestParamInfo<Same::ParamType> &info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Same,
                         ::testing::Combine(::testing::Values(SameCase{"sameInteger", sameInteger},
                                                              SameCase{"sameFloat", sameFloat},
                                                              SameCase{"sameDouble", sameDouble},
                                                              SameCase{"sameHalf", sameHalf},
                                                              SameCase{"sameRecursion",
                                                                       sameRecursion}),
                                            ::testing::Values("O1", "O3", "GlobalISel")),
                         sameName);

// Flushed f32 denormals change nothing in these.
INSTANTIATE_TEST_SUITE_P(Flush, Same,
                         ::testing::Combine(::testing::Values(SameCase{"sameInteger", sameInteger},
                                                              SameCase{"sameHalf", sameHalf},
                                                              SameCase{"sameRecursion",
                                                                       sameRecursion}),
                                            ::testing::Values("Flush")),
                         sameName);

/// Kernels of waves: expected values from plain loops here.
class Waves : public ::testing::TestWithParam<const char *> {
protected:
  Waves() : device(std::string("Waves.") + GetParam()) {}
  uint32_t *input(uint32_t n) {
    uint32_t *p = device.buffer<uint32_t>(n);
    Random random(n);
    for (uint32_t i = 0; i < n; ++i)
      p[i] = random.next32();
    return p;
  }
  Device device;
};
INSTANTIATE_TEST_SUITE_P(Levels, Waves, ::testing::Values("O1", "O3", "GlobalISel", "Flush"));

TEST_P(Waves, DppPermuteSwizzleAndSwap) {
  constexpr uint32_t n = 1024;
  uint32_t *in = input(n), *sums = device.buffer<uint32_t>(n / 64),
           *out = device.buffer<uint32_t>(n);
  auto r = device.launch("waveReduce", {4, 1, 1}, {256, 1, 1}, Args().add(sums).add(out).add(in));
  ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  for (uint32_t w = 0; w < n / 64; ++w) {
    const uint32_t *v = in + 64 * w;
    EXPECT_EQ(sums[w], std::accumulate(v, v + 64, 0u));
    for (uint32_t l = 0; l < 64; ++l) {
      uint32_t x = l < 32 ? v[l] : 3 * v[l - 32], y = l < 32 ? v[l + 32] : 3 * v[l];
      ASSERT_EQ(out[64 * w + l], v[63 - l] * 5 + v[l ^ 1] * 7 + x * 11 + y * 13) << "lane " << l;
    }
  }
}

TEST_P(Waves, LdsAndBarriers) {
  constexpr uint32_t n = 1024;
  uint32_t *in = input(n), *out = device.buffer<uint32_t>(n);
  for (uint64_t seed : {0, 1, 99}) { // any wave order
    device.options.seed = seed;
    auto r = device.launch("blockReverse", {4, 1, 1}, {256, 1, 1}, Args().add(out).add(in));
    ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
    auto second = [&](uint32_t base, uint32_t i) { return in[base + 255 - i] + in[base + i]; };
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t base = i / 256 * 256, item = i % 256;
      ASSERT_EQ(out[i], in[base + 255 - item] ^ second(base, item ^ 64)) << i;
    }
    r = device.launch("blockScan", {4, 1, 1}, {256, 1, 1}, Args().add(out).add(in));
    ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
    for (uint32_t base = 0; base < n; base += 256)
      for (uint32_t i = 0; i < 256; ++i)
        ASSERT_EQ(out[base + i], std::accumulate(in + base, in + base + i + 1, 0u)) << base + i;
  }
}

TEST_P(Waves, Atomics) {
  constexpr uint32_t n = 4096;
  uint32_t *in = input(n), *counters = device.buffer<uint32_t>(25);
  uint64_t *wide = device.buffer<uint64_t>(1);
  device.options.threads = 4;
  counters[17] = ~0u;
  auto r = device.launch("atomics", {n / 128, 1, 1}, {128, 1, 1},
                         Args().add(counters).add(wide).add(in));
  ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  std::vector<uint32_t> expected(20);
  uint64_t sum = 0;
  expected[17] = ~0u;
  for (uint32_t i = 0; i < n; ++i) {
    ++expected[in[i] & 15];
    expected[16] = std::max(expected[16], in[i]);
    expected[17] = std::min(expected[17], in[i]);
    expected[18] ^= in[i];
    expected[19] |= 1u << (in[i] & 31);
    sum += uint64_t(in[i]) << 16;
  }
  EXPECT_EQ(std::vector<uint32_t>(counters, counters + 20), expected);
  EXPECT_EQ(*wide, sum);
  EXPECT_EQ(counters[24], 4u);
  for (uint32_t s = 0; s < 4; ++s)
    EXPECT_EQ(in[counters[20 + s] - 1] & 3, s);
}

TEST_P(Waves, LdsAtomics) {
  constexpr uint32_t n = 3000;
  uint32_t *in = input(n), *out = device.buffer<uint32_t>(64);
  auto r = device.launch("ldsHistogram", {1, 1, 1}, {192, 1, 1}, Args().add(out).add(in).add(n));
  ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < n; ++i)
    ++expected[in[i] & 63];
  EXPECT_EQ(std::vector<uint32_t>(out, out + 64), expected);
}

/// Nearest code of a small format: exhaustive search, ties to the even code.
template <unsigned E, unsigned M> double smallValue(unsigned code) {
  constexpr int bias = (1 << (E - 1)) - 1;
  int exponent = int(code >> M), mantissa = int(code & ((1 << M) - 1));
  return exponent ? std::ldexp(1 + double(mantissa) / (1 << M), exponent - bias)
                  : std::ldexp(double(mantissa) / (1 << M), 1 - bias);
}
template <unsigned E, unsigned M> unsigned nearestCode(double v, unsigned largest) {
  unsigned best = 0;
  for (unsigned c = 1; c <= largest; ++c) {
    double here = std::fabs(smallValue<E, M>(c) - v), there = std::fabs(smallValue<E, M>(best) - v);
    if (here < there || (here == there && c % 2 == 0))
      best = c;
  }
  return best;
}

TEST(Narrow, Fp4AndFp8ByBuiltins) {
  constexpr uint32_t items = 512;
  for (const char *level : {"O1", "O3", "GlobalISel", "Flush"})
    for (float scale : {1.0f, 0.25f, 8.0f}) {
      Device device(std::string("Narrow.") + level);
      uint32_t *fp4 = device.buffer<uint32_t>(items), *fp8 = device.buffer<uint32_t>(2 * items);
      float *back = device.buffer<float>(12 * items), *in = device.buffer<float>(8 * items);
      Random random(3);
      for (uint32_t i = 0; i < 8 * items; ++i) {
        // Midpoints of fp4 and of fp8, their neighbours, and random values of all sizes.
        float v = std::ldexp(float(int32_t(random.next32())), -int(random.next32() % 40));
        float mid = 0.25f * float(random.next32() % 30) * scale;
        uint32_t nudge = random.next32() % 3;
        if (i % 2)
          v = std::bit_cast<float>(std::bit_cast<uint32_t>(mid) + (mid != 0 ? nudge - 1 : 0));
        in[i] = i % 5 == 0 ? -v : v;
      }
      auto r = device.launch("narrow", {items / 64, 1, 1}, {64, 1, 1},
                             Args().add(fp4).add(fp8).add(back).add(in).add(scale));
      ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
      for (uint32_t i = 0; i < 8 * items; ++i) {
        double v = std::fabs(double(in[i]));
        uint32_t sign = std::signbit(in[i]);
        uint32_t code4 = fp4[i / 8] >> (4 * (i % 8)) & 15;
        uint32_t expected4 = nearestCode<2, 1>(v / double(scale), 7) | sign << 3;
        ASSERT_EQ(code4, expected4) << in[i] << " scale " << scale;
        uint32_t code8 = fp8[i / 4] >> (8 * (i % 4)) & 0xff;
        // 464 is the midpoint between 448 and what would be 480: at or below rounds to 448.
        uint32_t expected8 = (v > 464 ? 0x7f : nearestCode<4, 3>(v, 0x7e)) | sign << 7;
        ASSERT_EQ(code8, expected8) << in[i];
        double decoded = (sign ? -1 : 1) * smallValue<2, 1>(expected4 & 7) * double(scale);
        ASSERT_EQ(double(back[i / 8 * 12 + i % 8]), decoded);
      }
      for (uint32_t i = 0; i < items; ++i)
        for (uint32_t k = 0; k < 4; ++k) {
          uint32_t e = k < 2 ? k : k + 4;
          uint32_t code = fp8[2 * i + e / 4] >> (8 * (e % 4)) & 0xff;
          float found = back[12 * i + 8 + k];
          if ((code & 0x7f) == 0x7f)
            EXPECT_TRUE(std::isnan(found));
          else
            EXPECT_EQ(double(found), ((code & 0x80 ? -1 : 1) * smallValue<4, 3>(code & 0x7f)));
        }
    }
}

} // namespace
} // namespace gfx950emu::test
