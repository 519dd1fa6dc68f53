//===- NormRope.cpp - host reference of qk_norm_rope_store ------------------===//
//
// Owns: what NormRope.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/NormRope.h"
#include "tools/oracle/Exact.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace oracle {

std::vector<NormRopeValue> normRope(const NormRopeShape &shape, std::span<const double> x,
                                    std::span<const double> weight,
                                    std::span<const double> cosSin) {
  double squares = 0;
  for (double v : x)
    squares += v * v;
  const double norm = 1 / std::sqrt(squares / double(x.size()) + shape.eps);
  std::vector<NormRopeValue> y;
  y.reserve(x.size());
  for (size_t d = 0; d < x.size(); ++d) {
    const double factor = shape.gemma ? 1 + weight[d] : weight[d];
    const double value = x[d] * norm * factor;
    y.push_back({value, std::fabs(value), std::ldexp(std::max(std::fabs(factor), 1.0), -149)});
  }
  std::vector<NormRopeValue> result = y;
  auto sum = [](const NormRopeValue &a, double by, const NormRopeValue &b, double partnerBy) {
    const double first = a.value * by, second = b.value * partnerBy;
    return NormRopeValue{first + second, std::fabs(first) + std::fabs(second),
                         a.underflow + b.underflow};
  };
  const size_t half = size_t(shape.rotaryDim) / 2;
  for (size_t i = 0; i < half; ++i) {
    const double cosine = cosSin[i], sine = cosSin[half + i];
    result[i] = sum(y[i], cosine, y[i + half], -sine);
    result[i + half] = sum(y[i + half], cosine, y[i], sine);
  }
  return result;
}

std::vector<uint16_t> roundValues(std::span<const NormRopeValue> values, DType dtype) {
  std::vector<uint16_t> bits;
  for (const NormRopeValue &v : values)
    bits.push_back(roundBits(v.value, dtype));
  return bits;
}

namespace {

/// The heads of one packed row, in their order.
class PackedRow {
public:
  PackedRow(const NormRopeShape &shape, const NormRopeInputs &inputs, uint32_t row)
      : shape(shape),
        bytes(static_cast<const std::byte *>(inputs.packed) + int64_t{row} * inputs.packedStride) {
    const size_t position = size_t(inputs.positions[row]), width = size_t(shape.rotaryDim);
    cosSin = inputs.cosSin.subspan(position * width, width);
  }

  /// The next head as it is.
  std::vector<uint16_t> take(int64_t headDim) {
    std::vector<uint16_t> bits(static_cast<size_t>(headDim));
    std::memcpy(bits.data(), bytes, bits.size() * sizeof(uint16_t));
    bytes += bits.size() * sizeof(uint16_t);
    return bits;
  }
  /// The next head, normed, turned and rounded.
  std::vector<uint16_t> takeNormed(int64_t headDim, std::span<const double> weight) {
    std::vector<double> x;
    for (uint16_t bits : take(headDim))
      x.push_back(value(bits, shape.store.dtype));
    return roundValues(normRope(shape, x, weight, cosSin), shape.store.dtype);
  }

private:
  const NormRopeShape &shape;
  const std::byte *bytes;
  std::span<const double> cosSin;
};

void append(std::vector<uint16_t> &to, const std::vector<uint16_t> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

void put(const OutRows &out, uint32_t row, int64_t heads, const std::vector<uint16_t> &from) {
  const size_t bytes = heads ? from.size() / size_t(heads) * sizeof(uint16_t) : 0;
  for (int64_t head = 0; head < heads; ++head)
    std::memcpy(static_cast<std::byte *>(out.base) + int64_t{row} * out.rowStride +
                    head * out.headStride,
                from.data() + size_t(head) * bytes / sizeof(uint16_t), bytes);
}

/// Dense rows as kv_store reads them.
nvfp4rt_rows denseRows(const std::vector<uint16_t> &bits, int64_t heads, int64_t headDim) {
  return {bits.data(), heads * headDim * 2, headDim * 2};
}

} // namespace

void qkNormRopeStore(const NormRopeShape &shape, const NormRopeInputs &inputs) {
  const KvStoreShape &store = shape.store;
  std::vector<uint16_t> k, v, indexK; // the staging that a kernel does without
  for (uint32_t row = 0; row < inputs.cache.rows; ++row) {
    PackedRow packed(shape, inputs, row);
    std::vector<uint16_t> q, indexQ;
    for (int64_t head = 0; head < shape.qHeads; ++head)
      append(q, packed.takeNormed(store.headDim, inputs.qWeight));
    for (int64_t head = 0; head < store.kvHeads; ++head)
      append(k, packed.takeNormed(store.headDim, inputs.kWeight));
    for (int64_t head = 0; head < store.kvHeads; ++head)
      append(v, packed.take(store.headDim));
    for (int64_t head = 0; head < shape.indexHeads; ++head)
      append(indexQ, packed.takeNormed(store.indexHeadDim, inputs.indexQWeight));
    if (shape.indexHeads)
      append(indexK, packed.takeNormed(store.indexHeadDim, inputs.indexKWeight));
    // In place, this overwrites what has been read.
    put(inputs.q, row, shape.qHeads, q);
    put(inputs.indexQ, row, shape.indexHeads, indexQ);
  }
  KvStoreShape cacheShape = store;
  cacheShape.storesIndex &= shape.indexHeads > 0;
  nvfp4rt_kv_store_args cache = inputs.cache;
  cache.k = denseRows(k, store.kvHeads, store.headDim);
  cache.v = denseRows(v, store.kvHeads, store.headDim);
  cache.index_k = denseRows(indexK, 1, store.indexHeadDim);
  kvStore(cacheShape, cache);
}

namespace {

/// Patterns as integers in the order of their values; both zeros are 0.
int32_t order(uint16_t bits) {
  const int32_t magnitude = bits & ~kSignBit;
  return bits & kSignBit ? -magnitude : magnitude;
}
uint16_t pattern(int32_t order) {
  return static_cast<uint16_t>(order < 0 ? -order | kSignBit : order);
}

/// First and last pattern (as order) that a value may be given as; finite or infinite values.
struct Allowed {
  int32_t low, high;

  Allowed(const NormRopeValue &v, DType dtype) {
    const double slack = std::ldexp(v.magnitude, -20);
    const int32_t infinity = traits(dtype).infinity();
    const int32_t rounded = order(roundBits(v.value, dtype));
    low = std::max(std::min(rounded - 1, order(roundBits(v.value - slack, dtype))), -infinity);
    high = std::min(std::max(rounded + 1, order(roundBits(v.value + slack, dtype))), infinity);
  }
  int32_t least() const {
    return low <= 0 && high >= 0 ? 0 : std::min(std::abs(low), std::abs(high));
  }
  int32_t most() const { return std::max(std::abs(low), std::abs(high)); }
};

/// Signed index of a code: grows with the value.
int level(uint8_t code) { return code & 8 ? -(code & 7) : code; }

uint8_t scaleOfPattern(int32_t magnitude, DType dtype) {
  const Number number = decode(pattern(magnitude), dtype);
  return number.kind == NumberClass::Infinity ? kMaxScale : scaleOf(number.magnitude);
}

} // namespace

bool allows(const NormRopeValue &expected, uint16_t got, DType dtype) {
  const bool nan = decode(got, dtype).kind == NumberClass::NaN;
  if (nan || std::isnan(expected.value))
    return nan && std::isnan(expected.value);
  const Allowed allowed(expected, dtype);
  return order(got) >= allowed.low && order(got) <= allowed.high;
}

bool rounds(const NormRopeValue &expected, uint16_t got, DType dtype) {
  const bool nan = decode(got, dtype).kind == NumberClass::NaN;
  if (nan || std::isnan(expected.value))
    return nan && std::isnan(expected.value);
  const double slack = std::ldexp(expected.magnitude, -20) + 4 * expected.underflow;
  return order(got) >= order(roundBits(expected.value - slack, dtype)) &&
         order(got) <= order(roundBits(expected.value + slack, dtype));
}

bool allows(std::span<const NormRopeValue, 16> expected, const Group &got, DType dtype) {
  int32_t least = 0, most = 0; // amax
  for (const NormRopeValue &v : expected)
    if (!std::isnan(v.value)) {
      const Allowed allowed(v, dtype);
      least = std::max(least, allowed.least());
      most = std::max(most, allowed.most());
    }
  if (got.scale < scaleOfPattern(least, dtype) || got.scale > scaleOfPattern(most, dtype))
    return false;
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t code = got.payload[i / 2] >> (i % 2 * 4) & 15;
    if (code == 8) // F6
      return false;
    if (std::isnan(expected[i].value)) {
      if (code != 0) // F7
        return false;
      continue;
    }
    const Allowed allowed(expected[i], dtype);
    if (level(code) < level(codeUnder(decode(pattern(allowed.low), dtype), got.scale)) ||
        level(code) > level(codeUnder(decode(pattern(allowed.high), dtype), got.scale)))
      return false;
  }
  return true;
}

} // namespace oracle
