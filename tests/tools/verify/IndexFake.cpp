//===- IndexFake.cpp - block selectors that are wrong on purpose ------------===//
//
// Owns: what IndexFake.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/IndexFake.h"

#include "tools/oracle/Exact.h"
#include "tools/verify/IndexConfig.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace fake {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Result;
using verify::index::Config;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

int64_t blocksOf(int64_t tokens, const Config &config) {
  return (tokens + config.shape.blockSize - 1) / config.shape.blockSize;
}

//===--- step_map -----------------------------------------------------------===//

void repartition(const nvfp4rt_step_map_args &args, uint32_t segments, int64_t blocks,
                 const std::function<int64_t(int64_t worker)> &begin) {
  for (int64_t w = 0; w < args.workers; ++w) {
    args.work[w] = {static_cast<int32_t>(segments), 0};
    for (uint32_t s = 0; s < segments; ++s) {
      const int64_t block = std::min(begin(w), blocks) - args.segments[s].first_block;
      if (block >= 0 && block < args.segments[s].blocks)
        args.work[w] = {static_cast<int32_t>(s), static_cast<int32_t>(block)};
    }
  }
}

void stepMap(const Config &config, const nvfp4rt_step_map_args &args, IndexFault fault) {
  nvfp4rt_step_map_args wrong = args;
  const int32_t all = static_cast<int32_t>(args.requests);
  if (fault == IndexFault::LiveIgnored)
    wrong.live_requests = &all;
  std::vector<nvfp4rt_step_row> before(args.step_rows, args.step_rows + args.rows);
  std::vector<nvfp4rt_work> work(args.work, args.work + args.workers + 1);
  const uint32_t segments = oracle::stepMap(config.stepMapShape(), wrong);
  const int64_t blocks =
      segments == 0 ? 0
                    : args.segments[segments - 1].first_block + args.segments[segments - 1].blocks;
  for (uint32_t row = 0; row < args.rows; ++row) {
    nvfp4rt_step_row &entry = args.step_rows[row];
    if (fault == IndexFault::CausalOffByOne && entry.causal_len > 0)
      ++entry.causal_len;
    if (fault == IndexFault::NotClamped && entry.request >= 0 && entry.causal_len == 0)
      entry.causal_len = -1;
    if (fault == IndexFault::PaddedUnwritten && entry.request < 0)
      entry = before[row];
    if (fault == IndexFault::PaddedRequest && entry.request < 0)
      entry.request = static_cast<int32_t>(row);
  }
  for (uint32_t s = 0; s < segments; ++s) {
    nvfp4rt_segment &segment = args.segments[s];
    if (fault == IndexFault::BlocksOfFirstRow)
      segment.blocks = static_cast<int32_t>(blocksOf(segment.min_causal_len, config));
    if (fault == IndexFault::MinCausalOfLast && segment.blocks > 0)
      segment.min_causal_len += segment.rows - 1;
    if (fault == IndexFault::WorkersOfEmpty && segment.blocks == 0)
      segment.worker_count = 1;
  }
  switch (fault) {
  case IndexFault::SegmentPastEnd:
    args.segments[segments] = {};
    break;
  case IndexFault::WorkRoundedUp:
    repartition(args, segments, blocks,
                [&](int64_t w) { return w * ((blocks + args.workers - 1) / args.workers); });
    break;
  case IndexFault::Work32:
    repartition(args, segments, blocks,
                [&](int64_t w) { return static_cast<uint32_t>(w * blocks) / args.workers; });
    break;
  case IndexFault::WorkEndUnwritten:
    args.work[args.workers] = work[args.workers];
    break;
  case IndexFault::WorkAtSegmentEnd:
    for (uint32_t w = 1; w < args.workers; ++w)
      if (args.work[w].block == 0 && args.work[w].segment > 0) {
        --args.work[w].segment;
        args.work[w].block = args.segments[args.work[w].segment].blocks;
      }
    break;
  case IndexFault::InputChanged:
    ++const_cast<int32_t &>(args.seq_lens[0]);
    break;
  default:
    break;
  }
}

//===--- index_score and index_topk -----------------------------------------===//

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

//===--- topk and index_topk_merge ------------------------------------------===//

int32_t *idsAt(const auto &args, uint32_t row, int64_t head) {
  return reinterpret_cast<int32_t *>(reinterpret_cast<std::byte *>(args.ids) +
                                     row * args.ids_row_stride + head * args.ids_head_stride);
}

/// Faults of any kernel that writes ids.
void bendIds(const Config &config, const auto &args, IndexFault fault) {
  const int64_t topK = config.shape.topK;
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head) {
      int32_t *ids = idsAt(args, row, head);
      const bool padded = args.step_rows[row].request < 0;
      for (int64_t i = 0; i < topK; ++i) {
        if (fault == IndexFault::ShortWithZero && ids[i] < 0 && !padded)
          ids[i] = 0;
        if (fault == IndexFault::PaddedIdsZero && padded)
          ids[i] = 0;
        if (fault == IndexFault::IdOffByOne && ids[i] >= 0)
          ++ids[i];
      }
      if (fault == IndexFault::Ascending)
        std::reverse(ids, ids + topK);
      if (fault == IndexFault::CutoffEarly)
        ids[topK - 1] = -1;
      if (fault == IndexFault::IdPastList && row == 0)
        ids[topK] = -1;
      if (fault == IndexFault::HeadIgnored && head > 0)
        std::copy(idsAt(args, row, 0), idsAt(args, row, 0) + topK, ids);
    }
}

/// Leave ids of some rows as they were.
template <typename Run>
void keepIds(const Config &config, const auto &args, IndexFault fault, Run run) {
  std::vector<std::vector<int32_t>> before;
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head)
      before.emplace_back(idsAt(args, row, head), idsAt(args, row, head) + config.shape.topK);
  run();
  bendIds(config, args, fault);
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head)
      if ((fault == IndexFault::PaddedIdsUnwritten && args.step_rows[row].request < 0) ||
          (fault == IndexFault::LastRowDropped && row + 1 == args.rows))
        std::ranges::copy(before[static_cast<size_t>(row * config.shape.indexHeads + head)],
                          idsAt(args, row, head));
}

uint64_t wrongKey(float score, int64_t block, int64_t valid, const nvfp4rt_topk_args &args,
                  IndexFault fault) {
  oracle::Forced forced{args.init_blocks, args.local_blocks};
  if (fault == IndexFault::InitDropped)
    forced.initBlocks = 0;
  if (fault == IndexFault::LocalDropped)
    forced.localBlocks = 0;
  if (std::isnan(score) && fault == IndexFault::NaNLargest)
    score = kInf;
  if (std::isnan(score) && fault == IndexFault::NaNAsMinusInf)
    score = -kInf;
  if (score == 0 && std::signbit(score) && fault == IndexFault::NegativeZeroBelow)
    score = -std::numeric_limits<float>::denorm_min();
  const float of = fault == IndexFault::LocalBeforeInit && block < forced.initBlocks
                       ? 1e30f
                       : oracle::forcedScore(score, block, valid, forced);
  return oracle::sortKey(of, static_cast<uint32_t>(block));
}

void topk(const Config &config, const nvfp4rt_topk_args &args, IndexFault fault) {
  for (uint32_t row = 0; row < args.rows; ++row)
    for (int64_t head = 0; head < config.shape.indexHeads; ++head) {
      const auto *scores = reinterpret_cast<const float *>(
          reinterpret_cast<const std::byte *>(args.scores) + head * args.score_head_stride +
          row * args.score_row_stride);
      const int64_t length = args.step_rows[row].causal_len;
      int64_t valid = blocksOf(length, config);
      if (fault == IndexFault::FloorBlocks)
        valid = length / config.shape.blockSize;
      if (fault == IndexFault::ReadsPastEnd && row + 1 < args.rows && valid > 0)
        ++valid;
      std::vector<uint64_t> keys;
      for (int64_t block = 0; block < valid; ++block) {
        uint64_t key = wrongKey(scores[block], block, valid, args, fault);
        if (fault == IndexFault::TiesToLower)
          key = (key & ~uint64_t{0xFFFF}) | (0xFFFF - static_cast<uint64_t>(block));
        keys.push_back(key);
      }
      std::vector<int32_t> ids = oracle::selectKeys(std::move(keys), config.shape.topK);
      for (int32_t &id : ids)
        if (fault == IndexFault::TiesToLower && id >= 0)
          id = 0xFFFE - id;
      std::ranges::copy(ids, idsAt(args, row, head));
    }
  if (fault == IndexFault::InputChanged)
    const_cast<float *>(args.scores)[0] = 7;
}

void merge(const Config &config, const nvfp4rt_index_topk_merge_args &args, IndexFault fault) {
  nvfp4rt_index_topk_merge_args wrong = args;
  std::vector<nvfp4rt_step_row> rows(args.step_rows, args.step_rows + args.rows);
  int32_t segments = 0;
  for (nvfp4rt_step_row &row : rows) {
    segments = std::max(segments, row.segment + 1);
    if (fault == IndexFault::RowIgnored)
      row.row_in_segment = 0;
  }
  std::vector<nvfp4rt_segment> bent(args.segments, args.segments + segments);
  for (size_t s = 0; s < bent.size(); ++s) {
    if (fault == IndexFault::LastWorkerDropped && bent[s].worker_count > 1)
      --bent[s].worker_count;
    if (fault == IndexFault::WorkerTooMany && bent[s].worker_count > 0)
      ++bent[s].worker_count;
    if (fault == IndexFault::ListsWithoutSegment)
      bent[s].first_worker -= static_cast<int32_t>(s);
  }
  wrong.step_rows = rows.data();
  wrong.segments = bent.data();
  oracle::indexTopKMerge(config.shape, wrong);
  if (fault == IndexFault::InputChanged)
    const_cast<nvfp4rt_step_row *>(args.step_rows)[0].causal_len ^= 1;
}

} // namespace

Result<void> IndexFake::launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *bytes, size_t size) {
  const IndexFault now = variant.family == family ? fault : IndexFault::None;
  if (now == IndexFault::LaunchFails)
    return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake launch failed");
  auto config = verify::index::readConfig(request, {});
  if (!config)
    return tl::unexpected(config.error());
  auto take = [&](auto &args) {
    if (size == sizeof(args))
      std::memcpy(&args, bytes, size);
    return size == sizeof(args);
  };
  nvfp4rt_step_map_args map;
  nvfp4rt_index_score_args score;
  nvfp4rt_topk_args select;
  nvfp4rt_index_topk_args fused;
  nvfp4rt_index_topk_merge_args last;
  if (variant.family == "step_map" && take(map))
    stepMap(*config, map, now);
  else if (variant.family == "index_score" && take(score))
    indexScore(*config, score, now);
  else if (variant.family == "topk" && take(select))
    keepIds(*config, select, now, [&] { topk(*config, select, now); });
  else if (variant.family == "index_topk" && take(fused))
    indexTopk(*config, fused, now);
  else if (variant.family == "index_topk_merge" && take(last))
    keepIds(*config, last, now, [&] { merge(*config, last, now); });
  else
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT, "no such kernel, or other arguments");
  return {};
}

nvfp4rt::Manifest indexManifest() {
  auto symbol = [](Field field, std::string_view name) {
    return nvfp4rt::Term{field, Relation::Equal, {nvfp4rt::symbolValue(field, name).value()}};
  };
  auto integer = [](Field field, int64_t value) {
    return nvfp4rt::Term{field, Relation::Equal, {value}};
  };
  struct Bucket {
    const char *phase;
    int64_t queryLen, low, high, pageSize;
    const char *dtype;
  };
  nvfp4rt::Manifest result;
  result.specName = "fake";
  result.arch = "gfx950";
  for (const char *family : {"step_map", "index_score", "topk", "index_topk", "index_topk_merge"})
    for (const Bucket &bucket :
         {Bucket{"decode", 1, 2, 4, 16, "bf16"}, Bucket{"verify", 3, 5, 9, 64, "fp16"},
          Bucket{"prefill", 0, 1, 5, 32, "bf16"}}) {
      nvfp4rt::Variant variant;
      variant.family = family;
      variant.name = std::string(family) + "__" + bucket.phase;
      variant.symbol = variant.name;
      variant.guard.terms = {symbol(Field::phase, bucket.phase),
                             integer(Field::query_len, bucket.queryLen),
                             {Field::requests, Relation::Range, {bucket.low, bucket.high}},
                             integer(Field::block_size, 32)};
      auto add = [&](nvfp4rt::Term term) { variant.guard.terms.push_back(std::move(term)); };
      if (variant.family != "step_map")
        add(integer(Field::index_heads, 2));
      if (variant.family == "index_score" || variant.family == "index_topk")
        for (const nvfp4rt::Term &term :
             {symbol(Field::dtype, bucket.dtype), symbol(Field::index_format, "nvfp4"),
              integer(Field::index_head_dim, 128), integer(Field::page_size, bucket.pageSize)})
          add(term);
      if (variant.family.find("topk") != std::string::npos)
        add(integer(Field::top_k, 16));
      result.variants.push_back(std::move(variant));
    }
  return result;
}

} // namespace fake
