"""Finds and loads libnvfp4rt.so and declares its functions.

Looked for, in this order:

1. the file that the environment variable ``NVFP4RT_LIBRARY`` names, and nothing else then;
2. beside this package, where ``cmake --install`` has put it;
3. by its soname, where the system's loader looks.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

from ._version import __version__

INTERFACE = __version__.rsplit(".", 1)[0]  # below 1.0 a minor version may change the interface
SONAME = f"libnvfp4rt.so.{INTERFACE}"


class Field(ctypes.Structure):
    """``nvfp4rt_field``."""

    _fields_ = [("name", c_char_p), ("symbol", c_char_p), ("value", c_int64)]


# Result and argument types of every function that the package calls.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "nvfp4rt_version": (c_char_p, []),
    "nvfp4rt_version_number": (c_uint32, []),
    "nvfp4rt_status_name": (c_char_p, [c_int]),
    "nvfp4rt_last_error": (c_char_p, []),
    "nvfp4rt_bundle_open_file": (c_int, [c_char_p, POINTER(c_void_p)]),
    "nvfp4rt_bundle_open_memory": (c_int, [c_char_p, c_size_t, POINTER(c_void_p)]),
    "nvfp4rt_bundle_load": (c_int, [c_void_p, c_int]),
    "nvfp4rt_bundle_freeze": (c_int, [c_void_p]),
    "nvfp4rt_bundle_close": (c_int, [c_void_p]),
    "nvfp4rt_plan_create": (
        c_int,
        [c_void_p, c_int, c_char_p, POINTER(Field), c_size_t, POINTER(c_void_p)],
    ),
    "nvfp4rt_plan_destroy": (None, [c_void_p]),
    "nvfp4rt_plan_variant": (c_char_p, [c_void_p]),
    "nvfp4rt_plan_symbol": (c_char_p, [c_void_p]),
    "nvfp4rt_plan_workspace_bytes": (c_size_t, [c_void_p]),
    "nvfp4rt_selector_create": (
        c_int,
        [
            c_void_p,
            c_char_p,
            POINTER(Field),
            c_size_t,
            POINTER(c_char_p),
            c_size_t,
            POINTER(c_void_p),
        ],
    ),
    "nvfp4rt_selector_destroy": (None, [c_void_p]),
    "nvfp4rt_selector_plan": (c_int, [c_void_p, c_int, POINTER(c_int64), POINTER(c_void_p)]),
    "nvfp4rt_symbol_value": (c_int, [c_char_p, c_char_p, POINTER(c_int64)]),
    "nvfp4rt_launch": (c_int, [c_void_p, c_void_p, c_void_p]),
    "nvfp4rt_explain": (
        c_int,
        [
            c_void_p,
            c_char_p,
            POINTER(Field),
            c_size_t,
            c_char_p,
            c_size_t,
            POINTER(c_size_t),
        ],
    ),
}


def _candidates() -> list[str]:
    named = os.environ.get("NVFP4RT_LIBRARY")
    if named:
        return [named]
    try:  # written by the installation, absent in a source tree
        installed = importlib.import_module("._installed", __package__)
    except ModuleNotFoundError:
        return [SONAME]
    return [str((Path(__file__).parent / installed.LIBDIR / SONAME).resolve()), SONAME]


def _load() -> ctypes.CDLL:
    failures = []
    for candidate in _candidates():
        try:
            loaded = ctypes.CDLL(candidate)
        except OSError as error:
            failures.append(str(error))
            continue
        for name, (result, arguments) in _FUNCTIONS.items():
            try:
                function = getattr(loaded, name)
            except AttributeError:
                raise ImportError(
                    f"{candidate}: expected libnvfp4rt {INTERFACE}.x, found no {name}"
                ) from None
            function.restype, function.argtypes = result, arguments
        version = loaded.nvfp4rt_version().decode()
        if version.rsplit(".", 1)[0] != INTERFACE:
            raise ImportError(
                f"{candidate}: expected libnvfp4rt {INTERFACE}.x, as this package, found {version}"
            )
        return loaded
    raise ImportError(
        "libnvfp4rt was not found; name its file by the environment variable NVFP4RT_LIBRARY ("
        + "; ".join(failures)
        + ")"
    )


library = _load()
