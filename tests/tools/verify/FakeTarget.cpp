//===- FakeTarget.cpp - a device that is wrong on purpose -------------------===//
//
// Owns: what FakeTarget.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/FakeTarget.h"

#include "runtime/include/nvfp4rt_args.h"
#include "tools/oracle/Oracle.h"
#include "tools/verify/KvStoreLayout.h"

#include <algorithm>
#include <cstring>

namespace fake {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Result;

namespace {

uint8_t *byteAt(const nvfp4rt_plane &plane, int64_t page, int64_t token) {
  return static_cast<uint8_t *>(plane.base) + page * plane.page_stride + token * plane.token_stride;
}

/// Row by row, with page offsets of the K and V planes cut down as `cut` says.
template <typename Cut>
void storeWithOffsets(const oracle::KvStoreShape &shape, const nvfp4rt_kv_store_args &args,
                      Cut cut) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    nvfp4rt_kv_store_args one = args;
    one.rows = 1;
    one.slots += row;
    one.index_slots += row;
    const int64_t page = *one.slots < 0 ? 0 : *one.slots / shape.pageSize;
    for (nvfp4rt_plane *plane : {&one.k_payload, &one.v_payload})
      if (page < args.pages) {
        const int64_t offset = page * plane->page_stride;
        plane->base = static_cast<uint8_t *>(plane->base) + (cut(offset) - offset);
      }
    auto advance = [row](nvfp4rt_rows &rows) {
      rows.base = static_cast<const uint8_t *>(rows.base) + int64_t{row} * rows.row_stride;
    };
    advance(one.k);
    advance(one.v);
    advance(one.index_k);
    oracle::kvStore(shape, one);
  }
}

/// Call `visit` with row, page and token of every row of K that is stored.
template <typename Visit>
void forEachRow(const oracle::KvStoreShape &shape, const nvfp4rt_kv_store_args &args, Visit visit) {
  for (uint32_t row = 0; row < args.rows; ++row)
    if (args.slots[row] >= 0 && args.slots[row] / shape.pageSize < args.pages)
      visit(row, args.slots[row] / shape.pageSize, args.slots[row] % shape.pageSize);
}

void tiesUp(const oracle::KvStoreShape &shape, const nvfp4rt_kv_store_args &args) {
  constexpr uint16_t kTie = 0x450C; // 2240 = 5 * 448 in bf16
  forEachRow(shape, args, [&](uint32_t row, int64_t page, int64_t token) {
    for (int64_t group = 0; group < shape.headDim / 16; ++group) {
      uint16_t first;
      std::memcpy(&first,
                  static_cast<const uint8_t *>(args.k.base) + int64_t{row} * args.k.row_stride +
                      group * 32,
                  sizeof(first));
      if (first == kTie && byteAt(args.k_scale, page, token)[group] == 0x7E)
        byteAt(args.k_payload, page, token)[group * 8] |= 1; // code 6 to code 7
    }
  });
}

} // namespace

Result<void> FakeTarget::launch(const nvfp4rt::Variant &, const nvfp4rt::Request &request,
                                const void *bytes, size_t size) {
  nvfp4rt_kv_store_args args;
  if (fault == Fault::LaunchFails || size != sizeof(args))
    return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake launch failed");
  std::memcpy(&args, bytes, size);
  auto config = verify::kv_store::readConfig(request);
  if (!config)
    return tl::unexpected(config.error());
  const oracle::KvStoreShape &shape = config->shape;
  // Faults are planted in kernels that store all three.
  const bool planted = shape.storesK && shape.storesV && shape.storesIndex;

  nvfp4rt_kv_store_args wrong = args;
  std::vector<int64_t> slots(args.slots, args.slots + args.rows);
  if (planted) {
    const int64_t total = args.pages * shape.pageSize;
    for (int64_t &slot : slots) {
      if (fault == Fault::PadWritten && slot == -1)
        slot = total - 1;
      if (fault == Fault::WrappedSlot && slot >= 0)
        slot %= total;
      if (fault == Fault::TruncatedSlot)
        slot = static_cast<int32_t>(slot);
    }
    wrong.slots = slots.data();
    switch (fault) {
    case Fault::IgnoredPageStride:
      wrong.v_payload.page_stride =
          shape.pageSize * shape.kvHeads *
          std::min(wrong.v_payload.token_stride, wrong.v_payload.head_stride);
      break;
    case Fault::IgnoredHeadStride:
      wrong.k_scale.head_stride = shape.headDim / 16;
      break;
    case Fault::IgnoredRowStride:
      wrong.index_k.row_stride = shape.indexHeadDim * 2;
      break;
    case Fault::IndexAtSlots:
      wrong.index_slots = wrong.slots;
      break;
    case Fault::IndexPagesOfK:
      wrong.index_pages = wrong.pages;
      break;
    case Fault::LastRowDropped:
      wrong.rows -= wrong.rows > 0;
      break;
    default:
      break;
    }
  }

  if (planted && fault == Fault::TruncatedOffset)
    storeWithOffsets(shape, wrong, [](int64_t offset) { return offset & 0xFFFFFFFF; });
  else if (planted && fault == Fault::SignedOffset)
    storeWithOffsets(shape, wrong, [](int64_t offset) { return offset & 0x7FFFFFFF; });
  else
    oracle::kvStore(shape, wrong);
  if (!planted)
    return {};

  auto *kBase = static_cast<uint8_t *>(args.k_payload.base);
  bool once = true;
  switch (fault) {
  case Fault::SwappedNibble:
    forEachRow(shape, args, [&](uint32_t, int64_t page, int64_t token) {
      uint8_t *byte = byteAt(args.v_payload, page, token) + 5;
      if (once && *byte >> 4 != (*byte & 15)) {
        *byte = static_cast<uint8_t>(*byte << 4 | *byte >> 4);
        once = false;
      }
    });
    break;
  case Fault::OneTieUp:
    tiesUp(shape, args);
    break;
  case Fault::SwappedScales:
    forEachRow(shape, args, [&](uint32_t, int64_t page, int64_t token) {
      uint8_t *scales = byteAt(args.k_scale, page, token);
      std::swap(scales[1], scales[2]);
    });
    break;
  case Fault::StrayBefore:
    kBase[-1] ^= 0x40;
    break;
  case Fault::StrayAfter:
    *byteAt(args.index_scale, args.index_pages - 1, shape.pageSize) ^= 1;
    break;
  case Fault::NoRowsWriteOne:
    if (args.rows == 0)
      kBase[0] ^= 1;
    break;
  case Fault::InputChanged:
    if (args.rows > 0)
      *static_cast<uint8_t *>(const_cast<void *>(args.k.base)) ^= 1;
    break;
  default:
    break;
  }
  return {};
}

namespace {

nvfp4rt::Term symbol(Field field, std::string_view name) {
  return {field, Relation::Equal, {nvfp4rt::symbolValue(field, name).value()}};
}

nvfp4rt::Variant variant(std::string name, std::string kernel, std::string_view phase,
                         int64_t queryLen, int64_t low, int64_t high,
                         std::vector<nvfp4rt::Term> config) {
  nvfp4rt::Variant result;
  result.name = std::move(name);
  result.family = "kv_store";
  result.symbol = std::move(kernel);
  result.guard.terms = {symbol(Field::phase, phase),
                        {Field::query_len, Relation::Equal, {queryLen}},
                        {Field::requests, Relation::Range, {low, high}}};
  result.guard.terms.insert(result.guard.terms.end(), config.begin(), config.end());
  return result;
}

} // namespace

nvfp4rt::Manifest manifest() {
  auto integer = [](Field field, int64_t value) {
    return nvfp4rt::Term{field, Relation::Equal, {value}};
  };
  const std::vector<nvfp4rt::Term> two = {
      symbol(Field::dtype, "bf16"),         symbol(Field::kv_format, "nvfp4"),
      symbol(Field::index_format, "nvfp4"), integer(Field::kv_heads, 2),
      integer(Field::head_dim, 128),        integer(Field::index_head_dim, 128),
      symbol(Field::planes, "kvi"),         integer(Field::page_size, 16),
      symbol(Field::plane_order, "nhd")};
  const std::vector<nvfp4rt::Term> one = {
      symbol(Field::dtype, "fp16"),         symbol(Field::kv_format, "nvfp4"),
      symbol(Field::index_format, "nvfp4"), integer(Field::kv_heads, 1),
      integer(Field::head_dim, 128),        integer(Field::index_head_dim, 128),
      symbol(Field::planes, "vi"),          integer(Field::page_size, 64),
      symbol(Field::plane_order, "hnd")};
  nvfp4rt::Manifest result;
  result.specName = "fake";
  result.arch = "gfx950";
  for (const char *name : {"kernel_one", "kernel_two"}) {
    nvfp4rt::Kernel kernel;
    kernel.symbol = name;
    kernel.family = "kv_store";
    kernel.resources.vgprs = 40;
    result.kernels.push_back(kernel);
  }
  result.variants = {variant("decode_b1", "kernel_two", "decode", 1, 1, 1, two),
                     variant("decode_b4", "kernel_two", "decode", 1, 2, 4, two),
                     variant("verify_b4", "kernel_two", "verify", 8, 1, 4, two),
                     variant("prefill_b64", "kernel_two", "prefill", 0, 1, 64, two),
                     variant("fp16_verify_b8", "kernel_one", "verify", 8, 1, 8, one)};
  return result;
}

} // namespace fake
