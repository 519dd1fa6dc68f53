//===- AttentionRows.h - rows that attention is tried with ------------------===//
//
// Owns: rows of attention over a cache, each a query, id lists and a causal length,
// with what float64 says of them; whether their numbers would show a lost token (A6).
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ATTENTIONROWS_H
#define NVFP4GEN_TOOLS_VERIFY_ATTENTIONROWS_H

#include "tools/verify/AttentionCache.h"

#include <optional>
#include <string>

namespace verify::attention {

/// What a query makes of the tokens that it sees.
enum class Query : uint8_t {
  Random,
  Peaked,     ///< one token has most of the weight
  Flat,       ///< all weights are nearly the same
  High,       ///< every z is near +500
  PeakedLast, ///< the last token has most of the weight
  Low,        ///< every z is near -500
  PeakedNext, ///< the first token that is masked would have it
  Zero,       ///< all weights are the same
};
inline constexpr std::string_view kQueryNames[] = {"random",
                                                   "peaked",
                                                   "flat",
                                                   "high",
                                                   "peaked at the last token",
                                                   "low",
                                                   "peaked past the last token",
                                                   "zero"};

struct RowSpec {
  std::string name;
  int64_t request = 0;
  int64_t causalLen = 0;
  std::vector<int32_t> ids; ///< up to top_k; odd kv heads have others
};

/// Requests with the corners of rules A and P, and rows over them.
std::vector<CacheRequest> cornerCache(const Config &config);
std::vector<RowSpec> cornerRows(const Config &config);

class Rows {
public:
  /// All heads of a row have queries of their own, of every kind. `cache` is borrowed.
  Rows(const Config &config, const Cache &cache, std::vector<RowSpec> specs, uint64_t seed);

  size_t size() const { return specs_.size(); }
  const RowSpec &spec(size_t row) const { return specs_[row]; }
  Query query(size_t row, int64_t qHead) const {
    return kinds[row * static_cast<size_t>(config.qHeads()) + static_cast<size_t>(qHead)];
  }
  /// head_dim elements, top_k ids.
  std::span<const uint16_t> q(size_t row, int64_t qHead) const;
  std::span<const int32_t> ids(size_t row, int64_t kvHead) const;
  const nvfp4rt_step_row &step(size_t row) const { return steps[row]; }

  /// What float64 makes of (row, kv head): [groupHeads][headDim]. Zeros when it selects nothing.
  const std::vector<double> &reference(size_t row, int64_t kvHead);
  /// The same of the entries of one partial result.
  std::vector<double> partReference(size_t row, int64_t kvHead, int64_t part) const;
  bool selectsNothing(size_t row, int64_t kvHead) const {
    return blind[row * static_cast<size_t>(config.shape.kvHeads) + static_cast<size_t>(kvHead)];
  }

  /// A6: the first query whose result would stay within the bound if a token that matters to it
  /// were dropped, doubled or given its neighbour's V, or the mask were off by one.
  std::optional<std::string> insensitive(size_t row);

private:
  const Config &config;
  const Cache &cache;
  std::vector<RowSpec> specs_;
  std::vector<uint16_t> queries; ///< [row][qHead][headDim]
  std::vector<int32_t> lists;    ///< [row][kvHead][topK]
  std::vector<nvfp4rt_step_row> steps;
  std::vector<Query> kinds;                    ///< [row][qHead]
  std::vector<bool> blind;                     ///< [row][kvHead]
  std::vector<std::vector<double>> references; ///< [row * kvHeads + kvHead]; empty: not known yet

  oracle::AttentionInputs inputs() const;
  void makeQueries(size_t row, uint64_t seed);
  std::vector<int64_t> visible(size_t row, int64_t kvHead) const;
};

} // namespace verify::attention

#endif // NVFP4GEN_TOOLS_VERIFY_ATTENTIONROWS_H
