//===- Attention.cpp - host reference of block-sparse attention -------------===//
//
// Owns: what Attention.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Attention.h"
#include "tools/oracle/Exact.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace oracle {

namespace {

std::vector<int32_t> idList(const AttentionShape &shape, const AttentionInputs &inputs,
                            uint32_t row, int64_t kvHead) {
  std::vector<int32_t> ids(size_t(shape.topK));
  std::memcpy(ids.data(),
              reinterpret_cast<const std::byte *>(inputs.ids) + int64_t{row} * inputs.idsRowStride +
                  kvHead * inputs.idsHeadStride,
              ids.size() * sizeof(int32_t));
  return ids;
}

double element(const nvfp4rt_rows &rows, int64_t row, int64_t head, int64_t d, DType dtype) {
  uint16_t bits;
  std::memcpy(&bits, at(rows, row, head) + d * int64_t{sizeof(bits)}, sizeof(bits));
  return value(bits, dtype);
}

/// The tokens of one row and kv head in list order, and z of each for every q head.
struct Tokens {
  std::vector<int64_t> positions;
  std::vector<double> z;       ///< [token][groupHeads]
  std::vector<double> largest; ///< [groupHeads]
};

Tokens visibleTokens(const AttentionShape &shape, const AttentionInputs &inputs, uint32_t row,
                     int64_t kvHead, const Defect &defect) {
  const nvfp4rt_step_row &map = inputs.stepRows[row];
  const int64_t causalLen = map.causal_len + defect.causalShift;
  const size_t heads = size_t(shape.groupHeads), dims = size_t(shape.headDim);
  std::vector<double> q(dims * heads); // [headDim][groupHeads]
  for (size_t d = 0; d < dims; ++d)
    for (size_t j = 0; j < heads; ++j)
      q[d * heads + j] =
          element(inputs.q, row, kvHead * shape.groupHeads + int64_t(j), int64_t(d), shape.dtype);
  Tokens tokens;
  tokens.largest.assign(heads, -std::numeric_limits<double>::infinity());
  std::vector<double> key(dims), dots(heads);
  for (int32_t id : idList(shape, inputs, row, kvHead)) {
    if (id < 0)
      continue;
    const int64_t first = id * shape.blockSize;
    for (int64_t pos = first; pos < std::min(first + shape.blockSize, causalLen); ++pos) {
      if (!inputs.k.read(map.request, pos, kvHead, key)) // P4
        continue;
      std::fill(dots.begin(), dots.end(), 0);
      for (size_t d = 0; d < dims; ++d)
        for (size_t j = 0; j < heads; ++j)
          dots[j] += q[d * heads + j] * key[d];
      tokens.positions.push_back(pos);
      for (size_t j = 0; j < heads; ++j) {
        tokens.z.push_back(dots[j] * double{shape.scoreScale});
        tokens.largest[j] = std::max(tokens.largest[j], tokens.z.back());
      }
    }
  }
  return tokens;
}

} // namespace

std::vector<double> sparseAttention(const AttentionShape &shape, const AttentionInputs &inputs,
                                    uint32_t row, int64_t kvHead, const Defect &defect) {
  const Tokens tokens = visibleTokens(shape, inputs, row, kvHead, defect);
  const int64_t request = inputs.stepRows[row].request;
  const size_t heads = size_t(shape.groupHeads), dims = size_t(shape.headDim);
  std::vector<double> out(heads * dims), sums(heads), values(dims);
  for (size_t t = 0; t < tokens.positions.size(); ++t) {
    if (int64_t(t) == defect.drop)
      continue;
    const bool shifted = int64_t(t) == defect.shift && tokens.positions.size() > 1;
    const size_t from = !shifted ? t : t > 0 ? t - 1 : t + 1;
    inputs.v.read(request, tokens.positions[from], kvHead, values);
    for (size_t j = 0; j < heads; ++j) {
      double p = std::exp2(tokens.z[t * heads + j] - tokens.largest[j]);
      if (int64_t(t) == defect.twice)
        p *= 2;
      sums[j] += p;
      for (size_t d = 0; d < dims; ++d)
        out[j * dims + d] += p * values[d];
    }
  }
  // No token leaves zeros (A2). A dropped only token does as well: its sum is 0.
  for (size_t j = 0; j < heads; ++j)
    for (size_t d = 0; sums[j] != 0 && d < dims; ++d)
      out[j * dims + d] /= sums[j];
  return out;
}

std::vector<double> attentionWeights(const AttentionShape &shape, const AttentionInputs &inputs,
                                     uint32_t row, int64_t kvHead, int64_t head) {
  const Tokens tokens = visibleTokens(shape, inputs, row, kvHead, {});
  std::vector<double> weights;
  double sum = 0;
  for (size_t t = 0; t < tokens.positions.size(); ++t) {
    weights.push_back(std::exp2(tokens.z[t * size_t(shape.groupHeads) + size_t(head)] -
                                tokens.largest[size_t(head)]));
    sum += weights.back();
  }
  for (double &weight : weights)
    weight /= sum;
  return weights;
}

std::vector<double> denseAttention(const AttentionShape &shape, const AttentionInputs &inputs,
                                   uint32_t row, int64_t kvHead, std::span<const int32_t> blocks) {
  const nvfp4rt_step_row &map = inputs.stepRows[row];
  const size_t dims = size_t(shape.headDim);
  std::vector<double> out, key(dims), values(dims);
  for (int64_t j = 0; j < shape.groupHeads; ++j) {
    // One pass: the sums are scaled down whenever a larger z turns up.
    long double largest = 0, sum = 0;
    std::vector<long double> acc(dims, 0);
    for (int64_t pos = 0; pos < map.causal_len; ++pos) {
      if (std::find(blocks.begin(), blocks.end(), pos / shape.blockSize) == blocks.end() ||
          !inputs.k.read(map.request, pos, kvHead, key))
        continue;
      inputs.v.read(map.request, pos, kvHead, values);
      long double dot = 0;
      for (size_t d = 0; d < dims; ++d)
        dot += (long double){element(inputs.q, row, kvHead * shape.groupHeads + j, int64_t(d),
                                     shape.dtype)} *
               key[d];
      const long double z = dot * shape.scoreScale;
      const long double fade = sum == 0 ? 0 : std::exp2(std::min(largest - z, 0.0L));
      largest = sum == 0 ? z : std::max(largest, z);
      const long double p = std::exp2(z - largest);
      sum = sum * fade + p;
      for (size_t d = 0; d < dims; ++d)
        acc[d] = acc[d] * fade + p * values[d];
    }
    for (long double a : acc)
      out.push_back(sum == 0 ? 0 : double(a / sum));
  }
  return out;
}

double relativeL2(std::span<const double> reference, const uint16_t *got, DType dtype) {
  double error = 0, norm = 0;
  for (size_t d = 0; d < reference.size(); ++d) {
    const double difference = value(got[d], dtype) - reference[d];
    error += difference * difference;
    norm += reference[d] * reference[d];
  }
  return error == 0 ? 0 : std::sqrt(error) / std::sqrt(norm);
}

std::optional<std::string> checkAttention(const AttentionShape &shape,
                                          const AttentionInputs &inputs, uint32_t rows,
                                          const nvfp4rt_rows &out) {
  for (uint32_t row = 0; row < rows; ++row)
    for (int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
      const std::vector<double> reference = sparseAttention(shape, inputs, row, kvHead);
      for (int64_t j = 0; j < shape.groupHeads; ++j) {
        const int64_t head = kvHead * shape.groupHeads + j;
        const double error = relativeL2(
            std::span(reference).subspan(size_t(j * shape.headDim), size_t(shape.headDim)),
            reinterpret_cast<const uint16_t *>(at(out, row, head)), shape.dtype);
        if (error <= attentionBound(shape.dtype))
          continue;
        std::ostringstream text;
        text << "row " << row << " q head " << head << ": relative L2 " << error << ", bound "
             << attentionBound(shape.dtype);
        return text.str();
      }
    }
  return std::nullopt;
}

std::vector<uint16_t> peakedQuery(const AttentionShape &shape, const PagedTensor &k,
                                  int64_t request, int64_t kvHead, int64_t causalLen,
                                  int64_t position, double weight) {
  const size_t dims = size_t(shape.headDim);
  std::vector<double> own(dims), key(dims);
  k.read(request, position, kvHead, own);
  std::vector<double> dots; // of the own key with every other
  double self = 0;
  for (int64_t pos = 0; pos < causalLen; ++pos) {
    if (!k.read(request, pos, kvHead, key))
      continue;
    double dot = 0;
    for (size_t d = 0; d < dims; ++d)
      dot += own[d] * key[d];
    if (pos == position)
      self = dot;
    else
      dots.push_back(dot);
  }
  // The weight grows with the factor as long as no other dot product passes the key's own.
  double low = 0, high = 1;
  auto reached = [&](double factor) {
    double others = 0;
    for (double dot : dots)
      others += std::exp2((dot - self) * factor * double{shape.scoreScale});
    return 1 / (1 + others);
  };
  while (reached(high) < weight && high < 1e6)
    high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (reached(middle) < weight ? low : high) = middle;
  }
  std::vector<uint16_t> bits(dims);
  for (size_t d = 0; d < dims; ++d)
    bits[d] = roundBits(own[d] * high, shape.dtype);
  return bits;
}

} // namespace oracle
