"""The ctypes structures against the runtime's own field tables: names, offsets, types, sizes."""

import ctypes
import os
import subprocess
import unittest
from collections.abc import Iterator

import nvfp4rt
from nvfp4rt._structs import U32, Struct, struct

TYPES = {
    ctypes.c_void_p: "pointer",
    ctypes.c_int64: "i64",
    ctypes.c_uint64: "u64",
    ctypes.c_int32: "i32",
    ctypes.c_uint32: "i32",  # the tables know widths, not signs
    ctypes.c_float: "f32",
}


def flattened(cls: type[Struct], offset: int = 0, path: str = "") -> Iterator[str]:
    """Lines as dump_layouts prints them."""
    for name, kind in cls._members.items():
        at = offset + getattr(cls, name).offset
        if issubclass(kind, Struct):
            yield from flattened(kind, at, f"{path}{name}.")
        else:
            yield f"{at} {TYPES[kind]} {path}{name}"


def layout(cls: type[Struct]) -> list[str]:
    return [f"size {ctypes.sizeof(cls)}", *flattened(cls)]


class Layout(unittest.TestCase):
    def setUp(self) -> None:
        dump = subprocess.run(
            [os.environ["DUMP_LAYOUTS"]], check=True, capture_output=True, text=True
        )
        self.structs: dict[str, list[str]] = {}
        self.constants: dict[str, int] = {}
        for line in dump.stdout.splitlines():
            words = line.split()
            if words[0] == "struct":
                members = self.structs.setdefault(words[1], [f"size {words[2]}"])
            elif words[0] == "constant":
                self.constants[words[1]] = int(words[2])
            else:
                members.append(line)

    def test_every_struct(self) -> None:
        self.assertGreaterEqual(len(self.structs), 11)
        for name, expected in self.structs.items():
            with self.subTest(name):
                cls = nvfp4rt.FAMILIES.get(name) or getattr(nvfp4rt, name)
                self.assertEqual(layout(cls), expected)

    def test_no_family_without_a_table(self) -> None:
        self.assertEqual(
            set(nvfp4rt.FAMILIES), set(self.structs) - {"StepRow", "Segment", "Work"}
        )

    def test_constants(self) -> None:
        self.assertEqual(set(self.constants), {"PREFILL_SEGMENT_ROWS", "ATTENTION_PART"})
        for name, value in self.constants.items():
            self.assertEqual(getattr(nvfp4rt, name), value)

    def test_the_comparison_sees_faults(self) -> None:
        @struct
        class Swapped(Struct):
            block: nvfp4rt._structs.I32 = 0
            segment: nvfp4rt._structs.I32 = 0

        @struct
        class Longer(nvfp4rt.Work):
            more: U32 = 0

        @struct
        class Wider(Struct):
            segment: nvfp4rt._structs.I64 = 0
            block: nvfp4rt._structs.I32 = 0

        for wrong in (Swapped, Longer, Wider):
            self.assertNotEqual(layout(wrong), self.structs["Work"])


if __name__ == "__main__":
    unittest.main()
