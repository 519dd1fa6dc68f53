//===- QkNormRopeInputs.cpp - packed rows for qk_norm_rope_store ------------===//
//
// Owns: what QkNormRopeInputs.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/QkNormRopeInputs.h"
#include "tools/oracle/Exact.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace verify::norm_rope {

using nvfp4rt::Field;
using oracle::DType;

nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request) {
  auto cache = kv_store::readConfig(request);
  if (!cache)
    return tl::unexpected(std::move(cache.error()));
  Config config;
  config.request = request;
  config.rows = cache->rows;
  config.orders = cache->orders;
  oracle::NormRopeShape &shape = config.shape;
  shape.store = cache->shape;
  const std::pair<Field, int64_t &> fields[] = {{Field::q_heads, shape.qHeads},
                                                {Field::kv_heads, shape.store.kvHeads},
                                                {Field::head_dim, shape.store.headDim},
                                                {Field::index_heads, shape.indexHeads},
                                                {Field::index_head_dim, shape.store.indexHeadDim},
                                                {Field::rotary_dim, shape.rotaryDim}};
  for (const auto &[field, to] : fields) {
    auto value = needField(request, field);
    if (!value)
      return tl::unexpected(std::move(value.error()));
    to = *value;
  }
  // q heads show what K's heads round to: there are enough of them in any model with rules.
  if (shape.store.kvHeads < 1 || shape.qHeads < shape.store.kvHeads || shape.indexHeads < 1 ||
      shape.store.headDim < 16 || shape.store.headDim % 16 != 0 ||
      shape.store.indexHeadDim != shape.store.headDim || shape.rotaryDim < 0 ||
      shape.rotaryDim % 2 != 0 || shape.rotaryDim > shape.store.headDim)
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("guard: expected a q head for each KV head, an index head, one head dim of "
                    "whole groups, and an even rotary_dim within it (W2); found {}",
                    request.text()));
  return config;
}

int64_t Inputs::headsOf(Part part) const {
  switch (part) {
  case Part::Q:
    return shape.qHeads;
  case Part::K:
  case Part::V:
    return shape.store.kvHeads;
  case Part::IndexQ:
    return shape.indexHeads;
  case Part::IndexK:
    return shape.indexHeads ? 1 : 0;
  }
  return 0;
}

int64_t Inputs::firstHead(Part part) const {
  int64_t first = 0;
  for (size_t before = 0; before < static_cast<size_t>(part); ++before)
    first += headsOf(static_cast<Part>(before));
  return first;
}

std::span<const uint16_t> Inputs::head(int64_t row, Part part, int64_t head) const {
  return std::span(packed).subspan(
      static_cast<size_t>((row * heads() + firstHead(part) + head) * headDim()),
      static_cast<size_t>(headDim()));
}

std::span<uint16_t> Inputs::head(int64_t row, Part part, int64_t head) {
  return std::span(packed).subspan(
      static_cast<size_t>((row * heads() + firstHead(part) + head) * headDim()),
      static_cast<size_t>(headDim()));
}

std::vector<oracle::NormRopeValue> Inputs::normed(int64_t row, Part part, int64_t index) const {
  auto lift = [&](std::span<const uint16_t> bits) {
    std::vector<double> values;
    for (uint16_t b : bits)
      values.push_back(oracle::value(b, shape.store.dtype));
    return values;
  };
  const auto width = static_cast<size_t>(shape.rotaryDim);
  const auto turn = std::span(cosSin).subspan(
      static_cast<size_t>(positions[static_cast<size_t>(row)]) * width, width);
  return oracle::normRope(shape, lift(head(row, part, index)),
                          lift(weights[static_cast<size_t>(part)]),
                          std::vector<double>(turn.begin(), turn.end()));
}

Inputs showingKeys(Inputs inputs) {
  auto show = [&](Part keys, Part queries) {
    inputs.weights[static_cast<size_t>(queries)] = inputs.weights[static_cast<size_t>(keys)];
    for (int64_t row = 0; row < inputs.rows(); ++row)
      for (int64_t head = 0; head < inputs.headsOf(keys); ++head)
        std::ranges::copy(inputs.head(row, keys, head), inputs.head(row, queries, head).begin());
  };
  show(Part::K, Part::Q);
  show(Part::IndexK, Part::IndexQ);
  return inputs;
}

Inputs reversed(const Inputs &inputs) {
  Inputs result = inputs;
  std::ranges::reverse(result.positions);
  const int64_t width = inputs.heads() * inputs.headDim();
  for (int64_t row = 0; row < inputs.rows(); ++row)
    std::copy_n(inputs.packed.begin() + row * width, width,
                result.packed.begin() + (inputs.rows() - 1 - row) * width);
  return result;
}

namespace {

/// Heads that W2 says something about, or where fp32 arithmetic may fail.
struct Maker {
  DType dtype;
  oracle::Random &random;
  std::span<uint16_t> head;

  oracle::DTypeTraits traits() const { return oracle::traits(dtype); }
  uint16_t sign() { return random.below(2) ? oracle::kSignBit : uint16_t{0}; }
  uint16_t &any() { return head[random.below(head.size())]; }
  uint16_t round(double value) { return oracle::roundBits(value, dtype); }
  void all(uint16_t bits) { std::ranges::fill(head, bits); }
  /// Random mantissas and signs, exponents from `low` to `high`.
  void between(int low, int high) {
    for (uint16_t &bits : head)
      bits = round(std::ldexp(
                 double(256 + random.below(256)) / 256,
                 low + static_cast<int>(random.below(static_cast<size_t>(high - low) + 1)))) |
             sign();
  }
  /// The largest exponent of a finite value.
  int top() const { return traits().bias; }
  /// The exponent of the smallest normal value.
  int bottom() const { return 1 - traits().bias; }
};

using Make = void (*)(Maker &m);
constexpr Make kMakers[] = {
    [](Maker &m) { m.all(0); },
    [](Maker &m) { m.all(oracle::kSignBit); },
    [](Maker &m) { m.all(m.round(3)); },
    [](Maker &m) { m.all(m.round(-0.40625)); },
    [](Maker &m) { // one NaN among ordinary values
      m.between(-3, 2);
      m.any() = m.traits().quietNaN();
    },
    [](Maker &m) { // with sign, and another payload
      m.between(-3, 2);
      m.any() = static_cast<uint16_t>(m.traits().infinity() | oracle::kSignBit | 1);
    },
    [](Maker &m) { m.all(m.traits().quietNaN()); },
    [](Maker &m) {
      m.between(-3, 2);
      m.any() = m.traits().infinity();
    },
    [](Maker &m) {
      m.between(-3, 2);
      m.any() = static_cast<uint16_t>(m.traits().infinity() | oracle::kSignBit);
    },
    [](Maker &m) { // infinities of both signs, perhaps partners
      m.between(-3, 2);
      m.head[1] = m.traits().infinity();
      m.head[1 + m.head.size() / 4] = static_cast<uint16_t>(m.traits().infinity() | m.sign());
    },
    [](Maker &m) { // every square overflows fp32 in bf16
      for (uint16_t &bits : m.head)
        bits = static_cast<uint16_t>(m.traits().maxFinite() | m.sign());
    },
    [](Maker &m) { // one outweighs all others
      m.between(-3, 2);
      m.any() = static_cast<uint16_t>(m.traits().maxFinite() | m.sign());
    },
    [](Maker &m) { m.between(m.top() - 2, m.top() - 1); },
    [](Maker &m) { // in bf16 no square overflows fp32, but their sum does
      m.between(m.top() / 2 - 1, m.top() / 2 - 1);
    },
    [](Maker &m) { // the sum nearly does
      m.between(m.top() / 2 - 4, m.top() / 2 - 4);
    },
    [](Maker &m) { m.between(m.bottom(), m.top() - 1); }, // every exponent
    [](Maker &m) {                                        // subnormals
      for (uint16_t &bits : m.head)
        bits = static_cast<uint16_t>(m.random.below(m.traits().minNormal()) | m.sign());
    },
    [](Maker &m) { // squares underflow fp32 in bf16; eps is all there is
      m.between(m.bottom(), m.bottom() + 20);
    },
    [](Maker &m) { m.between(-11, -9); }, // mean square near eps
    [](Maker &m) {                        // one value alone
      m.all(0);
      m.any() = static_cast<uint16_t>(m.round(1) | m.sign());
    },
    [](Maker &m) { // partners with one value, which turns cancel
      m.between(-2, 1);
      for (size_t d = 0; d + 32 < m.head.size(); ++d)
        if (d / 32 % 2 == 0)
          m.head[d + 32] = m.head[d];
    },
    [](Maker &m) { // small beside large groups: scales from end to end
      for (size_t d = 0; d < m.head.size(); ++d)
        m.head[d] =
            static_cast<uint16_t>(m.round(std::ldexp(double(256 + m.random.below(256)) / 256,
                                                     -static_cast<int>(d / 16) * 2)) |
                                  m.sign());
    },
};

/// Rows of cos_sin: quarter and eighth turns, then those of a model.
constexpr int64_t kPositions = 61;

std::vector<float> cosSinTable(int64_t rotaryDim) {
  std::vector<float> table;
  for (int64_t position = 0; position < kPositions; ++position)
    for (int64_t i = 0; i < rotaryDim; ++i) {
      const int64_t half = rotaryDim / 2;
      const double angle = position < 8
                               ? double(position) * std::acos(-1.0) / 4
                               : double(position * position * 271) *
                                     std::pow(5e6, -2.0 * double(i % half) / double(rotaryDim));
      table.push_back(static_cast<float>(i < half ? std::cos(angle) : std::sin(angle)));
    }
  return table;
}

} // namespace

size_t InputSource::kinds() { return std::size(kMakers); }

InputSource::InputSource(const oracle::NormRopeShape &shape, uint64_t seed)
    : shape(shape), random(seed), groups(oracle::randomGroups(shape.store.dtype, 4096, seed)) {
  for (size_t part = 0; part < kParts; ++part)
    turn[part] = part * 5;
}

Inputs InputSource::empty(int64_t rows, Layer layer, bool largeWeights) {
  Inputs inputs;
  inputs.shape = shape;
  inputs.shape.gemma = layer.gemma;
  inputs.eps = random.below(2) ? 1e-6f : 1e-5f;
  inputs.shape.eps = inputs.eps;
  if (!layer.indexBranch)
    inputs.shape.indexHeads = 0;
  inputs.shape.store.storesK &= layer.slots;
  inputs.shape.store.storesV &= layer.slots;
  inputs.shape.store.storesIndex &= layer.indexSlots && layer.indexBranch;
  inputs.packed.resize(static_cast<size_t>(rows * inputs.heads() * inputs.headDim()));
  for (int64_t row = 0; row < rows; ++row)
    inputs.positions.push_back(static_cast<int64_t>(random.below(kPositions)));
  inputs.cosSin = cosSinTable(shape.rotaryDim);
  // sqrt(128) times a weight stays below 2^126 (W2); in fp16 it passes the largest value.
  const double large = shape.store.dtype == DType::BF16 ? 0x1p120 : 0x1p14;
  for (Part part : {Part::Q, Part::K, Part::IndexQ, Part::IndexK})
    for (int64_t d = 0; d < inputs.headDim(); ++d) {
      double weight = double(random.below(512)) / 256 - 1; // -1: nothing is left in a Gemma norm
      if (random.below(16) == 0)
        weight *= largeWeights ? large : 12;
      inputs.weights[static_cast<size_t>(part)].push_back(
          oracle::roundBits(weight, shape.store.dtype));
    }
  return inputs;
}

void InputSource::fillRandom(std::span<uint16_t> head) {
  for (size_t d = 0; d < head.size(); d += 16)
    std::ranges::copy(groups[random.below(groups.size())], head.begin() + static_cast<long>(d));
}

void InputSource::fillSpecial(Part part, std::span<uint16_t> head) {
  Maker maker{shape.store.dtype, random, head};
  kMakers[turn[static_cast<size_t>(part)]++ % std::size(kMakers)](maker);
}

Inputs InputSource::make(int64_t rows, Layer layer) {
  Inputs inputs = empty(rows, layer, /*largeWeights=*/false);
  for (int64_t row = 0; row < rows; ++row)
    for (Part part : {Part::Q, Part::K, Part::V, Part::IndexQ, Part::IndexK})
      for (int64_t head = 0; head < inputs.headsOf(part); ++head)
        if (random.below(2))
          fillRandom(inputs.head(row, part, head));
        else
          fillSpecial(part, inputs.head(row, part, head));
  return inputs;
}

Inputs InputSource::makeSpecial(int64_t rows, Layer layer, kv_store::GroupStream &stream,
                                bool largeWeights) {
  Inputs inputs = empty(rows, layer, largeWeights);
  for (int64_t row = 0; row < rows; ++row) {
    for (Part part : {Part::Q, Part::K, Part::IndexQ, Part::IndexK})
      for (int64_t head = 0; head < inputs.headsOf(part); ++head)
        fillSpecial(part, inputs.head(row, part, head));
    for (int64_t head = 0; head < inputs.headsOf(Part::V); ++head)
      for (int64_t d = 0; d < inputs.headDim(); d += 16)
        std::ranges::copy(stream.take(), inputs.head(row, Part::V, head).begin() + d);
  }
  return inputs;
}

} // namespace verify::norm_rope
