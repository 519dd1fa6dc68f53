//===- Queries.cpp ----------------------------------------------------------===//

#include "templates/fragments/Queries.h"

#include "templates/fragments/Quantize.h"

namespace nvfp4gen::fragments {

namespace {

constexpr unsigned kPad = 16; ///< bytes between columns, against bank conflicts

unsigned columnBytes(int64_t headDim) { return unsigned(headDim) * 2 + kPad; }

} // namespace

unsigned stagedQueryBytes(unsigned tiles, int64_t headDim) {
  return tiles * kTileColumns * columnBytes(headDim);
}

void stageQueries(KernelBuilder &kb, DType dtype, int64_t headDim, unsigned tiles,
                  std::string_view rows, Val shared, Val item, int64_t workgroup,
                  llvm::function_ref<QueryColumn(Val)> column) {
  const unsigned lanesPerColumn = headDim / kElementsPerLane;
  const unsigned perPass = workgroup / lanesPerColumn, columns = tiles * kTileColumns;
  mlir::Type words4 = kb.vectorType(4, kb.i32Type());
  Val part = urem(item, lanesPerColumn);
  auto stage = [&](Val index) {
    QueryColumn source = column(index);
    Val address = kb.offset(kb.arg(std::string(rows) + ".base"),
                            source.offset + (kb.zext(part, kb.i64Type()) << 4));
    Val halves = kb.ifElse(
        source.exists,
        [&]() -> KernelBuilder::Vals {
          Val words = kb.loadConstant(words4, address, 16);
          if (dtype == DType::FP16)
            return {words};
          KernelBuilder::Vals rounded;
          for (Val value : liftPacked(kb, dtype, kb.elements(words)))
            rounded.push_back(kb.toF16(value));
          return {kb.bitcast(kb.pack(rounded), words4)};
        },
        [&]() -> KernelBuilder::Vals { return {kb.zero(words4)}; })[0];
    kb.store(halves, kb.offset(shared, index * int64_t(columnBytes(headDim)) + (part << 4)), 16);
  };
  Val first = udiv(item, lanesPerColumn);
  if (perPass > columns)
    kb.ifThen(slt(first, int64_t(columns)), [&] { stage(first); });
  else
    for (unsigned pass = 0; pass < columns; pass += perPass)
      stage(first + int64_t(pass));
}

llvm::SmallVector<KernelBuilder::Vals> readQueries(KernelBuilder &kb, int64_t headDim,
                                                   unsigned tiles, Val shared, Val lane) {
  llvm::SmallVector<KernelBuilder::Vals> result;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    Val column = (lane & 15) + int64_t(tile * kTileColumns);
    Val start = column * int64_t(columnBytes(headDim)) + (lshr(lane, 4) << 6);
    KernelBuilder::Vals steps;
    for (unsigned step = 0; step < kMfmaSteps; ++step)
      steps.push_back(kb.load(kb.vectorType(8, kb.f16Type()),
                              kb.offset(shared, start + int64_t(step * 16)), 16));
    result.push_back(steps);
  }
  return result;
}

} // namespace nvfp4gen::fragments
