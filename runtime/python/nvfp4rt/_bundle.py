"""Bundles, the plans and selectors that they give, and launches."""

from __future__ import annotations

import ctypes
import operator
import os
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar, Union

from ._args import Args
from ._errors import InUseError, InvalidArgumentError, Status, check
from ._library import Field, library

#: A value of a request's field: a symbol ("decode") or an integer.
Value = Union[str, int]

A = TypeVar("A", bound=Args)


class _OpenBundle:
    """An open bundle. Whoever needs it open holds it; the last one closes it."""

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()

    def __del__(self, close: Any = library.nvfp4rt_bundle_close) -> None:
        close(self.pointer)  # null, and nothing to do, once Bundle.close() has succeeded


def _fields(request: dict[str, Value]) -> ctypes.Array[Field]:
    fields = (Field * len(request))()
    for field, (name, value) in zip(fields, request.items()):
        field.name = _text("field", name)
        if isinstance(value, str):
            field.symbol = _text(f"field {name}", value)
        else:
            field.value = _int64(name, value)
    return fields


def _int64(name: str, value: int) -> int:
    value = operator.index(value)
    if not -(2**63) <= value < 2**63:
        raise InvalidArgumentError(f"field {name}: expected an integer of 64 bits, found {value}")
    return value


def _device(device: int) -> int:
    # ctypes would cut it to the number of another device
    device = operator.index(device)
    if not -(2**31) <= device < 2**31:
        raise InvalidArgumentError(f"device: expected an integer of 32 bits, found {device}")
    return device


def _text(what: str, text: str | bytes) -> bytes:
    # C would read it up to its first null character
    encoded = text.encode() if isinstance(text, str) else text
    if b"\0" in encoded:
        raise InvalidArgumentError(f"{what}: expected no null character, found {text!r}")
    return encoded


def symbol_value(field: str, symbol: str) -> int:
    """The value of a symbol of a symbolic field: ``symbol_value("phase", "decode")`` is 0."""
    value = ctypes.c_int64()
    name = _text("field", field)
    check(
        library.nvfp4rt_symbol_value(name, _text(f"field {field}", symbol), ctypes.byref(value))
    )
    return value.value


class Plan(Generic[A]):
    """One variant on one device, ready to launch with the arguments of its family.

    Made by :meth:`Bundle.plan` and :meth:`Selector.plan`. It keeps its bundle open until it is
    collected or :meth:`destroy` is called. Any number of threads may launch it at once.
    """

    def __init__(self, owner: _OpenBundle, args: type[A], pointer: ctypes.c_void_p) -> None:
        self._args = args
        self._pointer = pointer
        # The finalizer holds the bundle, so the plan is gone before it.
        self._finalizer = weakref.finalize(self, _destroy_plan, pointer, owner)

    def launch(self, args: A, stream: int = 0) -> None:
        """Launch on ``stream``, a ``hipStream_t`` as an integer (0 is the null stream).

        With torch: ``stream=torch.cuda.current_stream().cuda_stream``. Legal while the stream is
        capturing. The plan's device has to be current on this thread.
        """
        if not isinstance(args, self._args):
            raise TypeError(
                f"Plan.launch: args: expected {self._args.__name__}, found {type(args).__name__}"
            )
        status = library.nvfp4rt_launch(self._pointer, ctypes.byref(args), stream)
        if status != Status.OK:
            check(status)

    @property
    def variant(self) -> str:
        """The name of the variant, which decodes into all that it was specialized for."""
        return str(library.nvfp4rt_plan_variant(self._pointer).decode())

    @property
    def symbol(self) -> str:
        """The name of the variant's kernel."""
        return str(library.nvfp4rt_plan_symbol(self._pointer).decode())

    @property
    def workspace_bytes(self) -> int:
        """Bytes of device memory that a launch needs as workspace; the caller's to allocate."""
        return int(library.nvfp4rt_plan_workspace_bytes(self._pointer))

    def destroy(self) -> None:
        """Give the plan back now, so that its bundle can be closed. Legal twice."""
        self._finalizer()
        self._pointer = ctypes.c_void_p()  # a launch from now on is an error

    def __repr__(self) -> str:
        return f"<Plan {self.variant or 'destroyed'}>"


def _destroy_plan(pointer: ctypes.c_void_p, _owner: _OpenBundle) -> None:
    library.nvfp4rt_plan_destroy(pointer)


def _destroy_selector(pointer: ctypes.c_void_p, _owner: _OpenBundle) -> None:
    library.nvfp4rt_selector_destroy(pointer)


class Selector(Generic[A]):
    """A request of a family whose names are resolved once, for look-ups in every step.

    Made by :meth:`Bundle.selector`; keeps its bundle open as a plan does.
    """

    def __init__(
        self, owner: _OpenBundle, args: type[A], names: Sequence[str], pointer: ctypes.c_void_p
    ) -> None:
        self._owner = owner
        self._args = args
        self._names = tuple(names)
        self._symbols: dict[tuple[str, str], int] = {}
        self._pointer = pointer
        self._finalizer = weakref.finalize(self, _destroy_selector, pointer, owner)

    def plan(self, device: int = 0, **values: Value) -> Plan[A]:
        """The plan for one value of each of the selector's names."""
        if values.keys() != set(self._names):
            raise InvalidArgumentError(
                f"Selector.plan: expected values of {', '.join(self._names)}, "
                f"found {', '.join(values) or 'none'}"
            )
        numbers = (ctypes.c_int64 * len(self._names))()
        for i, name in enumerate(self._names):
            value = values[name]
            numbers[i] = self._symbol(name, value) if isinstance(value, str) else _int64(name, value)
        pointer = ctypes.c_void_p()
        check(
            library.nvfp4rt_selector_plan(
                self._pointer, _device(device), numbers, ctypes.byref(pointer)
            )
        )
        return Plan(self._owner, self._args, pointer)

    def _symbol(self, name: str, symbol: str) -> int:
        if (name, symbol) not in self._symbols:
            self._symbols[name, symbol] = symbol_value(name, symbol)
        return self._symbols[name, symbol]

    def destroy(self) -> None:
        """Give the selector back now, so that its bundle can be closed. Legal twice."""
        self._finalizer()
        self._pointer = ctypes.c_void_p()


class Bundle:
    """A bundle of kernels: opened and verified, then loaded, then frozen.

    ::

        bundle = Bundle.open("model.hsaco")
        bundle.load(device)
        bundle.freeze()
        plan = bundle.plan(KvStoreArgs, device, phase="decode", query_len=1, requests=48, ...)
        plan.launch(KvStoreArgs(rows=48, ...), stream)

    As a context manager it is closed at the end. One thread opens, loads, freezes and closes; once
    frozen, any number of threads may ask it for plans.
    """

    def __init__(self, owner: _OpenBundle) -> None:
        self._owner = owner

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Bundle:
        """Open and verify a file. No HIP call is made."""
        owner = _OpenBundle()
        name = _text("path", os.fsencode(path))
        check(library.nvfp4rt_bundle_open_file(name, ctypes.byref(owner.pointer)))
        return cls(owner)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bundle:
        """Open and verify a copy of bytes in memory."""
        owner = _OpenBundle()
        check(
            library.nvfp4rt_bundle_open_memory(
                bytes(data), len(data), ctypes.byref(owner.pointer)
            )
        )
        return cls(owner)

    def load(self, device: int = 0) -> None:
        """Load every kernel on a HIP device; once a device, before :meth:`freeze`."""
        check(library.nvfp4rt_bundle_load(self._owner.pointer, _device(device)))

    def freeze(self) -> None:
        """Make all plans. Nothing can be loaded any more, and plans can be asked for."""
        check(library.nvfp4rt_bundle_freeze(self._owner.pointer))

    def plan(self, args: type[A], device: int = 0, **request: Value) -> Plan[A]:
        """The plan of the family of ``args`` that serves a request.

        ``request`` gives a value to every field that the family's guards know.
        """
        pointer = ctypes.c_void_p()
        check(
            library.nvfp4rt_plan_create(
                self._owner.pointer,
                _device(device),
                args.family.encode(),
                _fields(request),
                len(request),
                ctypes.byref(pointer),
            )
        )
        return Plan(self._owner, args, pointer)

    def selector(self, args: type[A], names: Sequence[str], **request: Value) -> Selector[A]:
        """A selector of the family of ``args``: ``request`` stays, the fields ``names`` vary."""
        pointer = ctypes.c_void_p()
        varying = (ctypes.c_char_p * len(names))(*(_text("field", name) for name in names))
        check(
            library.nvfp4rt_selector_create(
                self._owner.pointer,
                args.family.encode(),
                _fields(request),
                len(request),
                varying,
                len(names),
                ctypes.byref(pointer),
            )
        )
        return Selector(self._owner, args, names, pointer)

    def explain(self, args: type[Args], **request: Value) -> str:
        """One line a variant of the family of ``args``: "match", or its first failed field."""
        length = ctypes.c_size_t()
        buffer = ctypes.create_string_buffer(1)
        for _ in range(2):  # the first call asks for the length
            check(
                library.nvfp4rt_explain(
                    self._owner.pointer,
                    args.family.encode(),
                    _fields(request),
                    len(request),
                    buffer,
                    len(buffer),
                    ctypes.byref(length),
                )
            )
            if length.value < len(buffer):
                break
            buffer = ctypes.create_string_buffer(length.value + 1)
        return buffer.value.decode()

    def close(self) -> None:
        """Unload and free now. :class:`InUseError` while plans or selectors are alive."""
        status = library.nvfp4rt_bundle_close(self._owner.pointer)
        if status != Status.ERROR_IN_USE:
            self._owner.pointer = ctypes.c_void_p()
        check(status)

    def __enter__(self) -> Bundle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except InUseError:
            # The frames of an error still hold plans: the last of them closes the bundle, and the
            # error is what the caller has to see.
            if error is None:
                raise
