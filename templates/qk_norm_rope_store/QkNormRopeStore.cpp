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
#include "templates/qk_norm_rope_store/PackedRow.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace nvfp4gen {

namespace {

using namespace qk_norm_rope_store;
using Vals = KernelBuilder::Vals;
using fragments::kElementsPerLane;
using fragments::kLanesPerHead;
using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Term;

constexpr unsigned kWave = kQuad * kLanesPerHead;
static_assert(kWave == 64);

/// One wave's rows of one part. "Uniform" values are the same in all lanes.
class Writer {
public:
  Writer(KernelBuilder &kb, const Params &params, const std::vector<Quad> &quads)
      : kb(kb), params(params), lane(kb.workitemId(0)), headLane(urem(lane, kLanesPerHead)),
        group(udiv(lane, kLanesPerHead)), headLane64(kb.zext(headLane, kb.i64Type())) {
    for (const Quad &quad : quads)
      lanes.push_back(prepare(quad));
  }

  void run();

private:
  /// A plane as a lane sees it: its address at page 0, token 0, and the strides.
  struct LanePlane {
    Val start, pageStride, tokenStride;
  };
  /// What lanes know of their unit before a row is looked at.
  struct Lanes {
    Quad quad;
    Val isLoaded;             ///< the layer has the unit; none in a quad of q
    Val column;               ///< bytes of its elements in the packed row
    Vals weights;             ///< with the offset; none in a quad of v
    Val isNormed;             ///< none when all are
    Val out, isOut;           ///< rows: the lane's address in row 0
    LanePlane payload, scale; ///< none in a quad without planes
  };
  /// Where a row's cache bytes go.
  struct Slot {
    Val isLive, page, token; ///< uniform
  };
  /// A row under way.
  struct Row {
    Val index;                              ///< i64
    Vals words;                             ///< of each quad, as loaded
    std::map<std::string_view, Slot> slots; ///< by the name of the argument
    fragments::Rotation rotation;
    Val q;             ///< where the quad of q that was stored last went
    int64_t qHead = 0; ///< its first head
  };

  Val perUnit(const Quad &quad, llvm::function_ref<Val(const Unit &)> value);
  Val perLane(const Quad &quad, llvm::function_ref<bool(const Unit &)> has,
              llvm::function_ref<Val(const Unit &)> condition);
  Val isActive(Kind kind);
  Lanes prepare(const Quad &quad);
  Vals loadWeights(const Quad &quad);
  Val firstAddress(const Quad &quad, const char *KindArgs::*base, const char *separator,
                   Val laneBytes);
  LanePlane preparePlane(const Quad &quad, const char *KindArgs::*plane, Val laneBytes);
  Slot loadSlot(Kind kind, Val row);
  void emitRow(Val row);
  void process(llvm::ArrayRef<size_t> indices, Row &row);
  void storeRows(const Lanes &at, Row &row, llvm::ArrayRef<Val> rounded);
  void storePlanes(const Lanes &at, const Row &row, llvm::ArrayRef<Val> rounded);

  KernelBuilder &kb;
  const Params &params;
  Val lane, headLane, group, headLane64;
  std::vector<Lanes> lanes; ///< of each quad
};

/// The uniform value of the lane's unit. An empty one is of no interest.
Val Writer::perUnit(const Quad &quad, llvm::function_ref<Val(const Unit &)> value) {
  Val result;
  for (auto [index, unit] : llvm::enumerate(quad)) {
    Val other = value(unit);
    if (!result.get())
      result = other;
    else if (other.get() && other.get() != result.get())
      result = kb.select(ult(group, int64_t(index)), result, other);
  }
  return result;
}

/// A condition of the lane's unit, false in lanes whose unit does not have it and in those without
/// a unit. Empty when no unit has it.
Val Writer::perLane(const Quad &quad, llvm::function_ref<bool(const Unit &)> has,
                    llvm::function_ref<Val(const Unit &)> condition) {
  if (llvm::none_of(quad, has))
    return {};
  Val result =
      perUnit(quad, [&](const Unit &unit) { return has(unit) ? condition(unit) : kb.i1(false); });
  return quad.size() == kQuad ? result : result & ult(group, int64_t(quad.size()));
}

bool isOut(const Unit &unit) { return unit.args().out; }
bool isPlane(const Unit &unit) { return unit.args().payload; }

/// Whether the layer has heads of this kind; uniform.
Val Writer::isActive(Kind kind) {
  Val active = kb.i1(true);
  if (kind == Kind::IndexQ || kind == Kind::IndexK)
    active = ne(kb.argHere("index_branch"), 0);
  if (const char *slots = kKindArgs[size_t(kind)].slots)
    active = active & (kb.isNull(kb.argHere(slots)) ^ kb.i1(true));
  return active;
}

Vals Writer::loadWeights(const Quad &quad) {
  if (isOf(quad, Kind::V))
    return {};
  auto hasWeight = [](const Unit &unit) { return unit.args().weight != nullptr; };
  Val weight = perUnit(quad, [&](const Unit &unit) {
    return hasWeight(unit) ? kb.argHere(unit.args().weight) : Val();
  });
  auto load = [&] {
    return kb.elements(
        kb.load(kb.vectorType(4, kb.i32Type()), kb.offset(weight, headLane64 << 4), 16));
  };
  Vals words = isOf(quad, Kind::Q)
                   ? load()
                   : kb.ifElse(perLane(quad, hasWeight,
                                       [&](const Unit &unit) { return isActive(unit.kind); }),
                               load, [&] { return Vals(4, kb.i32(0)); });
  return llvm::map_to_vector(fragments::liftPacked(kb, params.dtype, words),
                             [&](Val w) { return w + kb.argHere("weight_offset"); });
}

/// base + head * head_stride + laneBytes, for the units that have such a base.
Val Writer::firstAddress(const Quad &quad, const char *KindArgs::*base, const char *separator,
                         Val laneBytes) {
  auto stride = [&](const Unit &unit) {
    return kb.argHere(std::string(unit.args().*base) + separator + "head_stride");
  };
  const Unit &first = quad.front();
  Val heads;
  if (isOf(quad, first.kind)) // consecutive heads
    heads = stride(first) * first.head + kb.zext(group, kb.i64Type()) * stride(first);
  else
    heads = perUnit(quad, [&](const Unit &unit) {
      return !(unit.args().*base) ? Val() : unit.head ? stride(unit) * unit.head : kb.i64(0);
    });
  Val start = perUnit(quad, [&](const Unit &unit) {
    const char *name = unit.args().*base;
    return !name ? Val() : kb.argHere(isPlane(unit) ? std::string(name) + ".base" : name);
  });
  return kb.offset(start, heads + laneBytes);
}

Writer::LanePlane Writer::preparePlane(const Quad &quad, const char *KindArgs::*plane,
                                       Val laneBytes) {
  auto member = [&](const char *name) {
    return perUnit(quad, [&](const Unit &unit) {
      return isPlane(unit) ? kb.argHere(std::string(unit.args().*plane) + name) : Val();
    });
  };
  return {firstAddress(quad, plane, ".", laneBytes), member(".page_stride"),
          member(".token_stride")};
}

Writer::Lanes Writer::prepare(const Quad &quad) {
  Lanes result;
  result.quad = quad;
  auto active = [&](const Unit &unit) { return isActive(unit.kind); };
  if (!isOf(quad, Kind::Q))
    result.isLoaded = perLane(quad, [](const Unit &) { return true; }, active);
  result.column = (kb.zext(lane, kb.i64Type()) << 4) + perUnit(quad, [&](const Unit &unit) {
                    return kb.i64((unit.column - (&unit - quad.begin())) * params.headBytes);
                  });
  result.weights = loadWeights(quad);
  auto hasNorm = [](const Unit &unit) { return unit.kind != Kind::V; };
  if (!llvm::all_of(quad, hasNorm))
    result.isNormed = perLane(quad, hasNorm, [&](const Unit &) { return kb.i1(true); });
  if (llvm::any_of(quad, isOut)) {
    result.isOut = perLane(quad, isOut, active);
    result.out = firstAddress(quad, &KindArgs::out, "_", headLane64 << 4);
  }
  if (llvm::any_of(quad, isPlane)) {
    result.payload = preparePlane(quad, &KindArgs::payload, headLane64 << 2);
    result.scale = preparePlane(quad, &KindArgs::scale, lshr(headLane64, 1));
  }
  return result;
}

/// P2: one unsigned comparison refuses negative slots and slots past the pool.
Writer::Slot Writer::loadSlot(Kind kind, Val row) {
  const KindArgs &names = kKindArgs[size_t(kind)];
  auto load = [&] {
    return Vals{kb.loadConstant(kb.i64Type(), kb.offset(kb.argHere(names.slots), row << 3), 8)};
  };
  Val slot = kb.ifElse(isActive(kind), load, [&] { return Vals{kb.i64(-1)}; }).front();
  Val page = lshr(slot, int64_t(llvm::Log2_64(params.pageSize)));
  return {ult(page, kb.argHere(names.pages)), page, slot & (params.pageSize - 1)};
}

void Writer::storeRows(const Lanes &at, Row &row, llvm::ArrayRef<Val> rounded) {
  if (!at.out.get())
    return;
  auto address = [&] {
    return kb.offset(at.out, perUnit(at.quad, [&](const Unit &unit) {
                       return isOut(unit) ? row.index * kb.argHere(std::string(unit.args().out) +
                                                                   "_row_stride")
                                          : Val();
                     }));
  };
  auto store = [&](Val pointer) { kb.store(kb.pack(rounded), pointer, 16); };
  if (!isOf(at.quad, Kind::Q)) {
    kb.ifThen(at.isOut, [&] { store(address()); });
    return;
  }
  // From one quad of q to the next: one address under way, not one a quad.
  int64_t head = at.quad.front().head;
  row.q = row.q.get() ? kb.offset(row.q, kb.argHere("q_out_head_stride") * (head - row.qHead))
                      : address();
  row.qHead = head;
  store(row.q);
}

void Writer::storePlanes(const Lanes &at, const Row &row, llvm::ArrayRef<Val> rounded) {
  if (!at.payload.start.get())
    return;
  auto slotOf = [&](const Unit &unit) -> const Slot & { return row.slots.at(unit.args().slots); };
  Val stored = perLane(at.quad, isPlane, [&](const Unit &unit) { return slotOf(unit).isLive; });
  // The 16 lanes of a head store or do not together, so the quantizer's exchanges are among active
  // lanes.
  kb.ifThen(stored, [&] {
    Val page = perUnit(at.quad,
                       [&](const Unit &unit) { return isPlane(unit) ? slotOf(unit).page : Val(); });
    Val token = perUnit(
        at.quad, [&](const Unit &unit) { return isPlane(unit) ? slotOf(unit).token : Val(); });
    auto address = [&](const LanePlane &plane) { // P1
      return kb.offset(plane.start, page * plane.pageStride + token * plane.tokenStride);
    };
    fragments::QuantizedLane quantized =
        fragments::quantize(kb, fragments::liftPacked(kb, params.dtype, rounded));
    Val scales = fragments::gatherScales(kb, quantized.scale, lane);
    kb.store(quantized.codes, address(at.payload), 4);
    Val scale = address(at.scale);
    kb.ifThen(eq(lane & 7, 0), [&] { kb.store(scales, scale, 4); });
  });
}

/// Norm, turn, round and store the quads at `indices`.
void Writer::process(llvm::ArrayRef<size_t> indices, Row &row) {
  llvm::SmallVector<Vals> heads; ///< of the quads with a norm
  for (size_t index : indices)
    if (!lanes[index].weights.empty())
      heads.push_back(fragments::liftPacked(kb, params.dtype, kb.elements(row.words[index])));
  Vals factors;
  if (!heads.empty())
    factors = fragments::normFactors(kb, params.dtype, heads, kb.argHere("eps"));

  size_t next = 0; ///< of heads
  for (size_t index : indices) {
    const Lanes &at = lanes[index];
    Vals words = kb.elements(row.words[index]);
    if (!at.weights.empty()) {
      Vals normed;
      for (auto [x, weight] : llvm::zip_equal(heads[next], at.weights))
        normed.push_back(x * factors[next] * weight);
      ++next;
      Vals rounded =
          fragments::roundPacked(kb, params.dtype, fragments::turn(kb, row.rotation, normed));
      for (auto [word, result] : llvm::zip_equal(words, rounded))
        word = at.isNormed.get() ? kb.select(at.isNormed, result, word) : result;
    }
    storeRows(at, row, words);
    storePlanes(at, row, words);
  }
}

void Writer::emitRow(Val index) {
  // What addresses depend on first, then every element, then what the elements are multiplied by.
  Row row;
  row.index = kb.zext(index, kb.i64Type());
  for (const Lanes &at : lanes)
    for (const Unit &unit : at.quad)
      if (isPlane(unit) && !row.slots.count(unit.args().slots))
        row.slots[unit.args().slots] = loadSlot(unit.kind, row.index);
  Val cacheRow;
  if (params.rotaryDim > 0) {
    Val position =
        kb.loadConstant(kb.i64Type(), kb.offset(kb.argHere("positions"), row.index << 3), 8);
    cacheRow = kb.offset(kb.argHere("cos_sin"), position * (params.rotaryDim * 4));
  }
  Val packed = kb.offset(kb.argHere("packed"), row.index * kb.argHere("packed_row_stride"));
  mlir::Type type = kb.vectorType(4, kb.i32Type());
  for (const Lanes &at : lanes) {
    auto load = [&] { return Vals{kb.load(type, kb.offset(packed, at.column), 16)}; };
    auto none = [&] { return Vals{kb.zero(type)}; };
    row.words.push_back((at.isLoaded.get() ? kb.ifElse(at.isLoaded, load, none) : load()).front());
  }
  row.rotation = fragments::loadRotation(kb, params.rotaryDim, cacheRow, headLane);

  // Quads of q in one block, so that their chains of exchanges overlap; a quad that the layer may
  // not have is skipped as a whole.
  llvm::SmallVector<size_t> queries;
  for (auto [index, at] : llvm::enumerate(lanes))
    if (isOf(at.quad, Kind::Q))
      queries.push_back(index);
  if (!queries.empty())
    process(queries, row);
  for (auto [index, at] : llvm::enumerate(lanes))
    if (!isOf(at.quad, Kind::Q)) {
      Val any = isActive(at.quad.front().kind);
      for (const Unit &unit : llvm::drop_begin(at.quad))
        any = any | isActive(unit.kind);
      kb.ifThen(any, [&] { process(index, row); });
    }
}

void Writer::run() {
  Val first = kb.workgroupId(0) * params.rowsPerWave;
  if (params.rowsPerWave == 1) { // the grid has a workgroup a row
    emitRow(first);
    return;
  }
  Val end = umin(first + params.rowsPerWave, kb.argHere("rows"));
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
