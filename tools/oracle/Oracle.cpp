//===- Oracle.cpp - host reference of F4..F8 and W1 -------------------------===//
//
// Owns: quantize, dequantize and kvStore, as the rules say them.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Oracle.h"
#include "tools/oracle/Exact.h"
#include "tools/oracle/Pool.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace oracle {

namespace {

/// F5 on a finite magnitude: the number of midpoints it has passed, ties to the even index.
uint8_t codeIndex(Dyadic magnitude, uint8_t scale) {
  uint8_t index = 0;
  while (index < kFourMidpoint.size()) {
    auto order = compare(magnitude, midpoint(index, scale));
    if (order < 0 || (order == 0 && index % 2 == 0))
      break;
    ++index;
  }
  return index;
}

void storeRow(DType dtype, const std::byte *row, int64_t headDim, std::byte *payload,
              std::byte *scales) {
  for (int64_t g = 0; g < headDim / 16; ++g) {
    std::array<uint16_t, 16> bits;
    std::memcpy(bits.data(), row + g * sizeof(bits), sizeof(bits));
    Group group = quantize(bits, dtype);
    std::memcpy(payload + g * 8, group.payload.data(), 8);
    scales[g] = std::byte{group.scale};
  }
}

/// What W1 does with one of K, V and index key.
struct Tensor {
  nvfp4rt_rows rows;
  nvfp4rt_plane payload, scale;
  const int64_t *slots;
  int64_t pages, heads, headDim;
};

void storeTensor(DType dtype, int64_t pageSize, uint32_t rows, const Tensor &t) {
  for (uint32_t row = 0; row < rows; ++row) {
    int64_t slot = t.slots[row];
    if (slot < 0 || slot / pageSize >= t.pages) // P2
      continue;
    int64_t page = slot / pageSize, token = slot % pageSize;
    for (int64_t head = 0; head < t.heads; ++head)
      storeRow(dtype, at(t.rows, row, head), t.headDim, at(t.payload, page, token, head),
               at(t.scale, page, token, head));
  }
}

} // namespace

uint8_t codeUnder(const Number &x, uint8_t scale) {
  if (x.kind == NumberClass::NaN) // F7
    return 0;
  uint8_t index = x.kind == NumberClass::Infinity ? 7 : codeIndex(x.magnitude, scale);
  return index != 0 && x.negative ? static_cast<uint8_t>(index | 8) : index; // F6
}

Group quantize(std::span<const uint16_t, 16> bits, DType dtype) {
  std::array<Number, 16> x;
  Dyadic amax;
  bool infinite = false;
  for (size_t i = 0; i < 16; ++i) {
    x[i] = decode(bits[i], dtype);
    if (x[i].kind == NumberClass::Infinity)
      infinite = true;
    if (x[i].kind == NumberClass::Finite && compare(x[i].magnitude, amax) > 0)
      amax = x[i].magnitude;
  }
  Group group;
  group.scale = infinite ? kMaxScale : scaleOf(amax); // F7, F4
  for (size_t j = 0; j < 8; ++j)                      // F2
    group.payload[j] = static_cast<uint8_t>(codeUnder(x[2 * j], group.scale) |
                                            codeUnder(x[2 * j + 1], group.scale) << 4);
  return group;
}

double dequantize(uint8_t code, uint8_t scale) {
  if ((scale & 0x7F) == 0x7F)
    return std::numeric_limits<double>::quiet_NaN();
  double magnitude = std::ldexp(double(kTwiceMagnitude[code & 7]) * scaleUnits(scale & 0x7F),
                                kScaleUnitExponent - 1);
  bool negative = bool(code & 8) != bool(scale & 0x80);
  return negative ? -magnitude : magnitude;
}

double value(uint16_t bits, DType dtype) {
  Number x = decode(bits, dtype);
  double magnitude = x.kind == NumberClass::NaN ? std::numeric_limits<double>::quiet_NaN()
                     : x.kind == NumberClass::Infinity
                         ? std::numeric_limits<double>::infinity()
                         : std::ldexp(x.magnitude.mantissa, x.magnitude.exponent);
  return x.negative ? -magnitude : magnitude;
}

void kvStore(const KvStoreShape &shape, const nvfp4rt_kv_store_args &args) {
  if (shape.storesK)
    storeTensor(shape.dtype, shape.pageSize, args.rows,
                {args.k, args.k_payload, args.k_scale, args.slots, args.pages, shape.kvHeads,
                 shape.headDim});
  if (shape.storesV)
    storeTensor(shape.dtype, shape.pageSize, args.rows,
                {args.v, args.v_payload, args.v_scale, args.slots, args.pages, shape.kvHeads,
                 shape.headDim});
  if (shape.storesIndex)
    storeTensor(shape.dtype, shape.pageSize, args.rows,
                {args.index_k, args.index_payload, args.index_scale, args.index_slots,
                 args.index_pages, 1, shape.indexHeadDim});
}

} // namespace oracle
