//===- ArgRules.cpp - the rules of the argument structs, family by family ---===//
//
// See ArgRules.h. A family without a table does not compile.
//
//===------------------------------------------------------------------------===//
#include "runtime/args/ArgRules.h"

#include "runtime/include/nvfp4rt_args.h"

namespace nvfp4rt {
namespace {

constexpr int64_t kMostU32 = std::numeric_limits<uint32_t>::max();

constexpr PlaneRule writtenPlane(std::string_view member, Used used, PlaneKind kind,
                                 Given given = {}) {
  return {member,  used,  kind, Field::kv_format, Field::head_dim, Field::kv_heads,
          "pages", false, given};
}
constexpr PlaneRule writtenIndexPlane(std::string_view member, PlaneKind kind, Given given = {}) {
  return {member,
          Used::StoresIndex,
          kind,
          Field::index_format,
          Field::index_head_dim,
          std::nullopt,
          "index_pages",
          false,
          given};
}
constexpr PlaneRule readPlane(std::string_view member, PlaneKind kind) {
  return {member,          Used::Always,    kind,    Field::kv_format,
          Field::head_dim, Field::kv_heads, "pages", true};
}
constexpr PlaneRule readIndexPlane(std::string_view member, PlaneKind kind) {
  return {member,       Used::Always,  kind, Field::index_format, Field::index_head_dim,
          std::nullopt, "index_pages", true};
}

constexpr MemberRule kKvStoreMembers[] = {
    {.member = "slots", .used = Used::StoresKOrV, .multiple = 8},
    {.member = "index_slots", .used = Used::StoresIndex, .multiple = 8},
    {.member = "pages", .used = Used::StoresKOrV, .least = 0},
    {.member = "index_pages", .used = Used::StoresIndex, .least = 0},
    {.member = "rows"},
};
constexpr RowsRule kKvStoreRows[] = {
    {"k", Used::StoresK, Field::kv_heads},
    {"v", Used::StoresV, Field::kv_heads},
    {"index_k", Used::StoresIndex, std::nullopt},
};
constexpr PlaneRule kKvStorePlanes[] = {
    writtenPlane("k_payload", Used::StoresK, PlaneKind::Payload),
    writtenPlane("k_scale", Used::StoresK, PlaneKind::Scale),
    writtenPlane("v_payload", Used::StoresV, PlaneKind::Payload),
    writtenPlane("v_scale", Used::StoresV, PlaneKind::Scale),
    writtenIndexPlane("index_payload", PlaneKind::Payload),
    writtenIndexPlane("index_scale", PlaneKind::Scale),
};
constexpr ArgRules kKvStoreRules{"kv_store", kKvStoreMembers, kKvStoreRows, kKvStorePlanes, {}};

// A layer passes no slots for what it does not store, and may have no index branch.
constexpr Given kWithSlots{"slots"}, kWithBranch{"index_branch"},
    kWithIndexSlots{"index_branch", "index_slots"};
constexpr MemberRule kQkNormRopeStoreMembers[] = {
    {.member = "packed", .multiple = 16},
    {.member = "packed_row_stride", .multiple = 16},
    {.member = "positions", .multiple = 8},
    {.member = "cos_sin", .used = Used::Turns, .multiple = 16},
    {.member = "q_weight", .multiple = 16},
    {.member = "k_weight", .used = Used::StoresK, .multiple = 16, .given = kWithSlots},
    {.member = "index_q_weight", .multiple = 16, .given = kWithBranch},
    {.member = "index_k_weight",
     .used = Used::StoresIndex,
     .multiple = 16,
     .given = kWithIndexSlots},
    {.member = "q_out", .multiple = 16},
    {.member = "q_out_row_stride", .multiple = 16},
    {.member = "q_out_head_stride", .multiple = 16},
    {.member = "index_q_out", .multiple = 16, .given = kWithBranch},
    {.member = "index_q_out_row_stride", .multiple = 16, .given = kWithBranch},
    {.member = "index_q_out_head_stride", .multiple = 16, .given = kWithBranch},
    {.member = "slots", .used = Used::StoresKOrV, .multiple = 8, .given = kWithSlots},
    {.member = "index_slots", .used = Used::StoresIndex, .multiple = 8, .given = kWithIndexSlots},
    {.member = "pages", .used = Used::StoresKOrV, .least = 0, .given = kWithSlots},
    {.member = "index_pages", .used = Used::StoresIndex, .least = 0, .given = kWithIndexSlots},
    {.member = "eps", .positive = true},
    {.member = "weight_offset"},
    {.member = "rows"},
    {.member = "index_branch", .least = 0, .most = 1},
};
constexpr PlaneRule kQkNormRopeStorePlanes[] = {
    writtenPlane("k_payload", Used::StoresK, PlaneKind::Payload, kWithSlots),
    writtenPlane("k_scale", Used::StoresK, PlaneKind::Scale, kWithSlots),
    writtenPlane("v_payload", Used::StoresV, PlaneKind::Payload, kWithSlots),
    writtenPlane("v_scale", Used::StoresV, PlaneKind::Scale, kWithSlots),
    writtenIndexPlane("index_payload", PlaneKind::Payload, kWithIndexSlots),
    writtenIndexPlane("index_scale", PlaneKind::Scale, kWithIndexSlots),
};
constexpr ArgRules kQkNormRopeStoreRules{
    "qk_norm_rope_store", kQkNormRopeStoreMembers, {}, kQkNormRopeStorePlanes, {}};

// What step_map writes and every later family of the step reads.
#define NVFP4_STEP_ROWS {.member = "step_rows", .multiple = 16}
#define NVFP4_SEGMENTS {.member = "segments", .multiple = alignof(nvfp4rt_segment)}
#define NVFP4_WORK {.member = "work", .multiple = alignof(nvfp4rt_work)}

constexpr MemberRule kStepMapMembers[] = {
    {.member = "seq_lens", .multiple = 4},
    {.member = "cu_seqlens_q", .used = Used::Prefill, .multiple = 4},
    {.member = "live_requests", .multiple = 4},
    NVFP4_STEP_ROWS,
    NVFP4_SEGMENTS,
    NVFP4_WORK,
    {.member = "rows"},
    {.member = "requests", .atMost = Field::requests},
    {.member = "workers", .least = 1, .most = kMostU32},
};
constexpr ArgRules kStepMapRules{"step_map", kStepMapMembers, {}, {}, {}};

// The index key pool and the step, as the scorers read them.
#define NVFP4_SCORER_MEMBERS                                                                       \
  {.member = "block_table", .multiple = 4}, {.member = "table_stride", .multiple = 4},             \
      NVFP4_STEP_ROWS, NVFP4_SEGMENTS, NVFP4_WORK, {.member = "index_pages", .least = 0},          \
      {.member = "score_scale"}, {                                                                 \
    .member = "workers", .least = 1, .most = kMostU32                                              \
  }
#define NVFP4_LIST_MEMBERS                                                                         \
  {.member = "ids", .multiple = 4}, {.member = "ids_row_stride", .multiple = 4},                   \
      {.member = "ids_head_stride", .multiple = 4}

constexpr RowsRule kScorerRows[] = {{"index_q", Used::Always, Field::index_heads}};
constexpr PlaneRule kScorerPlanes[] = {
    readIndexPlane("index_payload", PlaneKind::Payload),
    readIndexPlane("index_scale", PlaneKind::Scale),
};
constexpr SumRule kSelectorSums[] = {{"init_blocks", "local_blocks", Field::top_k}};

constexpr MemberRule kIndexScoreMembers[] = {
    NVFP4_SCORER_MEMBERS,
    {.member = "scores", .multiple = 4},
    {.member = "score_head_stride", .multiple = 4},
    {.member = "score_row_stride", .multiple = 4},
};
constexpr ArgRules kIndexScoreRules{
    "index_score", kIndexScoreMembers, kScorerRows, kScorerPlanes, {}};

constexpr MemberRule kTopkMembers[] = {
    {.member = "scores", .multiple = 4},
    {.member = "score_head_stride", .multiple = 4},
    {.member = "score_row_stride", .multiple = 4},
    NVFP4_STEP_ROWS,
    NVFP4_LIST_MEMBERS,
    {.member = "rows"},
};
constexpr ArgRules kTopkRules{"topk", kTopkMembers, {}, {}, kSelectorSums};

constexpr MemberRule kIndexTopkMembers[] = {
    NVFP4_SCORER_MEMBERS,
    {.member = "partial", .multiple = 8},
};
constexpr ArgRules kIndexTopkRules{"index_topk", kIndexTopkMembers, kScorerRows, kScorerPlanes,
                                   kSelectorSums};

constexpr MemberRule kIndexTopkMergeMembers[] = {
    {.member = "partial", .multiple = 8},
    NVFP4_STEP_ROWS,
    NVFP4_SEGMENTS,
    NVFP4_LIST_MEMBERS,
    {.member = "rows"},
};
constexpr ArgRules kIndexTopkMergeRules{"index_topk_merge", kIndexTopkMergeMembers, {}, {}, {}};

constexpr MemberRule kSparseAttentionMembers[] = {
    {.member = "block_table", .multiple = 4},
    {.member = "table_stride", .multiple = 4},
    NVFP4_STEP_ROWS,
    NVFP4_LIST_MEMBERS,
    {.member = "out", .used = Used::NoWorkspace, .multiple = 16},
    {.member = "out_row_stride", .used = Used::NoWorkspace, .multiple = 16},
    {.member = "out_head_stride", .used = Used::NoWorkspace, .multiple = 16},
    {.member = "partial", .used = Used::Workspace, .multiple = 16},
    {.member = "pages", .least = 0},
    {.member = "score_scale"},
    {.member = "rows"},
};
constexpr RowsRule kSparseAttentionRows[] = {{"q", Used::Always, Field::q_heads}};
constexpr PlaneRule kSparseAttentionPlanes[] = {
    readPlane("k_payload", PlaneKind::Payload),
    readPlane("k_scale", PlaneKind::Scale),
    readPlane("v_payload", PlaneKind::Payload),
    readPlane("v_scale", PlaneKind::Scale),
};
constexpr ArgRules kSparseAttentionRules{
    "sparse_attention", kSparseAttentionMembers, kSparseAttentionRows, kSparseAttentionPlanes, {}};

constexpr MemberRule kSparseAttentionMergeMembers[] = {
    {.member = "partial", .multiple = 16},
    {.member = "out", .multiple = 16},
    {.member = "out_row_stride", .multiple = 16},
    {.member = "out_head_stride", .multiple = 16},
    {.member = "rows"},
};
constexpr ArgRules kSparseAttentionMergeRules{
    "sparse_attention_merge", kSparseAttentionMergeMembers, {}, {}, {}};

#undef NVFP4_LIST_MEMBERS
#undef NVFP4_SCORER_MEMBERS
#undef NVFP4_WORK
#undef NVFP4_SEGMENTS
#undef NVFP4_STEP_ROWS

constexpr ArgRules kRules[] = {
#define NVFP4_FAMILY(name, CamelName) k##CamelName##Rules,
#include "templates/Families.def"
};

} // namespace

const ArgRules *argRules(std::string_view family) {
  for (const ArgRules &rules : kRules)
    if (rules.family == family)
      return &rules;
  return nullptr;
}

} // namespace nvfp4rt
