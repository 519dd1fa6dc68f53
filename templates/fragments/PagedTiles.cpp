//===- PagedTiles.cpp -------------------------------------------------------===//

#include "templates/fragments/PagedTiles.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen::fragments {

namespace {

/// Entry `part` of a block in its request's row of the table, in bytes and 32 bits, so that a
/// scalar load takes the offset as it is.
Val loadPageId(KernelBuilder &kb, const PageShape &shape, Val request, Val block, Val part,
               Val lastPage, Val exists) {
  Val perRequest = kb.sext(request, kb.i64Type()) * kb.arg("table_stride");
  Val table = kb.offset(kb.arg("block_table"), perRequest);
  Val first = shape.pageSize > shape.blockSize
                  ? lshr(block, int64_t(llvm::Log2_64(shape.pageSize / shape.blockSize)))
                  : block * int64_t(shape.parts());
  Val entry = smin((first + part) << 2, lastPage << 2);
  Val id = kb.loadConstant(kb.i32Type(), kb.offset(table, kb.zext(entry, kb.i64Type())), 4);
  return kb.select(exists, id, kb.i32(-1));
}

} // namespace

llvm::SmallVector<Val> pageIds(KernelBuilder &kb, const PageShape &shape, Val request, Val block,
                               Val lastPage, Val exists) {
  llvm::SmallVector<Val> ids;
  for (unsigned part = 0; part < shape.parts(); ++part)
    ids.push_back(loadPageId(kb, shape, request, block, kb.i32(part), lastPage, exists));
  return ids;
}

Val pageIdLanes(KernelBuilder &kb, const PageShape &shape, Val request, Val block, Val lastPage,
                Val exists, Val lane) {
  return loadPageId(kb, shape, request, block, lane & int64_t(shape.parts() - 1), lastPage, exists);
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
    bytes = bytes + kb.zext(token * plane.tokenBytes, kb.i64Type());
  }
  Val base = kb.arg(plane.name + ".base");
  if (head)
    base = kb.offset(base, kb.zext(*head, kb.i64Type()) * kb.arg(plane.name + ".head_stride"));
  return kb.bufferResource(kb.offset(base, bytes), kb.select(inPool, plane.bytes, kb.i32(0)));
}

Val PagedTiles::inPool(Val id) const { return ult(id, pages); }

PagedTiles::Source PagedTiles::source(Val id, Val block) const {
  Source result;
  result.inPool = inPool(id);
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
