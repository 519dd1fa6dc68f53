//===- ArgLayout.cpp - the field tables of the argument structs -------------===//
//
// One table a family, in member order. A table that leaves out, doubles or
// misplaces a member does not compile; neither does a family without a table.
//
//===------------------------------------------------------------------------===//
#include "runtime/args/ArgLayout.h"

#include "runtime/include/nvfp4rt_args.h"

#include <fmt/format.h>
#include <type_traits>

namespace nvfp4rt {
namespace {

template <typename Member> consteval ArgType argTypeOf() {
  if constexpr (std::is_pointer_v<Member>)
    return ArgType::Pointer;
  else if constexpr (std::is_integral_v<Member> && sizeof(Member) == 8)
    return ArgType::I64;
  else if constexpr (std::is_same_v<Member, float>)
    return ArgType::F32;
  else {
    static_assert(std::is_integral_v<Member> && sizeof(Member) == 4,
                  "an argument is a pointer, an integer of 64 or 32 bits, or a float");
    return ArgType::I32;
  }
}

constexpr uint32_t sizeOf(ArgType type) {
  return type == ArgType::I32 || type == ArgType::F32 ? 4 : 8;
}

/// The fields follow each other without gap or overlap up to the end of the segment, each at its
/// natural alignment: what the generator lays out member by member is then what C lays out.
consteval bool tiles(std::span<const ArgField> fields, size_t segmentBytes) {
  uint64_t next = 0;
  for (const ArgField &field : fields) {
    if (field.offset != next || field.offset % sizeOf(field.type) != 0)
      return false;
    next += sizeOf(field.type);
  }
  return next == segmentBytes;
}

// The type of a row is taken from the struct, so it cannot disagree with it.
#define NVFP4_ARG(Struct, path)                                                                    \
  ArgField {                                                                                       \
    #path, argTypeOf<decltype(Struct{}.path)>(), offsetof(Struct, path) - kStructSizeBytes         \
  }
#define NVFP4_ARG_ROWS(Struct, path)                                                               \
  NVFP4_ARG(Struct, path.base), NVFP4_ARG(Struct, path.row_stride),                                \
      NVFP4_ARG(Struct, path.head_stride)
#define NVFP4_ARG_PLANE(Struct, path)                                                              \
  NVFP4_ARG(Struct, path.base), NVFP4_ARG(Struct, path.page_stride),                               \
      NVFP4_ARG(Struct, path.token_stride), NVFP4_ARG(Struct, path.head_stride)

constexpr ArgField kKvStoreLayout[] = {
    NVFP4_ARG_ROWS(nvfp4rt_kv_store_args, k),
    NVFP4_ARG_ROWS(nvfp4rt_kv_store_args, v),
    NVFP4_ARG_ROWS(nvfp4rt_kv_store_args, index_k),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, k_payload),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, k_scale),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, v_payload),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, v_scale),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, index_payload),
    NVFP4_ARG_PLANE(nvfp4rt_kv_store_args, index_scale),
    NVFP4_ARG(nvfp4rt_kv_store_args, slots),
    NVFP4_ARG(nvfp4rt_kv_store_args, index_slots),
    NVFP4_ARG(nvfp4rt_kv_store_args, pages),
    NVFP4_ARG(nvfp4rt_kv_store_args, index_pages),
    NVFP4_ARG(nvfp4rt_kv_store_args, rows),
    NVFP4_ARG(nvfp4rt_kv_store_args, reserved),
};

constexpr ArgField kQkNormRopeStoreLayout[] = {
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, packed),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, packed_row_stride),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, positions),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, cos_sin),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, q_weight),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, k_weight),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_q_weight),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_k_weight),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, q_out),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, q_out_row_stride),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, q_out_head_stride),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_q_out),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_q_out_row_stride),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_q_out_head_stride),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, k_payload),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, k_scale),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, v_payload),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, v_scale),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, index_payload),
    NVFP4_ARG_PLANE(nvfp4rt_qk_norm_rope_store_args, index_scale),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, slots),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_slots),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, pages),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_pages),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, eps),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, weight_offset),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, rows),
    NVFP4_ARG(nvfp4rt_qk_norm_rope_store_args, index_branch),
};

constexpr ArgField kStepMapLayout[] = {
    NVFP4_ARG(nvfp4rt_step_map_args, seq_lens),      NVFP4_ARG(nvfp4rt_step_map_args, cu_seqlens_q),
    NVFP4_ARG(nvfp4rt_step_map_args, live_requests), NVFP4_ARG(nvfp4rt_step_map_args, step_rows),
    NVFP4_ARG(nvfp4rt_step_map_args, segments),      NVFP4_ARG(nvfp4rt_step_map_args, work),
    NVFP4_ARG(nvfp4rt_step_map_args, rows),          NVFP4_ARG(nvfp4rt_step_map_args, requests),
    NVFP4_ARG(nvfp4rt_step_map_args, workers),       NVFP4_ARG(nvfp4rt_step_map_args, reserved),
};

// What index_score and index_topk begin with.
#define NVFP4_ARG_SCORER(Struct)                                                                   \
  NVFP4_ARG_ROWS(Struct, index_q), NVFP4_ARG_PLANE(Struct, index_payload),                         \
      NVFP4_ARG_PLANE(Struct, index_scale), NVFP4_ARG(Struct, block_table),                        \
      NVFP4_ARG(Struct, table_stride), NVFP4_ARG(Struct, step_rows), NVFP4_ARG(Struct, segments),  \
      NVFP4_ARG(Struct, work)

constexpr ArgField kIndexScoreLayout[] = {
    NVFP4_ARG_SCORER(nvfp4rt_index_score_args),
    NVFP4_ARG(nvfp4rt_index_score_args, scores),
    NVFP4_ARG(nvfp4rt_index_score_args, score_head_stride),
    NVFP4_ARG(nvfp4rt_index_score_args, score_row_stride),
    NVFP4_ARG(nvfp4rt_index_score_args, index_pages),
    NVFP4_ARG(nvfp4rt_index_score_args, score_scale),
    NVFP4_ARG(nvfp4rt_index_score_args, workers),
};

constexpr ArgField kTopkLayout[] = {
    NVFP4_ARG(nvfp4rt_topk_args, scores),
    NVFP4_ARG(nvfp4rt_topk_args, score_head_stride),
    NVFP4_ARG(nvfp4rt_topk_args, score_row_stride),
    NVFP4_ARG(nvfp4rt_topk_args, step_rows),
    NVFP4_ARG(nvfp4rt_topk_args, ids),
    NVFP4_ARG(nvfp4rt_topk_args, ids_row_stride),
    NVFP4_ARG(nvfp4rt_topk_args, ids_head_stride),
    NVFP4_ARG(nvfp4rt_topk_args, rows),
    NVFP4_ARG(nvfp4rt_topk_args, init_blocks),
    NVFP4_ARG(nvfp4rt_topk_args, local_blocks),
    NVFP4_ARG(nvfp4rt_topk_args, reserved),
};

constexpr ArgField kIndexTopkLayout[] = {
    NVFP4_ARG_SCORER(nvfp4rt_index_topk_args),
    NVFP4_ARG(nvfp4rt_index_topk_args, partial),
    NVFP4_ARG(nvfp4rt_index_topk_args, index_pages),
    NVFP4_ARG(nvfp4rt_index_topk_args, score_scale),
    NVFP4_ARG(nvfp4rt_index_topk_args, workers),
    NVFP4_ARG(nvfp4rt_index_topk_args, init_blocks),
    NVFP4_ARG(nvfp4rt_index_topk_args, local_blocks),
};

constexpr ArgField kIndexTopkMergeLayout[] = {
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, partial),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, step_rows),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, segments),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, ids),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, ids_row_stride),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, ids_head_stride),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, rows),
    NVFP4_ARG(nvfp4rt_index_topk_merge_args, reserved),
};

constexpr ArgField kSparseAttentionLayout[] = {
    NVFP4_ARG_ROWS(nvfp4rt_sparse_attention_args, q),
    NVFP4_ARG_PLANE(nvfp4rt_sparse_attention_args, k_payload),
    NVFP4_ARG_PLANE(nvfp4rt_sparse_attention_args, k_scale),
    NVFP4_ARG_PLANE(nvfp4rt_sparse_attention_args, v_payload),
    NVFP4_ARG_PLANE(nvfp4rt_sparse_attention_args, v_scale),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, block_table),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, table_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, step_rows),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, ids),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, ids_row_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, ids_head_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, out),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, out_row_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, out_head_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, partial),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, pages),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, score_scale),
    NVFP4_ARG(nvfp4rt_sparse_attention_args, rows),
};

constexpr ArgField kSparseAttentionMergeLayout[] = {
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, partial),
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, out),
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, out_row_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, out_head_stride),
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, rows),
    NVFP4_ARG(nvfp4rt_sparse_attention_merge_args, reserved),
};

#undef NVFP4_ARG_SCORER
#undef NVFP4_ARG_PLANE
#undef NVFP4_ARG_ROWS
#undef NVFP4_ARG

#define NVFP4_FAMILY(name, CamelName)                                                              \
  static_assert(std::is_standard_layout_v<nvfp4rt_##name##_args> &&                                \
                    std::is_trivially_copyable_v<nvfp4rt_##name##_args>,                           \
                "nvfp4rt_" #name "_args must be plain C");                                         \
  static_assert(offsetof(nvfp4rt_##name##_args, struct_size) == 0 &&                               \
                    sizeof(nvfp4rt_##name##_args::struct_size) == kStructSizeBytes,                \
                "nvfp4rt_" #name "_args must begin with its struct_size");                         \
  static_assert(tiles(k##CamelName##Layout, sizeof(nvfp4rt_##name##_args) - kStructSizeBytes),     \
                "k" #CamelName "Layout must list every member of nvfp4rt_" #name                   \
                "_args in order");
#include "templates/Families.def"

constexpr ArgLayout kLayouts[] = {
#define NVFP4_FAMILY(name, CamelName)                                                              \
  ArgLayout{#name, sizeof(nvfp4rt_##name##_args) - kStructSizeBytes, k##CamelName##Layout},
#include "templates/Families.def"
};

} // namespace

std::optional<size_t> ArgLayout::indexOf(std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name)
      return i;
  return std::nullopt;
}

std::string ArgLayout::text() const {
  std::string text;
  for (const ArgField &field : fields)
    text += fmt::format("{} {} {} {}\n", field.offset, argTypeSize(field.type),
                        argTypeName(field.type), field.name);
  return text + fmt::format("size {}\n", size);
}

uint32_t argTypeSize(ArgType type) { return sizeOf(type); }

std::string_view argTypeName(ArgType type) {
  switch (type) {
  case ArgType::Pointer:
    return "pointer";
  case ArgType::I64:
    return "i64";
  case ArgType::I32:
    return "i32";
  case ArgType::F32:
    return "f32";
  }
  return "";
}

const ArgLayout *argLayout(std::string_view family) {
  for (const ArgLayout &layout : kLayouts)
    if (layout.family == family)
      return &layout;
  return nullptr;
}

} // namespace nvfp4rt
