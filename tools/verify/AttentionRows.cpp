//===- AttentionRows.cpp - rows that attention is tried with ----------------===//
//
// Owns: class Rows of AttentionRows.h.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/AttentionRows.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace verify::attention {

namespace {

constexpr size_t kQueryKinds = std::size(kQueryNames);
/// Tokens that the spread of z is taken from.
constexpr size_t kSample = 48;
/// z that High and Low queries give every token.
constexpr double kOffset = 500;
/// Standard deviations of z.
constexpr double kRandomSpread = 1, kFlatSpread = 0.02;
/// Weight of a peak among the tokens of about two blocks.
constexpr double kPeakWeight = 0.8;

double uniform(oracle::Random &random) { return double(random.below(1 << 16)) / (1 << 15) - 1; }

/// Queries that need their token in the list.
bool isPeaked(Query query) {
  return query == Query::Peaked || query == Query::PeakedLast || query == Query::PeakedNext;
}

} // namespace

Rows::Rows(const Config &config, const Cache &cache, std::vector<RowSpec> specs, uint64_t seed)
    : config(config), cache(cache), specs_(std::move(specs)) {
  const auto topK = static_cast<size_t>(config.shape.topK);
  for (size_t row = 0; row < specs_.size(); ++row) {
    const RowSpec &of = specs_[row];
    steps.push_back({static_cast<int32_t>(of.request), static_cast<int32_t>(of.causalLen),
                     static_cast<int32_t>(of.request), 0});
    std::vector<int32_t> list = of.ids;
    list.resize(topK, -1);
    for (int64_t h = 0; h < config.shape.kvHeads; ++h) {
      std::vector<int32_t> own = list;
      if (h % 2 == 1) { // in another order, and of a longer list one block less
        std::rotate(own.begin(), own.begin() + 1, own.end());
        if (std::ranges::count_if(own, [](int32_t id) { return id >= 0; }) > 3)
          *std::ranges::find_if(own, [](int32_t id) { return id >= 0; }) = -1;
      }
      lists.insert(lists.end(), own.begin(), own.end());
    }
  }
  kinds.resize(specs_.size() * static_cast<size_t>(config.qHeads()));
  queries.resize(kinds.size() * static_cast<size_t>(config.shape.headDim));
  references.resize(specs_.size() * static_cast<size_t>(config.shape.kvHeads));
  for (size_t row = 0; row < specs_.size(); ++row)
    makeQueries(row, seed + row);
}

std::span<const uint16_t> Rows::q(size_t row, int64_t qHead) const {
  const auto dims = static_cast<size_t>(config.shape.headDim);
  return std::span(queries).subspan(
      (row * static_cast<size_t>(config.qHeads()) + static_cast<size_t>(qHead)) * dims, dims);
}

std::span<const int32_t> Rows::ids(size_t row, int64_t kvHead) const {
  const auto topK = static_cast<size_t>(config.shape.topK);
  return std::span(lists).subspan(
      (row * static_cast<size_t>(config.shape.kvHeads) + static_cast<size_t>(kvHead)) * topK, topK);
}

oracle::AttentionInputs Rows::inputs() const {
  const int64_t listBytes = config.shape.topK * 4;
  return {{queries.data(), config.qHeads() * config.headBytes(), config.headBytes()},
          cache.k(),
          cache.v(),
          steps.data(),
          lists.data(),
          config.shape.kvHeads * listBytes,
          listBytes};
}

std::vector<int64_t> Rows::visible(size_t row, int64_t kvHead) const {
  std::vector<int64_t> positions;
  const oracle::PagedTensor k = cache.k();
  const RowSpec &of = specs_[row];
  for (int64_t id : ids(row, kvHead))
    for (int64_t pos = id * config.shape.blockSize;
         id >= 0 && pos < std::min(of.causalLen, (id + 1) * config.shape.blockSize); ++pos)
      if (k.pageOf(of.request, pos))
        positions.push_back(pos);
  return positions;
}

void Rows::makeQueries(size_t row, uint64_t seed) {
  const RowSpec &of = specs_[row];
  const CacheRequest &request = cache.requests()[static_cast<size_t>(of.request)];
  const oracle::AttentionShape &shape = config.shape;
  const oracle::PagedTensor k = cache.k();
  const auto dims = static_cast<size_t>(shape.headDim);
  oracle::Random random(seed);
  for (int64_t h = 0; h < shape.kvHeads; ++h) {
    const std::vector<int64_t> tokens = visible(row, h);
    const bool sees = !tokens.empty();
    blind.push_back(!sees);
    std::vector<std::vector<double>> sample;
    for (size_t i = 0; sees && i < std::min(kSample, tokens.size()); ++i) {
      sample.emplace_back(dims);
      k.read(of.request, tokens[i * tokens.size() / std::min(kSample, tokens.size())], h,
             sample.back());
    }
    /// Random numbers under which z has this standard deviation, plus `offset` for every token.
    auto spreadOut = [&](uint16_t *to, double spread, double offset) {
      std::vector<double> q(dims);
      for (size_t d = 1; d < dims; ++d) // element 0 of a key is the same in every token
        q[d] = uniform(random);
      double sum = 0, squares = 0;
      for (const auto &key : sample) {
        double z = 0;
        for (size_t d = 1; d < dims; ++d)
          z += q[d] * key[d] * double{shape.scoreScale};
        sum += z;
        squares += z * z;
      }
      const auto n = double(sample.size());
      const double variance = n > 1 ? squares / n - sum / n * (sum / n) : 0;
      const double factor = variance > 0 ? spread / std::sqrt(variance) : spread / 16;
      for (double &element : q)
        element *= factor;
      if (sees)
        q[0] = offset / (sample[0][0] * double{shape.scoreScale});
      for (size_t d = 0; d < dims; ++d)
        to[d] = oracle::roundBits(q[d], shape.dtype);
    };
    /// A peak among the tokens of its own and the previous block.
    auto peak = [&](uint16_t *to, int64_t position) {
      const int64_t from =
          std::max<int64_t>(0, position + 1 - 2 * shape.blockSize) / config.pageSize;
      oracle::PagedTensor window = k;
      window.blockTable += from;
      const int64_t at = position - from * config.pageSize;
      const std::vector<uint16_t> bits =
          oracle::peakedQuery(shape, window, of.request, h, at + 1, at, kPeakWeight);
      std::copy(bits.begin(), bits.end(), to);
    };
    auto listed = [&](int64_t position) {
      return position < request.tokens &&
             std::ranges::find(ids(row, h), position / shape.blockSize) != ids(row, h).end() &&
             k.pageOf(of.request, position);
    };
    for (int64_t j = 0; j < shape.groupHeads; ++j) {
      const size_t at = row * static_cast<size_t>(config.qHeads()) +
                        static_cast<size_t>(h * shape.groupHeads + j);
      uint16_t *to = queries.data() + at * dims;
      auto kind = static_cast<Query>((row * 3 + static_cast<size_t>(h + j)) % kQueryKinds);
      // A peak needs its token, and that no other has its key; a row without has one more random
      // query.
      if (isPeaked(kind) && (!sees || request.numbers == Numbers::Cancelling))
        kind = Query::Random;
      if (kind == Query::PeakedLast && !listed(of.causalLen - 1))
        kind = Query::Random;
      if (kind == Query::PeakedNext && !listed(of.causalLen))
        kind = Query::Random;
      kinds[at] = kind;
      switch (kind) {
      case Query::Random:
        spreadOut(to, kRandomSpread, 0);
        break;
      case Query::Flat:
        spreadOut(to, kFlatSpread, 0);
        break;
      case Query::High:
        spreadOut(to, kRandomSpread, kOffset);
        break;
      case Query::Low:
        spreadOut(to, kRandomSpread, -kOffset);
        break;
      case Query::Peaked:
        peak(to, tokens[random.below(tokens.size())]);
        break;
      case Query::PeakedLast:
        peak(to, of.causalLen - 1);
        break;
      case Query::PeakedNext:
        peak(to, of.causalLen);
        break;
      case Query::Zero:
        for (size_t d = 0; d < dims; ++d)
          to[d] = d % 2 ? oracle::kSignBit : 0;
        break;
      }
    }
  }
}

const std::vector<double> &Rows::reference(size_t row, int64_t kvHead) {
  auto &known =
      references[row * static_cast<size_t>(config.shape.kvHeads) + static_cast<size_t>(kvHead)];
  if (known.empty())
    known = oracle::sparseAttention(config.shape, inputs(), static_cast<uint32_t>(row), kvHead);
  return known;
}

std::vector<double> Rows::partReference(size_t row, int64_t kvHead, int64_t part) const {
  oracle::AttentionShape shape = config.shape;
  oracle::AttentionInputs of = inputs();
  const int64_t first = part * NVFP4RT_ATTENTION_PART;
  shape.topK = std::min<int64_t>(NVFP4RT_ATTENTION_PART, shape.topK - first);
  of.ids += first;
  return oracle::sparseAttention(shape, of, static_cast<uint32_t>(row), kvHead);
}

std::optional<std::string> Rows::insensitive(size_t row) {
  const oracle::AttentionShape &shape = config.shape;
  const auto dims = static_cast<size_t>(shape.headDim);
  for (int64_t h = 0; h < shape.kvHeads; ++h) {
    const std::vector<double> right = reference(row, h);
    const std::vector<int64_t> tokens = visible(row, h);
    if (tokens.size() < 2)
      continue;
    auto within = [&](const std::vector<double> &wrong, int64_t j) {
      const auto begin = static_cast<ptrdiff_t>(static_cast<size_t>(j) * dims);
      std::vector<uint16_t> bits;
      for (size_t d = 0; d < dims; ++d)
        bits.push_back(oracle::roundBits(wrong[static_cast<size_t>(begin) + d], shape.dtype));
      return oracle::relativeL2(std::span(right).subspan(static_cast<size_t>(begin), dims),
                                bits.data(), shape.dtype) <= oracle::attentionBound(shape.dtype);
    };
    auto words = [&](int64_t j, std::string_view what) {
      const int64_t head = h * shape.groupHeads + j;
      return fmt::format(
          "row '{}' q head {} ({} query): with {}, the result would still be within A6",
          specs_[row].name, head, kQueryNames[static_cast<size_t>(query(row, head))], what);
    };
    std::map<int64_t, std::array<std::vector<double>, 3>> wrong; ///< by token
    for (int64_t j = 0; j < shape.groupHeads; ++j) {
      const std::vector<double> weights =
          oracle::attentionWeights(shape, inputs(), static_cast<uint32_t>(row), h, j);
      // The heaviest token of a peak, else the one in the middle by weight.
      std::vector<int64_t> order(weights.size());
      for (size_t t = 0; t < order.size(); ++t)
        order[t] = static_cast<int64_t>(t);
      std::ranges::sort(order, std::greater<>(),
                        [&](int64_t t) { return weights[static_cast<size_t>(t)]; });
      const Query kind = query(row, h * shape.groupHeads + j);
      const int64_t token =
          kind == Query::Peaked || kind == Query::PeakedLast ? order[0] : order[order.size() / 2];
      auto &three = wrong[token];
      if (three[0].empty()) {
        oracle::Defect defects[3];
        defects[0].drop = token;
        defects[1].twice = token;
        defects[2].shift = token;
        for (size_t n = 0; n < 3; ++n)
          three[n] =
              oracle::sparseAttention(shape, inputs(), static_cast<uint32_t>(row), h, defects[n]);
      }
      constexpr std::string_view kNames[] = {"a token dropped", "a token doubled",
                                             "a token's V shifted"};
      // What a query has that looks past the last token is for the mask alone.
      for (size_t n = 0; n < 3 && kind != Query::PeakedNext; ++n)
        if (within(three[n], j))
          return words(j, kNames[n]);
      for (int64_t by : {-1, 1})
        if (kind == (by < 0 ? Query::PeakedLast : Query::PeakedNext)) {
          oracle::Defect defect;
          defect.causalShift = by;
          if (within(
                  oracle::sparseAttention(shape, inputs(), static_cast<uint32_t>(row), h, defect),
                  j))
            return words(j, by < 0 ? "the last token masked" : "the next token seen");
        }
    }
  }
  return std::nullopt;
}

} // namespace verify::attention
