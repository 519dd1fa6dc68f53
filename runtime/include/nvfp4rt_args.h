/* nvfp4rt_args.h - kernel-argument structs, one per family.
 *
 * A struct here IS the kernel-argument segment: the generator lays a kernel's arguments out in
 * member order with natural C alignment, and the runtime copies the struct to the device as it is.
 * The field tables in runtime/args/ArgLayout.cpp describe the same structs to both sides; their
 * hash travels in every bundle's manifest and is checked when the bundle is opened.
 *
 * All strides are in BYTES and 64-bit (rule P1). All pointers are device addresses, owned by the
 * caller, and must stay valid until the launch has finished on its stream.
 */
#ifndef NVFP4RT_ARGS_H
#define NVFP4RT_ARGS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
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

#ifdef __cplusplus
}
#endif
#endif /* NVFP4RT_ARGS_H */
