//===- QkNormRopeStore.cpp - packed qkv to q, index_q and the cache (W2) -----===//
//
// Rules W2, F1..F7, P1, P2. One launch norms, turns, rounds, quantizes and stores.
//
// Work split: a workgroup is one wave and has whole rows, so that cosines, sines and
// the norm weights are loaded once for all heads of a row; a long row is cut in parts
// (workgroup y). 16 lanes a head, 8 dims each: a wave takes 4 heads at a time, a quad,
// in 16-byte loads of 1 KiB that is contiguous. Everything that depends on the row
// alone (position, slot, page, addresses) is scalar. The sum of squares and the RoPE
// pairs stay inside 16 lanes; there is no LDS.
// Bytes: every input element is read once, in one load issued before anything is
// waited for; every output byte is written once, 16 bytes a lane of q and index_q, a
// dword of codes and a dword of 4 scales of the cache.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "templates/fragments/NormRope.h"
#include "templates/fragments/Quantize.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace nvfp4gen {

namespace {

using Vals = KernelBuilder::Vals;
using fragments::kElementsPerLane;
using fragments::kLanesPerHead;
using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Term;

constexpr unsigned kWave = 64;
constexpr unsigned kQuad = kWave / kLanesPerHead; ///< heads a wave takes at a time
constexpr size_t kMostQuads = 7;                  ///< of a part: what the wave holds in registers
/// Rows of a wave. In decode and verify a step is short and its rows are spread over the machine;
/// in prefill there are enough, and a wave's weights serve several.
constexpr unsigned kRowsPerWave = 1, kRowsPerPrefillWave = 8;

/// The parts of a packed row, in their order.
enum class Kind { Q, K, V, IndexQ, IndexK };

/// Names are paths in nvfp4rt_qk_norm_rope_store_args; null where the kind has no such thing.
struct KindArgs {
  const char *weight;
  const char *out;                             ///< rows in model dtype
  const char *payload, *scale, *slots, *pages; ///< planes
};

constexpr KindArgs kKindArgs[] = {
    {"q_weight", "q_out", nullptr, nullptr, nullptr, nullptr},
    {"k_weight", nullptr, "k_payload", "k_scale", "slots", "pages"},
    {nullptr, nullptr, "v_payload", "v_scale", "slots", "pages"},
    {"index_q_weight", "index_q_out", nullptr, nullptr, nullptr, nullptr},
    {"index_k_weight", nullptr, "index_payload", "index_scale", "index_slots", "index_pages"},
};

/// A head of the packed row that has work.
struct Unit {
  Kind kind;
  int64_t head;   ///< of its kind
  int64_t column; ///< in the packed row, in heads
  const KindArgs &args() const { return kKindArgs[size_t(kind)]; }
};

using Quad = llvm::SmallVector<Unit, kQuad>; ///< 1 to 4 units, in the order of the lanes

bool isOf(const Quad &quad, Kind kind) {
  return llvm::all_of(quad, [&](const Unit &unit) { return unit.kind == kind; });
}

/// Everything the code is specialized for.
struct Params {
  DType dtype;
  int64_t pageSize, rotaryDim, headBytes;
  unsigned rowsPerWave;
  std::vector<std::vector<Quad>> parts;
};

std::vector<Unit> unitsOf(const Spec &spec) {
  const ModelSpec &model = spec.model;
  std::vector<Unit> units;
  int64_t column = 0;
  auto add = [&](Kind kind, int64_t heads, bool hasWork) {
    for (int64_t head = 0; head < heads; ++head, ++column)
      if (hasWork)
        units.push_back({kind, head, column});
  };
  add(Kind::Q, model.qHeads, true);
  add(Kind::K, model.kvHeads, spec.hasPlane(Plane::K));
  add(Kind::V, model.kvHeads, spec.hasPlane(Plane::V));
  add(Kind::IndexQ, model.indexHeads, true);
  add(Kind::IndexK, 1, spec.hasPlane(Plane::IndexK));
  return units;
}

Params paramsOf(const Spec &spec, Phase phase) {
  std::vector<Quad> quads;
  for (const Unit &unit : unitsOf(spec)) {
    if (quads.empty() || quads.back().size() == kQuad)
      quads.emplace_back();
    quads.back().push_back(unit);
  }
  Params params{spec.model.dtype,
                spec.cache.pageSize,
                spec.model.rotaryDim,
                spec.model.headDim * 2,
                phase == Phase::Prefill ? kRowsPerPrefillWave : kRowsPerWave,
                {}};
  size_t count = llvm::divideCeil(quads.size(), kMostQuads);
  for (size_t part = 0; part < count; ++part)
    params.parts.emplace_back(quads.begin() + ptrdiff_t(part * quads.size() / count),
                              quads.begin() + ptrdiff_t((part + 1) * quads.size() / count));
  return params;
}

/// One wave's rows of one part.
class Writer {
public:
  Writer(KernelBuilder &kb, const Params &params, const std::vector<Quad> &quads)
      : kb(kb), params(params), quads(quads), lane(kb.workitemId(0)),
        headLane(urem(lane, kLanesPerHead)), group(udiv(lane, kLanesPerHead)),
        lane16(kb.zext(lane, kb.i64Type()) << 4), headLane64(kb.zext(headLane, kb.i64Type())) {}

  void run();

private:
  /// Where a row's cache bytes go, of one kind of planes.
  struct Slot {
    Val live, page, token;
  };

  Val perUnit(const Quad &quad, llvm::function_ref<Val(const Unit &)> value);
  Val perLane(const Quad &quad, llvm::function_ref<Val(const Unit &)> condition);
  Val isActive(Kind kind);
  Val isAnyActive(const Quad &quad);
  Vals loadWeights(const Quad &quad);
  Val loadWords(const Quad &quad, Val packedRow);
  Slot loadSlot(Kind kind, Val row64);
  void emitRow(Val row);
  void process(llvm::ArrayRef<size_t> indices, Val row64, llvm::ArrayRef<Val> words,
               const fragments::Rotation &rotation);
  void storeRows(const Quad &quad, Val row64, llvm::ArrayRef<Val> rounded);
  void storePlanes(const Quad &quad, llvm::ArrayRef<Val> rounded);
  Val planeAddress(const std::string &plane, const Unit &unit);

  KernelBuilder &kb;
  const Params &params;
  const std::vector<Quad> &quads;
  Val lane, headLane, group, lane16, headLane64;
  std::vector<Vals> weights;           ///< of each quad; empty when it has no norm
  std::map<std::string, Slot> slotsOf; ///< of the row, by the name of the slots
};

/// The value of the lane's unit. `value` is uniform; it is asked for once a unit.
Val Writer::perUnit(const Quad &quad, llvm::function_ref<Val(const Unit &)> value) {
  Val result = value(quad.front());
  for (auto [index, unit] : llvm::enumerate(llvm::drop_begin(quad))) {
    Val other = value(unit);
    if (other.get() != result.get())
      result = kb.select(ult(group, int64_t(index + 1)), result, other);
  }
  return result;
}

/// The same of a condition, false in lanes without a unit.
Val Writer::perLane(const Quad &quad, llvm::function_ref<Val(const Unit &)> condition) {
  Val result = perUnit(quad, condition);
  return quad.size() == kQuad ? result : result & ult(group, int64_t(quad.size()));
}

/// Whether the layer has heads of this kind to be read; uniform.
Val Writer::isActive(Kind kind) {
  Val active = kb.i1(true);
  if (kind == Kind::IndexQ || kind == Kind::IndexK)
    active = ne(kb.arg("index_branch"), 0);
  if (const char *slots = kKindArgs[size_t(kind)].slots)
    active = active & (kb.isNull(kb.arg(slots)) ^ kb.i1(true));
  return active;
}

Val Writer::isAnyActive(const Quad &quad) {
  Val any = isActive(quad.front().kind);
  for (const Unit &unit : llvm::drop_begin(quad))
    any = any | isActive(unit.kind);
  return any;
}

/// Weights of the lane's dims, with the offset; nothing for a quad of V.
Vals Writer::loadWeights(const Quad &quad) {
  if (isOf(quad, Kind::V))
    return {};
  Val weight = perUnit(quad, [&](const Unit &unit) {
    return kb.arg(unit.args().weight ? unit.args().weight : "k_weight"); // V: any, see isLoaded
  });
  Val isLoaded = perUnit(quad, [&](const Unit &unit) {
    return unit.args().weight ? isActive(unit.kind) : kb.i1(false);
  });
  auto load = [&] {
    return kb.elements(
        kb.loadConstant(kb.vectorType(4, kb.i32Type()), kb.offset(weight, headLane64 << 4), 16));
  };
  Vals words =
      isOf(quad, Kind::Q) ? load() : kb.ifElse(isLoaded, load, [&] { return Vals(4, kb.i32(0)); });
  return llvm::map_to_vector(fragments::liftPacked(kb, params.dtype, words),
                             [&](Val w) { return w + kb.arg("weight_offset"); });
}

/// The lane's 8 elements as they are; 0 in heads that the layer does not have.
Val Writer::loadWords(const Quad &quad, Val packedRow) {
  Val column = perUnit(quad, [&](const Unit &unit) {
    return kb.i64((unit.column - (&unit - quad.begin())) * params.headBytes);
  });
  mlir::Type type = kb.vectorType(4, kb.i32Type());
  auto load = [&] { return Vals{kb.load(type, kb.offset(packedRow, column + lane16), 16)}; };
  if (isOf(quad, Kind::Q))
    return load().front();
  Val active = perLane(quad, [&](const Unit &unit) { return isActive(unit.kind); });
  return kb.ifElse(active, load, [&] { return Vals{kb.zero(type)}; }).front();
}

/// P2: one unsigned comparison refuses negative slots and slots past the pool.
Writer::Slot Writer::loadSlot(Kind kind, Val row64) {
  const KindArgs &names = kKindArgs[size_t(kind)];
  auto load = [&] {
    return Vals{kb.loadConstant(kb.i64Type(), kb.offset(kb.arg(names.slots), row64 << 3), 8)};
  };
  Val slot = kb.ifElse(isActive(kind), load, [&] { return Vals{kb.i64(-1)}; }).front();
  Val page = lshr(slot, int64_t(llvm::Log2_64(params.pageSize)));
  return {ult(page, kb.arg(names.pages)), page, slot & (params.pageSize - 1)};
}

/// base + page * page_stride + token * token_stride + head * head_stride (P1).
Val Writer::planeAddress(const std::string &plane, const Unit &unit) {
  const Slot &slot = slotsOf.at(unit.args().slots);
  Val bytes =
      slot.page * kb.arg(plane + ".page_stride") + slot.token * kb.arg(plane + ".token_stride");
  if (unit.head > 0)
    bytes = bytes + kb.arg(plane + ".head_stride") * unit.head;
  return kb.offset(kb.arg(plane + ".base"), bytes);
}

void Writer::storeRows(const Quad &quad, Val row64, llvm::ArrayRef<Val> rounded) {
  auto headOf = [&](const Unit &unit) {
    std::string out = unit.args().out;
    return kb.offset(kb.arg(out), row64 * kb.arg(out + "_row_stride") +
                                      kb.arg(out + "_head_stride") * unit.head);
  };
  auto store = [&](Val head) { kb.store(kb.pack(rounded), kb.offset(head, headLane64 << 4), 16); };
  if (isOf(quad, Kind::Q)) { // consecutive heads
    store(kb.offset(headOf(quad.front()),
                    kb.zext(group, kb.i64Type()) * kb.arg("q_out_head_stride")));
    return;
  }
  if (llvm::none_of(quad, [](const Unit &unit) { return unit.args().out; }))
    return;
  Val stored = perLane(
      quad, [&](const Unit &unit) { return unit.args().out ? isActive(unit.kind) : kb.i1(false); });
  kb.ifThen(stored, [&] {
    Val any = kb.arg("q_out");
    store(perUnit(quad, [&](const Unit &unit) { return unit.args().out ? headOf(unit) : any; }));
  });
}

void Writer::storePlanes(const Quad &quad, llvm::ArrayRef<Val> rounded) {
  if (llvm::none_of(quad, [](const Unit &unit) { return unit.args().payload; }))
    return;
  Val stored = perLane(quad, [&](const Unit &unit) {
    return unit.args().payload ? slotsOf.at(unit.args().slots).live : kb.i1(false);
  });
  // The 16 lanes of a head store or do not together, so the quantizer's exchanges are among active
  // lanes.
  kb.ifThen(stored, [&] {
    auto address = [&](const char *KindArgs::*plane) {
      Val any = kb.arg("q_out");
      return perUnit(quad, [&](const Unit &unit) {
        return unit.args().payload ? planeAddress(unit.args().*plane, unit) : any;
      });
    };
    fragments::QuantizedLane quantized =
        fragments::quantize(kb, fragments::liftPacked(kb, params.dtype, rounded));
    Val scales = fragments::gatherScales(kb, quantized.scale, lane);
    kb.store(quantized.codes, kb.offset(address(&KindArgs::payload), headLane64 << 2), 4);
    Val scale = address(&KindArgs::scale);
    kb.ifThen(eq(lane & 7, 0), [&] { kb.store(scales, kb.offset(scale, lshr(headLane64, 1)), 4); });
  });
}

/// Norm, turn, round and store the quads at `indices`, whose elements are `words`.
void Writer::process(llvm::ArrayRef<size_t> indices, Val row64, llvm::ArrayRef<Val> words,
                     const fragments::Rotation &rotation) {
  llvm::SmallVector<Vals> heads; ///< of the quads with a norm
  for (size_t index : indices)
    if (!weights[index].empty())
      heads.push_back(fragments::liftPacked(kb, params.dtype, kb.elements(words[index])));
  Vals factors;
  if (!heads.empty())
    factors = fragments::normFactors(kb, params.dtype, heads, kb.arg("eps"));

  size_t next = 0; ///< of heads
  for (size_t index : indices) {
    const Quad &quad = quads[index];
    Vals packed = kb.elements(words[index]);
    if (!weights[index].empty()) {
      Vals normed;
      for (auto [x, weight] : llvm::zip_equal(heads[next], weights[index]))
        normed.push_back(x * factors[next] * weight);
      ++next;
      Vals rounded =
          fragments::roundPacked(kb, params.dtype, fragments::turn(kb, rotation, normed));
      Val isNormed = perUnit(quad, [&](const Unit &unit) { return kb.i1(unit.kind != Kind::V); });
      bool allNormed = llvm::none_of(quad, [](const Unit &unit) { return unit.kind == Kind::V; });
      for (auto [word, result] : llvm::zip_equal(packed, rounded))
        word = allNormed ? result : kb.select(isNormed, result, word);
    }
    storeRows(quad, row64, packed);
    storePlanes(quad, packed);
  }
}

void Writer::emitRow(Val row) {
  Val row64 = kb.zext(row, kb.i64Type());
  // What addresses depend on first, then every element, then what the elements are multiplied by.
  slotsOf.clear();
  for (const Quad &quad : quads)
    for (const Unit &unit : quad)
      if (const char *slots = unit.args().slots; slots && !slotsOf.count(slots))
        slotsOf[slots] = loadSlot(unit.kind, row64);
  Val cacheRow;
  if (params.rotaryDim > 0) {
    Val position = kb.loadConstant(kb.i64Type(), kb.offset(kb.arg("positions"), row64 << 3), 8);
    cacheRow = kb.offset(kb.arg("cos_sin"), position * (params.rotaryDim * 4));
  }
  Val packedRow = kb.offset(kb.arg("packed"), row64 * kb.arg("packed_row_stride"));
  Vals words =
      llvm::map_to_vector(quads, [&](const Quad &quad) { return loadWords(quad, packedRow); });
  fragments::Rotation rotation = fragments::loadRotation(kb, params.rotaryDim, cacheRow, headLane);

  // Quads of q in one block, so that their chains of exchanges overlap; a quad that the layer may
  // not have is skipped as a whole.
  llvm::SmallVector<size_t> queries;
  for (auto [index, quad] : llvm::enumerate(quads))
    if (isOf(quad, Kind::Q))
      queries.push_back(index);
  if (!queries.empty())
    process(queries, row64, words, rotation);
  for (auto [index, quad] : llvm::enumerate(quads))
    if (!isOf(quad, Kind::Q))
      kb.ifThen(isAnyActive(quad), [&] { process(index, row64, words, rotation); });
}

void Writer::run() {
  for (const Quad &quad : quads) {
    const Vals *same = nullptr; // all quads of q have one set of weights
    for (auto [other, loaded] : llvm::zip(quads, weights))
      if (isOf(quad, Kind::Q) && isOf(other, Kind::Q))
        same = &loaded;
    weights.push_back(same ? *same : loadWeights(quad));
  }
  Val first = kb.workgroupId(0) * params.rowsPerWave;
  if (params.rowsPerWave == 1) { // the grid has a workgroup a row
    emitRow(first);
    return;
  }
  Val end = umin(first + params.rowsPerWave, kb.arg("rows"));
  kb.loop(first, end, 1, {}, [&](Val row, llvm::ArrayRef<Val>) {
    emitRow(row);
    return Vals();
  });
}

void emit(KernelBuilder &kb, const Params &params) {
  if (params.parts.size() == 1) {
    Writer(kb, params, params.parts.front()).run();
    return;
  }
  Val part = kb.workgroupId(1);
  for (auto [index, quads] : llvm::enumerate(params.parts))
    kb.ifThen(eq(part, int64_t(index)), [&] { Writer(kb, params, quads).run(); });
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  bool isNvfp4 =
      spec.cache.kvFormat == CacheFormat::NVFP4 && spec.cache.indexFormat == CacheFormat::NVFP4;
  if (spec.cache.planes.empty() || !isNvfp4)
    return std::nullopt;
  Params params = paramsOf(spec, cell.phase);
  assert(spec.model.headDim == kLanesPerHead * kElementsPerLane &&
         spec.model.indexHeadDim == spec.model.headDim && "16 lanes have a head");
  assert(llvm::isPowerOf2_64(params.pageSize));

  // Each field the code was specialized for is a guard term and, with its prefix, a part of the
  // name.
  CellPlan result;
  result.kernel.symbol = "qk_norm_rope_store_";
  auto specialized = [&](const char *prefix, Field field) {
    specialize(result, spec, prefix, field);
  };
  specialized("", Field::kv_format);
  // Both pools are of one format, so the name says it once.
  result.config.push_back(
      Term{Field::index_format, Relation::Equal, {*configValue(spec, Field::index_format)}});
  specialized("", Field::dtype);
  specialized("hq", Field::q_heads);
  specialized("hkv", Field::kv_heads);
  specialized("d", Field::head_dim);
  specialized("hi", Field::index_heads);
  specialized("id", Field::index_head_dim);
  specialized("r", Field::rotary_dim);
  specialized("p", Field::page_size);
  specialized("", Field::planes);
  result.kernel.symbol += "_w" + std::to_string(params.rowsPerWave);

  result.kernel.family = "qk_norm_rope_store";
  result.kernel.block[0] = kWave;
  result.kernel.grid[0] = {"rows", 1, params.rowsPerWave};
  result.kernel.grid[1] = {"", uint32_t(params.parts.size()), 1};
  result.kernel.emit = [params](KernelBuilder &kb) { emit(kb, params); };
  return result;
}

} // namespace

extern const Family kQkNormRopeStoreFamily;
const Family kQkNormRopeStoreFamily{"qk_norm_rope_store", plan};

} // namespace nvfp4gen
