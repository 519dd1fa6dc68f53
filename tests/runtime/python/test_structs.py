"""What may be stored in an argument struct, and what is refused."""

import ctypes
import unittest

from nvfp4rt import KvStoreArgs, Plane, Rows, StepMapArgs


class HasAddress:
    def data_ptr(self) -> int:
        return 0x7F0000001000


class Structs(unittest.TestCase):
    def test_new_arguments_are_zero_but_for_their_size(self) -> None:
        args = StepMapArgs()
        self.assertEqual(args.struct_size, ctypes.sizeof(args))
        self.assertEqual(bytes(args)[8:], bytes(ctypes.sizeof(args) - 8))

    def test_addresses(self) -> None:
        args = StepMapArgs(seq_lens=HasAddress(), work=4096, segments=None)
        self.assertEqual((args.seq_lens, args.work, args.segments), (0x7F0000001000, 4096, None))
        args.seq_lens = None
        self.assertIsNone(args.seq_lens)

    def test_nested_members(self) -> None:
        args = KvStoreArgs(k=Rows(base=HasAddress(), row_stride=256))
        args.v_scale.page_stride = -(2**63)
        args.k.head_stride = 2**63 - 1
        self.assertEqual(args.k.base, 0x7F0000001000)
        self.assertEqual(args.k.head_stride, 2**63 - 1)
        self.assertEqual(args.v_scale.page_stride, -(2**63))
        with self.assertRaises(TypeError):
            args.k = Plane()

    def test_integers_are_not_cut(self) -> None:
        args = StepMapArgs(rows=2**32 - 1)
        self.assertEqual(args.rows, 2**32 - 1)
        for value in (2**32, -1):
            with self.assertRaisesRegex(
                ValueError, rf"^StepMapArgs\.rows: expected 0 to 4294967295, found {value}$"
            ):
                args.rows = value
        with self.assertRaisesRegex(ValueError, r"^Rows\.row_stride: expected -9223372036854775808"):
            Rows(row_stride=2**63)
        with self.assertRaisesRegex(ValueError, r"^Rows\.base: expected 0 to"):
            Rows(base=-1)

    def test_wrong_types(self) -> None:
        with self.assertRaisesRegex(
            TypeError, r"^StepMapArgs\.rows: expected an integer, found 4\.0$"
        ):
            StepMapArgs(rows=4.0)
        with self.assertRaisesRegex(
            TypeError, r"^StepMapArgs\.work: expected an address or an object with data_ptr\(\), fo"
        ):
            StepMapArgs(work="0x1000")

    def test_unknown_members(self) -> None:
        with self.assertRaisesRegex(AttributeError, r"^StepMapArgs\.row: expected one of struct_si"):
            StepMapArgs(row=4)
        with self.assertRaises(AttributeError):
            Rows().stride = 4

    def test_repr_names_members(self) -> None:
        self.assertEqual(
            repr(Rows(base=16, row_stride=2)), "Rows(base=16, row_stride=2, head_stride=0)"
        )


if __name__ == "__main__":
    unittest.main()
