//===- KvStoreLayout.cpp - where a kv_store launch reads and writes ---------===//
//
// Owns: what KvStoreLayout.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/KvStoreLayout.h"
#include "tools/verify/Requests.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify::kv_store {

using nvfp4rt::Field;
using nvfp4rt::Result;

Result<Config> readConfig(const nvfp4rt::Request &request) {
  Config config;
  oracle::KvStoreShape &shape = config.shape;
  nvfp4rt::Error error;
  auto read = [&](Field field, int64_t &to) {
    auto value = needField(request, field);
    if (value)
      to = *value;
    else
      error = std::move(value.error());
    return value.has_value();
  };
  int64_t requests, queryLen, planes, dtype;
  if (!read(Field::requests, requests) || !read(Field::query_len, queryLen) ||
      !read(Field::planes, planes) || !read(Field::dtype, dtype) ||
      !read(Field::page_size, shape.pageSize))
    return tl::unexpected(std::move(error));
  config.rows = rowsOf(request);
  if (config.rows < 1)
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("guard: expected requests with at least one row, found {}", request.text()));
  shape.dtype =
      nvfp4rt::valueText(Field::dtype, dtype) == "bf16" ? oracle::DType::BF16 : oracle::DType::FP16;
  const std::string stored = nvfp4rt::valueText(Field::planes, planes);
  shape.storesK = stored.find('k') != std::string::npos;
  shape.storesV = stored.find('v') != std::string::npos;
  shape.storesIndex = stored.find('i') != std::string::npos;
  if (shape.storesK || shape.storesV) {
    if (!read(Field::kv_heads, shape.kvHeads) || !read(Field::head_dim, shape.headDim))
      return tl::unexpected(std::move(error));
    if (auto format = needNvfp4(request, Field::kv_format); !format)
      return tl::unexpected(std::move(format.error()));
  }
  if (shape.storesIndex) {
    if (!read(Field::index_head_dim, shape.indexHeadDim))
      return tl::unexpected(std::move(error));
    if (auto format = needNvfp4(request, Field::index_format); !format)
      return tl::unexpected(std::move(format.error()));
  }
  config.orders = {Order::NHD, Order::HND};
  if (auto order = request.get(Field::plane_order))
    config.orders = {nvfp4rt::valueText(Field::plane_order, *order) == "nhd" ? Order::NHD
                                                                             : Order::HND};
  return config;
}

bool stores(const oracle::KvStoreShape &shape, Tensor tensor) {
  return tensor == K ? shape.storesK : tensor == V ? shape.storesV : shape.storesIndex;
}

int64_t headsOf(const oracle::KvStoreShape &shape, Tensor tensor) {
  return tensor == IndexK ? 1 : shape.kvHeads;
}

int64_t headDimOf(const oracle::KvStoreShape &shape, Tensor tensor) {
  return tensor == IndexK ? shape.indexHeadDim : shape.headDim;
}

namespace {

/// Unused bytes after each head, token and page.
struct Gaps {
  int64_t head = 0, token = 0, page = 0;
};

/// Strides of a plane of `heads` heads; returns the bytes of a page without its gap.
int64_t setStrides(PlanePlace &plane, Order order, int64_t pageSize, int64_t heads, Gaps gaps) {
  int64_t pageBytes;
  if (order == Order::NHD) {
    plane.headStride = plane.rowBytes + gaps.head;
    plane.tokenStride = heads * plane.headStride + gaps.token;
    pageBytes = pageSize * plane.tokenStride;
  } else {
    plane.tokenStride = plane.rowBytes + gaps.token;
    plane.headStride = pageSize * plane.tokenStride + gaps.head;
    pageBytes = heads * plane.headStride;
  }
  plane.pageStride = pageBytes + gaps.page;
  return pageBytes;
}

} // namespace

PoolLayout poolLayout(const oracle::KvStoreShape &shape, Layout layout, Order order, int64_t pages,
                      int64_t indexPages) {
  PoolLayout result;
  // Planes must be 4-byte aligned, and no more: the gapped layout gives them just that.
  const Gaps gaps = layout == Layout::Gapped ? Gaps{4, 12, 20} : Gaps{};
  const int64_t lead = layout == Layout::Gapped ? 60 : 64;
  int64_t block = 0; // of the interleaved layout
  std::vector<PlanePlace *> planes;
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(shape, tensor))
      continue;
    for (PlanePlace *plane : {&result.payload[tensor], &result.scale[tensor]}) {
      const bool payload = plane == &result.payload[tensor];
      plane->rowBytes = headDimOf(shape, tensor) / (payload ? 2 : 16);
      int64_t pageBytes = setStrides(*plane, order, shape.pageSize, headsOf(shape, tensor), gaps);
      planes.push_back(plane);
      if (layout == Layout::Interleaved) {
        plane->offset = lead + block;
        block += pageBytes + 16;
      } else {
        plane->image = result.imageBytes.size();
        plane->offset = lead;
        result.imageBytes.push_back(
            lead + (tensor == IndexK ? indexPages : pages) * plane->pageStride + 64);
      }
    }
  }
  if (layout == Layout::Interleaved) {
    block += 48;
    for (PlanePlace *plane : planes)
      plane->pageStride = block;
    result.imageBytes.push_back(lead + std::max(pages, indexPages) * block + 64);
  }
  return result;
}

InputLayout inputLayout(const oracle::KvStoreShape &shape, Layout layout, int64_t rows) {
  InputLayout result;
  // Rows must be 16-byte aligned. Packed rows have other tensors' elements around ours.
  const int64_t headGap = layout == Layout::Gapped ? 32 : 0;
  const int64_t rowGap = layout == Layout::Gapped ? 48 : 0;
  int64_t packed = 256;
  for (Tensor tensor : {K, V, IndexK}) {
    if (!stores(shape, tensor))
      continue;
    RowsPlace &place = result.rows[tensor];
    const int64_t headBytes = 2 * headDimOf(shape, tensor);
    place.headStride = headBytes + headGap;
    place.rowStride = headsOf(shape, tensor) * place.headStride + rowGap;
    if (layout == Layout::Interleaved) {
      place.offset = packed;
      packed += place.rowStride + (tensor == V ? headBytes : 0);
    } else {
      place.offset = layout == Layout::Gapped ? 16 : 0;
      place.buffer = result.bufferBytes.size();
      result.bufferBytes.push_back(place.offset + rows * place.rowStride - rowGap - headGap);
    }
  }
  if (layout == Layout::Interleaved) {
    for (RowsPlace &place : result.rows)
      place.rowStride = packed;
    result.bufferBytes.push_back(rows * packed);
  }
  return result;
}

} // namespace verify::kv_store
