/* nvfp4rt_args.h - kernel-argument structs, one per family.
 *
 * A struct begins with struct_size: its sizeof as the caller was compiled, by which nvfp4rt_launch
 * refuses a caller of another version. What follows IS the kernel-argument segment: the generator
 * lays a kernel's arguments out in member order with natural C alignment, and the runtime copies
 * them to the device as they are. The field tables in runtime/args/ArgLayout.cpp describe the same
 * structs to both sides; their hash travels in every bundle's manifest and is checked when the
 * bundle is opened.
 *
 * Begin with
 *   nvfp4rt_kv_store_args args = NVFP4RT_INIT(nvfp4rt_kv_store_args);
 * which sets struct_size and makes every other member 0. In C++, nvfp4rt_kv_store_args{} is the
 * same.
 *
 * All strides are in BYTES and 64-bit (rule P1). All pointers are device addresses, owned by the
 * caller, and must stay valid until the launch has finished on its stream.
 */
#ifndef NVFP4RT_ARGS_H
#define NVFP4RT_ARGS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define NVFP4RT_STRUCT_SIZE(type) uint64_t struct_size = sizeof(type)
#define NVFP4RT_INIT(type)                                                                         \
  type {}
#else
#define NVFP4RT_STRUCT_SIZE(type) uint64_t struct_size
#define NVFP4RT_INIT(type) {.struct_size = sizeof(type)}
#endif

/* One plane of an NVFP4 pool (rule P1): byte address of (page, token, head) is
 *   base + page * page_stride + token * token_stride + head * head_stride.
 * NHD and HND differ only in their strides. Payload planes hold head_dim / 2 bytes a
 * (token, head), scale planes head_dim / 16 bytes. Index planes have one head; their
 * head_stride is ignored. Payload base and strides must be multiples of 4, scale base and strides
 * multiples of 4 (a lane stores one dword of each). */
typedef struct nvfp4rt_plane {
  void *base;
  int64_t page_stride;
  int64_t token_stride;
  int64_t head_stride;
} nvfp4rt_plane;

/* Rows in model dtype (bf16 or fp16): element (row, head, d) is at
 *   base + row * row_stride + head * head_stride + 2 * d.
 * base and both strides must be multiples of 16 (the kernel loads 16 bytes a lane). */
typedef struct nvfp4rt_rows {
  const void *base;
  int64_t row_stride;
  int64_t head_stride;
} nvfp4rt_rows;

/* kv_store (rule W1): quantize rows of K, V and index key into their planes.
 * slots[row] = page * page_size + offset for K and V, index_slots[row] the same for the index
 * planes (they may be the same array). A slot < 0 or >= pages * page_size stores nothing (P2).
 * Members of a plane that the variant does not store are ignored and may be zero. */
typedef struct nvfp4rt_kv_store_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_kv_store_args);
  nvfp4rt_rows k;          /* [rows, kv_heads, head_dim] */
  nvfp4rt_rows v;          /* [rows, kv_heads, head_dim] */
  nvfp4rt_rows index_k;    /* [rows, index_head_dim]; head_stride ignored */
  nvfp4rt_plane k_payload; /* uint8 [pages, page_size, kv_heads, head_dim / 2] */
  nvfp4rt_plane k_scale;   /* uint8 [pages, page_size, kv_heads, head_dim / 16] */
  nvfp4rt_plane v_payload;
  nvfp4rt_plane v_scale;
  nvfp4rt_plane index_payload; /* uint8 [index_pages, page_size, index_head_dim / 2] */
  nvfp4rt_plane index_scale;   /* uint8 [index_pages, page_size, index_head_dim / 16] */
  const int64_t *slots;        /* [rows] */
  const int64_t *index_slots;  /* [rows] */
  int64_t pages;               /* pages in the K and V pools */
  int64_t index_pages;         /* pages in the index pool */
  uint32_t rows;               /* rows in this launch; 0 is legal and launches nothing */
  uint32_t reserved;           /* must be 0; pads the struct to a multiple of 8 */
} nvfp4rt_kv_store_args;

/* qk_norm_rope_store (rule W2): packed rows to q, index_q and the cache, in one launch. With
 * D = head_dim = index_head_dim, in model dtype, a packed row is, without gaps,
 *   [q: q_heads * D | k: kv_heads * D | v: kv_heads * D | index_q: index_heads * D | index_k: D].
 * q, k, index_q and index_k are normed, x * rsqrt(mean(x^2) + eps) * (weight_offset + w), and
 * turned by NeoX RoPE: dim d < rotary_dim / 2 and dim d + rotary_dim / 2 are a pair, dims from
 * rotary_dim on stay. All of it is fp32, rounded once to model dtype. K, V and index key are
 * quantized from the rounded values as kv_store does; V is quantized as it is.
 *
 * Padded rows: a row is padding when its slot stores nothing (P2). Its q and index_q are written as
 * any other's, so its position has to be in range and its packed row readable.
 * In place: q_out may be the q part of the packed row (packed + 0, strides packed_row_stride and
 * 2 * D) and index_q_out the index_q part; outputs overlap inputs in no other way, nor each other.
 * A layer without index branch passes index_branch = 0: the packed row may end after v, and nothing
 * that is named index_* is read or written; those members may be zero.
 * slots = NULL: K and V are neither read nor stored; their planes, `pages` and k_weight may be
 * zero. index_slots = NULL: the same for the index key; index_q is still written. A plane that the
 * variant does not store (guard field `planes`) is as one without slots.
 *
 * A NaN in a head's x makes all of its q or index_q NaN, an infinity makes itself and its RoPE
 * partner NaN and the other dims 0; their cache bytes follow F7. A finite x never gives NaN,
 * however large, as long as sqrt(D) * |weight_offset + w| is below 2^126 and |cos| and |sin| are at
 * most 1. */
typedef struct nvfp4rt_qk_norm_rope_store_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_qk_norm_rope_store_args);
  const void *packed;        /* [rows], model dtype; multiple of 16 */
  int64_t packed_row_stride; /* bytes, a multiple of 16 */
  const int64_t *positions;  /* [rows] rows of cos_sin; in range for padded rows too */
  const float *cos_sin;      /* fp32 [max_pos, rotary_dim], first half cos, second half sin;
                                multiple of 16; not read when rotary_dim is 0 */
  const void *q_weight;      /* [D] in model dtype each; multiples of 16 */
  const void *k_weight;
  const void *index_q_weight;
  const void *index_k_weight;
  void *q_out;              /* [rows, q_heads, D] in model dtype; multiple of 16 */
  int64_t q_out_row_stride; /* bytes, multiples of 16 */
  int64_t q_out_head_stride;
  void *index_q_out;              /* [rows, index_heads, D] in model dtype; multiple of 16 */
  int64_t index_q_out_row_stride; /* bytes, multiples of 16 */
  int64_t index_q_out_head_stride;
  nvfp4rt_plane k_payload; /* planes, slots and pages as in kv_store */
  nvfp4rt_plane k_scale;
  nvfp4rt_plane v_payload;
  nvfp4rt_plane v_scale;
  nvfp4rt_plane index_payload;
  nvfp4rt_plane index_scale;
  const int64_t *slots;       /* [rows] or NULL */
  const int64_t *index_slots; /* [rows] or NULL */
  int64_t pages;
  int64_t index_pages;
  float eps;             /* of the norms; positive, normal */
  float weight_offset;   /* 1 for Gemma norms (1 + w), 0 for plain ones (w) */
  uint32_t rows;         /* rows in this launch; 0 is legal and launches nothing */
  uint32_t index_branch; /* 1: the layer has index_q and index_k; 0: it has not */
} nvfp4rt_qk_norm_rope_store_args;

/* What the step map says of one row (rules S1, S2). 16 bytes, 16-byte aligned. */
typedef struct nvfp4rt_step_row {
  int32_t request;        /* its request; -1 for a padded row: no live request, or seq_len 0 */
  int32_t causal_len;     /* tokens it may see, itself included; >= 0, 0 for a padded row */
  int32_t segment;        /* its segment; -1 for a padded row */
  int32_t row_in_segment; /* row - segments[segment].first_row; 0 for a padded row */
} nvfp4rt_step_row;

/* A segment: rows of one request for which a selector reads each page once. Decode and verify: all
 * Q rows of a request. Prefill: up to NVFP4RT_PREFILL_SEGMENT_ROWS consecutive rows of a request,
 * cut from the request's first row. Segments are numbered in row order; a request without rows has
 * none in prefill, and so does one with seq_len 0. In decode and verify segment s is request s;
 * padded requests and those with seq_len 0 have blocks = 0. */
typedef struct nvfp4rt_segment {
  int32_t request;
  int32_t first_row;
  int32_t rows;
  int32_t blocks;         /* sparse blocks of its longest row: ceil(max causal_len / block_size) */
  int32_t first_block;    /* sum of `blocks` over the segments before it */
  int32_t min_causal_len; /* of its rows: a block that ends there or before needs no mask */
  int32_t first_worker;   /* first worker that has one of its blocks; 0 when blocks is 0 */
  int32_t worker_count;   /* workers that have one of its blocks; 0 when blocks is 0 */
} nvfp4rt_segment;

/* Where a worker (a workgroup of the index scorers) begins (rules S4, K4). With T blocks in all
 * segments and W workers, the first U = min(W, T) have work: worker w < U has blocks
 * [w * T / U, (w + 1) * T / U) (rounded down) of the concatenated segments, every one the same
 * number within one. A worker whose first block is the first of a segment begins there, not at the
 * end of the segment before. Workers from U on, and entry W, begin at the end: segment = number of
 * segments, block = 0. */
typedef struct nvfp4rt_work {
  int32_t segment;
  int32_t block; /* within the segment */
} nvfp4rt_work;

/* Rows of a prefill segment. */
#define NVFP4RT_PREFILL_SEGMENT_ROWS 64

/* step_map (rules S1..S5): the row map and the work partition of a step, shared by every layer.
 * Capacity of `segments`: requests in decode and verify, rows / NVFP4RT_PREFILL_SEGMENT_ROWS +
 * requests in prefill. All entries of `step_rows` are written, the first segments[] entries up to
 * the number of segments (decode and verify: all `requests`), and all of `work`. */
typedef struct nvfp4rt_step_map_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_step_map_args);
  const int32_t *seq_lens;     /* [requests] tokens of each request, this step's included */
  const int32_t *cu_seqlens_q; /* prefill: [requests + 1], ascending, first entry 0; else ignored */
  const int32_t *live_requests; /* [1] requests that are live; the others are padding */
  nvfp4rt_step_row *step_rows;  /* out [rows] */
  nvfp4rt_segment *segments;    /* out */
  nvfp4rt_work *work;           /* out [workers + 1] */
  uint32_t rows;                /* rows of the step, padding included */
  uint32_t requests;            /* entries of seq_lens, padding included */
  uint32_t workers;             /* >= 1; any number gives the same lists (K4) */
  uint32_t reserved;            /* must be 0 */
} nvfp4rt_step_map_args;

/* The index key pool as a scorer reads it. Payload base and strides are multiples of 16, scale
 * base and strides multiples of 8; a page's bytes, (page_size - 1) * token_stride + row bytes, must
 * be below 2^31, and page_stride in [0, 2^32).
 * A sparse block of block_size tokens spans block_size / page_size entries of the table, or is a
 * part of one. Tokens of a page outside the pool (P4) are as if past the causal length; the score
 * of a block is the largest over its other tokens that is not NaN, and NaN when there is none. */

/* index_score (rules K1, P4, P5): score[head][row][block] for every block < ceil(causal_len /
 * block_size) of every row that is not padding; nothing else of `scores` is written. */
typedef struct nvfp4rt_index_score_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_index_score_args);
  nvfp4rt_rows index_q; /* [rows, index_heads, index_head_dim] in model dtype */
  nvfp4rt_plane index_payload;
  nvfp4rt_plane index_scale;
  const int32_t *block_table;        /* page ids; row of request r at r * table_stride bytes */
  int64_t table_stride;              /* bytes, a multiple of 4 */
  const nvfp4rt_step_row *step_rows; /* [rows], of step_map */
  const nvfp4rt_segment *segments;   /* of step_map */
  const nvfp4rt_work *work;          /* [workers + 1], of step_map */
  float *scores;                     /* out; multiple of 4 */
  int64_t score_head_stride;         /* bytes, multiples of 4 */
  int64_t score_row_stride;
  int64_t index_pages; /* pages of the pool; ids outside [0, index_pages) are no pages (P4) */
  float score_scale;   /* fp32(qk_scale) * 1.4426950409f, rounded to fp32 */
  uint32_t workers;    /* as given to step_map */
} nvfp4rt_index_score_args;

/* topk (rules K2, K3): ordered block ids of every (row, head) from a score buffer. Rows that are
 * padding get -1 throughout. Id list of (row, head): int32[top_k] at
 *   ids + row * ids_row_stride + head * ids_head_stride. */
typedef struct nvfp4rt_topk_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_topk_args);
  const float *scores; /* as written by index_score */
  int64_t score_head_stride;
  int64_t score_row_stride;
  const nvfp4rt_step_row *step_rows; /* [rows] */
  int32_t *ids;                      /* out; multiple of 4 */
  int64_t ids_row_stride;            /* bytes, multiples of 4 */
  int64_t ids_head_stride;
  uint32_t rows;
  uint32_t init_blocks;  /* K2; init_blocks + local_blocks <= top_k */
  uint32_t local_blocks; /* K2 */
  uint32_t reserved;     /* must be 0 */
} nvfp4rt_topk_args;

/* index_topk (rules K1..K5): the scores of index_score, kept as partial lists of the top_k largest
 * K3 keys instead of written. The list of (worker w, segment s, column c), with
 * c = row_in_segment * index_heads + head, is uint64[top_k], descending, 0 where it is shorter, at
 *   partial + ((w + s) * columns + c) * top_k * 8 bytes,
 * columns = rows of a full segment (Q; NVFP4RT_PREFILL_SEGMENT_ROWS in prefill) * index_heads.
 * Workspace: (workers + segments) * columns * top_k * 8 bytes. For each segment of which a worker
 * has a block, its lists are written for all rows of the segment; nothing else is. */
typedef struct nvfp4rt_index_topk_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_index_topk_args);
  nvfp4rt_rows index_q;
  nvfp4rt_plane index_payload;
  nvfp4rt_plane index_scale;
  const int32_t *block_table;
  int64_t table_stride;
  const nvfp4rt_step_row *step_rows;
  const nvfp4rt_segment *segments;
  const nvfp4rt_work *work;
  uint64_t *partial; /* out, workspace */
  int64_t index_pages;
  float score_scale;
  uint32_t workers;
  uint32_t init_blocks;
  uint32_t local_blocks;
} nvfp4rt_index_topk_args;

/* index_topk_merge (rules K3, K4): the partial lists of index_topk to ordered ids, as topk's. */
typedef struct nvfp4rt_index_topk_merge_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_index_topk_merge_args);
  const uint64_t *partial;
  const nvfp4rt_step_row *step_rows; /* [rows] */
  const nvfp4rt_segment *segments;
  int32_t *ids; /* out, as in topk */
  int64_t ids_row_stride;
  int64_t ids_head_stride;
  uint32_t rows;
  uint32_t reserved; /* must be 0 */
} nvfp4rt_index_topk_merge_args;

/* sparse_attention (rules A1..A6): attention of every row over the blocks of its id lists. The list
 * of (row, kv head) is int32[top_k] at ids + row * ids_row_stride + head * ids_head_stride, -1
 * where it is shorter; an id at or past the row's blocks selects nothing. The result of (row, q
 * head) is head_dim values in model dtype at out + row * out_row_stride + head * out_head_stride, 0
 * where nothing is selected. K and V planes as in kv_store, but payload base and strides are
 * multiples of 16, scale base and strides multiples of 8, a page's bytes below 2^31 and page_stride
 * in [0, 2^32). Variants with a workspace (nvfp4rt_plan_workspace) leave partial results in
 * `partial` instead of writing `out`: sparse_attention_merge of the same step finishes them. The
 * others ignore it. */
typedef struct nvfp4rt_sparse_attention_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_sparse_attention_args);
  nvfp4rt_rows q; /* [rows, q_heads, head_dim] in model dtype */
  nvfp4rt_plane k_payload;
  nvfp4rt_plane k_scale;
  nvfp4rt_plane v_payload;
  nvfp4rt_plane v_scale;
  const int32_t *block_table;        /* page ids; row of request r at r * table_stride bytes */
  int64_t table_stride;              /* bytes, a multiple of 4 */
  const nvfp4rt_step_row *step_rows; /* [rows], of step_map */
  const int32_t *ids;                /* multiple of 4 */
  int64_t ids_row_stride;            /* bytes, multiples of 4 */
  int64_t ids_head_stride;
  void *out;               /* multiple of 16 */
  int64_t out_row_stride;  /* bytes, multiples of 16 */
  int64_t out_head_stride; /* bytes, multiples of 16 */
  float *partial;          /* workspace; multiple of 16 */
  int64_t pages;           /* pages of the pools; ids outside [0, pages) are no pages (P4) */
  float score_scale;       /* fp32(qk_scale) * 1.4426950409f, rounded to fp32 */
  uint32_t rows;
} nvfp4rt_sparse_attention_args;

/* List entries (blocks) that one partial result of sparse_attention sums up. */
#define NVFP4RT_ATTENTION_PART 4

/* sparse_attention_merge (rules A1, A2, A4): the partial results of a row to its output. Of
 * (row, kv head, part p), with parts = ceil(top_k / NVFP4RT_ATTENTION_PART) and G q heads a kv
 * head, fp32 at partial + ((row * kv_heads + kv_head) * parts + p) * 16 * (head_dim + 2) * 4 bytes:
 * acc[16][head_dim], m[16], l[16] (A1's unnormalized sums relative to 2^m; entries of heads from G
 * on are unspecified). m = -inf, l = 0, acc = 0 is the part that selects nothing. */
typedef struct nvfp4rt_sparse_attention_merge_args {
  NVFP4RT_STRUCT_SIZE(nvfp4rt_sparse_attention_merge_args);
  const float *partial;
  void *out; /* as in sparse_attention */
  int64_t out_row_stride;
  int64_t out_head_stride;
  uint32_t rows;
  uint32_t reserved; /* must be 0 */
} nvfp4rt_sparse_attention_merge_args;

#undef NVFP4RT_STRUCT_SIZE

#ifdef __cplusplus
}
#endif
#endif /* NVFP4RT_ARGS_H */
