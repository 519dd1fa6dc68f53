//===- AttentionFake.cpp - attention that is wrong on purpose ---------------===//
//
// Owns: what AttentionFake.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/AttentionFake.h"
#include "tools/oracle/Exact.h"
#include "tools/verify/AttentionConfig.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fake {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Result;
using verify::attention::Config;
using Fault = AttentionFault;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Sums over some tokens for every head of a group.
struct Sums {
  std::vector<float> m, l, acc; ///< [groupHeads], [groupHeads], [groupHeads][headDim]
  explicit Sums(const Config &config)
      : m(static_cast<size_t>(config.shape.groupHeads), -kInf), l(m.size(), 0),
        acc(m.size() * static_cast<size_t>(config.shape.headDim), 0) {}

  void add(const Sums &other, Fault fault = Fault::None) {
    const size_t dims = acc.size() / m.size();
    for (size_t j = 0; j < m.size(); ++j) {
      const float top = fault == Fault::MaxOfFirst ? m[j] : std::max(m[j], other.m[j]);
      if (top == -kInf && fault != Fault::EmptyNaN && fault != Fault::MaxOfFirst)
        continue;
      float mine = std::exp2(m[j] - top), theirs = std::exp2(other.m[j] - top);
      if (fault == Fault::SumsAdded)
        mine = theirs = 1;
      l[j] = l[j] * mine + other.l[j] * theirs;
      for (size_t d = j * dims; d < (j + 1) * dims; ++d)
        acc[d] = acc[d] * mine + other.acc[d] * theirs;
      m[j] = top;
    }
  }
};

class Attention {
public:
  Attention(const Config &config, const nvfp4rt_sparse_attention_args &args, Fault fault,
            bool split)
      : config(config), shape(config.shape), args(args), fault(fault), split(split) {
    bend();
    table.resize(256 * 16);
    for (size_t s = 0; s < 256; ++s)
      for (size_t code = 0; code < 16; ++code)
        table[s * 16 + code] =
            static_cast<float>(oracle::dequantize(static_cast<uint8_t>(code), uint8_t(s)));
  }

  void run() {
    const int64_t rows = int64_t{args.rows} - (fault == Fault::LastRowDropped);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t h = 0; h < shape.kvHeads; ++h)
        runHead(row, h);
    if (fault == Fault::StrayAfter)
      *element(args.rows - 1, config.qHeads() - 1, shape.headDim) = 0;
    if (fault == Fault::PartPastEnd && split)
      args.partial[config.partialBytes(args.rows) / 4] = 0;
    if (fault == Fault::InputChanged)
      const_cast<int32_t *>(args.ids)[0] ^= 1;
    if (fault == Fault::CacheChanged)
      const_cast<int32_t *>(args.block_table)[7 * (args.table_stride / 4) - 1] = 7;
  }

private:
  const Config &config;
  const oracle::AttentionShape &shape;
  nvfp4rt_sparse_attention_args args;
  Fault fault;
  bool split;
  std::vector<float> table; ///< [scale][code]

  void bend() {
    if (fault == Fault::TokenStride)
      args.k_payload.token_stride = shape.headDim / 2;
    if (fault == Fault::ScaleStride)
      args.v_scale.token_stride = shape.headDim / 16;
    if (fault == Fault::HeadStride)
      args.v_payload.head_stride = shape.headDim / 2;
    if (fault == Fault::QueryStride)
      args.q.head_stride = config.headBytes();
    if (fault == Fault::OutStride)
      args.out_row_stride = config.qHeads() * config.headBytes();
    if (fault == Fault::Unscaled)
      args.score_scale = 1;
  }

  uint16_t *element(int64_t row, int64_t head, int64_t d) const {
    return reinterpret_cast<uint16_t *>(static_cast<std::byte *>(args.out) +
                                        row * args.out_row_stride + head * args.out_head_stride) +
           d;
  }

  /// Page of a position, as the fault has it; -1 for none.
  int64_t pageOf(int64_t request, int64_t position) const {
    const int64_t page =
        reinterpret_cast<const int32_t *>(reinterpret_cast<const std::byte *>(args.block_table) +
                                          request * args.table_stride)[position / config.pageSize];
    if (page >= 0 && page < args.pages)
      return page;
    if (fault == Fault::PageModulo && page >= 0)
      return page % args.pages;
    if (fault == Fault::PageClamped)
      return std::clamp<int64_t>(page, 0, args.pages - 1);
    if (fault == Fault::PageUnchecked) {
      const auto offset = static_cast<uint32_t>(page * args.k_payload.page_stride);
      const int64_t wrapped = offset / args.k_payload.page_stride;
      return offset % args.k_payload.page_stride == 0 && wrapped < args.pages ? wrapped : -1;
    }
    return -1;
  }

  std::vector<float> values(const nvfp4rt_plane &payload, const nvfp4rt_plane &scale, int64_t page,
                            int64_t position, int64_t head) const {
    auto at = [&](const nvfp4rt_plane &plane) {
      int64_t offset = page * plane.page_stride;
      if (fault == Fault::OffsetSigned)
        offset &= 0x7FFFFFFF;
      return static_cast<const uint8_t *>(plane.base) + offset +
             position % config.pageSize * plane.token_stride + head * plane.head_stride;
    };
    const uint8_t *codes = at(payload), *scales = at(scale);
    std::vector<float> row;
    for (int64_t d = 0; d < shape.headDim; ++d) {
      const bool high = (d % 2 == 1) != (fault == Fault::NibblesSwapped);
      row.push_back(table[scales[d / 16] * 16 + (high ? codes[d / 2] >> 4 : codes[d / 2] & 15)]);
    }
    return row;
  }

  /// One entry of a list.
  Sums leaf(int64_t row, int64_t kvHead, int64_t id, int64_t entry) const {
    Sums sums(config);
    const nvfp4rt_step_row &map = args.step_rows[row];
    int64_t length = map.causal_len;
    if (length == 0 || id < 0)
      return sums;
    int64_t first = id * shape.blockSize;
    if (fault == Fault::Position32)
      first = static_cast<int32_t>(first);
    if (fault == Fault::PastCausal && first >= length)
      first = (length - 1) / shape.blockSize * shape.blockSize;
    if (first < 0 || first >= length)
      return sums;
    length += fault == Fault::MaskLong ? 1 : fault == Fault::MaskShort ? -1 : 0;
    if (fault == Fault::NoMask || (fault == Fault::LastMasked && entry + 1 < shape.topK))
      length = first + shape.blockSize;
    for (int64_t j = 0; j < shape.groupHeads; ++j)
      addHead(sums, map.request, kvHead, j, first, length, entry, queryOf(row, kvHead, j));
    return sums;
  }

  std::vector<float> queryOf(int64_t row, int64_t kvHead, int64_t j) const {
    std::vector<float> query;
    const auto *q =
        reinterpret_cast<const uint16_t *>(oracle::at(args.q, row, kvHead * shape.groupHeads + j));
    for (int64_t d = 0; d < shape.headDim; ++d)
      query.push_back(static_cast<float>(oracle::value(q[d], shape.dtype)));
    return query;
  }

  void addHead(Sums &sums, int64_t request, int64_t kvHead, int64_t j, int64_t first,
               int64_t length, int64_t entry, const std::vector<float> &query) const {
    const auto dims = static_cast<size_t>(shape.headDim);
    const int64_t end = first + shape.blockSize;
    const bool readsTail = fault == Fault::TailTimesZero || fault == Fault::TailInMax;
    struct Token {
      float z;
      bool masked;
      std::vector<float> v;
    };
    std::vector<Token> tokens;
    for (int64_t pos = first; pos < (readsTail ? end : std::min(end, length)); ++pos) {
      const int64_t page = pageOf(request, pos);
      if (page < 0)
        continue;
      const std::vector<float> k = values(args.k_payload, args.k_scale, page, pos, kvHead);
      float z = 0;
      for (size_t d = 0; d < dims; ++d)
        z += query[d] * k[d];
      tokens.push_back({z * args.score_scale, pos >= length,
                        values(args.v_payload, args.v_scale, page, pos, kvHead)});
    }
    if (entry == 0 && tokens.size() > 1) {
      if (fault == Fault::TokenDropped)
        tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(tokens.size() / 2));
      if (fault == Fault::TokenDoubled)
        tokens.push_back(tokens[tokens.size() / 2]);
      if (fault == Fault::TokenShifted)
        tokens[tokens.size() / 2].v = tokens[tokens.size() / 2 - 1].v;
    }
    float &m = sums.m[static_cast<size_t>(j)];
    for (const Token &token : tokens)
      if (!token.masked || (fault == Fault::TailInMax && token.z > m))
        m = std::max(m, token.z);
    if (fault == Fault::MaxFromZero && !tokens.empty())
      m = std::max(m, 0.0f);
    if (fault == Fault::NoMax && !tokens.empty())
      m = 0;
    for (const Token &token : tokens) {
      if (token.masked && fault == Fault::TailInMax)
        continue;
      const float p = token.masked ? 0 : std::exp2(token.z - m);
      sums.l[static_cast<size_t>(j)] += p;
      const auto rounded = static_cast<float>(
          oracle::value(oracle::roundBits(p, oracle::DType::FP16), oracle::DType::FP16));
      for (size_t d = 0; d < dims; ++d)
        sums.acc[static_cast<size_t>(j) * dims + d] += rounded * token.v[d];
    }
  }

  /// Whether this launch sums up in another order.
  bool bent(int64_t row) const {
    const bool alone = row + 1 == args.rows || args.step_rows[row + 1].request >= 0;
    return (fault == Fault::BatchBits && args.rows > 5) ||
           (fault == Fault::NeighbourBits && !alone) ||
           (fault == Fault::BucketBits && config.queryLen == 1);
  }

  void runHead(int64_t row, int64_t kvHead) {
    const bool padded = args.step_rows[row].causal_len == 0;
    if (padded && fault == Fault::PaddedUnwritten && !split)
      return;
    const auto *ids = reinterpret_cast<const int32_t *>(
        reinterpret_cast<const std::byte *>(args.ids) + row * args.ids_row_stride +
        (fault == Fault::HeadIgnored ? 0 : kvHead) * args.ids_head_stride);
    std::vector<Sums> parts, leaves;
    for (int64_t p = 0, entry = 0; p < config.parts(); ++p) {
      parts.emplace_back(config);
      for (; entry < std::min(shape.topK, (p + 1) * NVFP4RT_ATTENTION_PART); ++entry) {
        if (fault == Fault::HoleEnds && std::find(ids, ids + entry, -1) != ids + entry)
          continue;
        leaves.push_back(leaf(row, kvHead, ids[entry], entry));
        parts.back().add(leaves.back());
      }
    }
    if (split)
      writeParts(row, kvHead, parts);
    if (split && fault != Fault::OutWritten)
      return;
    Sums sums(config);
    for (const Sums &part : bent(row) ? leaves : parts)
      sums.add(part);
    write(config, args, row, kvHead, sums, fault, padded);
  }

  void writeParts(int64_t row, int64_t kvHead, const std::vector<Sums> &parts) const {
    for (int64_t p = 0; p < config.parts(); ++p) {
      const Sums &part =
          parts[static_cast<size_t>(fault == Fault::PartsReversed ? config.parts() - 1 - p : p)];
      const bool empty = part.l[0] == 0;
      if (empty && fault == Fault::PartUnwritten)
        continue;
      float *to = args.partial +
                  ((row * shape.kvHeads + kvHead) * config.parts() + p) * config.partFloats();
      std::ranges::copy(part.acc, to);
      to += Config::kPartHeads * shape.headDim;
      std::ranges::copy(part.m, to);
      if (empty && fault == Fault::PartMaxZero)
        std::fill_n(to, part.m.size(), 0);
      std::ranges::copy(part.l, to + Config::kPartHeads);
    }
  }

public:
  template <typename Args>
  static void write(const Config &config, const Args &args, int64_t row, int64_t kvHead,
                    const Sums &sums, Fault fault, bool padded) {
    const int64_t dims = config.shape.headDim;
    for (int64_t j = 0; j < config.shape.groupHeads; ++j) {
      auto *to = reinterpret_cast<uint16_t *>(
          static_cast<std::byte *>(args.out) + row * args.out_row_stride +
          (kvHead * config.shape.groupHeads + j) * args.out_head_stride);
      for (int64_t d = 0; d < dims; ++d) {
        const float l = sums.l[static_cast<size_t>(j)];
        float value = l == 0 ? 0 : sums.acc[static_cast<size_t>(j * dims + d)] / l;
        if (l == 0 && fault == Fault::NegativeZero)
          value = -0.0f;
        if ((padded && fault == Fault::PaddedNaN) || std::isnan(sums.m[static_cast<size_t>(j)]))
          value = std::numeric_limits<float>::quiet_NaN();
        if (fault == Fault::PhaseRounding && config.prefill())
          value *= 1 + 0x1p-9f;
        to[d] = oracle::roundBits(value, config.shape.dtype);
      }
    }
  }
};

void merge(const Config &config, const nvfp4rt_sparse_attention_merge_args &args, Fault fault) {
  for (int64_t row = 0; row < args.rows - (fault == Fault::LastRowDropped); ++row)
    for (int64_t h = 0; h < config.shape.kvHeads; ++h) {
      Sums sums(config);
      const int64_t parts = config.parts() - (fault == Fault::LastPartIgnored);
      for (int64_t p = 0; p < parts; ++p) {
        const float *from = args.partial + ((row * config.shape.kvHeads + h) * config.parts() + p) *
                                               config.partFloats();
        const float *maxima = from + Config::kPartHeads * config.shape.headDim;
        Sums part(config);
        std::copy_n(from, part.acc.size(), part.acc.begin());
        std::copy_n(maxima, part.m.size(), part.m.begin());
        std::copy_n(maxima + Config::kPartHeads, part.l.size(), part.l.begin());
        if (p == 0)
          sums = part;
        else
          sums.add(part, fault);
      }
      if (fault == Fault::BatchBits && args.rows > 30)
        for (float &l : sums.l)
          l = std::nextafter(l, row < 24 ? 0.0f : kInf) * (row < 24 ? 1 : 1.004f);
      Attention::write(config, args, row, h, sums, fault, false);
    }
  if (fault == Fault::StrayAfter)
    *(reinterpret_cast<uint16_t *>(static_cast<std::byte *>(args.out) +
                                   (args.rows - 1) * args.out_row_stride +
                                   (config.qHeads() - 1) * args.out_head_stride) +
      config.shape.headDim) = 0;
  if (fault == Fault::InputChanged)
    const_cast<float *>(args.partial)[0] += 1;
}

} // namespace

Result<void> AttentionFake::launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                                   const void *bytes, size_t size) {
  if (!variant.family.starts_with("sparse"))
    return selectors.launch(variant, request, bytes, size);
  const Fault now = variant.family == family ? fault : Fault::None;
  if (now == Fault::LaunchFails)
    return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake launch failed");
  const bool merges = variant.family == "sparse_attention_merge";
  auto config = verify::attention::readConfig(
      request, merges ? verify::attention::Reader::Merge : verify::attention::Reader::Attention);
  if (!config)
    return tl::unexpected(config.error());
  nvfp4rt_sparse_attention_args args;
  nvfp4rt_sparse_attention_merge_args last;
  if (size != (merges ? sizeof(last) : sizeof(args)))
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT, "other arguments");
  if (merges) {
    std::memcpy(&last, bytes, size);
    merge(*config, last, now);
  } else {
    std::memcpy(&args, bytes, size);
    Attention(*config, args, now, verify::attention::workspaceBytes(variant) > 0).run();
  }
  return {};
}

nvfp4rt::Manifest attentionManifest() {
  auto symbol = [](Field field, std::string_view name) {
    return nvfp4rt::Term{field, Relation::Equal, {nvfp4rt::symbolValue(field, name).value()}};
  };
  auto integer = [](Field field, int64_t value) {
    return nvfp4rt::Term{field, Relation::Equal, {value}};
  };
  struct Rank {
    const char *name, *dtype;
    int64_t kvHeads, qHeads, pageSize, topK;
    bool hnd;
  };
  struct Bucket {
    const char *phase, *name;
    int64_t queryLen, low, high;
    bool split;
  };
  nvfp4rt::Manifest result;
  result.specName = "fake";
  result.arch = "gfx950";
  for (const Rank &rank :
       {Rank{"eight", "bf16", 2, 16, 16, 8, false}, Rank{"sixteen", "fp16", 1, 16, 64, 6, true}})
    for (const char *family : {"step_map", "index_topk", "index_topk_merge", "sparse_attention",
                               "sparse_attention_merge"})
      for (const Bucket &bucket :
           {Bucket{"decode", "small", 1, 1, 2, true}, Bucket{"decode", "decode", 1, 3, 64, false},
            Bucket{"verify", "verify", 3, 1, 4, true},
            Bucket{"prefill", "prefill", 0, 1, 4, false}}) {
        nvfp4rt::Variant variant;
        variant.family = family;
        variant.name = std::string(family) + "__" + rank.name + "_" + bucket.name;
        variant.symbol = variant.family + "__" + rank.name + (bucket.split ? "_split" : "_whole");
        auto add = [&](nvfp4rt::Term term) { variant.guard.terms.push_back(std::move(term)); };
        for (const nvfp4rt::Term &term :
             {symbol(Field::phase, bucket.phase), integer(Field::query_len, bucket.queryLen),
              nvfp4rt::Term{Field::requests, Relation::Range, {bucket.low, bucket.high}}})
          add(term);
        const bool attends = variant.family == "sparse_attention";
        const bool scores = variant.family == "index_topk";
        if (variant.family == "step_map" || attends || scores)
          add(integer(Field::block_size, 32));
        if (variant.family != "step_map") {
          add(integer(Field::top_k, rank.topK));
          add(symbol(Field::dtype, rank.dtype));
        }
        if (variant.family.starts_with("index"))
          add(integer(Field::index_heads, rank.kvHeads));
        if (scores)
          for (const nvfp4rt::Term &term :
               {symbol(Field::index_format, "nvfp4"), integer(Field::index_head_dim, 64),
                integer(Field::page_size, rank.pageSize)})
            add(term);
        if (variant.family.starts_with("sparse"))
          for (const nvfp4rt::Term &term :
               {integer(Field::q_heads, rank.qHeads), integer(Field::kv_heads, rank.kvHeads),
                integer(Field::head_dim, 64)})
            add(term);
        if (attends) {
          add(symbol(Field::kv_format, "nvfp4"));
          add(integer(Field::page_size, rank.pageSize));
          if (rank.hnd)
            add(symbol(Field::plane_order, "hnd"));
          if (bucket.split)
            variant.workspace.perRequest = static_cast<uint64_t>(
                bucket.queryLen * rank.kvHeads * ((rank.topK + 3) / 4) * 16 * (64 + 2) * 4);
        }
        result.variants.push_back(std::move(variant));
      }
  return result;
}

} // namespace fake
