//===- TopKTest.cpp - K2..K5 of the host reference --------------------------===//

#include "tests/oracle/IndexCase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using oracle::DType;
using oracle::Forced;
using oracle::IndexCase;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// K3: the check values.
TEST(SortKey, CheckValues) {
  EXPECT_EQ(oracle::sortKey(0.0f, 0), 0x1800000000001u);
  EXPECT_EQ(oracle::sortKey(-0.0f, 0), 0x1800000000001u);
  EXPECT_EQ(oracle::sortKey(1.0f, 0), 0x1BF8000000001u);
  EXPECT_EQ(oracle::sortKey(-1.0f, 0), 0x1407FFFFF0001u);
  EXPECT_EQ(oracle::sortKey(kInf, 0), 0x1FF8000000001u);
  EXPECT_EQ(oracle::sortKey(-kInf, 0), 0x1007FFFFF0001u);
  EXPECT_EQ(oracle::sortKey(kNaN, 0), 0x1000000000001u);
  EXPECT_EQ(oracle::sortKey(-kNaN, 0), 0x1000000000001u);
  EXPECT_EQ(oracle::sortKey(1.0f, 8191), 0x1BF8000002000u);
}

// K2 by hand: 3 of 5 blocks forced; block ids descend where scores tie.
TEST(Select, ByHand) {
  const std::vector<float> scores = {0.0f, 5.0f, -0.0f, kNaN, 1.0f};
  EXPECT_EQ(oracle::selectScores(scores, {0, 0}, 4), (std::vector<int32_t>{1, 4, 2, 0}));
  EXPECT_EQ(oracle::selectScores(scores, {0, 1}, 4), (std::vector<int32_t>{4, 1, 2, 0}));
  EXPECT_EQ(oracle::selectScores(scores, {1, 2}, 4), (std::vector<int32_t>{0, 4, 3, 1}));
  EXPECT_EQ(oracle::selectScores(scores, {0, 0}, 8),
            (std::vector<int32_t>{1, 4, 2, 0, 3, -1, -1, -1}));
  // Both initial and local: the second assignment of K2 stands.
  EXPECT_EQ(oracle::selectScores({{kNaN, kNaN, kNaN}}, {2, 2}, 4),
            (std::vector<int32_t>{0, 2, 1, -1}));
  EXPECT_EQ(oracle::selectScores({}, {2, 2}, 4), (std::vector<int32_t>(4, -1)));
  // An infinite score is above a forced one.
  EXPECT_EQ(oracle::selectScores({{1.0f, kInf, 2.0f}}, {0, 1}, 3), (std::vector<int32_t>{1, 2, 0}));
}

enum class Fault {
  None,
  TiesToLower,
  MinusZeroBelow,
  NaNIsLargest,
  NaNIsMinusInf,
  NaNDropped,
  NoForced,
  LocalFirst,  ///< a block that is both keeps the initial score
  InitAsLocal, ///< both forced scores alike
  ForcedIsInf,
  LocalFromZero, ///< the local range clamped to one block when there are fewer
  SortedById,
  OneShort,
  SubnormalsFlushed,
};
constexpr int kFaults = int(Fault::SubnormalsFlushed) + 1;

/// K2, K3 as a selection: topK times the best of what is left, compared as numbers.
std::vector<int32_t> secondSelect(const std::vector<float> &scores, Forced forced, int64_t topK,
                                  Fault fault = Fault::None) {
  const int64_t count = int64_t(scores.size());
  std::vector<float> s = scores;
  for (int64_t b = 0; b < count && fault != Fault::NoForced; ++b) {
    const bool init = b < forced.initBlocks;
    int64_t firstLocal = count - forced.localBlocks;
    if (fault == Fault::LocalFromZero && firstLocal < 0)
      firstLocal = count - 1;
    const bool local = b >= firstLocal;
    if (init || local)
      s[size_t(b)] = fault == Fault::ForcedIsInf                      ? kInf
                     : fault == Fault::InitAsLocal                    ? 1e29f
                     : local && !(init && fault == Fault::LocalFirst) ? 1e29f
                                                                      : 1e30f;
  }
  if (fault == Fault::SubnormalsFlushed)
    for (float &x : s)
      x = std::fabs(x) < std::numeric_limits<float>::min() ? 0 : x;
  // Negative: a before b.
  auto better = [&](int64_t a, int64_t b) {
    const float x = s[size_t(a)], y = s[size_t(b)];
    if (std::isnan(x) != std::isnan(y)) {
      if (fault == Fault::NaNIsMinusInf && (x == -kInf || y == -kInf))
        return a > b;
      return std::isnan(y) != (fault == Fault::NaNIsLargest);
    }
    if (x < y || x > y)
      return x > y;
    if (fault == Fault::MinusZeroBelow && x == 0 && std::signbit(x) != std::signbit(y))
      return std::signbit(y);
    return fault == Fault::TiesToLower ? a < b : a > b;
  };
  std::vector<int64_t> left;
  for (int64_t b = 0; b < count; ++b)
    if (!(fault == Fault::NaNDropped && std::isnan(s[size_t(b)])))
      left.push_back(b);
  std::vector<int32_t> ids;
  while (int64_t(ids.size()) < topK - (fault == Fault::OneShort) && !left.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < left.size(); ++i)
      if (better(left[i], left[best]))
        best = i;
    ids.push_back(int32_t(left[best]));
    left.erase(left.begin() + ptrdiff_t(best));
  }
  if (fault == Fault::SortedById)
    std::sort(ids.begin(), ids.end());
  ids.resize(size_t(topK), -1);
  return ids;
}

class TopKFault : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, TopKFault, testing::Range(0, kFaults));

TEST_P(TopKFault, PinnedScoresTellFaultFromTwin) {
  const Fault fault = Fault(GetParam());
  size_t wrong = 0, sets = 0;
  for (int64_t topK : {16, 8})
    for (const auto &pinned : oracle::pinnedScores(topK)) {
      const bool differs = oracle::selectScores(pinned.scores, pinned.forced, topK) !=
                           secondSelect(pinned.scores, pinned.forced, topK, fault);
      if (fault == Fault::None)
        EXPECT_FALSE(differs) << pinned.name;
      wrong += differs;
      ++sets;
    }
  EXPECT_EQ(wrong != 0, fault != Fault::None);
  std::cout << wrong << " of " << sets << " pinned lists differ\n";
}

// The pinned sets hold what they promise.
TEST(PinnedScores, CountsAndCorners) {
  std::set<size_t> counts;
  std::set<std::pair<uint32_t, uint32_t>> forced;
  size_t minusZero = 0, nan = 0, infinite = 0, cutoff = 0;
  for (const auto &pinned : oracle::pinnedScores(16)) {
    counts.insert(pinned.scores.size());
    forced.insert({pinned.forced.initBlocks, pinned.forced.localBlocks});
    for (float x : pinned.scores) {
      minusZero += x == 0 && std::signbit(x);
      nan += std::isnan(x);
      infinite += std::isinf(x);
    }
    std::vector<float> sorted = pinned.scores;
    if (sorted.size() > 16 && pinned.name.find("ties at the cutoff") != std::string::npos) {
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      EXPECT_EQ(sorted[15], sorted[16]) << pinned.name;
      cutoff += sorted[0] != sorted[15];
    }
  }
  EXPECT_EQ(counts, (std::set<size_t>{1, 2, 15, 16, 17, 127, 128, 129, 8192}));
  EXPECT_EQ(forced, (std::set<std::pair<uint32_t, uint32_t>>{{0, 0}, {0, 1}, {2, 2}, {8, 8}}));
  EXPECT_TRUE(minusZero && nan && infinite);
  EXPECT_EQ(cutoff, 5u * 4);
}

/// The id lists of every path for one number of workers.
std::vector<int32_t> selectedIds(IndexCase &c, uint32_t workers) {
  c.workers = workers;
  c.map();
  c.fill(11);
  std::vector<int32_t> direct, unfused, fused;
  EXPECT_TRUE(oracle::selectBlocks(c.shape, c.indexTopkArgs(), c.lists(direct)));
  EXPECT_TRUE(oracle::indexScore(c.shape, c.scoreArgs()));
  oracle::topK(c.shape, c.topkArgs(unfused));
  EXPECT_TRUE(oracle::indexTopK(c.shape, c.indexTopkArgs()));
  EXPECT_EQ(oracle::checkPartials(c.shape, c.indexTopkArgs()), std::nullopt);
  oracle::indexTopKMerge(c.shape, c.mergeArgs(fused));
  EXPECT_EQ(direct, unfused);
  EXPECT_EQ(direct, fused);
  return direct;
}

// K4, K5: fused, unfused and direct agree, whatever the number of workers.
TEST(Select, PathsAndSplitsAgree) {
  std::vector<IndexCase> cases;
  cases.push_back(IndexCase::dense(1, {3000, 0, 129, 2500, 1}, 1));
  cases.push_back(IndexCase::dense(3, {3000, 2, 129, 2500}, 1, 16, 4));
  cases.push_back(IndexCase::dense(8, {4096, 70}, 1, 256, 2, DType::FP16));
  cases.push_back(IndexCase::prefill({2300, 64, 0, 300}, {70, 64, 0, 2}, 1, 64, 1));
  for (IndexCase &c : cases)
    for (Forced forced : {Forced{0, 1}, Forced{2, 2}, Forced{8, 8}}) {
      c.forced = forced;
      const std::vector<int32_t> one = selectedIds(c, 1);
      for (uint32_t workers : {2, 5, 16, 500})
        EXPECT_EQ(selectedIds(c, workers), one);
      // Each list against the selection of its scores.
      size_t next = 0;
      for (uint32_t row = 0; row < c.rows; ++row)
        for (int64_t head = 0; head < c.shape.indexHeads; ++head, next += 16) {
          const float *scores = c.scores.data() + (head * c.rows + row) * c.scoreRow;
          const std::vector<float> list(scores, scores + (c.stepRows[row].causal_len + 127) / 128);
          EXPECT_EQ(std::vector<int32_t>(one.begin() + ptrdiff_t(next),
                                         one.begin() + ptrdiff_t(next + 16)),
                    secondSelect(list, forced, 16));
        }
    }
}

// K3: with a zero query every block ties, so the highest ids win, own block first.
TEST(Select, ZeroQueries) {
  IndexCase c = IndexCase::dense(2, {128 * 40}, 3);
  c.map();
  c.fill(1);
  std::fill(c.q.begin(), c.q.end(), 0);
  std::vector<int32_t> ids;
  EXPECT_TRUE(oracle::selectBlocks(c.shape, c.indexTopkArgs(), c.lists(ids)));
  for (int32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ids[size_t(i)], 39 - i % 16);
}

// K3: padded rows get -1 throughout; strides between lists are kept.
TEST(Select, PaddedRowsAndStrides) {
  IndexCase c = IndexCase::dense(1, {200, 0, 300}, 2, 128, 2);
  c.live = 2;
  c.map();
  c.fill(3);
  std::vector<int32_t> ids(3 * 50, -99);
  EXPECT_TRUE(oracle::selectBlocks(c.shape, c.indexTopkArgs(), {ids.data(), 50 * 4, 20 * 4, 3}));
  for (size_t row = 0; row < 3; ++row)
    for (size_t i = 0; i < 50; ++i) {
      const int32_t id = ids[row * 50 + i];
      if (i >= 36 || (i >= 16 && i < 20))
        EXPECT_EQ(id, -99);
      else if (row > 0 || i % 20 > 1)
        EXPECT_EQ(id, -1);
      else
        EXPECT_EQ(id, i % 20 ? 0 : 1);
    }
}

/// Partial lists of rough data, so that checkPartials works with bounds.
struct Partials : testing::Test {
  IndexCase c = IndexCase::dense(2, {128 * 60, 3000}, 3);
  nvfp4rt_index_topk_args args{};

  void SetUp() override {
    c.map();
    c.fill(8);
    oracle::Random random(3);
    for (uint8_t &byte : c.scale)
      byte = static_cast<uint8_t>(1 + random.below(0x7E));
    args = c.indexTopkArgs();
    EXPECT_FALSE(oracle::indexTopK(c.shape, args));
  }
  /// Worker 1 has blocks of both segments.
  uint64_t *list(size_t worker, size_t segment, size_t column) {
    return c.partial.data() + ((worker + segment) * 2 + column) * 16;
  }
  bool fine() { return oracle::checkPartials(c.shape, args) == std::nullopt; }
};

TEST_F(Partials, CleanListsPass) { EXPECT_TRUE(fine()); }

// Another fp32 summation order may change a score by an ulp.
TEST_F(Partials, ScoreWithinTheBoundPasses) {
  list(0, 0, 1)[0] += uint64_t{1} << 16;
  EXPECT_TRUE(fine());
}

TEST_F(Partials, FaultsAreSeen) {
  const std::vector<uint64_t> clean = c.partial;
  const std::vector<std::pair<const char *, std::function<void()>>> faults = {
      {"score too large", [&] { list(0, 0, 0)[0] += uint64_t{1} << 32; }},
      {"not sorted", [&] { std::swap(list(0, 0, 0)[3], list(0, 0, 0)[4]); }},
      {"dropped, the rest moved up",
       [&] {
         std::copy(list(0, 0, 0) + 3, list(0, 0, 0) + 16, list(0, 0, 0) + 2);
         list(0, 0, 0)[15] = 0;
       }},
      {"doubled", [&] { list(0, 0, 0)[15] = list(0, 0, 0)[14]; }},
      {"another worker's list", [&] { std::copy_n(list(0, 0, 0), 16, list(1, 0, 0)); }},
      {"another column's list", [&] { std::copy_n(list(0, 0, 0), 16, list(0, 0, 1)); }},
      {"not written", [&] { list(2, 1, 1)[0] = 0xA5A5A5A5A5A5A5A5u; }},
      {"empty", [&] { std::fill_n(list(2, 1, 0), 16, 0); }},
      {"id without the + 1", [&] { list(0, 0, 0)[2] -= 1; }},
      {"marker bit missing", [&] { list(2, 1, 0)[15] &= ~(uint64_t{1} << 48); }},
      {"forced block not forced",
       [&] { list(2, 1, 1)[0] = oracle::sortKey(1.0f, (3000 + 127) / 128 - 1); }},
  };
  for (const auto &[name, plant] : faults) {
    c.partial = clean;
    EXPECT_TRUE(fine()) << name;
    plant();
    EXPECT_FALSE(fine()) << name;
  }
}

// K4: the merge takes every worker's list, and nothing of a neighbour's.
TEST_F(Partials, MergeReadsTheListsOfItsSegment) {
  std::vector<int32_t> before, after;
  oracle::indexTopKMerge(c.shape, c.mergeArgs(before));
  // Column 1 of segment 0 at worker 1: one key that beats everything.
  list(1, 0, 1)[15] = oracle::sortKey(kInf, 4242);
  oracle::indexTopKMerge(c.shape, c.mergeArgs(after));
  EXPECT_EQ(after[16], 4242);
  for (size_t i = 0; i < after.size(); ++i)
    if (i < 16 || i >= 32)
      EXPECT_EQ(after[i], before[i]);
}

} // namespace
