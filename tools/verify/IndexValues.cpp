//===- IndexValues.cpp - numbers for queries and keys -----------------------===//
//
// Owns: what IndexValues.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexValues.h"
#include "tools/oracle/Exact.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace verify::index {

namespace {

constexpr uint8_t kScaleOne = 0x38, kScaleHalf = 0x30, kScaleTwo = 0x40, kScaleNaN = 0x7F;
/// Groups or tokens that are made at a time and then used again; odd, so that rows of whole groups
/// do not repeat at once.
constexpr size_t kGroups = 4095, kTokens = 1021;

int64_t payloadBytes(const oracle::IndexShape &shape) { return shape.headDim / 2; }
int64_t scaleBytes(const oracle::IndexShape &shape) { return shape.headDim / 16; }

} // namespace

KeySource::KeySource(const oracle::IndexShape &shape, Values values, uint64_t seed)
    : shape(shape), values(values), seed(seed), random(seed) {
  if (values == Values::Random)
    for (const auto &bits : oracle::randomGroups(shape.dtype, kGroups, seed))
      groups.push_back(oracle::quantize(bits, shape.dtype));
  if (values == Values::Exact || values == Values::Zero || values == Values::Special) {
    payloads = oracle::exactPayload(kTokens * static_cast<size_t>(payloadBytes(shape)), seed);
    scales = oracle::exactScales(kTokens * static_cast<size_t>(scaleBytes(shape)), seed + 1);
  }
}

void KeySource::write(int64_t position, uint8_t *payload, uint8_t *scale) {
  const auto payloadSize = static_cast<size_t>(payloadBytes(shape));
  const auto scaleSize = static_cast<size_t>(scaleBytes(shape));
  switch (values) {
  case Values::Random:
    for (size_t g = 0; g < scaleSize; ++g) {
      const oracle::Group &group = groups[next++ % groups.size()];
      std::copy(group.payload.begin(), group.payload.end(), payload + g * 8);
      scale[g] = group.scale;
    }
    return;
  case Values::OneHot:
    for (size_t i = 0; i < payloadSize; ++i)
      payload[i] = static_cast<uint8_t>(random() >> 56);
    for (size_t g = 0; g < scaleSize; ++g)
      scale[g] = static_cast<uint8_t>(1 + (random() >> 32) % oracle::kMaxScale);
    return;
  case Values::Ascending: {
    // Codes grow by one step after another, from the first dimension to the last.
    const int64_t block = position / shape.blockSize, token = position % shape.blockSize;
    const int64_t steps = (token + 1) * std::max<int64_t>(1, 7 * shape.headDim / shape.blockSize);
    std::memset(payload, 0, payloadSize);
    for (int64_t d = 0; d < shape.headDim; ++d) {
      const auto code = static_cast<uint8_t>(std::clamp<int64_t>(steps - 7 * d, 0, 7));
      payload[d / 2] |= static_cast<uint8_t>(code << (d % 2 * 4));
    }
    const uint8_t byBlock[] = {kScaleOne, kScaleHalf, kScaleTwo, kScaleOne, kScaleTwo};
    std::memset(scale, byBlock[block % 5], scaleSize);
    return;
  }
  case Values::Exact:
  case Values::Zero:
  case Values::Special:
    std::memcpy(payload, payloads.data() + next % kTokens * payloadSize, payloadSize);
    std::memcpy(scale, scales.data() + next % kTokens * scaleSize, scaleSize);
    if (++next % kTokens == 0) { // new numbers, or every eighth page would be the same
      payloads = oracle::exactPayload(payloads.size(), seed + next);
      scales = oracle::exactScales(scales.size(), seed + next + 1);
    }
    return;
  }
}

void writePoison(const oracle::IndexShape &shape, int64_t turn, uint8_t *payload, uint8_t *scale) {
  const uint8_t pairs[] = {0x5A, 0x77, 0xFF};
  const uint8_t scales[] = {kScaleNaN, oracle::kMaxScale, oracle::kMaxScale};
  std::memset(payload, pairs[turn % 3], static_cast<size_t>(payloadBytes(shape)));
  std::memset(scale, scales[turn % 3], static_cast<size_t>(scaleBytes(shape)));
}

void writeZeros(const oracle::IndexShape &shape, uint8_t *payload, uint8_t *scale) {
  std::memset(payload, 0, static_cast<size_t>(payloadBytes(shape)));
  std::memset(scale, oracle::kMinScale, static_cast<size_t>(scaleBytes(shape)));
}

QuerySource::QuerySource(const oracle::IndexShape &shape, Values values, uint64_t seed)
    : shape(shape), values(values), seed(seed) {
  if (values == Values::Random)
    groups = oracle::randomGroups(shape.dtype, kGroups, seed);
}

void QuerySource::write(uint16_t *to) {
  const auto dim = static_cast<size_t>(shape.headDim);
  auto bits = [&](double value) { return oracle::roundBits(value, shape.dtype); };
  switch (values) {
  case Values::Random:
    for (size_t g = 0; g < dim / 16; ++g)
      std::copy_n(groups[(next * 7 + g) % groups.size()].begin(), 16, to + g * 16);
    break;
  case Values::OneHot:
    std::fill_n(to, dim, bits(0));
    to[next * 37 % dim] = bits(next % 4 == 3 ? -1 : 1);
    break;
  case Values::Ascending:
    for (size_t d = 0; d < dim; ++d)
      to[d] = bits((d + next) % 3 == 0 ? 2 : 1);
    break;
  case Values::Zero:
    for (size_t d = 0; d < dim; ++d)
      to[d] = (d + next) % 2 ? oracle::kSignBit : 0;
    break;
  case Values::Exact:
  case Values::Special: {
    const std::vector<uint16_t> row = oracle::exactQueries(shape.dtype, dim, seed + next);
    std::copy(row.begin(), row.end(), to);
    if (values == Values::Special)
      writeSpecial(to);
    break;
  }
  }
  ++next;
}

void QuerySource::writeSpecial(uint16_t *to) const {
  const auto dim = static_cast<size_t>(shape.headDim);
  const oracle::DTypeTraits traits = oracle::traits(shape.dtype);
  const size_t at = next * 29 % dim;
  auto all = [&](auto bits) {
    for (size_t d = 0; d < dim; ++d)
      to[d] = bits(d);
  };
  switch (next % 9) {
  case 0:
    to[at] = traits.quietNaN();
    break;
  case 1:
    to[at] = traits.infinity();
    break;
  case 2:
    to[at] = traits.infinity() | oracle::kSignBit;
    break;
  case 3: // inf - inf wherever both keys are not zero
    to[at] = traits.infinity();
    to[(at + 64) % dim] = traits.infinity() | oracle::kSignBit;
    break;
  case 4: // in bf16 an infinity once it is fp16
    to[at] = traits.maxFinite();
    break;
  case 5: // subnormal in fp16
    all([&](size_t d) {
      return oracle::roundBits(std::ldexp(double((d * 5 + next) % 15) - 7, -24), shape.dtype);
    });
    break;
  case 6: // the smallest numbers: in bf16 zero once they are fp16
    all([&](size_t d) { return static_cast<uint16_t>(d % 2 ? 1 : oracle::kSignBit | 1); });
    break;
  case 7:
    all([](size_t) { return oracle::kSignBit; });
    break;
  default: // the largest number that both dtypes have
    to[at] = oracle::roundBits(65280, shape.dtype);
    break;
  }
}

} // namespace verify::index
