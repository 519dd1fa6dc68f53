//===- Pool.cpp - reading an NVFP4 pool -------------------------------------===//
//
// Owns: PagedTensor of Pool.h.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Pool.h"
#include "tools/oracle/Oracle.h"

#include <array>
#include <cstring>

namespace oracle {

namespace {

/// dequantize() of every code under every scale.
const double *valuesUnder(uint8_t scale) {
  static const auto kTable = [] {
    std::array<std::array<double, 16>, 256> table;
    for (size_t s = 0; s < table.size(); ++s)
      for (size_t code = 0; code < 16; ++code)
        table[s][code] = dequantize(static_cast<uint8_t>(code), static_cast<uint8_t>(s));
    return table;
  }();
  return kTable[scale].data();
}

} // namespace

std::optional<int64_t> PagedTensor::pageOf(int64_t request, int64_t position) const {
  const auto *table = reinterpret_cast<const std::byte *>(blockTable) + request * tableStride;
  int32_t page;
  std::memcpy(&page, table + position / pageSize * int64_t{sizeof(page)}, sizeof(page));
  if (page < 0 || page >= pages)
    return std::nullopt;
  return page;
}

bool PagedTensor::read(int64_t request, int64_t position, int64_t head,
                       std::span<double> out) const {
  const std::optional<int64_t> page = pageOf(request, position);
  if (!page)
    return false;
  const std::byte *codes = at(payload, *page, position % pageSize, head);
  const std::byte *scales = at(scale, *page, position % pageSize, head);
  for (size_t d = 0; d < out.size(); ++d) {
    const uint8_t pair = static_cast<uint8_t>(codes[d / 2]);                  // F2
    const double *values = valuesUnder(static_cast<uint8_t>(scales[d / 16])); // F3
    out[d] = values[d % 2 ? pair >> 4 : pair & 15];
  }
  return true;
}

} // namespace oracle
