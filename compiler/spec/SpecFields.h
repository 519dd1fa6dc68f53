//===- SpecFields.h - the table of every key of a spec ----------------------===//
//
// One row a key: its table, name, meaning, type, range and where its value goes.
// The parser, its messages and its hints follow from the rows; a new key is one
// row here and one member in Spec.h.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_SPEC_SPECFIELDS_H
#define NVFP4GEN_COMPILER_SPEC_SPECFIELDS_H

#include "compiler/spec/Spec.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

namespace nvfp4gen::spec {

/// A table of the file; the name of the root table is empty.
enum class Table : uint8_t { Root, Model, Cache, Serving, Target };
inline constexpr std::string_view kTableNames[] = {"", "model", "cache", "serving", "target"};

/// An integer of a closed range.
struct IntegerType {
  void (*store)(Spec &, int64_t);
  int64_t min, max;
  int64_t multipleOf = 1;
};

/// An integer of a short list; `reason` says whose list it is.
struct SupportedIntegerType {
  void (*store)(Spec &, int64_t);
  std::span<const int64_t> supported;
  std::string_view reason;
};

/// A number that a kernel holds as fp32: positive, finite, normal. An integer literal is accepted.
struct NumberType {
  void (*store)(Spec &, double);
};

/// A string of [a-z0-9_]+.
struct IdentifierType {
  void (*store)(Spec &, std::string_view);
  size_t maxLength;
};

/// A string out of `known`, stored as its position. Only the first `supported` ones are accepted;
/// the others are names that exist (F9) and are refused with `reason`.
struct SymbolType {
  void (*store)(Spec &, int64_t);
  std::span<const std::string_view> known;
  size_t supported;
  std::string_view reason;
};

/// Integers in ascending order without repetition.
struct IntegerListType {
  void (*store)(Spec &, std::span<const int64_t>);
  int64_t min, max;
  size_t minCount, maxCount;
};

/// A set of strings out of `known`, at least one, in any order; stored sorted by position.
struct SymbolSetType {
  void (*store)(Spec &, std::span<const int64_t>);
  std::span<const std::string_view> known;
};

using FieldType = std::variant<IntegerType, SupportedIntegerType, NumberType, IdentifierType,
                               SymbolType, IntegerListType, SymbolSetType>;

struct FieldRow {
  Table table;
  std::string_view key;
  std::string_view doc; ///< quoted when the key is missing
  FieldType type;
  /// Makes the spec what it is without the key; null when the key is required.
  void (*whenAbsent)(Spec &) = nullptr;
};

/// The member's initializer in Spec.h is what an absent key means.
inline void keepInitial(Spec &) {}

/// Store a scalar or a symbol's position in `spec.*Part.*Member`.
template <auto Part, auto Member, typename Value> void set(Spec &spec, Value value) {
  auto &slot = spec.*Part.*Member;
  slot = static_cast<std::remove_reference_t<decltype(slot)>>(value);
}

/// Store a list in the vector `spec.*Part.*Member`.
template <auto Part, auto Member> void setList(Spec &spec, std::span<const int64_t> values) {
  auto &slot = spec.*Part.*Member;
  slot.clear();
  for (int64_t value : values)
    slot.push_back(
        static_cast<typename std::remove_reference_t<decltype(slot)>::value_type>(value));
}

// Symbols of the enumerations in Spec.h, from the one list that guards use as well.
#define NVFP4_SYMBOL_FIELD(name, doc, ...) inline constexpr std::string_view name[] = {__VA_ARGS__};
namespace symbols {
#include "runtime/guard/Fields.def"
inline constexpr std::string_view cachePlanes[] = {"k", "v", "index_k"};
inline constexpr std::string_view arch[] = {"gfx950"};
inline constexpr std::string_view draftFormat[] = {"fp8_e4m3"};
} // namespace symbols

template <typename Enum>
constexpr bool isSymbol(std::span<const std::string_view> known, Enum value,
                        std::string_view symbol) {
  return static_cast<size_t>(value) < known.size() && known[static_cast<size_t>(value)] == symbol;
}
static_assert(isSymbol(symbols::phase, Phase::Decode, "decode") &&
              isSymbol(symbols::phase, Phase::Verify, "verify") &&
              isSymbol(symbols::phase, Phase::Prefill, "prefill"));
static_assert(isSymbol(symbols::dtype, DType::BF16, "bf16") &&
              isSymbol(symbols::dtype, DType::FP16, "fp16"));
static_assert(isSymbol(symbols::kv_format, CacheFormat::NVFP4, "nvfp4") &&
              isSymbol(symbols::kv_format, CacheFormat::MXFP4, "mxfp4") &&
              isSymbol(symbols::kv_format, CacheFormat::FP8E4M3, "fp8_e4m3"));
static_assert(isSymbol(symbols::index_format, CacheFormat::NVFP4, "nvfp4") &&
              isSymbol(symbols::index_format, CacheFormat::MXFP4, "mxfp4") &&
              isSymbol(symbols::index_format, CacheFormat::FP8E4M3, "fp8_e4m3"));
static_assert(isSymbol(symbols::plane_order, PlaneOrder::NHD, "nhd") &&
              isSymbol(symbols::plane_order, PlaneOrder::HND, "hnd"));
static_assert(isSymbol(symbols::cachePlanes, Plane::K, "k") &&
              isSymbol(symbols::cachePlanes, Plane::V, "v") &&
              isSymbol(symbols::cachePlanes, Plane::IndexK, "index_k"));

inline constexpr int64_t kSchemas[] = {1};
inline constexpr int64_t kHeadDims[] = {128};
inline constexpr int64_t kBlockSizes[] = {128};
inline constexpr int64_t kPageSizes[] = {16, 32, 64, 128, 256};
inline constexpr int64_t kCodeObjectVersions[] = {5, 6};

/// Entries of the list that a lane can keep sorted in registers.
inline constexpr int64_t kMaxTopK = 16;

// Bounds that are not a rule of the kernels but keep every product of two fields inside 64 bits
// and the list of variants small. Lengths are int32 on the device.
inline constexpr int64_t kMaxHeads = 1024;
inline constexpr int64_t kMaxBlocks = 65534; ///< K3
inline constexpr int64_t kMaxLayers = 4096;
inline constexpr int64_t kMaxRequests = 65536;
inline constexpr int64_t kMaxQueryLen = 65536;
inline constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
inline constexpr size_t kMaxBuckets = 128;
inline constexpr size_t kMaxQueryLens = 16;
inline constexpr size_t kMaxNameLength = 64;

inline constexpr std::string_view kHeadReason = "the head sizes that templates support";
inline constexpr std::string_view kFormatReason =
    "a known format, but no template of this version supports it";

inline constexpr FieldRow kFields[] = {
    {Table::Root, "schema", "version of the spec's own format",
     SupportedIntegerType{[](Spec &, int64_t) {}, kSchemas, "the schemas this version reads"}},
    {Table::Root, "name", "identifier of the deployment",
     IdentifierType{[](Spec &spec, std::string_view value) { spec.name = value; }, kMaxNameLength}},

    {Table::Model, "q_heads", "query heads on this rank",
     IntegerType{set<&Spec::model, &ModelSpec::qHeads>, 1, kMaxHeads}},
    {Table::Model, "kv_heads", "KV heads on this rank",
     IntegerType{set<&Spec::model, &ModelSpec::kvHeads>, 1, kMaxHeads}},
    {Table::Model, "head_dim", "elements of a K or V head",
     SupportedIntegerType{set<&Spec::model, &ModelSpec::headDim>, kHeadDims, kHeadReason}},
    {Table::Model, "index_heads", "index query heads on this rank",
     IntegerType{set<&Spec::model, &ModelSpec::indexHeads>, 1, kMaxHeads}},
    {Table::Model, "index_head_dim", "elements of the index key",
     SupportedIntegerType{set<&Spec::model, &ModelSpec::indexHeadDim>, kHeadDims, kHeadReason}},
    {Table::Model, "top_k", "blocks selected per row",
     IntegerType{set<&Spec::model, &ModelSpec::topK>, 1, kMaxTopK}},
    {Table::Model, "init_blocks", "first blocks that are always selected",
     IntegerType{set<&Spec::model, &ModelSpec::initBlocks>, 0, kMaxBlocks}},
    {Table::Model, "local_blocks", "last blocks that are always selected",
     IntegerType{set<&Spec::model, &ModelSpec::localBlocks>, 0, kMaxBlocks}},
    {Table::Model, "block_size", "tokens of a sparse block",
     SupportedIntegerType{set<&Spec::model, &ModelSpec::blockSize>, kBlockSizes,
                          "the sparse block that templates support"}},
    {Table::Model, "dtype", "dtype of activations",
     SymbolType{
         set<&Spec::model, &ModelSpec::dtype>, symbols::dtype, std::size(symbols::dtype), {}}},
    {Table::Model, "norm_eps", "epsilon of the q and k norms, which the host passes to the kernels",
     NumberType{set<&Spec::model, &ModelSpec::normEps>}},
    {Table::Model, "rotary_dim", "leading dims that RoPE turns, 0 for none",
     IntegerType{set<&Spec::model, &ModelSpec::rotaryDim>, 0, 1024, 2}},
    {Table::Model, "qk_scale",
     "factor of q.k in attention and index score, which the host passes to the kernels",
     NumberType{set<&Spec::model, &ModelSpec::qkScale>}},

    {Table::Cache, "kv_format", "format of the K and V pools",
     SymbolType{set<&Spec::cache, &CacheSpec::kvFormat>, symbols::kv_format, 1, kFormatReason}},
    {Table::Cache, "index_format", "format of the index key pool",
     SymbolType{set<&Spec::cache, &CacheSpec::indexFormat>, symbols::index_format, 1,
                kFormatReason}},
    {Table::Cache, "page_size", "tokens of a KV page",
     SupportedIntegerType{set<&Spec::cache, &CacheSpec::pageSize>, kPageSizes,
                          "the page sizes that templates support"}},
    {Table::Cache, "plane_order", "order of token and head in a plane",
     SymbolType{set<&Spec::cache, &CacheSpec::planeOrder>,
                symbols::plane_order,
                std::size(symbols::plane_order),
                {}}},
    {Table::Cache, "planes", "planes that this deployment stores",
     SymbolSetType{setList<&Spec::cache, &CacheSpec::planes>, symbols::cachePlanes},
     [](Spec &spec) { spec.cache.planes = {Plane::K, Plane::V, Plane::IndexK}; }},
    {Table::Cache, "layers", "layers with this cache",
     IntegerType{set<&Spec::cache, &CacheSpec::layers>, 1, kMaxLayers}, keepInitial},
    {Table::Cache, "draft_layers", "draft layers with a K and V cache beside it",
     IntegerType{set<&Spec::cache, &CacheSpec::draftLayers>, 0, kMaxLayers}, keepInitial},
    {Table::Cache, "draft_format", "format of the draft layers' cache",
     SymbolType{[](Spec &spec, int64_t) { spec.cache.draftFormat = CacheFormat::FP8E4M3; },
                symbols::draftFormat,
                std::size(symbols::draftFormat),
                {}},
     keepInitial},

    {Table::Serving, "request_buckets", "largest request count of each bucket",
     IntegerListType{setList<&Spec::serving, &ServingSpec::requestBuckets>, 1, kMaxRequests, 1,
                     kMaxBuckets}},
    {Table::Serving, "query_lens", "query rows per request: 1 in decode, more in verify",
     IntegerListType{setList<&Spec::serving, &ServingSpec::queryLens>, 1, kMaxQueryLen, 0,
                     kMaxQueryLens}},
    {Table::Serving, "max_context", "longest context in tokens",
     IntegerType{set<&Spec::serving, &ServingSpec::maxContext>, 1, kMaxInt32}},
    {Table::Serving, "phases", "serving phases",
     SymbolSetType{setList<&Spec::serving, &ServingSpec::phases>, symbols::phase}},

    {Table::Target, "arch", "architecture of the device",
     SymbolType{[](Spec &spec, int64_t value) { spec.target.arch = symbols::arch[value]; },
                symbols::arch,
                std::size(symbols::arch),
                {}}},
    {Table::Target, "code_object_version", "AMDGPU code object version",
     SupportedIntegerType{set<&Spec::target, &TargetSpec::codeObjectVersion>, kCodeObjectVersions,
                          "the versions that the runtime reads"}},
};

/// A set of rows of kFields.
using FieldSet = uint64_t;
static_assert(std::size(kFields) <= 64, "FieldSet has one bit a field");

/// Index of "key" of `table`; an unknown name does not compile.
consteval size_t fieldIndex(Table table, std::string_view key) {
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (kFields[i].table == table && kFields[i].key == key)
      return i;
  throw "no such field";
}

} // namespace nvfp4gen::spec

#endif // NVFP4GEN_COMPILER_SPEC_SPECFIELDS_H
