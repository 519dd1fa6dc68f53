"""Kernel-argument structs of ``nvfp4rt_args.h``, one a family, as ctypes structures.

Members, their order and their meaning are those of the header, which documents them: strides are
in bytes, pointers are device addresses that the caller keeps alive until the launch has finished on
its stream (a struct holds addresses, not tensors). A member that takes an address also takes an
object with ``data_ptr()``, such as a torch tensor.

    args = KvStoreArgs(rows=48, slots=slots, pages=pages)
    args.k = Rows(base=k, row_stride=k.stride(0) * 2, head_stride=k.stride(1) * 2)
"""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from ._structs import F32, I32, I64, U32, U64, Pointer, Struct, struct

#: Rows of a prefill segment.
PREFILL_SEGMENT_ROWS = 64

#: List entries (blocks) that one partial result of sparse_attention sums up.
ATTENTION_PART = 4


@struct
class Plane(Struct):
    """One plane of an NVFP4 pool: base and strides of (page, token, head)."""

    base: Pointer = None
    page_stride: I64 = 0
    token_stride: I64 = 0
    head_stride: I64 = 0


@struct
class Rows(Struct):
    """Rows in model dtype: base and strides of (row, head)."""

    base: Pointer = None
    row_stride: I64 = 0
    head_stride: I64 = 0


@struct
class StepRow(Struct):
    """What the step map says of one row; in device memory."""

    request: I32 = 0
    causal_len: I32 = 0
    segment: I32 = 0
    row_in_segment: I32 = 0


@struct
class Segment(Struct):
    """Rows of one request for which a selector reads each page once; in device memory."""

    request: I32 = 0
    first_row: I32 = 0
    rows: I32 = 0
    blocks: I32 = 0
    first_block: I32 = 0
    min_causal_len: I32 = 0
    first_worker: I32 = 0
    worker_count: I32 = 0


@struct
class Work(Struct):
    """Where a worker of the index scorers begins; in device memory."""

    segment: I32 = 0
    block: I32 = 0


@struct
class _StructSize(Struct):
    struct_size: U64 = 0


class Args(_StructSize):
    """Arguments of a family's launch. ``struct_size`` is set when one is made."""

    family: ClassVar[str] = ""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **members)


@struct
class KvStoreArgs(Args):
    """kv_store: quantize rows of K, V and index key into their planes."""

    family: ClassVar[str] = "kv_store"
    k: Rows = Rows()
    v: Rows = Rows()
    index_k: Rows = Rows()
    k_payload: Plane = Plane()
    k_scale: Plane = Plane()
    v_payload: Plane = Plane()
    v_scale: Plane = Plane()
    index_payload: Plane = Plane()
    index_scale: Plane = Plane()
    slots: Pointer = None
    index_slots: Pointer = None
    pages: I64 = 0
    index_pages: I64 = 0
    rows: U32 = 0
    reserved: U32 = 0


@struct
class QkNormRopeStoreArgs(Args):
    """qk_norm_rope_store: packed rows to q, index_q and the cache."""

    family: ClassVar[str] = "qk_norm_rope_store"
    packed: Pointer = None
    packed_row_stride: I64 = 0
    positions: Pointer = None
    cos_sin: Pointer = None
    q_weight: Pointer = None
    k_weight: Pointer = None
    index_q_weight: Pointer = None
    index_k_weight: Pointer = None
    q_out: Pointer = None
    q_out_row_stride: I64 = 0
    q_out_head_stride: I64 = 0
    index_q_out: Pointer = None
    index_q_out_row_stride: I64 = 0
    index_q_out_head_stride: I64 = 0
    k_payload: Plane = Plane()
    k_scale: Plane = Plane()
    v_payload: Plane = Plane()
    v_scale: Plane = Plane()
    index_payload: Plane = Plane()
    index_scale: Plane = Plane()
    slots: Pointer = None
    index_slots: Pointer = None
    pages: I64 = 0
    index_pages: I64 = 0
    eps: F32 = 0.0
    weight_offset: F32 = 0.0
    rows: U32 = 0
    index_branch: U32 = 0


@struct
class StepMapArgs(Args):
    """step_map: the row map and the work partition of a step."""

    family: ClassVar[str] = "step_map"
    seq_lens: Pointer = None
    cu_seqlens_q: Pointer = None
    live_requests: Pointer = None
    step_rows: Pointer = None
    segments: Pointer = None
    work: Pointer = None
    rows: U32 = 0
    requests: U32 = 0
    workers: U32 = 0
    reserved: U32 = 0


@struct
class IndexScoreArgs(Args):
    """index_score: the scores of every visible block."""

    family: ClassVar[str] = "index_score"
    index_q: Rows = Rows()
    index_payload: Plane = Plane()
    index_scale: Plane = Plane()
    block_table: Pointer = None
    table_stride: I64 = 0
    step_rows: Pointer = None
    segments: Pointer = None
    work: Pointer = None
    scores: Pointer = None
    score_head_stride: I64 = 0
    score_row_stride: I64 = 0
    index_pages: I64 = 0
    score_scale: F32 = 0.0
    workers: U32 = 0


@struct
class TopkArgs(Args):
    """topk: ordered block ids from a score buffer."""

    family: ClassVar[str] = "topk"
    scores: Pointer = None
    score_head_stride: I64 = 0
    score_row_stride: I64 = 0
    step_rows: Pointer = None
    ids: Pointer = None
    ids_row_stride: I64 = 0
    ids_head_stride: I64 = 0
    rows: U32 = 0
    init_blocks: U32 = 0
    local_blocks: U32 = 0
    reserved: U32 = 0


@struct
class IndexTopkArgs(Args):
    """index_topk: scores, kept as partial lists of the largest."""

    family: ClassVar[str] = "index_topk"
    index_q: Rows = Rows()
    index_payload: Plane = Plane()
    index_scale: Plane = Plane()
    block_table: Pointer = None
    table_stride: I64 = 0
    step_rows: Pointer = None
    segments: Pointer = None
    work: Pointer = None
    partial: Pointer = None
    index_pages: I64 = 0
    score_scale: F32 = 0.0
    workers: U32 = 0
    init_blocks: U32 = 0
    local_blocks: U32 = 0


@struct
class IndexTopkMergeArgs(Args):
    """index_topk_merge: the partial lists of index_topk to ordered ids."""

    family: ClassVar[str] = "index_topk_merge"
    partial: Pointer = None
    step_rows: Pointer = None
    segments: Pointer = None
    ids: Pointer = None
    ids_row_stride: I64 = 0
    ids_head_stride: I64 = 0
    rows: U32 = 0
    reserved: U32 = 0


@struct
class SparseAttentionArgs(Args):
    """sparse_attention: attention of every row over the blocks of its id lists."""

    family: ClassVar[str] = "sparse_attention"
    q: Rows = Rows()
    k_payload: Plane = Plane()
    k_scale: Plane = Plane()
    v_payload: Plane = Plane()
    v_scale: Plane = Plane()
    block_table: Pointer = None
    table_stride: I64 = 0
    step_rows: Pointer = None
    ids: Pointer = None
    ids_row_stride: I64 = 0
    ids_head_stride: I64 = 0
    out: Pointer = None
    out_row_stride: I64 = 0
    out_head_stride: I64 = 0
    partial: Pointer = None
    pages: I64 = 0
    score_scale: F32 = 0.0
    rows: U32 = 0


@struct
class SparseAttentionMergeArgs(Args):
    """sparse_attention_merge: the partial results of a row to its output."""

    family: ClassVar[str] = "sparse_attention_merge"
    partial: Pointer = None
    out: Pointer = None
    out_row_stride: I64 = 0
    out_head_stride: I64 = 0
    rows: U32 = 0
    reserved: U32 = 0


#: The argument struct of every family.
FAMILIES: dict[str, type[Args]] = {args.family: args for args in Args.__subclasses__()}
