//===- Plain.cpp - what the decode step must compute, as plain C++ ----------===//
//
// See Plain.h.
//
//===------------------------------------------------------------------------===//
#include "Plain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

float Tensor::at(std::size_t token, std::size_t d) const {
  static constexpr float kValues[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const unsigned code = payload[token * kDim / 2 + d / 2] >> (d % 2 * 4) & 15;
  const unsigned byte = scale[token * kDim / 16 + d / 16]; // E4M3
  const int exponent = static_cast<int>(byte >> 3);
  const auto mantissa = static_cast<float>(byte & 7);
  const float step =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (code & 8 ? -1.0f : 1.0f) * kValues[code & 7] * step;
}

float fromBf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::uint16_t toBf16(float exact) {
  std::uint32_t wide;
  std::memcpy(&wide, &exact, sizeof wide);
  return static_cast<std::uint16_t>(wide >> 16);
}

namespace {

double dot(const Tensor &keys, std::size_t token, const std::uint16_t *query) {
  double sum = 0;
  for (std::size_t d = 0; d < kDim; ++d)
    sum += double(keys.at(token, d)) * fromBf16(query[d]);
  return sum;
}

} // namespace

std::vector<std::int32_t> selectBlocks(const Tensor &indexKeys, std::size_t request,
                                       std::size_t length, const std::uint16_t *indexQuery) {
  const std::size_t blocks = (length + kPage - 1) / kPage;
  std::vector<std::pair<double, std::int32_t>> scored;
  for (std::size_t b = 0; b < blocks; ++b) {
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t t = b * kPage; t < std::min(length, (b + 1) * kPage); ++t)
      best = std::max(best, dot(indexKeys, slotOf(request, t), indexQuery));
    if (b + 1 == blocks) // local_blocks = 1
      best = std::numeric_limits<double>::infinity();
    scored.emplace_back(best, static_cast<std::int32_t>(b));
  }
  std::sort(scored.rbegin(), scored.rend());
  std::vector<std::int32_t> ids(kTopK, -1);
  for (std::size_t i = 0; i < std::min(kTopK, blocks); ++i)
    ids[i] = scored[i].second;
  return ids;
}

std::vector<double> attend(const Tensor &k, const Tensor &v, std::size_t request,
                           std::size_t length, const std::int32_t *ids,
                           const std::uint16_t *query) {
  std::vector<double> out(kDim, 0.0);
  double total = 0;
  for (std::size_t i = 0; i < kTopK && ids[i] >= 0; ++i) {
    const std::size_t first = static_cast<std::size_t>(ids[i]) * kPage;
    for (std::size_t t = first; t < std::min(length, first + kPage); ++t) {
      // No maximum is subtracted: the example's scores are small.
      const double p = std::exp2(dot(k, slotOf(request, t), query) * kScale);
      total += p;
      for (std::size_t d = 0; d < kDim; ++d)
        out[d] += p * v.at(slotOf(request, t), d);
    }
  }
  for (double &value : out)
    value = total > 0 ? value / total : 0;
  return out;
}
