//===- CacheBytes.cpp -------------------------------------------------------===//

#include "compiler/bundle/CacheBytes.h"

namespace nvfp4gen {

namespace {

// Bytes of one row (a token of one head) of `elements`.

/// F1: 4 bits an element and a scale byte a group of 16.
uint64_t nvfp4Row(int64_t elements) { return uint64_t(elements / 2 + elements / 16); }
/// P6: a byte an element, and for K and V an fp32 scale a row; the index key has none.
uint64_t fp8KvRow(int64_t elements) { return uint64_t(elements) + sizeof(float); }
uint64_t fp8IndexRow(int64_t elements) { return uint64_t(elements); }

} // namespace

nvfp4rt::CacheBytes cacheBytes(const Spec &spec) {
  const ModelSpec &model = spec.model;
  uint64_t block = uint64_t(model.blockSize);
  uint64_t kvRows = block * uint64_t(model.kvHeads);
  uint64_t planes = uint64_t(spec.hasPlane(Plane::K)) + uint64_t(spec.hasPlane(Plane::V));
  uint64_t indexRows = spec.hasPlane(Plane::IndexK) ? block : 0;

  nvfp4rt::CacheBytes bytes;
  bytes.kvPerBlock = planes * kvRows * nvfp4Row(model.headDim);
  bytes.indexPerBlock = indexRows * nvfp4Row(model.indexHeadDim);
  bytes.layers = uint64_t(spec.cache.layers);
  bytes.draftPerBlock = 2 * kvRows * fp8KvRow(model.headDim);
  bytes.draftLayers = uint64_t(spec.cache.draftLayers);
  bytes.fp8KvPerBlock = planes * kvRows * fp8KvRow(model.headDim);
  bytes.fp8IndexPerBlock = indexRows * fp8IndexRow(model.indexHeadDim);
  return bytes;
}

} // namespace nvfp4gen
