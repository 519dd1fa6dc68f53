//===- SpecRules.cpp - rules over several fields of a spec ------------------===//
//
// Owns the table of cross rules: K2, K3, A5, the head counts of M, and what the
// serving phases ask of the query lengths.
//
//===------------------------------------------------------------------------===//
#include "compiler/spec/SpecRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nvfp4gen::spec {
namespace {

using Violation = std::optional<std::string>;

/// q heads per kv head: one MFMA tile, or half a tile (A5).
constexpr int64_t kGroupSizes[] = {8, 16};

consteval FieldSet bit(Table table, std::string_view key) {
  return FieldSet{1} << fieldIndex(table, key);
}

bool hasPhase(const Spec &spec, Phase phase) {
  return llvm::is_contained(spec.serving.phases, phase);
}

std::string list(const std::vector<int64_t> &values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

Violation forcedBlocksFit(const Spec &spec) {
  const ModelSpec &model = spec.model;
  if (model.initBlocks + model.localBlocks <= model.topK)
    return std::nullopt;
  return fmt::format("expected at least init_blocks + local_blocks = {} + {} = {} (K2), found {}",
                     model.initBlocks, model.localBlocks, model.initBlocks + model.localBlocks,
                     model.topK);
}

Violation blockIdsFit(const Spec &spec) {
  if (spec.maxBlocks() <= kMaxBlocks)
    return std::nullopt;
  return fmt::format("expected at most {} blocks of {} tokens (K3), found {} tokens = {} blocks",
                     kMaxBlocks, spec.model.blockSize, spec.serving.maxContext, spec.maxBlocks());
}

Violation groupsAreWhole(const Spec &spec) {
  if (spec.model.qHeads % spec.model.kvHeads == 0)
    return std::nullopt;
  return fmt::format("expected a multiple of kv_heads = {}, found {}", spec.model.kvHeads,
                     spec.model.qHeads);
}

Violation groupSizeIsSupported(const Spec &spec) {
  const ModelSpec &model = spec.model;
  if (model.qHeads % model.kvHeads != 0) // groupsAreWhole has said so
    return std::nullopt;
  int64_t group = model.qHeads / model.kvHeads;
  if (llvm::is_contained(kGroupSizes, group))
    return std::nullopt;
  return fmt::format("expected {} q heads per kv head (A5), found {} / {} = {}",
                     fmt::join(kGroupSizes, " or "), model.qHeads, model.kvHeads, group);
}

Violation indexHeadsMatch(const Spec &spec) {
  if (spec.model.indexHeads == spec.model.kvHeads)
    return std::nullopt;
  return fmt::format("expected kv_heads = {} (index head i selects for kv head i), found {}",
                     spec.model.kvHeads, spec.model.indexHeads);
}

Violation rotaryFits(const Spec &spec) {
  if (spec.model.rotaryDim <= spec.model.headDim)
    return std::nullopt;
  return fmt::format("expected at most head_dim = {}, found {}", spec.model.headDim,
                     spec.model.rotaryDim);
}

/// The halves of a RoPE pair are a power of two of lanes apart, of 8 dims each.
Violation rotaryIsSupported(const Spec &spec) {
  int64_t dim = spec.model.rotaryDim;
  if (dim > spec.model.headDim) // rotaryFits has said so
    return std::nullopt;
  if (dim == 0 || (dim >= 16 && llvm::isPowerOf2_64(dim)))
    return std::nullopt;
  return fmt::format("expected 0 or a power of two from 16 (the RoPE that templates support), "
                     "found {}",
                     dim);
}

Violation decodeHasItsQueryLen(const Spec &spec) {
  if (!hasPhase(spec, Phase::Decode) || llvm::is_contained(spec.serving.queryLens, 1))
    return std::nullopt;
  return fmt::format("expected 1 among them because phases has \"decode\", found {}",
                     list(spec.serving.queryLens));
}

Violation queryLenOneHasItsPhase(const Spec &spec) {
  if (hasPhase(spec, Phase::Decode) || !llvm::is_contained(spec.serving.queryLens, 1))
    return std::nullopt;
  return fmt::format("expected \"decode\" among them because query_lens = {} has 1, found none",
                     list(spec.serving.queryLens));
}

/// The longest query length; 0 when the spec has none.
int64_t longestQuery(const Spec &spec) {
  return spec.serving.queryLens.empty() ? 0 : spec.serving.queryLens.back();
}

Violation verifyHasItsQueryLen(const Spec &spec) {
  if (!hasPhase(spec, Phase::Verify) || longestQuery(spec) > 1)
    return std::nullopt;
  return fmt::format("expected one above 1 because phases has \"verify\", found {}",
                     list(spec.serving.queryLens));
}

Violation longQueryHasItsPhase(const Spec &spec) {
  if (hasPhase(spec, Phase::Verify) || longestQuery(spec) <= 1)
    return std::nullopt;
  return fmt::format("expected \"verify\" among them because query_lens = {} has {}, found none",
                     list(spec.serving.queryLens), longestQuery(spec));
}

Violation queryFitsContext(const Spec &spec) {
  if (longestQuery(spec) <= spec.serving.maxContext)
    return std::nullopt;
  return fmt::format("expected at most max_context = {}, found {}", spec.serving.maxContext,
                     longestQuery(spec));
}

/// Row indices are int32 on the device.
Violation rowsFit(const Spec &spec) {
  int64_t rows = spec.serving.requestBuckets.back() * longestQuery(spec);
  if (rows <= kMaxInt32)
    return std::nullopt;
  return fmt::format("expected at most {} rows in a step, found {} requests of {} rows = {}",
                     kMaxInt32, spec.serving.requestBuckets.back(), longestQuery(spec), rows);
}

constexpr FieldSet kQueries = bit(Table::Serving, "query_lens");
constexpr FieldSet kPhases = bit(Table::Serving, "phases");
constexpr FieldSet kHeads = bit(Table::Model, "q_heads") | bit(Table::Model, "kv_heads");
constexpr FieldSet kContext = bit(Table::Serving, "max_context");

constexpr Rule kRules[] = {
    {fieldIndex(Table::Model, "top_k"),
     bit(Table::Model, "top_k") | bit(Table::Model, "init_blocks") |
         bit(Table::Model, "local_blocks"),
     forcedBlocksFit},
    {fieldIndex(Table::Serving, "max_context"), kContext | bit(Table::Model, "block_size"),
     blockIdsFit},
    {fieldIndex(Table::Model, "q_heads"), kHeads, groupsAreWhole},
    {fieldIndex(Table::Model, "q_heads"), kHeads, groupSizeIsSupported},
    {fieldIndex(Table::Model, "index_heads"),
     bit(Table::Model, "index_heads") | bit(Table::Model, "kv_heads"), indexHeadsMatch},
    {fieldIndex(Table::Model, "rotary_dim"),
     bit(Table::Model, "rotary_dim") | bit(Table::Model, "head_dim"), rotaryFits},
    {fieldIndex(Table::Model, "rotary_dim"),
     bit(Table::Model, "rotary_dim") | bit(Table::Model, "head_dim"), rotaryIsSupported},
    {fieldIndex(Table::Serving, "query_lens"), kQueries | kPhases, decodeHasItsQueryLen},
    {fieldIndex(Table::Serving, "phases"), kQueries | kPhases, queryLenOneHasItsPhase},
    {fieldIndex(Table::Serving, "query_lens"), kQueries | kPhases, verifyHasItsQueryLen},
    {fieldIndex(Table::Serving, "phases"), kQueries | kPhases, longQueryHasItsPhase},
    {fieldIndex(Table::Serving, "query_lens"), kQueries | kContext, queryFitsContext},
    {fieldIndex(Table::Serving, "query_lens"), kQueries | bit(Table::Serving, "request_buckets"),
     rowsFit},
};

} // namespace

std::span<const Rule> rules() { return kRules; }

} // namespace nvfp4gen::spec
