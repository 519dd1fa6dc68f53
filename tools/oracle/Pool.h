//===- Pool.h - reading an NVFP4 pool -----------------------------*- C++ -*-===//
//
// Owns: P1 addresses, the pages of a request (P2..P4) and F8 over whole rows.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_POOL_H
#define NVFP4GEN_TOOLS_ORACLE_POOL_H

#include "runtime/include/nvfp4rt_args.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace oracle {

/// P1: address of (page, token, head).
inline std::byte *at(const nvfp4rt_plane &plane, int64_t page, int64_t token, int64_t head) {
  return static_cast<std::byte *>(plane.base) + page * plane.page_stride +
         token * plane.token_stride + head * plane.head_stride;
}

/// Address of (row, head).
inline const std::byte *at(const nvfp4rt_rows &rows, int64_t row, int64_t head) {
  return static_cast<const std::byte *>(rows.base) + row * rows.row_stride +
         head * rows.head_stride;
}

/// A tensor of the cache, its pages reached through a block table.
struct PagedTensor {
  nvfp4rt_plane payload, scale;
  int64_t pages = 0, pageSize = 0;
  const int32_t *blockTable = nullptr;
  int64_t tableStride = 0; ///< bytes between requests

  /// Page of the token at `position`; none when it lies outside the pool (P4).
  std::optional<int64_t> pageOf(int64_t request, int64_t position) const;
  /// F8 on the row of (position, head), out.size() elements. False, and nothing written, when the
  /// page is none.
  bool read(int64_t request, int64_t position, int64_t head, std::span<double> out) const;
};

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_POOL_H
