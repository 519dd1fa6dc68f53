"""The decode step of decode_step.cpp from Python: fill a cache, then one step of four requests.

    decode_step.py BUNDLE      on the HIP library that NVFP4RT_HIP_LIBRARY names

Without torch, so ``Buffer`` stands for a tensor: device memory with ``data_ptr()``. The block ids
and one head of the attention are compared with a plain computation over the bytes in the cache.
"""

import ctypes
import math
import os
import random
import sys
from array import array

import nvfp4rt
from nvfp4rt import Plane, Rows

# decode.toml, as numbers.
REQUESTS, HEADS, DIM, PAGE, TOP_K = 4, 16, 128, 128, 8
MAX_BLOCKS = 2048 // PAGE
PAGES = REQUESTS * MAX_BLOCKS
SCALE = 0.08838834764831845 * 1.4426950409  # softmax in base 2
WORKERS = 8  # workgroups of the index scorer; about the CUs of a GPU
DEVICE = 0

# Every request names all that the family's kernels were specialized for.
DECODE = dict(phase="decode", query_len=1, requests=REQUESTS)
PREFILL = dict(phase="prefill", query_len=0, requests=REQUESTS)
WRITER = dict(dtype="bf16", kv_format="nvfp4", index_format="nvfp4", planes="kvi", kv_heads=1,
              head_dim=DIM, index_head_dim=DIM, page_size=PAGE)  # fmt: skip
MERGE = dict(index_heads=1, top_k=TOP_K)
SCORER = dict(MERGE, dtype="bf16", index_format="nvfp4", index_head_dim=DIM, block_size=PAGE,
              page_size=PAGE)  # fmt: skip
ATTENTION_MERGE = dict(dtype="bf16", kv_format="nvfp4", q_heads=HEADS, kv_heads=1, head_dim=DIM,
                       block_size=PAGE, top_k=TOP_K)  # fmt: skip
ATTENTION = dict(ATTENTION_MERGE, page_size=PAGE)

hip = ctypes.CDLL(os.environ["NVFP4RT_HIP_LIBRARY"])
TO_DEVICE, TO_HOST = 1, 2


def check(error: int) -> None:
    if error:
        raise RuntimeError(f"HIP error {error}")


class Buffer:
    """Device memory: a copy of an array."""

    def __init__(self, host: array) -> None:
        self.host, self.bytes = host, len(host) * host.itemsize
        self.memory = ctypes.c_void_p()
        check(hip.hipMalloc(ctypes.byref(self.memory), ctypes.c_size_t(self.bytes)))
        check(hip.hipMemcpy(self.memory, ctypes.c_void_p(host.buffer_info()[0]),
                            ctypes.c_size_t(self.bytes), TO_DEVICE))  # fmt: skip

    def __del__(self) -> None:
        hip.hipFree(self.memory)

    def data_ptr(self) -> int:
        return self.memory.value or 0

    def read(self) -> array:
        check(hip.hipMemcpy(ctypes.c_void_p(self.host.buffer_info()[0]), self.memory,
                            ctypes.c_size_t(self.bytes), TO_HOST))  # fmt: skip
        return self.host


def zeros(code: str, count: int) -> Buffer:
    return Buffer(array(code, bytes(array(code).itemsize * count)))


def random_rows(rows: int) -> Buffer:
    """Random multiples of 1/64 in [-2, 2), which bf16 holds: the upper half of an fp32."""
    floats = array("f", (random.randrange(-128, 128) / 64 for _ in range(rows * DIM)))
    return Buffer(array("H", memoryview(floats).cast("B").cast("H")[1::2].tolist()))


def bf16(bits: array) -> array:
    return array("f", array("I", (b << 16 for b in bits)).tobytes())


class Pool:
    """The planes of one tensor of the cache."""

    def __init__(self) -> None:
        self.payload_bytes = zeros("B", PAGES * PAGE * DIM // 2)
        self.scale_bytes = zeros("B", PAGES * PAGE * DIM // 16)
        self.payload = Plane(base=self.payload_bytes, page_stride=PAGE * DIM // 2,
                             token_stride=DIM // 2, head_stride=DIM // 2)  # fmt: skip
        self.scale = Plane(base=self.scale_bytes, page_stride=PAGE * DIM // 16,
                           token_stride=DIM // 16, head_stride=DIM // 16)  # fmt: skip

    def read(self) -> None:
        self.payload_bytes.read(), self.scale_bytes.read()

    def row(self, token: int) -> list[float]:
        """The numbers of a token's row, dequantized: 4-bit codes under E4M3 scales."""
        values = []
        for g in range(DIM // 16):
            byte = self.scale_bytes.host[token * DIM // 16 + g]
            exponent, mantissa = byte >> 3, byte & 7
            step = math.ldexp(8 + mantissa, exponent - 10) if exponent else math.ldexp(mantissa, -9)
            for j in range(8):
                pair = self.payload_bytes.host[token * DIM // 2 + g * 8 + j]
                values += [CODES[pair & 15] * step, CODES[pair >> 4] * step]
        return values


CODES = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]
k, v, index = Pool(), Pool(), Pool()


def page_of(request: int, block: int) -> int:
    return block * REQUESTS + request  # any permutation will do


def slot_of(request: int, position: int) -> int:
    return page_of(request, position // PAGE) * PAGE + position % PAGE


def store(bundle: nvfp4rt.Bundle, phase: dict, slots: list[int]) -> None:
    """Store a row of random K, V and index key at every slot."""
    rows_k, rows_v, rows_index = (random_rows(len(slots)) for _ in range(3))
    at = Buffer(array("q", slots))
    args = nvfp4rt.KvStoreArgs(
        k=Rows(base=rows_k, row_stride=DIM * 2, head_stride=DIM * 2),
        v=Rows(base=rows_v, row_stride=DIM * 2, head_stride=DIM * 2),
        index_k=Rows(base=rows_index, row_stride=DIM * 2),
        k_payload=k.payload, k_scale=k.scale, v_payload=v.payload, v_scale=v.scale,
        index_payload=index.payload, index_scale=index.scale,
        slots=at, index_slots=at, pages=PAGES, index_pages=PAGES, rows=len(slots),
    )  # fmt: skip
    bundle.plan(nvfp4rt.KvStoreArgs, DEVICE, **phase, **WRITER).launch(args)
    check(hip.hipDeviceSynchronize())  # the rows are freed on return


def step(bundle: nvfp4rt.Bundle, lengths: list[int]) -> None:
    """One new token a request; `lengths` count it."""
    store(bundle, DECODE, [slot_of(r, length - 1) for r, length in enumerate(lengths)])
    q, index_q = random_rows(REQUESTS * HEADS), random_rows(REQUESTS)
    seq_lens, live = Buffer(array("i", lengths)), Buffer(array("i", [REQUESTS]))
    table = Buffer(array("i", (page_of(r, b) for r in range(REQUESTS) for b in range(MAX_BLOCKS))))
    step_rows = zeros("B", REQUESTS * ctypes.sizeof(nvfp4rt.StepRow))
    segments = zeros("B", REQUESTS * ctypes.sizeof(nvfp4rt.Segment))
    work = zeros("B", (WORKERS + 1) * ctypes.sizeof(nvfp4rt.Work))
    lists = zeros("Q", (WORKERS + REQUESTS) * TOP_K)
    ids, out = zeros("i", REQUESTS * TOP_K), zeros("H", REQUESTS * HEADS * DIM)

    bundle.plan(nvfp4rt.StepMapArgs, DEVICE, **DECODE, block_size=PAGE).launch(
        nvfp4rt.StepMapArgs(
            seq_lens=seq_lens, live_requests=live, step_rows=step_rows, segments=segments,
            work=work, rows=REQUESTS, requests=REQUESTS, workers=WORKERS,
        )
    )  # fmt: skip
    bundle.plan(nvfp4rt.IndexTopkArgs, DEVICE, **DECODE, **SCORER).launch(
        nvfp4rt.IndexTopkArgs(
            index_q=Rows(base=index_q, row_stride=DIM * 2, head_stride=DIM * 2),
            index_payload=index.payload, index_scale=index.scale,
            block_table=table, table_stride=MAX_BLOCKS * 4, step_rows=step_rows, segments=segments,
            work=work, partial=lists, index_pages=PAGES, score_scale=SCALE, workers=WORKERS,
            local_blocks=1,
        )
    )  # fmt: skip
    bundle.plan(nvfp4rt.IndexTopkMergeArgs, DEVICE, **DECODE, **MERGE).launch(
        nvfp4rt.IndexTopkMergeArgs(
            partial=lists, step_rows=step_rows, segments=segments, ids=ids,
            ids_row_stride=TOP_K * 4, ids_head_stride=TOP_K * 4, rows=REQUESTS,
        )
    )  # fmt: skip
    attention = bundle.plan(nvfp4rt.SparseAttentionArgs, DEVICE, **DECODE, **ATTENTION)
    parts = zeros("B", max(attention.workspace_bytes, 1))
    attention.launch(
        nvfp4rt.SparseAttentionArgs(
            q=Rows(base=q, row_stride=HEADS * DIM * 2, head_stride=DIM * 2),
            k_payload=k.payload, k_scale=k.scale, v_payload=v.payload, v_scale=v.scale,
            block_table=table, table_stride=MAX_BLOCKS * 4, step_rows=step_rows,
            ids=ids, ids_row_stride=TOP_K * 4, ids_head_stride=TOP_K * 4,
            out=out, out_row_stride=HEADS * DIM * 2, out_head_stride=DIM * 2,
            partial=parts, pages=PAGES, score_scale=SCALE, rows=REQUESTS,
        )
    )  # fmt: skip
    if attention.workspace_bytes:  # it has left parts: this finishes them
        bundle.plan(
            nvfp4rt.SparseAttentionMergeArgs, DEVICE, **DECODE, **ATTENTION_MERGE
        ).launch(
            nvfp4rt.SparseAttentionMergeArgs(
                partial=parts, out=out, out_row_stride=HEADS * DIM * 2, out_head_stride=DIM * 2,
                rows=REQUESTS,
            )
        )  # fmt: skip
    check(hip.hipDeviceSynchronize())

    for pool in (k, v, index):
        pool.read()
    got_ids, got = ids.read(), bf16(out.read())
    for r, length in enumerate(lengths):
        head = r  # of the 16 heads one each, as this is plain Python
        want = select_blocks(r, length, bf16(index_q.host)[r * DIM : (r + 1) * DIM])
        if list(got_ids[r * TOP_K : (r + 1) * TOP_K]) != want:
            raise SystemExit(f"request {r}: expected blocks {want}, found {got_ids}")
        begin = (r * HEADS + head) * DIM
        plain = attend(r, length, want, bf16(q.host)[begin : begin + DIM])
        error = math.dist(plain, got[begin : begin + DIM]) / math.hypot(*plain)
        print(f"request {r}: {length} tokens, blocks {want}, attention within {error:.2g}")
        if not error <= 4e-3:
            raise SystemExit("attention is further from the plain computation than 4e-3")


def dot(a: list[float], b: array) -> float:
    return sum(x * y for x, y in zip(a, b))


def select_blocks(request: int, length: int, query: array) -> list[int]:
    """The row's own block, then the best by score, as many as there are up to TOP_K."""
    blocks = range(math.ceil(length / PAGE))
    scores = {
        b: max(dot(index.row(slot_of(request, t)), query) for t in tokens_of(b, length))
        for b in blocks
    }
    scores[blocks[-1]] = math.inf
    best = sorted(blocks, key=lambda b: (scores[b], b), reverse=True)[:TOP_K]
    return best + [-1] * (TOP_K - len(best))


def attend(request: int, length: int, blocks: list[int], query: array) -> list[float]:
    """Softmax-weighted values of the tokens of `blocks`."""
    total, out = 0.0, [0.0] * DIM
    for b in blocks:
        for t in tokens_of(b, length) if b >= 0 else ():
            p = 2 ** (dot(k.row(slot_of(request, t)), query) * SCALE)
            total += p
            out = [o + p * x for o, x in zip(out, v.row(slot_of(request, t)))]
    return [o / total for o in out]


def tokens_of(block: int, length: int) -> range:
    return range(block * PAGE, min(length, (block + 1) * PAGE))


def main() -> None:
    if len(sys.argv) != 2:
        print("usage: decode_step.py BUNDLE", file=sys.stderr)
        sys.exit(2)
    random.seed(1)
    prompts = [1200, 300, 128, 0]
    with nvfp4rt.Bundle.open(sys.argv[1]) as bundle:
        bundle.load(DEVICE)
        bundle.freeze()
        store(bundle, PREFILL, [slot_of(r, t) for r in range(REQUESTS) for t in range(prompts[r])])
        print(f"nvfp4rt {nvfp4rt.__version__}: {sum(prompts)} tokens stored")
        step(bundle, [length + 1 for length in prompts])


if __name__ == "__main__":
    main()
