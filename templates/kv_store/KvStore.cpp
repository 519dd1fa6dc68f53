//===- KvStore.cpp - kv_store: rows to NVFP4 planes (rule W1) ---------------===//
//
// Rules W1, F1..F7, P1, P2. One launch stores K, V and the index key.
//
// Work split: workgroup y = plane; along x, head_dim / 8 lanes a (row, head), each
// with 8 elements. Bytes: every input element is read once, in 16-byte loads that
// are contiguous over a wave; every payload byte is written once, a dword a lane;
// every scale byte once, a dword for 4 groups.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "templates/fragments/Quantize.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace nvfp4gen {

namespace {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Term;

constexpr unsigned kWorkgroup = 256;

/// How one plane is stored; names are paths in nvfp4rt_kv_store_args.
struct PlaneArgs {
  Plane plane;
  const char *rows, *payload, *scale, *slots, *pages;
};

constexpr PlaneArgs kPlanes[] = {
    {Plane::K, "k", "k_payload", "k_scale", "slots", "pages"},
    {Plane::V, "v", "v_payload", "v_scale", "slots", "pages"},
    {Plane::IndexK, "index_k", "index_payload", "index_scale", "index_slots", "index_pages"},
};

/// Everything the code is specialized for.
struct Params {
  DType dtype;
  int64_t pageSize;
  struct Stored {
    const PlaneArgs *args;
    int64_t heads, headDim;
    int64_t lanesPerHead() const { return headDim / fragments::kElementsPerLane; }
    int64_t lanesPerRow() const { return heads * lanesPerHead(); }
  };
  std::vector<Stored> planes;
};

Params paramsOf(const Spec &spec) {
  Params params{spec.model.dtype, spec.cache.pageSize, {}};
  for (const PlaneArgs &args : kPlanes) {
    bool index = args.plane == Plane::IndexK;
    CacheFormat format = index ? spec.cache.indexFormat : spec.cache.kvFormat;
    if (!spec.hasPlane(args.plane) || format != CacheFormat::NVFP4)
      continue;
    params.planes.push_back({&args, index ? 1 : spec.model.kvHeads,
                             index ? spec.model.indexHeadDim : spec.model.headDim});
  }
  return params;
}

/// base + page * page_stride + token * token_stride + head * head_stride (P1).
Val planeAddress(KernelBuilder &kb, const std::string &plane, Val page, Val token, Val head,
                 bool oneHead) {
  Val bytes = page * kb.arg(plane + ".page_stride") + token * kb.arg(plane + ".token_stride");
  if (!oneHead)
    bytes = bytes + head * kb.arg(plane + ".head_stride");
  return kb.offset(kb.arg(plane + ".base"), bytes);
}

void emitPlane(KernelBuilder &kb, const Params &params, const Params::Stored &stored, Val item) {
  const PlaneArgs &names = *stored.args;
  Val lane = urem(item, stored.lanesPerHead());
  Val unit = udiv(item, stored.lanesPerHead());
  Val row = udiv(unit, stored.heads);
  kb.ifThen(ult(row, kb.arg("rows")), [&] {
    Val row64 = kb.zext(row, kb.i64Type());
    Val head64 = kb.zext(urem(unit, stored.heads), kb.i64Type());
    Val lane64 = kb.zext(lane, kb.i64Type());

    Val slot = kb.load(kb.i64Type(), kb.offset(kb.arg(names.slots), row64 << 3), 8);
    std::string rows = names.rows;
    Val source = row64 * kb.arg(rows + ".row_stride");
    if (stored.heads > 1)
      source = source + head64 * kb.arg(rows + ".head_stride");
    Val words = kb.load(kb.vectorType(4, kb.i32Type()),
                        kb.offset(kb.arg(rows + ".base"), source + (lane64 << 4)), 16);

    // Quantized before the slot is looked at: a padded row's work is for nothing, but no row waits
    // for its slot before its elements are under way.
    fragments::QuantizedLane quantized =
        fragments::quantize(kb, fragments::liftPacked(kb, params.dtype, kb.elements(words)));
    Val scales = fragments::gatherScales(kb, quantized.scale, lane);

    // P2: one unsigned comparison refuses negative slots and slots past the pool.
    Val page = lshr(slot, int64_t(llvm::Log2_64(params.pageSize)));
    kb.ifThen(ult(page, kb.arg(names.pages)), [&] {
      Val token = slot & (params.pageSize - 1);
      bool oneHead = stored.heads == 1;
      Val payload = planeAddress(kb, names.payload, page, token, head64, oneHead);
      kb.store(quantized.codes, kb.offset(payload, lane64 << 2), 4);
      kb.ifThen(eq(lane & 7, 0), [&] {
        Val scale = planeAddress(kb, names.scale, page, token, head64, oneHead);
        kb.store(scales, kb.offset(scale, lshr(lane64, 1)), 4);
      });
    });
  });
}

void emit(KernelBuilder &kb, const Params &params) {
  Val item = kb.workgroupId(0) * kWorkgroup + kb.workitemId(0);
  Val plane = kb.workgroupId(1);
  for (auto [index, stored] : llvm::enumerate(params.planes)) {
    assert(stored.headDim % 64 == 0 && "8 lanes of one head share a scale dword");
    assert(llvm::isPowerOf2_64(stored.lanesPerHead()) && llvm::isPowerOf2_64(params.pageSize));
    kb.ifThen(eq(plane, int64_t(index)), [&] { emitPlane(kb, params, stored, item); });
  }
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &) {
  Params params = paramsOf(spec);
  if (params.planes.empty())
    return std::nullopt;

  int64_t lanes = 0;
  bool storesKv = false, storesIndex = false;
  for (const Params::Stored &stored : params.planes) {
    lanes = std::max(lanes, stored.lanesPerRow());
    (stored.args->plane == Plane::IndexK ? storesIndex : storesKv) = true;
  }

  // Each field the code was specialized for is a guard term and, with its prefix, a part of the
  // name.
  CellPlan result;
  result.kernel.symbol = "kv_store_";
  auto specialized = [&](const char *prefix, Field field) {
    specialize(result, spec, prefix, field);
  };
  specialized("", storesKv ? Field::kv_format : Field::index_format);
  specialized("", Field::dtype);
  if (storesKv) {
    specialized("hkv", Field::kv_heads);
    specialized("d", Field::head_dim);
  }
  if (storesIndex)
    specialized("id", Field::index_head_dim);
  specialized("p", Field::page_size);
  specialized("", Field::planes);
  // Both pools are of one format, so the name says it once.
  if (storesKv && storesIndex)
    result.config.push_back(
        Term{Field::index_format, Relation::Equal, {*configValue(spec, Field::index_format)}});

  result.kernel.family = "kv_store";
  result.kernel.block[0] = kWorkgroup;
  result.kernel.grid[0] = {"rows", uint32_t(lanes), kWorkgroup};
  result.kernel.grid[1] = {"", uint32_t(params.planes.size()), 1};
  result.kernel.emit = [params](KernelBuilder &kb) { emit(kb, params); };
  return result;
}

} // namespace

extern const Family kKvStoreFamily;
const Family kKvStoreFamily{"kv_store", plan};

} // namespace nvfp4gen
