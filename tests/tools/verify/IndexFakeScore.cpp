//===- IndexFakeScore.cpp - page scorers that are wrong on purpose ----------===//
//
// Owns: indexScore() and indexTopk() of IndexFakeKernels.h.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/IndexFakeKernels.h"

#include "tools/oracle/Exact.h"
#include "tools/oracle/Index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace fake {

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Copies of what a fault bends; the arguments point to them.
struct Bent {
  std::vector<nvfp4rt_step_row> rows;
  std::vector<int32_t> table;
  std::vector<uint16_t> queries;
  std::vector<std::byte> payload;
};

uint32_t rowsOf(const auto &args) {
  uint32_t rows = 0;
  for (int32_t s = 0; s < args.work[args.workers].segment; ++s)
    if (args.segments[s].blocks > 0)
      rows =
          std::max(rows, static_cast<uint32_t>(args.segments[s].first_row + args.segments[s].rows));
  return rows;
}

template <typename Args> void bend(const Config &config, Args &args, IndexFault fault, Bent &bent) {
  const oracle::IndexShape &shape = config.shape;
  const uint32_t rows = rowsOf(args);
  bent.rows.assign(args.step_rows, args.step_rows + rows);
  for (nvfp4rt_step_row &row : bent.rows) {
    if (row.causal_len == 0)
      continue;
    if (fault == IndexFault::MaskPastEnd)
      ++row.causal_len;
    if (fault == IndexFault::MaskShort)
      --row.causal_len;
    if (fault == IndexFault::NoMask)
      row.causal_len = static_cast<int32_t>(blocksOf(row.causal_len, config) * shape.blockSize);
  }
  args.step_rows = bent.rows.data();

  int32_t requests = 0;
  for (int32_t s = 0; s < args.work[args.workers].segment; ++s)
    requests = std::max(requests, args.segments[s].request + 1);
  bent.table.assign(args.block_table, args.block_table + requests * (args.table_stride / 4));
  const int64_t stride = args.index_payload.page_stride;
  for (int32_t &id : bent.table) {
    int64_t page = id;
    if (fault == IndexFault::PageModulo)
      page = (page % args.index_pages + args.index_pages) % args.index_pages;
    if (fault == IndexFault::PageClamped)
      page = std::clamp<int64_t>(page, 0, args.index_pages - 1);
    if (fault == IndexFault::PageNotChecked)
      page = static_cast<uint32_t>(page * stride) / stride;
    if (fault == IndexFault::OffsetSigned && page >= 0 && page < args.index_pages)
      page = (page * stride & 0x7FFFFFFF) / stride;
    id = static_cast<int32_t>(page);
  }
  args.block_table = bent.table.data();

  if (fault == IndexFault::TokenStride)
    args.index_payload.token_stride = shape.headDim / 2;
  if (fault == IndexFault::ScaleStride)
    args.index_scale.token_stride = shape.headDim / 16;
  if (fault == IndexFault::QueryStride)
    args.index_q.head_stride = 2 * shape.headDim;
  if (fault == IndexFault::SubnormalFlushed || fault == IndexFault::InfinityClipped) {
    for (uint32_t row = 0; row < rows; ++row)
      for (int64_t head = 0; head < shape.indexHeads; ++head)
        for (int64_t d = 0; d < shape.headDim; ++d) {
          uint16_t bits;
          std::memcpy(&bits,
                      static_cast<const std::byte *>(args.index_q.base) +
                          row * args.index_q.row_stride + head * args.index_q.head_stride + 2 * d,
                      2);
          const double x = oracle::value(bits, shape.dtype);
          if (fault == IndexFault::SubnormalFlushed && std::fabs(x) < 0x1p-14)
            bits = 0;
          if (fault == IndexFault::InfinityClipped && std::isinf(x))
            bits = oracle::roundBits(x > 0 ? 60000 : -60000, shape.dtype);
          bent.queries.push_back(bits);
        }
    args.index_q = {bent.queries.data(), 2 * shape.headDim * shape.indexHeads, 2 * shape.headDim};
  }
  if (fault == IndexFault::NibblesSwapped) {
    const int64_t pages = std::min<int64_t>(args.index_pages, 4096);
    const int64_t bytes = shape.headDim / 2;
    for (int64_t i = 0; i < pages * shape.pageSize; ++i) {
      const auto *from = static_cast<const std::byte *>(args.index_payload.base) +
                         i / shape.pageSize * stride +
                         i % shape.pageSize * args.index_payload.token_stride;
      for (int64_t j = 0; j < bytes; ++j)
        bent.payload.push_back(from[j] << 4 | from[j] >> 4);
    }
    args.index_payload = {bent.payload.data(), shape.pageSize * bytes, bytes, 0};
  }
}

float bf16(float x) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x8000) & 0xFFFF0000u);
}

/// Whether the scale of the token after a row's last is NaN, in the same page.
bool nanAfter(const Config &config, const nvfp4rt_index_score_args &args,
              const nvfp4rt_step_row &row) {
  const int64_t token = row.causal_len % config.shape.pageSize;
  if (token == 0 || row.causal_len % config.shape.blockSize == 0)
    return false;
  const int32_t page = args.block_table[row.request * (args.table_stride / 4) +
                                        row.causal_len / config.shape.pageSize];
  if (page < 0 || page >= args.index_pages)
    return false;
  const auto *scale = static_cast<const uint8_t *>(args.index_scale.base) +
                      page * args.index_scale.page_stride + token * args.index_scale.token_stride;
  return *scale == 0x7F;
}

} // namespace

void indexScore(const Config &config, const nvfp4rt_index_score_args &args, IndexFault fault) {
  nvfp4rt_index_score_args wrong = args;
  Bent bent;
  bend(config, wrong, fault, bent);
  if (fault == IndexFault::ScoreUnscaled)
    wrong.score_scale = 1;
  auto at = [&](uint32_t row, int64_t head, int64_t block) -> float & {
    return reinterpret_cast<float *>(reinterpret_cast<std::byte *>(args.scores) +
                                     head * args.score_head_stride +
                                     row * args.score_row_stride)[block];
  };
  auto endsWorker = [&](int32_t segment, int64_t block) {
    for (uint32_t w = 1; w < args.workers; ++w)
      if (args.work[w].segment == segment && args.work[w].block == block + 1)
        return true;
    return false;
  };
  oracle::visitScores(
      config.shape, wrong,
      [&](uint32_t row, int64_t head, int64_t block, const oracle::Score &score) {
        const nvfp4rt_step_row &of = args.step_rows[row];
        const int64_t valid = blocksOf(of.causal_len, config);
        if (block >= valid || (fault == IndexFault::BlockDropped && endsWorker(of.segment, block)))
          return;
        float value = static_cast<float>(score.value);
        if (fault == IndexFault::ScoreRounded)
          value = bf16(value);
        if (fault == IndexFault::ScoreOneUlp && std::isfinite(value))
          value = std::nextafter(value, kInf);
        if (fault == IndexFault::NaNTail && block == valid - 1 && nanAfter(config, args, of))
          value = kNaN;
        if (fault == IndexFault::NaNScoreMinusInf && std::isnan(value))
          value = -kInf;
        at(row, fault == IndexFault::HeadsSwapped ? config.shape.indexHeads - 1 - head : head,
           block) = value;
        if (fault == IndexFault::ScorePastEnd && block == valid - 1)
          at(row, head, valid) = -kInf;
      });
  if (fault == IndexFault::InputChanged)
    const_cast<nvfp4rt_segment &>(args.segments[0]).rows ^= 1;
  if (fault == IndexFault::PaddedScored)
    for (int32_t s = 0; s + 1 < args.work[args.workers].segment; ++s)
      if (args.segments[s].blocks == 0 && args.segments[s].rows > 0)
        at(static_cast<uint32_t>(args.segments[s].first_row), 0, 0) = 0;
}

void indexTopk(const Config &config, const nvfp4rt_index_topk_args &args, IndexFault fault) {
  nvfp4rt_index_topk_args wrong = args;
  Bent bent;
  bend(config, wrong, fault, bent);
  if (fault == IndexFault::LocalDropped)
    wrong.local_blocks = 0;
  const int64_t topK = config.shape.topK, columns = config.columns();
  auto list = [&](int64_t worker, int64_t segment, int64_t column) {
    return args.partial + ((worker + segment) * columns + column) * topK;
  };
  auto forEachList = [&](auto visit) {
    for (int32_t s = 0; s < args.work[args.workers].segment; ++s) {
      const nvfp4rt_segment &segment = args.segments[s];
      for (int32_t w = segment.first_worker; w < segment.first_worker + segment.worker_count; ++w)
        for (int64_t c = 0; c < segment.rows * config.shape.indexHeads; ++c)
          visit(segment, w, s, c, list(w, s, c));
    }
  };
  // What was there before, for faults that leave it.
  std::vector<uint64_t> before;
  forEachList([&](const nvfp4rt_segment &, int64_t, int64_t, int64_t, const uint64_t *keys) {
    before.insert(before.end(), keys, keys + topK);
  });
  const bool exact = oracle::indexTopK(config.shape, wrong);
  size_t at = 0;
  forEachList([&](const nvfp4rt_segment &segment, int64_t w, int64_t s, int64_t c, uint64_t *keys) {
    const uint64_t *old = before.data() + at;
    at += static_cast<size_t>(topK);
    const nvfp4rt_step_row &row = args.step_rows[segment.first_row + c / config.shape.indexHeads];
    switch (fault) {
    case IndexFault::TailUnwritten:
      for (int64_t i = 0; i < topK; ++i)
        if (keys[i] == 0)
          keys[i] = old[i];
      break;
    case IndexFault::BlindRowUnwritten:
      if (row.causal_len == 0)
        std::copy(old, old + topK, keys);
      break;
    case IndexFault::ListsWithoutSegment:
      if (s > 0) {
        std::copy(keys, keys + topK, list(w, 0, c));
        std::copy(old, old + topK, keys);
      }
      break;
    case IndexFault::KeyOneUlp:
      for (int64_t i = 0; !exact && i < topK; ++i)
        if (const auto ordered = static_cast<uint32_t>(keys[i] >> 16);
            keys[i] && ordered < 0xE0000000u && ordered > 0x20000000u)
          keys[i] += 1 << 16;
      break;
    case IndexFault::ListStray:
      if (w + 1 == segment.first_worker + segment.worker_count)
        std::fill_n(list(w + 1, s, c), topK, 0);
      break;
    case IndexFault::BestDropped:
      if (w > segment.first_worker) {
        std::copy(keys + 1, keys + topK, keys);
        keys[topK - 1] = 0;
      }
      break;
    case IndexFault::Ascending:
      std::reverse(keys, keys + topK);
      break;
    case IndexFault::InitAsLocal:
      for (int64_t i = 0; i < topK; ++i)
        if (keys[i] && (keys[i] & 0xFFFF) <= args.init_blocks)
          keys[i] = oracle::sortKey(1e29f, static_cast<uint32_t>(keys[i] & 0xFFFF) - 1);
      std::sort(keys, keys + topK, std::greater<>());
      break;
    default:
      break;
    }
  });
  if (fault == IndexFault::InputChanged)
    const_cast<int32_t &>(args.block_table[0]) ^= 1;
}

} // namespace fake
