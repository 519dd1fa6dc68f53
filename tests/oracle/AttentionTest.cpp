//===- AttentionTest.cpp - A1..A6 of the host reference ---------------------===//

#include "tools/oracle/Attention.h"
#include "tests/oracle/SecondMethod.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using oracle::AttentionInputs;
using oracle::AttentionShape;
using oracle::Defect;
using oracle::DType;

namespace {

constexpr float kScale = 0.08838834764831845f * 1.4426950409f;
constexpr int64_t kDims = 128;

enum class Kind { Random, Peaked, Flat, Large };

/// One row of each request against K and V pools of random values behind a shuffled table.
struct AttentionCase {
  AttentionShape shape;
  int64_t pageSize, pages = 0, tableWidth = 0;
  std::vector<nvfp4rt_step_row> stepRows;
  std::vector<int32_t> table, ids;
  std::vector<uint8_t> bytes[4]; ///< K payload and scale, V payload and scale
  nvfp4rt_plane planes[4];
  std::vector<uint16_t> q;

  AttentionCase(std::vector<int32_t> lens, DType dtype, int64_t pageSize = 128, int64_t kvHeads = 1,
                int64_t groupHeads = 16, bool hnd = false)
      : shape{dtype, kvHeads, groupHeads, kDims, 128, 16, kScale}, pageSize(pageSize) {
    oracle::Random random(uint64_t(lens[0]) * 131 + uint64_t(pageSize + kvHeads));
    for (int32_t len : lens) {
      const int32_t request = int32_t(stepRows.size());
      stepRows.push_back({len > 0 ? request : -1, len, len > 0 ? request : -1, 0});
      pages += len / pageSize + 1;
      tableWidth = std::max(tableWidth, len / pageSize + 1);
    }
    table.assign(lens.size() * size_t(tableWidth), -1);
    std::vector<int32_t> order(static_cast<size_t>(pages));
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    size_t next = 0;
    for (size_t r = 0; r < lens.size(); ++r)
      for (int64_t p = 0; p <= lens[r] / pageSize; ++p)
        table[r * size_t(tableWidth) + size_t(p)] = order[next++];
    const auto groups = oracle::randomGroups(DType::BF16, 1024, 77);
    for (size_t n = 0; n < 4; ++n) {
      const int64_t row = n % 2 ? 8 : 64;
      bytes[n].resize(size_t(pages * pageSize * kvHeads * row));
      planes[n] = {bytes[n].data(), pageSize * kvHeads * row, hnd ? row : kvHeads * row,
                   hnd ? pageSize * row : row};
    }
    for (size_t n = 0; n < 4; n += 2)
      for (size_t g = 0; g < bytes[n + 1].size(); ++g) {
        const auto group = oracle::quantize(groups[random.below(groups.size())], DType::BF16);
        std::copy(group.payload.begin(), group.payload.end(), bytes[n].begin() + ptrdiff_t(g * 8));
        // Values within four binary orders: no channel outweighs all others.
        bytes[n + 1][g] = static_cast<uint8_t>(0x20 + random.below(0x20));
      }
    for (const auto &group : oracle::randomGroups(dtype, lens.size() * size_t(heads()) * 8, 5))
      for (uint16_t bits : group)
        q.push_back(oracle::roundBits(oracle::value(bits, dtype) / 32, dtype));
    for (int32_t len : lens)
      for (int64_t h = 0; h < kvHeads; ++h) {
        // Self block first, then random others in no order; -1 behind.
        std::vector<int32_t> list;
        for (int32_t b = 0; b < (len + 127) / 128; ++b)
          list.insert(list.begin() + ptrdiff_t(random.below(list.size() + 1)), b);
        list.resize(16, -1);
        ids.insert(ids.end(), list.begin(), list.end());
      }
  }

  int64_t heads() const { return shape.kvHeads * shape.groupHeads; }
  oracle::PagedTensor tensor(size_t n) const {
    return {planes[n], planes[n + 1], pages, pageSize, table.data(), tableWidth * 4};
  }
  AttentionInputs inputs() const {
    return {{q.data(), heads() * kDims * 2, kDims * 2},
            tensor(0),
            tensor(2),
            stepRows.data(),
            ids.data(),
            shape.kvHeads * 16 * 4,
            16 * 4};
  }
  uint32_t rows() const { return uint32_t(stepRows.size()); }
  std::byte *at(size_t plane, int64_t request, int64_t position, int64_t head) const {
    return oracle::at(planes[plane], *tensor(0).pageOf(request, position), position % pageSize,
                      head);
  }

  void make(Kind kind) {
    if (kind == Kind::Flat)
      std::fill(q.begin(), q.end(), 0);
    if (kind == Kind::Large) // 448 * 6 in a whole group of every key: z in the thousands
      for (int64_t token = 0; token < pages * pageSize * shape.kvHeads; ++token) {
        std::fill_n(bytes[0].begin() + ptrdiff_t(token * 64), 8, uint8_t{0x77});
        bytes[1][size_t(token * 8)] = 0x7E;
        for (size_t g = 0; g < 8; ++g) // and values up to 448 * 6
          bytes[3][size_t(token * 8) + g] =
              static_cast<uint8_t>(bytes[3][size_t(token * 8) + g] + 0x38);
      }
    if (kind == Kind::Peaked || kind == Kind::Large)
      for (uint32_t row = 0; row < rows(); ++row)
        for (int64_t head = 0; head < heads(); ++head) {
          auto to = q.begin() + ptrdiff_t((row * heads() + head) * kDims);
          if (kind == Kind::Large) {
            std::fill_n(to, 16, oracle::roundBits(1, shape.dtype));
            continue;
          }
          const int64_t len = stepRows[row].causal_len;
          if (len > 1) {
            auto bits = oracle::peakedQuery(shape, tensor(0), row, head / shape.groupHeads, len,
                                            len - 1, 0.8);
            std::copy(bits.begin(), bits.end(), to);
          }
        }
  }
};

/// As a device would: fp32, p rounded to fp16 for the product, one rounding at the end.
std::vector<uint16_t> deviceOutput(const AttentionCase &c) {
  const AttentionInputs in = c.inputs();
  std::vector<uint16_t> out;
  for (uint32_t row = 0; row < c.rows(); ++row)
    for (int64_t head = 0; head < c.heads(); ++head) {
      const int64_t kvHead = head / c.shape.groupHeads;
      float m = -std::numeric_limits<float>::infinity(), l = 0;
      std::vector<float> acc(kDims, 0.0f), z;
      std::vector<double> key(kDims), values(kDims);
      std::vector<int64_t> positions;
      for (size_t i = 0; i < 16; ++i) {
        const int32_t id = c.ids[(row * size_t(c.shape.kvHeads) + size_t(kvHead)) * 16 + i];
        for (int64_t pos = int64_t{id} * 128;
             id >= 0 && pos < std::min<int64_t>(id * 128 + 128, c.stepRows[row].causal_len);
             ++pos) {
          if (!in.k.read(row, pos, kvHead, key))
            continue;
          float dot = 0;
          for (size_t d = 0; d < kDims; ++d)
            dot += float(second::value(c.q[(row * size_t(c.heads()) + size_t(head)) * kDims + d],
                                       c.shape.dtype)) *
                   float(key[d]);
          z.push_back(dot * kScale);
          positions.push_back(pos);
          m = std::max(m, z.back());
        }
      }
      for (size_t t = 0; t < z.size(); ++t) {
        const float p = std::exp2(z[t] - m);
        l += p;
        const float half = float(oracle::value(oracle::roundBits(p, DType::FP16), DType::FP16));
        in.v.read(row, positions[t], kvHead, values);
        for (size_t d = 0; d < kDims; ++d)
          acc[d] += half * float(values[d]);
      }
      for (float a : acc)
        out.push_back(oracle::roundBits(l == 0 ? 0 : a / l, c.shape.dtype));
    }
  return out;
}

std::vector<uint16_t> rounded(const std::vector<double> &values, DType dtype) {
  std::vector<uint16_t> bits;
  for (double v : values)
    bits.push_back(oracle::roundBits(v, dtype));
  return bits;
}

std::optional<std::string> check(const AttentionCase &c, const std::vector<uint16_t> &out) {
  return oracle::checkAttention(c.shape, c.inputs(), c.rows(),
                                {out.data(), c.heads() * kDims * 2, kDims * 2});
}

// A1 by hand: z = 1 and 0 in base 2 weigh 2/3 and 1/3.
TEST(Attention, ByHand) {
  AttentionCase c({2}, DType::FP16, 128, 1, 8);
  c.shape.scoreScale = 0.5f;
  std::fill(c.q.begin(), c.q.end(), 0);
  c.q[3] = 0x4000; // q head 0, element 3: 2
  for (int64_t pos : {0, 1}) {
    std::fill_n(c.at(0, 0, pos, 0), 64, std::byte{0});
    std::fill_n(c.at(1, 0, pos, 0), 8, std::byte{0x38});
    std::fill_n(c.at(3, 0, pos, 0), 8, std::byte{0x40});               // 2
    std::fill_n(c.at(2, 0, pos, 0), 64, std::byte(pos ? 0x11 : 0x7A)); // 1, 1 and -2, 12
  }
  c.at(0, 0, 0, 0)[1] = std::byte{0x20}; // element 3: 1
  const auto out = oracle::sparseAttention(c.shape, c.inputs(), 0, 0);
  ASSERT_EQ(out.size(), 8u * 128);
  EXPECT_DOUBLE_EQ(out[0], (2 * -2.0 + 1) / 3);
  EXPECT_DOUBLE_EQ(out[1], (2 * 12.0 + 1) / 3);
  EXPECT_DOUBLE_EQ(out[128], (-2.0 + 1) / 2); // q head 1 is zero: flat
  EXPECT_DOUBLE_EQ(out[129], (12.0 + 1) / 2);
  const auto weights = oracle::attentionWeights(c.shape, c.inputs(), 0, 0, 0);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_DOUBLE_EQ(weights[0], 2.0 / 3);
}

// The dense reference agrees, and so do both layouts of the pool.
TEST(Attention, DenseMethodAgrees) {
  for (int64_t pageSize : {16, 64, 128, 256})
    for (int64_t kvHeads : {1, 2, 4})
      for (Kind kind : {Kind::Random, Kind::Large}) {
        AttentionCase c({300, 129, 1}, DType::BF16, pageSize, kvHeads, 8, pageSize == 64);
        c.make(kind);
        for (uint32_t row = 0; row < c.rows(); ++row)
          for (int64_t h = 0; h < kvHeads; ++h) {
            const auto sparse = oracle::sparseAttention(c.shape, c.inputs(), row, h);
            const auto dense = oracle::denseAttention(
                c.shape, c.inputs(), row, h,
                std::span(c.ids).subspan((row * size_t(kvHeads) + size_t(h)) * 16, 16));
            for (size_t i = 0; i < sparse.size(); ++i)
              ASSERT_NEAR(sparse[i], dense[i], 1e-9 * (1 + std::fabs(dense[i])));
          }
      }
}

// Some of the blocks, in any order, ids past the causal length, and -1 among them.
TEST(Attention, Lists) {
  AttentionCase c({700}, DType::BF16);
  auto run = [&](std::vector<int32_t> list) {
    list.resize(16, -1);
    c.ids = list;
    return oracle::sparseAttention(c.shape, c.inputs(), 0, 0);
  };
  const auto two = run({5, 1});
  const auto dense = oracle::denseAttention(c.shape, c.inputs(), 0, 0, std::vector<int32_t>{1, 5});
  for (size_t i = 0; i < two.size(); ++i)
    ASSERT_NEAR(two[i], dense[i], 1e-12 * (1 + std::fabs(dense[i])));
  EXPECT_EQ(run({5, -1, 1}), two);
  EXPECT_EQ(run({5, 1, 6, 1 << 24, std::numeric_limits<int32_t>::max()}), two);
  EXPECT_NE(run({5, 1, 1}), two);
  EXPECT_EQ(run({}), std::vector<double>(16 * 128, 0)); // A2
  EXPECT_EQ(run({6, 7}), std::vector<double>(16 * 128, 0));
}

// P4: tokens of pages outside the pool are not selected; P5: stale bytes change nothing.
TEST(Attention, PagesOutsideThePoolAndPoisonedTails) {
  AttentionCase c({300}, DType::BF16, 64);
  const auto clean = oracle::sparseAttention(c.shape, c.inputs(), 0, 0);
  for (int64_t pos = 300; pos < 320; ++pos)
    for (size_t plane = 0; plane < 4; ++plane)
      std::fill_n(c.at(plane, 0, pos, 0), plane % 2 ? 8 : 64, std::byte{0x7F});
  EXPECT_EQ(oracle::sparseAttention(c.shape, c.inputs(), 0, 0), clean);
  for (int32_t none : {-1, int32_t(c.pages), 1 << 30, std::numeric_limits<int32_t>::min()}) {
    c.table[2] = c.table[3] = none; // block 1
    const auto without = oracle::sparseAttention(c.shape, c.inputs(), 0, 0);
    EXPECT_NE(without, clean);
    AttentionCase d({300}, DType::BF16, 64);
    std::replace(d.ids.begin(), d.ids.end(), 1, -1);
    EXPECT_EQ(without, oracle::sparseAttention(d.shape, d.inputs(), 0, 0));
  }
}

class Sensitivity : public testing::TestWithParam<std::tuple<DType, Kind, int>> {};
INSTANTIATE_TEST_SUITE_P(Inputs, Sensitivity,
                         testing::Combine(testing::Values(DType::BF16, DType::FP16),
                                          testing::Values(Kind::Random, Kind::Peaked, Kind::Flat,
                                                          Kind::Large),
                                          testing::Values(1, 127, 130, 2048)));

// A6: a device's arithmetic is within the bound; one token dropped, doubled or shifted, or a mask
// off by one, is not. The token is the row's heaviest for the first q head.
TEST_P(Sensitivity, BoundTellsDefectFromTwin) {
  const auto [dtype, kind, len] = GetParam();
  AttentionCase c({len}, dtype);
  c.make(kind);
  EXPECT_EQ(check(c, deviceOutput(c)), std::nullopt);
  EXPECT_EQ(check(c, rounded(oracle::sparseAttention(c.shape, c.inputs(), 0, 0), dtype)),
            std::nullopt);
  const auto weights = oracle::attentionWeights(c.shape, c.inputs(), 0, 0, 0);
  ASSERT_EQ(weights.size(), size_t(len));
  const int64_t heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  if (kind == Kind::Peaked && len > 1)
    EXPECT_NEAR(weights[size_t(heaviest)], 0.8, 0.1);
  std::vector<std::pair<const char *, Defect>> defects = {{"drop", {.drop = heaviest}},
                                                          {"mask one short", {.causalShift = -1}},
                                                          {"mask one long", {.causalShift = 1}}};
  if (len > 1) { // of one token, twice is the same
    defects.push_back({"twice", {.twice = heaviest}});
    defects.push_back({"shift", {.shift = heaviest}});
  }
  if (len % 128 == 0)
    defects.erase(defects.begin() + 2); // the list has no block that holds the next token
  else // a stale token that the row would look at as much as at its own
    for (size_t plane : {0, 1})
      std::copy_n(c.at(plane, 0, len - 1, 0), plane ? 8 : 64, c.at(plane, 0, len, 0));
  for (const auto &[name, defect] : defects) {
    const auto wrong = oracle::sparseAttention(c.shape, c.inputs(), 0, 0, defect);
    EXPECT_NE(check(c, rounded(wrong, dtype)), std::nullopt) << name;
  }
}

// A2, A6: NaN, infinities, anything but zero where nothing is selected, one wrong head are seen.
TEST(Attention, CheckSeesBrokenOutputs) {
  AttentionCase c({130, 0}, DType::BF16, 128, 2, 8);
  const std::vector<uint16_t> good = deviceOutput(c);
  EXPECT_EQ(check(c, good), std::nullopt);
  for (auto [at, bits] : {std::pair<size_t, uint16_t>{5, 0x7FC0},
                          {5, 0x7F80},
                          {16 * 128 - 1, static_cast<uint16_t>(good[16 * 128 - 1] ^ 0x8000)},
                          {16 * 128, 0x0001},
                          {32 * 128 - 1, 0x7FC0}}) {
    auto bad = good;
    bad[at] = bits;
    EXPECT_NE(check(c, bad), std::nullopt) << at;
  }
  auto swapped = good;
  std::swap_ranges(swapped.begin(), swapped.begin() + 128, swapped.begin() + 128);
  EXPECT_NE(check(c, swapped), std::nullopt);
}

TEST(Attention, RelativeL2) {
  const std::vector<double> reference = {3, 4};
  const std::array<uint16_t, 2> same = {0x4040, 0x4080}, off = {0x4040, 0x40A0}, zero = {0, 0};
  EXPECT_EQ(oracle::relativeL2(reference, same.data(), DType::BF16), 0);
  EXPECT_DOUBLE_EQ(oracle::relativeL2(reference, off.data(), DType::BF16), 0.2);
  EXPECT_DOUBLE_EQ(oracle::relativeL2(reference, zero.data(), DType::BF16), 1);
  const std::vector<double> none = {0, 0};
  EXPECT_EQ(oracle::relativeL2(none, zero.data(), DType::BF16), 0);
  EXPECT_TRUE(std::isinf(oracle::relativeL2(none, same.data(), DType::BF16)));
}

} // namespace
