//===- PagedTiles.cpp -------------------------------------------------------===//

#include "templates/fragments/PagedTiles.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen::fragments {

llvm::SmallVector<Val> pageIds(KernelBuilder &kb, const PageShape &shape, Val request, Val block,
                               Val lastPage, Val exists) {
  const unsigned parts = shape.parts();
  Val perRequest = kb.sext(request, kb.i64Type()) * kb.arg("table_stride");
  Val table = kb.offset(kb.arg("block_table"), perRequest);
  Val first = shape.pageSize > shape.blockSize
                  ? lshr(block, int64_t(llvm::Log2_64(shape.pageSize / shape.blockSize)))
                  : block * int64_t(parts);
  llvm::SmallVector<Val> ids;
  for (unsigned part = 0; part < parts; ++part) {
    // In bytes and 32 bits, so that the scalar load takes the offset as it is.
    Val entry = smin((first + int64_t(part)) << 2, lastPage << 2);
    Val id = kb.loadConstant(kb.i32Type(), kb.offset(table, kb.zext(entry, kb.i64Type())), 4);
    ids.push_back(kb.select(exists, id, kb.i32(-1)));
  }
  return ids;
}

Val lastPageOf(const PageShape &shape, Val tokens) {
  return lshr(tokens - 1, int64_t(llvm::Log2_64(shape.pageSize)));
}

PagedTiles::PagedTiles(KernelBuilder &kb, const PageShape &shape, std::string payload,
                       std::string scale, std::string_view pages, Val lane, std::optional<Val> head)
    : kb(kb), shape(shape), head(head) {
  assert(shape.headDim == 4 * kLaneDims && "four lane groups of 32 dims");
  assert(shape.blockSize % kTileTokens == 0 && llvm::isPowerOf2_64(shape.pageSize));
  this->pages = kb.trunc(smin(kb.arg(pages), int64_t(1) << 31), kb.i32Type());
  this->payload = plane(std::move(payload), kLaneDims / 2, shape.headDim / 2, lane);
  this->scale = plane(std::move(scale), kLaneDims / 16, shape.headDim / 16, lane);
}

PagedTiles::Plane PagedTiles::plane(std::string name, unsigned laneBytes, int64_t rowBytes,
                                    Val lane) {
  Plane result;
  result.tokenBytes = kb.trunc(kb.arg(name + ".token_stride"), kb.i32Type());
  result.lane = (lane & 15) * result.tokenBytes + lshr(lane, 4) * int64_t(laneBytes);
  int64_t lastToken = std::min(shape.pageSize, shape.blockSize) - 1;
  result.bytes = result.tokenBytes * lastToken + rowBytes;
  result.name = std::move(name);
  return result;
}

Val PagedTiles::resource(const Plane &plane, Val id, Val block, Val inPool) const {
  // Only of ids in the pool, which are not negative.
  Val stride = kb.zext(kb.trunc(kb.arg(plane.name + ".page_stride"), kb.i32Type()), kb.i64Type());
  Val bytes = kb.zext(id, kb.i64Type()) * stride;
  if (shape.pageSize > shape.blockSize) {
    Val token = (block & (shape.pageSize / shape.blockSize - 1)) * shape.blockSize;
    bytes = bytes + kb.zext(token, kb.i64Type()) * kb.arg(plane.name + ".token_stride");
  }
  Val base = kb.arg(plane.name + ".base");
  if (head)
    base = kb.offset(base, kb.zext(*head, kb.i64Type()) * kb.arg(plane.name + ".head_stride"));
  return kb.bufferResource(kb.offset(base, bytes), kb.select(inPool, plane.bytes, kb.i32(0)));
}

PagedTiles::Source PagedTiles::source(Val id, Val block) const {
  Source result;
  result.inPool = ult(id, pages);
  result.payload = resource(payload, id, block, result.inPool);
  result.scale = resource(scale, id, block, result.inPool);
  return result;
}

RawTile PagedTiles::load(unsigned tile, const Source &source) const {
  int64_t firstToken = int64_t(tile % shape.tilesPerPart()) * kTileTokens;
  return {kb.bufferLoad(kb.vectorType(4, kb.i32Type()), source.payload, payload.lane,
                        payload.tokenBytes * firstToken),
          kb.bufferLoad(kb.i16Type(), source.scale, scale.lane, scale.tokenBytes * firstToken)};
}

} // namespace nvfp4gen::fragments
