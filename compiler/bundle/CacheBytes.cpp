//===- CacheBytes.cpp -------------------------------------------------------===//

#include "compiler/bundle/CacheBytes.h"

namespace nvfp4gen {

namespace {

/// Bytes of one (token, head) row of `elements`: F1 for NVFP4 (4 bits an element and a scale byte a
/// group of 16).
uint64_t nvfp4RowBytes(int64_t elements) { return uint64_t(elements / 2 + elements / 16); }

} // namespace

nvfp4rt::CacheBytes cacheBytes(const Spec &spec) {
  nvfp4rt::CacheBytes bytes;
  uint64_t kvRow = uint64_t(spec.model.kvHeads) * nvfp4RowBytes(spec.model.headDim);
  uint64_t block = uint64_t(spec.model.blockSize);
  bytes.kvPerBlock = block * kvRow * (spec.hasPlane(Plane::K) + spec.hasPlane(Plane::V));
  if (spec.hasPlane(Plane::IndexK))
    bytes.indexPerBlock = block * nvfp4RowBytes(spec.model.indexHeadDim);
  return bytes;
}

} // namespace nvfp4gen
