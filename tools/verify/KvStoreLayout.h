//===- KvStoreLayout.h - where a kv_store launch reads and writes -----------===//
//
// Owns: the configuration of a kv_store variant as its request says it, and the
// layouts of pools (P1) and input rows that it is tried with.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_KVSTORELAYOUT_H
#define NVFP4GEN_TOOLS_VERIFY_KVSTORELAYOUT_H

#include "runtime/guard/Guard.h"
#include "runtime/include/nvfp4rt_args.h"
#include "tools/oracle/Oracle.h"
#include "tools/verify/Layout.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace verify::kv_store {

enum class Order : uint8_t { NHD, HND };

/// What a request says of the launch.
struct Config {
  oracle::KvStoreShape shape;
  int64_t rows = 0;
  std::vector<Order> orders; ///< both when the guard does not fix one
};
/// A field that the oracle needs and the request lacks, or a format that it has no rules for, is an
/// error.
nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request);

/// Tensors in the order of the argument struct.
enum Tensor : size_t { K, V, IndexK, kTensors };
inline constexpr std::string_view kTensorNames[kTensors] = {"K", "V", "index key"};

bool stores(const oracle::KvStoreShape &shape, Tensor tensor);
int64_t headsOf(const oracle::KvStoreShape &shape, Tensor tensor);
int64_t headDimOf(const oracle::KvStoreShape &shape, Tensor tensor);

/// One plane in an image.
struct PlanePlace {
  size_t image = 0;   ///< index of the buffer
  int64_t offset = 0; ///< of page 0, bytes
  int64_t pageStride = 0, tokenStride = 0, headStride = 0;
  int64_t rowBytes = 0; ///< bytes of a (token, head)
  int64_t at(int64_t page, int64_t token, int64_t head) const {
    return offset + page * pageStride + token * tokenStride + head * headStride;
  }
};

struct PoolLayout {
  std::vector<int64_t> imageBytes;
  std::array<PlanePlace, kTensors> payload, scale; ///< of stored tensors only
};
PoolLayout poolLayout(const oracle::KvStoreShape &shape, Layout layout, Order order, int64_t pages,
                      int64_t indexPages);

/// Rows of one tensor in an input buffer.
struct RowsPlace {
  size_t buffer = 0;
  int64_t offset = 0, rowStride = 0, headStride = 0;
};

struct InputLayout {
  std::vector<int64_t> bufferBytes; ///< up to the last byte that is read, no further
  std::array<RowsPlace, kTensors> rows;
};
InputLayout inputLayout(const oracle::KvStoreShape &shape, Layout layout, int64_t rows);

} // namespace verify::kv_store

#endif // NVFP4GEN_TOOLS_VERIFY_KVSTORELAYOUT_H
