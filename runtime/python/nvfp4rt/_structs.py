"""Makes ctypes structures of annotated classes, and checks what is stored in them.

ctypes cuts integers to the width of their member without a word; a stride or a count that does not
fit is an error here.
"""

from __future__ import annotations

import ctypes
import inspect
import operator
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Callable,
    ClassVar,
    Protocol,
    TypeVar,
    Union,
)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda decorator: decorator


class HasDataPtr(Protocol):
    """Device memory that knows its address: a torch tensor, or anything like it."""

    def data_ptr(self) -> int: ...


Address = Union[int, HasDataPtr, None]

# Members: the type for checkers, and the type in C.
Pointer = Annotated[Address, ctypes.c_void_p]
F32 = Annotated[float, ctypes.c_float]
I32 = Annotated[int, ctypes.c_int32]
U32 = Annotated[int, ctypes.c_uint32]
I64 = Annotated[int, ctypes.c_int64]
U64 = Annotated[int, ctypes.c_uint64]

_RANGES: dict[Any, tuple[int, int]] = {
    ctypes.c_int32: (-(2**31), 2**31 - 1),
    ctypes.c_uint32: (0, 2**32 - 1),
    ctypes.c_int64: (-(2**63), 2**63 - 1),
    ctypes.c_uint64: (0, 2**64 - 1),
    ctypes.c_void_p: (0, 2**64 - 1),
}


def address(value: Address) -> int:
    """The address of device memory: an integer, ``None`` for null, or what ``data_ptr()`` says."""
    if value is None:
        return 0
    data_ptr: Any = getattr(value, "data_ptr", None)
    number: Any = value if data_ptr is None else data_ptr()
    return operator.index(number)


class Struct(ctypes.Structure):
    """A struct of ``nvfp4rt_args.h``. Members that are not given are zero."""

    _members: ClassVar[dict[str, Any]] = {}

    def __init__(self, **members: Any) -> None:
        super().__init__()
        for name, value in members.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        where = f"{type(self).__name__}.{name}"
        if name not in self._members:
            raise AttributeError(f"{where}: expected one of {', '.join(self._members)}")
        kind = self._members[name]
        if kind in _RANGES:
            try:
                value = address(value) if kind is ctypes.c_void_p else operator.index(value)
            except TypeError:
                expected = "an address or an object with data_ptr()"
                raise TypeError(
                    f"{where}: expected {expected if kind is ctypes.c_void_p else 'an integer'}, "
                    f"found {value!r}"
                ) from None
            least, most = _RANGES[kind]
            if not least <= value <= most:
                raise ValueError(f"{where}: expected {least} to {most}, found {value}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        members = (f"{name}={getattr(self, name)!r}" for name in self._members)
        return f"{type(self).__name__}({', '.join(members)})"


_S = TypeVar("_S", bound=Struct)


@dataclass_transform(kw_only_default=True)
def struct(cls: type[_S]) -> type[_S]:
    """Lay out the annotated members of a class in their order, after those of its base."""
    members = {}
    for name, hint in inspect.get_annotations(cls, eval_str=True).items():
        kind = getattr(hint, "__metadata__", (hint,))[0]
        if isinstance(kind, type):  # a ClassVar is none
            members[name] = kind
    cls._members = {**cls._members, **members}
    cls._fields_ = list(members.items())
    return cls
