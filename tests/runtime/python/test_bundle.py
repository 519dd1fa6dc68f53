"""Bundles, plans, selectors, launches and errors, on the emulator's HIP library."""

import ctypes
import gc
import os
import struct as binary
import threading
import unittest
from pathlib import Path
from typing import Any

import nvfp4rt
from device import Stream, Tensor
from nvfp4rt import Bundle, KvStoreArgs, Plane, Rows, Status, StepMapArgs
from nvfp4rt._library import library

PATH = os.environ["TEST_BUNDLE"]
STEP = dict[str, Any](phase="decode", query_len=1, requests=4)
MAP = dict[str, Any](block_size=128)
STORE = dict[str, Any](dtype="bf16", kv_format="nvfp4", index_format="nvfp4", planes="kvi",
                       kv_heads=1, head_dim=128, index_head_dim=128, page_size=128)  # fmt: skip


def frozen() -> Bundle:
    bundle = Bundle.open(PATH)
    bundle.load(0)
    bundle.freeze()
    return bundle


class Errors(unittest.TestCase):
    def test_every_status_has_its_name_and_its_exception(self) -> None:
        for status in Status:
            name = library.nvfp4rt_status_name(status).decode()
            self.assertEqual(name, f"NVFP4RT_{status.name}")
        past = library.nvfp4rt_status_name(max(Status) + 1).decode()
        self.assertEqual(past, "NVFP4RT_ERROR_UNKNOWN")
        self.assertEqual(set(nvfp4rt.ERRORS), set(Status) - {Status.OK})

    def test_version(self) -> None:
        self.assertEqual(library.nvfp4rt_version().decode(), nvfp4rt.__version__)

    def test_open(self) -> None:
        with self.assertRaisesRegex(nvfp4rt.BundleIOError, "/nonexistent.hsaco"):
            Bundle.open("/nonexistent.hsaco")
        with self.assertRaises(nvfp4rt.BadElfError) as caught:
            Bundle.from_bytes(b"no ELF")
        self.assertEqual(caught.exception.status, Status.ERROR_BAD_ELF)
        damaged = bytearray(Path(PATH).read_bytes())
        damaged[len(damaged) // 2] ^= 1
        with self.assertRaises(nvfp4rt.BadBundleError):
            Bundle.from_bytes(bytes(damaged))

    def test_what_c_would_cut_is_refused(self) -> None:
        bundle = frozen()
        wide = 2**32  # device 0, cut to 32 bits
        selector = bundle.selector(StepMapArgs, ["requests"], phase="decode", query_len=1, **MAP)
        for device in (
            lambda: Bundle.open(PATH).load(wide),
            lambda: bundle.plan(StepMapArgs, wide, **STEP, **MAP),
            lambda: selector.plan(wide, requests=4),
        ):
            with self.assertRaisesRegex(nvfp4rt.InvalidArgumentError, f"device: .* {wide}"):
                device()
        for text in (
            lambda: Bundle.open(PATH + "\0.old"),
            lambda: bundle.plan(StepMapArgs, 0, **{**STEP, "phase": "decode\0"}, **MAP),
            lambda: bundle.explain(StepMapArgs, **{"phase\0": 0}),
            lambda: bundle.selector(StepMapArgs, ["requests\0"], **MAP),
            lambda: nvfp4rt.symbol_value("phase", "decode\0"),
        ):
            with self.assertRaisesRegex(nvfp4rt.InvalidArgumentError, "no null character"):
                text()

    def test_order_of_calls(self) -> None:
        bundle = Bundle.from_bytes(Path(PATH).read_bytes())
        with self.assertRaises(nvfp4rt.NoDeviceError):
            bundle.load(99)
        bundle.load(0)
        with self.assertRaises(nvfp4rt.NotFrozenError):
            bundle.plan(StepMapArgs, **STEP, **MAP)
        bundle.freeze()
        with self.assertRaises(nvfp4rt.FrozenError):
            bundle.load(1)

    def test_requests(self) -> None:
        bundle = frozen()
        with self.assertRaisesRegex(nvfp4rt.NoMatchError, "found 77"):
            bundle.plan(StepMapArgs, **{**STEP, "requests": 77}, **MAP)
        with self.assertRaisesRegex(nvfp4rt.UnknownFieldError, "top_k"):
            bundle.plan(StepMapArgs, **STEP, **MAP, top_k=8)
        with self.assertRaises(nvfp4rt.Error):
            bundle.plan(StepMapArgs, **{**STEP, "phase": "dance"}, **MAP)
        with self.assertRaisesRegex(nvfp4rt.InvalidArgumentError, "64 bits"):
            bundle.plan(StepMapArgs, **{**STEP, "requests": 2**63}, **MAP)
        lines = bundle.explain(StepMapArgs, **STEP, **MAP).splitlines()
        self.assertEqual([line.split(": ", 1)[1] for line in lines].count("match"), 1)
        self.assertGreater(len(lines), 1)

    def test_launch_arguments(self) -> None:
        plan = frozen().plan(StepMapArgs, **STEP, **MAP)
        with self.assertRaisesRegex(TypeError, "expected StepMapArgs, found KvStoreArgs"):
            plan.launch(KvStoreArgs())  # type: ignore[arg-type]
        other = StepMapArgs()
        other.struct_size -= 8
        with self.assertRaises(nvfp4rt.ArgsLayoutError):
            plan.launch(other)


class Lifetimes(unittest.TestCase):
    def test_close_is_refused_while_plans_live(self) -> None:
        bundle = frozen()
        plan = bundle.plan(StepMapArgs, **STEP, **MAP)
        selector = bundle.selector(StepMapArgs, ["requests"], **MAP, phase="decode", query_len=1)
        for holder in (plan, selector):
            with self.assertRaises(nvfp4rt.InUseError):
                bundle.close()
            self.assertIn("step_map", selector.plan(requests=4).variant)  # it stays as it was
            holder.destroy()
            holder.destroy()
        bundle.close()
        bundle.close()
        with self.assertRaises(nvfp4rt.InvalidArgumentError):
            plan.launch(StepMapArgs())
        with self.assertRaises(nvfp4rt.InvalidArgumentError):
            bundle.load(0)

    def test_a_plan_keeps_its_bundle_open(self) -> None:
        plan = frozen().plan(StepMapArgs, **STEP, **MAP)
        gc.collect()
        self.assertIn("step_map", plan.variant)

    def test_cycles_are_collected(self) -> None:
        class Holder:
            pass

        holder = Holder()
        holder.bundle, holder.plan = (b := frozen()), b.plan(StepMapArgs, **STEP, **MAP)
        holder.self = holder
        del holder, b
        gc.collect()

    def test_context_manager(self) -> None:
        with frozen() as bundle:
            self.assertIn("step_map", bundle.plan(StepMapArgs, **STEP, **MAP).symbol)
        with self.assertRaises(nvfp4rt.InUseError):
            with frozen() as bundle:
                held = bundle.plan(StepMapArgs, **STEP, **MAP)
        with self.assertRaises(ZeroDivisionError):
            with frozen() as bundle:
                held = bundle.plan(StepMapArgs, **STEP, **MAP)
                1 / 0
        held.destroy()


class Selectors(unittest.TestCase):
    def test_plans(self) -> None:
        bundle = frozen()
        selector = bundle.selector(StepMapArgs, ["phase", "query_len", "requests"], **MAP)
        for phase, query_len in (("decode", 1), ("prefill", 0)):
            plan = selector.plan(phase=phase, query_len=query_len, requests=3)
            same = bundle.plan(StepMapArgs, phase=phase, query_len=query_len, requests=3, **MAP)
            self.assertEqual(plan.variant, same.variant)
        self.assertEqual(nvfp4rt.symbol_value("phase", "prefill"), 2)
        with self.assertRaises(nvfp4rt.NoMatchError):
            selector.plan(phase="decode", query_len=1, requests=5)
        with self.assertRaisesRegex(nvfp4rt.InvalidArgumentError, "found phase$"):
            selector.plan(phase="decode")


class Launches(unittest.TestCase):
    """kv_store on numbers whose codes are plain (rules F2 to F5): 1.0 is scale 0x38."""

    NUMBERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
    CODES = bytes.fromhex("1032547690badcfe")

    def setUp(self) -> None:
        half = b"".join(binary.pack("<f", number)[2:] for number in self.NUMBERS)
        self.row = half * 8  # 128 numbers in bf16
        self.rows = Tensor(self.row * 4)
        self.slots = Tensor(binary.pack("<4q", 5, -1, 0, 128))

    def pool(self, row_bytes: int) -> tuple[Tensor, Plane]:
        memory = Tensor(b"\xa5" * (2 * 128 * row_bytes))
        plane = Plane(base=memory, page_stride=128 * row_bytes, token_stride=row_bytes)
        return memory, plane

    def store(self, stream: int, plan: "nvfp4rt.Plan[KvStoreArgs]") -> list[Tensor]:
        memories = []
        args = KvStoreArgs(slots=self.slots, index_slots=self.slots, pages=2, index_pages=2, rows=4)
        for tensor in ("k", "v", "index"):
            for kind, row_bytes in (("payload", 64), ("scale", 8)):
                memory, plane = self.pool(row_bytes)
                memories.append(memory)
                setattr(args, f"{tensor}_{kind}", plane)
        args.k = args.v = args.index_k = Rows(base=self.rows, row_stride=256, head_stride=256)
        plan.launch(args, stream)
        return memories

    def check(self, memories: list[Tensor]) -> None:
        for memory in memories:
            row = self.CODES * 8 if memory.size == 2 * 128 * 64 else b"\x38" * 8
            expected = [b"\xa5" * len(row)] * 256
            for slot in (5, 0, 128):
                expected[slot] = row
            self.assertEqual(memory.bytes(), b"".join(expected))

    def test_null_stream(self) -> None:
        self.check(self.store(0, frozen().plan(KvStoreArgs, **STEP, **STORE)))

    def test_stream(self) -> None:
        stream = Stream()
        memories = self.store(stream.cuda_stream, frozen().plan(KvStoreArgs, **STEP, **STORE))
        stream.synchronize()
        self.check(memories)

    def test_threads_share_a_plan(self) -> None:
        plan = frozen().plan(KvStoreArgs, **STEP, **STORE)
        done: list[list[Tensor]] = []
        threads = [
            threading.Thread(target=lambda: done.append(self.store(0, plan))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(done), 4)
        for memories in done:
            self.check(memories)

    def test_workspace(self) -> None:
        attention = frozen().plan(
            nvfp4rt.SparseAttentionArgs, **STEP, dtype="bf16", kv_format="nvfp4", q_heads=16,
            kv_heads=1, head_dim=128, block_size=128, top_k=8, page_size=128,
        )  # fmt: skip
        parts = 8 // nvfp4rt.ATTENTION_PART
        self.assertEqual(attention.workspace_bytes, 4 * parts * 16 * (128 + 2) * 4)


if __name__ == "__main__":
    unittest.main()
