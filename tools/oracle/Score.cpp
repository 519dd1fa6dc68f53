//===- Score.cpp - host reference of the index scores -----------------------===//
//
// Owns: rule K1 with the exact causal edge (P4, P5), its error bound, and the
// comparison of a kernel's score buffer.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Exact.h"
#include "tools/oracle/Index.h"
#include "tools/oracle/Pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace oracle {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// 2^n of the largest n such that every finite value is a multiple of 2^n; 0 for zeros alone.
double granularity(std::span<const double> values) {
  double least = 0;
  for (double v : values) {
    if (v == 0 || !std::isfinite(v))
      continue;
    int exponent;
    int64_t mantissa = int64_t(std::ldexp(std::frexp(v, &exponent), 53));
    double unit = std::ldexp(double(mantissa & -mantissa), exponent - 53);
    least = least == 0 ? unit : std::min(least, unit);
  }
  return least;
}

/// A row of q as the matrix product sees it.
struct Query {
  std::vector<double> values;
  double unit = 0; ///< granularity

  Query(const std::byte *from, int64_t headDim, DType dtype) : values(size_t(headDim)) {
    const auto *bits = reinterpret_cast<const uint16_t *>(from);
    for (size_t d = 0; d < values.size(); ++d)
      values[d] = value(toFp16(bits[d], dtype), DType::FP16);
    unit = granularity(values);
  }
};

/// The tokens of one sparse block, dequantized once for all rows and heads.
class KeyBlock {
public:
  KeyBlock(int64_t headDim, int64_t tokens)
      : tokens(size_t(tokens)), keys(size_t(headDim * tokens)), units(this->tokens),
        present(this->tokens), dots(this->tokens), sums(this->tokens), row(size_t(headDim)) {}

  /// Positions [first, end), at most a block of them; the others count as not there.
  void load(const PagedTensor &pool, int64_t request, int64_t first, int64_t end) {
    for (size_t t = 0; t < tokens; ++t) {
      const int64_t position = first + int64_t(t);
      present[t] = position < end && pool.read(request, position, 0, row);
      units[t] = present[t] ? granularity(row) : 0;
      for (size_t d = 0; d < row.size(); ++d)
        keys[d * tokens + t] = present[t] ? row[d] : 0;
    }
  }

  /// K1 over the first `visible` tokens.
  Score score(const Query &q, int64_t visible, float scale) {
    std::fill(dots.begin(), dots.end(), 0);
    std::fill(sums.begin(), sums.end(), 0);
    for (size_t d = 0; d < row.size(); ++d) {
      const double qd = q.values[d];
      const double *k = keys.data() + d * tokens;
      for (size_t t = 0; t < tokens; ++t) {
        const double product = qd * k[t];
        dots[t] += product;
        sums[t] += std::fabs(product);
      }
    }
    const double ulps = 2 * double(row.size()) / 8 + 8;
    Score result{kNaN, kNaN, kNaN, true};
    for (size_t t = 0; t < std::min(tokens, size_t(visible)); ++t) {
      if (!present[t] || std::isnan(dots[t]))
        continue;
      const bool finite = std::isfinite(sums[t]);
      // Every partial sum is a multiple of unit and at most `sums`.
      const bool exact = !finite || sums[t] <= std::ldexp(q.unit * units[t], 24);
      const double bound = finite ? std::ldexp(ulps * sums[t], -24) : 0;
      // fmax drops the NaN that stands for no token.
      result.value = std::fmax(result.value, dots[t]);
      result.low = std::fmax(result.low, dots[t] - bound);
      result.high = std::fmax(result.high, dots[t] + bound);
      result.exact &= exact;
    }
    if (result.exact && std::isfinite(result.value)) {
      result.value = result.low = result.high = float(result.value) * scale;
      return result;
    }
    for (double *x : {&result.value, &result.low, &result.high})
      *x *= double{scale};
    if (result.low > result.high)
      std::swap(result.low, result.high);
    return result;
  }

private:
  size_t tokens;
  std::vector<double> keys;  ///< [headDim][tokens]
  std::vector<double> units; ///< granularity of each token
  std::vector<char> present;
  std::vector<double> dots, sums; ///< of each token: the dot product, and of magnitudes
  std::vector<double> row;
};

} // namespace

bool Score::allows(float score) const {
  if (std::isnan(value))
    return std::isnan(score);
  return double{score} >= low && double{score} <= high;
}

void visitScores(const IndexShape &shape, const nvfp4rt_index_score_args &args,
                 const ScoreVisitor &visit) {
  const PagedTensor pool{args.index_payload, args.index_scale, args.index_pages,
                         shape.pageSize,     args.block_table, args.table_stride};
  KeyBlock keys(shape.headDim, shape.blockSize);
  for (int32_t s = 0; s < args.work[args.workers].segment; ++s) {
    const nvfp4rt_segment &segment = args.segments[s];
    std::vector<Query> queries;
    int64_t longest = 0;
    for (int32_t i = 0; segment.blocks > 0 && i < segment.rows; ++i) {
      const int64_t row = segment.first_row + i;
      longest = std::max<int64_t>(longest, args.step_rows[row].causal_len);
      for (int64_t head = 0; head < shape.indexHeads; ++head)
        queries.emplace_back(at(args.index_q, row, head), shape.headDim, shape.dtype);
    }
    for (int64_t block = 0; block < segment.blocks; ++block) {
      const int64_t first = block * shape.blockSize;
      keys.load(pool, segment.request, first, longest);
      for (int32_t i = 0; i < segment.rows; ++i) {
        const int64_t row = segment.first_row + i;
        const int64_t visible = args.step_rows[row].causal_len - first;
        if (visible <= 0) // S3: not a valid block of this row
          continue;
        for (int64_t head = 0; head < shape.indexHeads; ++head)
          visit(
              uint32_t(row), head, block,
              keys.score(queries[size_t(i * shape.indexHeads + head)], visible, args.score_scale));
      }
    }
  }
}

namespace {

float *scoreAt(const nvfp4rt_index_score_args &args, uint32_t row, int64_t head, int64_t block) {
  return reinterpret_cast<float *>(reinterpret_cast<std::byte *>(args.scores) +
                                   head * args.score_head_stride +
                                   int64_t{row} * args.score_row_stride) +
         block;
}

} // namespace

bool indexScore(const IndexShape &shape, const nvfp4rt_index_score_args &args) {
  bool exact = true;
  visitScores(shape, args, [&](uint32_t row, int64_t head, int64_t block, const Score &score) {
    *scoreAt(args, row, head, block) = float(score.value);
    exact &= score.exact;
  });
  return exact;
}

std::optional<std::string> checkScores(const IndexShape &shape,
                                       const nvfp4rt_index_score_args &args, Compare compare) {
  std::optional<std::string> fault;
  visitScores(shape, args, [&](uint32_t row, int64_t head, int64_t block, const Score &score) {
    const float got = *scoreAt(args, row, head, block);
    const bool inexact = compare == Compare::Exact && !score.exact;
    if (fault || (score.allows(got) && !inexact))
      return;
    std::ostringstream text;
    text.precision(17);
    text << "row " << row << " head " << head << " block " << block << ": ";
    if (inexact)
      text << "the data is not exact";
    else
      text << "expected " << score.value << " in [" << score.low << ", " << score.high
           << "], found " << got;
    fault = text.str();
  });
  return fault;
}

} // namespace oracle
