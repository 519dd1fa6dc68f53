//===- AttentionCorners.cpp - the corners of rules A and P as rows ----------===//
//
// Owns: cornerCache and cornerRows of AttentionRows.h.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Random.h"
#include "tools/verify/AttentionRows.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace verify::attention {

namespace {

/// Requests of cornerCache.
enum : int64_t {
  kLong,    ///< 32 blocks: with blocks of 128, 4096 tokens
  kLongCut, ///< 6 tokens fewer: 4090
  kOneMore, ///< two blocks and one token
  kSixteen, ///< a block and 16 tokens
  kAlmost,  ///< a block but for one token
  kWhole,   ///< one block
  kOneToken,
  kLarge,   ///< large numbers
  kSomeBad, ///< some pages are none of the pool's
  kAllBad,
  kCancelling,
  kRequests,
};
constexpr int64_t kLongBlocks = 32;

/// `count` of the blocks [0, blocks), in no order.
std::vector<int32_t> someBlocks(int64_t blocks, int64_t count, uint64_t seed) {
  std::vector<int32_t> ids(static_cast<size_t>(blocks));
  std::iota(ids.begin(), ids.end(), 0);
  oracle::Random random(seed);
  for (size_t i = ids.size() - 1; i > 0; --i)
    std::swap(ids[i], ids[random.below(i + 1)]);
  ids.resize(static_cast<size_t>(std::min(blocks, count)));
  return ids;
}

/// The same with the last block, the row's own, among them.
std::vector<int32_t> withSelf(int64_t blocks, int64_t count, uint64_t seed) {
  std::vector<int32_t> ids = someBlocks(blocks - 1, count - 1, seed);
  ids.insert(ids.begin() + static_cast<ptrdiff_t>(ids.size() / 2),
             static_cast<int32_t>(blocks - 1));
  return ids;
}

} // namespace

std::vector<CacheRequest> cornerCache(const Config &config) {
  const int64_t b = config.shape.blockSize;
  std::vector<CacheRequest> requests(kRequests);
  requests[kLong] = {kLongBlocks * b};
  requests[kLongCut] = {kLongBlocks * b - 6, Numbers::Random, Pages::Good, kLong};
  requests[kOneMore] = {2 * b + 1};
  requests[kSixteen] = {b + 16};
  requests[kAlmost] = {b - 1};
  requests[kWhole] = {b};
  requests[kOneToken] = {1};
  requests[kLarge] = {3 * b + b / 2 + 13, Numbers::Large};
  requests[kSomeBad] = {6 * b - 5, Numbers::Random, Pages::SomeBad};
  requests[kAllBad] = {2 * b, Numbers::Random, Pages::AllBad};
  requests[kCancelling] = {7 * b, Numbers::Cancelling};
  return requests;
}

std::vector<RowSpec> cornerRows(const Config &config) {
  const int64_t b = config.shape.blockSize, most = config.shape.topK;
  // Positions of these wrap to 0 in 32 bits, to -2^31, or are far past any table.
  const auto wraps = static_cast<int32_t>((int64_t{1} << 32) / b);
  const auto negative = static_cast<int32_t>((int64_t{1} << 31) / b);
  std::vector<int32_t> mixed = withSelf(21, most - 4, 5);
  mixed.insert(mixed.begin() + 1, {21, 31, INT_MAX});
  mixed.push_back(22);
  std::vector<int32_t> sorted = withSelf(kLongBlocks, most, 4);
  std::ranges::sort(sorted);
  std::vector<RowSpec> rows = {
      {"self block of one token, out of order", kOneMore, 2 * b + 1, {2, 0, 1}},
      {"whole list out of order", kLong, kLongBlocks * b, withSelf(kLongBlocks, most, 3)},
      {"one block", kWhole, b, {0}},
      {"self block of 16 tokens", kSixteen, b + 16, {1, 0}},
      {"ids past the causal length", kLong, 20 * b + 5, mixed},
      {"large numbers", kLarge, 3 * b + b / 2 + 13, {3, 1, 0, 2}},
      {"empty list", kLong, 20 * b, {}},
      {"impossible pages", kSomeBad, 6 * b - 5, {5, 1, 0, 4, 3, 2}},
      {"holes in the list", kLong, 9 * b + 3, {-1, 3, -1, -1, INT_MIN, 0, 9}},
      {"one block less a token", kAlmost, b - 1, {0}},
      {"32 blocks less 6 tokens", kLongCut, kLongBlocks * b - 6, withSelf(kLongBlocks, most, 6)},
      {"only a self block of one token", kOneMore, 2 * b + 1, {2}},
      {"only ids past the causal length", kAlmost, b - 1, {1, wraps, INT_MAX, negative, 2}},
      {"whole list in order", kLong, kLongBlocks * b, sorted},
      {"only a self block of 16 tokens", kSixteen, b + 16, {1}},
      {"only impossible pages", kAllBad, 2 * b, {1, 0}},
      {"one token", kOneToken, 1, {0}},
      {"a row that sees nothing", kWhole, 0, {0, 1}},
      {"large numbers, one block", kLarge, 2 * b, {1}},
      {"blocks without the self block", kLong, 12 * b + 1, {7, 0, 11}},
      {"a row before the last one", kLong, 20 * b + 4, {20, 3}},
      {"blocks that cancel", kCancelling, 7 * b,
       most < 7 ? std::vector<int32_t>{0, 2, 6, 1, 3} : std::vector<int32_t>{0, 2, 4, 6, 1, 3, 5}},
  };
  for (RowSpec &row : rows)
    row.ids.resize(std::min(row.ids.size(), static_cast<size_t>(most)));
  return rows;
}

} // namespace verify::attention
