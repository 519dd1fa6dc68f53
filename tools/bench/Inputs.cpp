//===- Inputs.cpp - random device memory, cheaply -----------------------------===//
//
// Owns: what Inputs.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Inputs.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace bench {

namespace {

constexpr uint64_t kPiece = 1 << 20;
/// Offsets are multiples of the widest element.
constexpr uint64_t kStep = 4;

/// `make` turns 64 random bits into an element.
template <typename Element, typename Make>
void fill(const Buffer &buffer, uint64_t seed, Make make) {
  static_assert(kStep % sizeof(Element) == 0);
  std::mt19937_64 random(seed);
  std::vector<Element> tile(2 * kPiece / sizeof(Element));
  for (Element &element : tile)
    element = make(random());
  for (uint64_t at = 0; at < buffer.size(); at += kPiece) {
    const uint64_t offset = random() % (kPiece / kStep) * kStep;
    std::memcpy(buffer.data() + at, reinterpret_cast<const std::byte *>(tile.data()) + offset,
                std::min(kPiece, buffer.size() - at));
  }
}

} // namespace

void fillCodes(const Buffer &buffer) {
  fill<uint32_t>(buffer, 1, [](uint64_t bits) { return static_cast<uint32_t>(bits); });
}

void fillScales(const Buffer &buffer) {
  fill<uint8_t>(buffer, 2, [](uint64_t bits) { return static_cast<uint8_t>(1 + bits % 0x7e); });
}

void fillValues(const Buffer &buffer, int64_t dtype) {
  const bool bf16 = nvfp4rt::valueText(nvfp4rt::Field::dtype, dtype) == "bf16";
  const unsigned mantissa = bf16 ? 7 : 10, bias = bf16 ? 127 : 15;
  fill<uint16_t>(buffer, 3, [=](uint64_t bits) {
    const uint64_t sign = bits >> 63, exponent = bias - 7 + (bits >> 32) % 8;
    return static_cast<uint16_t>(sign << 15 | exponent << mantissa |
                                 (bits & ((1u << mantissa) - 1)));
  });
}

void fillScores(const Buffer &buffer) {
  fill<float>(buffer, 4, [](uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; });
}

void fillSlots(const Buffer &slots, const Shape &shape, int64_t pageSize, int64_t pages) {
  const std::vector<int32_t> order = permutation(pages, 1);
  const auto perPage = static_cast<size_t>(shape.isPrefill() ? pageSize : 1);
  for (size_t row = 0; row < static_cast<size_t>(shape.rows()); ++row) {
    const size_t token =
        shape.isPrefill() ? row % perPage : row * 37 % static_cast<size_t>(pageSize);
    slots.as<int64_t>()[row] = order[row / perPage] * pageSize + static_cast<int64_t>(token);
  }
}

std::vector<int32_t> permutation(int64_t n, uint64_t seed) {
  std::vector<int32_t> result(static_cast<size_t>(n));
  std::iota(result.begin(), result.end(), 0);
  std::shuffle(result.begin(), result.end(), std::mt19937_64(seed));
  return result;
}

} // namespace bench
