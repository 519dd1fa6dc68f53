//===- StepMapTest.cpp - S1..S5 and the partition of K4 ---------------------===//

#include "tests/oracle/IndexCase.h"

#include <gtest/gtest.h>

using oracle::IndexCase;
using oracle::Phase;

bool operator==(const nvfp4rt_step_row &a, const nvfp4rt_step_row &b) {
  return a.request == b.request && a.causal_len == b.causal_len && a.segment == b.segment &&
         a.row_in_segment == b.row_in_segment;
}
bool operator==(const nvfp4rt_segment &a, const nvfp4rt_segment &b) {
  return a.request == b.request && a.first_row == b.first_row && a.rows == b.rows &&
         a.blocks == b.blocks && a.first_block == b.first_block &&
         a.min_causal_len == b.min_causal_len && a.first_worker == b.first_worker &&
         a.worker_count == b.worker_count;
}
bool operator==(const nvfp4rt_work &a, const nvfp4rt_work &b) {
  return a.segment == b.segment && a.block == b.block;
}

namespace {

constexpr nvfp4rt_step_row kPadded{-1, 0, -1, 0};

// S1..S4 by hand: blocks 1, 0, 3; two workers of two blocks.
TEST(StepMap, DecodeByHand) {
  IndexCase c = IndexCase::dense(1, {5, 0, 300, 77}, 2);
  c.live = 3;
  c.map();
  EXPECT_EQ(c.segmentCount, 4u);
  EXPECT_EQ(c.stepRows,
            (std::vector<nvfp4rt_step_row>{{0, 5, 0, 0}, kPadded, {2, 300, 2, 0}, kPadded}));
  EXPECT_EQ(c.segments, (std::vector<nvfp4rt_segment>{{0, 0, 1, 1, 0, 5, 0, 1},
                                                      {1, 1, 1, 0, 1, 0, 0, 0},
                                                      {2, 2, 1, 3, 1, 300, 0, 2},
                                                      {3, 3, 1, 0, 4, 0, 0, 0}}));
  EXPECT_EQ(c.work, (std::vector<nvfp4rt_work>{{0, 0}, {2, 1}, {4, 0}}));
}

// S1, S2, S5: 32 rows with Q = 3; the last request has two rows, the first one fewer tokens than Q.
TEST(StepMap, VerifyWithAnIncompleteLastRequest) {
  IndexCase c = IndexCase::dense(3, {2, 128, 129, 130, 1, 1, 1, 1, 1, 1, 257}, 4);
  c.rows = 32;
  c.map();
  EXPECT_EQ(c.stepRows[0], (nvfp4rt_step_row{0, 0, 0, 0})); // 2 - 3 + 0 + 1
  EXPECT_EQ(c.stepRows[1], (nvfp4rt_step_row{0, 1, 0, 1}));
  EXPECT_EQ(c.stepRows[2], (nvfp4rt_step_row{0, 2, 0, 2}));
  EXPECT_EQ(c.stepRows[6], (nvfp4rt_step_row{2, 127, 2, 0}));
  EXPECT_EQ(c.stepRows[8], (nvfp4rt_step_row{2, 129, 2, 2}));
  EXPECT_EQ(c.stepRows[12], (nvfp4rt_step_row{4, 0, 4, 0})); // clamped from -1
  EXPECT_EQ(c.stepRows[30], (nvfp4rt_step_row{10, 255, 10, 0}));
  EXPECT_EQ(c.stepRows[31], (nvfp4rt_step_row{10, 256, 10, 1}));
  EXPECT_EQ(c.segments[2], (nvfp4rt_segment{2, 6, 3, 2, 2, 127, 0, 2}));
  // Its longest row sees 256 tokens: the third block belongs to a row that is not there.
  EXPECT_EQ(c.segments[10].rows, 2);
  EXPECT_EQ(c.segments[10].blocks, 2);
  EXPECT_EQ(c.segments[10].min_causal_len, 255);
}

// S1, S2: chunked prefill; a request without rows, one of 130 rows in three segments, padding.
TEST(StepMap, PrefillByHand) {
  IndexCase c = IndexCase::prefill({1000, 500, 130, 64, 9}, {3, 0, 130, 64, 4}, 3);
  c.live = 4;
  c.map();
  EXPECT_EQ(c.segmentCount, 5u);
  EXPECT_EQ(c.stepRows[0], (nvfp4rt_step_row{0, 998, 0, 0}));
  EXPECT_EQ(c.stepRows[2], (nvfp4rt_step_row{0, 1000, 0, 2}));
  EXPECT_EQ(c.stepRows[3], (nvfp4rt_step_row{2, 1, 1, 0}));
  EXPECT_EQ(c.stepRows[3 + 64], (nvfp4rt_step_row{2, 65, 2, 0}));
  EXPECT_EQ(c.stepRows[3 + 129], (nvfp4rt_step_row{2, 130, 3, 1}));
  EXPECT_EQ(c.stepRows[133], (nvfp4rt_step_row{3, 1, 4, 0}));
  EXPECT_EQ(c.stepRows[197], kPadded); // of the fifth request, which is not live
  c.segments.resize(5);
  // 8 + 1 + 1 + 2 + 1 = 13 blocks; workers begin at 0, 4, 8.
  EXPECT_EQ(c.segments, (std::vector<nvfp4rt_segment>{{0, 0, 3, 8, 0, 998, 0, 2},
                                                      {2, 3, 64, 1, 8, 1, 2, 1},
                                                      {2, 67, 64, 1, 9, 65, 2, 1},
                                                      {2, 131, 2, 2, 10, 129, 2, 1},
                                                      {3, 133, 64, 1, 12, 1, 2, 1}}));
  EXPECT_EQ(c.work, (std::vector<nvfp4rt_work>{{0, 0}, {0, 4}, {1, 0}, {5, 0}}));
}

// K4: with more workers than blocks, the first ones have a block each.
TEST(StepMap, MoreWorkersThanBlocks) {
  IndexCase c = IndexCase::dense(1, {300, 0, 5}, 8);
  c.map();
  EXPECT_EQ(c.work, (std::vector<nvfp4rt_work>{
                        {0, 0}, {0, 1}, {0, 2}, {2, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}}));
  EXPECT_EQ(c.segments[0], (nvfp4rt_segment{0, 0, 1, 3, 0, 300, 0, 3}));
  EXPECT_EQ(c.segments[2], (nvfp4rt_segment{2, 2, 1, 1, 3, 5, 3, 1}));
}

TEST(StepMap, NothingLive) {
  for (int32_t live : {0, -5}) {
    IndexCase c = IndexCase::dense(2, {100, 200}, 3);
    c.live = live;
    c.map();
    EXPECT_EQ(c.stepRows, std::vector<nvfp4rt_step_row>(4, kPadded));
    EXPECT_EQ(c.work, std::vector<nvfp4rt_work>(4, {2, 0}));
    for (const nvfp4rt_segment &segment : c.segments)
      EXPECT_TRUE(segment.blocks == 0 && segment.worker_count == 0 && segment.first_worker == 0);
  }
  IndexCase c = IndexCase::dense(2, {100, 200}, 3);
  c.live = 99; // as many as there are
  c.map();
  EXPECT_EQ(c.stepRows[3], (nvfp4rt_step_row{1, 200, 1, 1}));
}

/// A change to the second method below.
enum class Fault {
  None,
  LiveIgnored,
  EmptyNotPadded,   ///< seq_len 0 is a live request of causal length 0
  QInsteadOfQuery,  ///< prefill with the whole cu_seqlens as the query length
  CausalWithoutOne, ///< the row does not see itself
  NotClamped,
  FloorBlocks,        ///< causal_len / block_size + 1
  SearchLeft,         ///< searchsorted_left
  CeilPartition,      ///< worker w begins at ceil(w * T / W)
  BeginsBehind,       ///< a worker that begins with a segment begins at the end of the one before
  PartitionByRows,    ///< segments dealt to the workers whole
  GapsBetweenWorkers, ///< more workers than blocks: those without work lie between the others
};

/// S1..S4 row by row and block by block: every row on its own finds its request; every block finds
/// its worker in closed form.
void secondMethod(IndexCase &c, Fault fault) {
  const bool prefill = c.mapShape.phase == Phase::Prefill;
  const int64_t requests = int64_t(c.seqLens.size());
  const int64_t live = fault == Fault::LiveIgnored ? requests : c.live;
  c.stepRows.assign(c.rows, kPadded);
  c.segments.clear();
  auto open = [&](int64_t request, int64_t row) {
    c.segments.push_back({int32_t(request), int32_t(row), 0, 0, 0, 0, 0, 0});
  };
  for (int64_t row = 0; row < c.rows; ++row) {
    int64_t request = 0, token = 0, queryLen = c.mapShape.queryLen;
    if (prefill) {
      auto begin = c.cuSeqlens.begin() + 1;
      auto found = fault == Fault::SearchLeft ? std::lower_bound(begin, c.cuSeqlens.end(), row)
                                              : std::upper_bound(begin, c.cuSeqlens.end(), row);
      request = found - begin;
      if (request < requests) {
        token = row - c.cuSeqlens[size_t(request)];
        queryLen = c.cuSeqlens[size_t(request) + 1] - c.cuSeqlens[size_t(request)];
        if (fault == Fault::QInsteadOfQuery)
          queryLen = c.cuSeqlens.back();
      }
    } else {
      request = row / queryLen;
      token = row % queryLen;
      if (token == 0 && request < requests)
        open(request, row);
    }
    const bool empty = request < requests && c.seqLens[size_t(request)] <= 0;
    const bool padded = request >= live || (empty && fault != Fault::EmptyNotPadded);
    if (!prefill && request < requests)
      ++c.segments.back().rows;
    if (padded)
      continue;
    if (prefill) {
      if (token % NVFP4RT_PREFILL_SEGMENT_ROWS == 0 || c.segments.empty())
        open(request, row);
      ++c.segments.back().rows;
    }
    int64_t causal = c.seqLens[size_t(request)] - queryLen + token + 1;
    causal -= fault == Fault::CausalWithoutOne;
    if (fault != Fault::NotClamped)
      causal = std::max<int64_t>(causal, 0);
    nvfp4rt_segment &segment = c.segments.back();
    c.stepRows[size_t(row)] = {int32_t(request), int32_t(causal), int32_t(c.segments.size()) - 1,
                               int32_t(row) - segment.first_row};
    const int64_t blocks = fault == Fault::FloorBlocks ? causal / 128 + 1 : (causal + 127) / 128;
    segment.blocks = std::max(segment.blocks, int32_t(blocks));
    segment.min_causal_len =
        segment.rows == 1 ? int32_t(causal) : std::min(segment.min_causal_len, int32_t(causal));
  }
  if (!prefill)
    for (int64_t r = int64_t(c.segments.size()); r < requests; ++r)
      open(r, r * c.mapShape.queryLen);
  c.segmentCount = uint32_t(c.segments.size());

  std::vector<nvfp4rt_work> blocks;
  for (nvfp4rt_segment &segment : c.segments) {
    segment.first_block = int32_t(blocks.size());
    for (int32_t b = 0; b < segment.blocks; ++b)
      blocks.push_back({int32_t(&segment - c.segments.data()), b});
  }
  const int64_t total = int64_t(blocks.size());
  const int64_t workers = fault == Fault::GapsBetweenWorkers
                              ? int64_t{c.workers}
                              : std::min<int64_t>(total, c.workers); // that have work
  blocks.push_back({int32_t(c.segments.size()), 0});
  for (int64_t w = 0; w <= c.workers; ++w) {
    int64_t first = w < workers ? w * total / workers : total;
    if (fault == Fault::CeilPartition && w < workers)
      first = (w * total + workers - 1) / workers;
    if (fault == Fault::PartitionByRows && w < workers) {
      const int64_t s = w * int64_t(c.segments.size()) / workers;
      first = s < int64_t(c.segments.size()) ? c.segments[size_t(s)].first_block : total;
    }
    c.work[size_t(w)] = blocks[size_t(first)];
    if (fault == Fault::BeginsBehind && first > 0 && blocks[size_t(first)].block == 0)
      c.work[size_t(w)] = {blocks[size_t(first) - 1].segment, blocks[size_t(first) - 1].block + 1};
  }
  std::vector<std::vector<int64_t>> owners(c.segments.size());
  for (int64_t g = 0; g < total; ++g) {
    auto &list = owners[size_t(blocks[size_t(g)].segment)];
    const int64_t owner = ((g + 1) * workers - 1) / total; // the largest w with w * T / W <= g
    if (list.empty() || list.back() != owner)
      list.push_back(owner);
  }
  for (size_t s = 0; s < owners.size(); ++s)
    if (!owners[s].empty()) {
      c.segments[s].first_worker = int32_t(owners[s].front());
      c.segments[s].worker_count = int32_t(owners[s].size());
    }
}

std::vector<IndexCase> cases() {
  std::vector<IndexCase> result;
  oracle::Random random(4);
  for (uint32_t workers : {1, 2, 3, 7, 64, 256, 1000}) {
    for (uint32_t q : {1, 3, 8}) {
      std::vector<int32_t> lens;
      for (size_t r = 0; r < 1 + random.below(20); ++r)
        lens.push_back(random.below(4) ? int32_t(random.below(3000)) : int32_t(random.below(10)));
      IndexCase c = IndexCase::dense(q, lens, workers);
      if (random.below(2))
        c.live = int32_t(random.below(lens.size() + 1));
      if (random.below(2)) // S5: rows are not requests * Q
        c.rows = uint32_t(random.below(2 * c.rows + 1));
      result.push_back(std::move(c));
    }
    std::vector<int32_t> lens, queries;
    for (size_t r = 0; r < 1 + random.below(9); ++r) {
      queries.push_back(random.below(3) ? int32_t(random.below(200)) : 0);
      lens.push_back(random.below(5) ? queries.back() + int32_t(random.below(900)) : 0);
    }
    IndexCase c = IndexCase::prefill(lens, queries, workers);
    c.live -= int32_t(random.below(2));
    c.rows += uint32_t(random.below(70));
    result.push_back(std::move(c));
  }
  for (int32_t len : {127, 128, 129, 256})
    result.push_back(IndexCase::dense(1, {len, 0, 3}, 2));
  return result;
}

class StepMapFault : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, StepMapFault,
                         testing::Range(0, int(Fault::GapsBetweenWorkers) + 1));

TEST_P(StepMapFault, SecondMethodAgreesUnlessFaulty) {
  const Fault fault = Fault(GetParam());
  size_t wrong = 0;
  for (IndexCase &c : cases()) {
    c.map();
    IndexCase other = c;
    secondMethod(other, fault);
    c.segments.resize(c.segmentCount);
    wrong += c.stepRows != other.stepRows || c.segments != other.segments || c.work != other.work;
  }
  if (fault == Fault::None)
    EXPECT_EQ(wrong, 0u);
  else
    EXPECT_GT(wrong, 0u);
}

// K4: 450K + 7 * 150K tokens: every worker has the same number of blocks within one, and no row
// writes past what the header promises.
TEST(StepMap, UnequalRequestsLoadWorkersAlike) {
  IndexCase c =
      IndexCase::dense(8, {450000, 150000, 150000, 150000, 150000, 150000, 150000, 150000}, 1024);
  c.map();
  const int64_t total = c.segments.back().first_block + c.segments.back().blocks;
  EXPECT_EQ(total, 3516 + 7 * 1172);
  for (size_t w = 0; w < 1024; ++w) {
    auto global = [&](size_t i) {
      return c.work[i].segment < 8
                 ? c.segments[size_t(c.work[i].segment)].first_block + int64_t{c.work[i].block}
                 : total;
    };
    const int64_t share = global(w + 1) - global(w);
    EXPECT_TRUE(share == total / 1024 || share == total / 1024 + 1) << w;
  }
}

} // namespace
