"""Status codes of the C interface, and an exception for each."""

from __future__ import annotations

import enum

from ._library import library


class Status(enum.IntEnum):
    """``nvfp4rt_status``, without the prefix of its names."""

    OK = 0
    ERROR_INVALID_ARGUMENT = 1
    ERROR_IO = 2
    ERROR_BAD_ELF = 3
    ERROR_BAD_MANIFEST = 4
    ERROR_VERSION = 5
    ERROR_WRONG_ARCH = 6
    ERROR_CHECKSUM = 7
    ERROR_ARGS_LAYOUT = 8
    ERROR_UNKNOWN_FIELD = 9
    ERROR_NO_MATCH = 10
    ERROR_NO_HIP_LIBRARY = 11
    ERROR_NO_DEVICE = 12
    ERROR_HIP = 13
    ERROR_OUT_OF_MEMORY = 14
    ERROR_INTERNAL = 15
    ERROR_FROZEN = 16
    ERROR_NOT_FROZEN = 17
    ERROR_IN_USE = 18
    ERROR_ENVIRONMENT = 19


class Error(Exception):
    """A call of the runtime failed; ``status`` says how, the message what, where and why."""

    status: Status = Status.ERROR_INTERNAL


class InvalidArgumentError(Error, ValueError):
    """A null or out-of-range argument."""

    status = Status.ERROR_INVALID_ARGUMENT


class BundleIOError(Error, OSError):
    """A file could not be read."""

    status = Status.ERROR_IO


class BadBundleError(Error):
    """The bytes are no bundle that this runtime can trust; the base of the reasons."""


class BadElfError(BadBundleError):
    """Not a well-formed code object."""

    status = Status.ERROR_BAD_ELF


class BadManifestError(BadBundleError):
    """The manifest is missing, malformed or inconsistent with the ELF."""

    status = Status.ERROR_BAD_MANIFEST


class VersionError(BadBundleError):
    """The bundle's format or code object version is not supported."""

    status = Status.ERROR_VERSION


class WrongArchError(BadBundleError):
    """Bundle and device, or bundle and runtime, differ in architecture."""

    status = Status.ERROR_WRONG_ARCH


class ChecksumError(BadBundleError):
    """A SHA-256 does not match."""

    status = Status.ERROR_CHECKSUM


class ArgsLayoutError(Error):
    """A kernel-argument layout differs from the runtime's."""

    status = Status.ERROR_ARGS_LAYOUT


class UnknownFieldError(Error, LookupError):
    """A request names a field that no guard of the family knows, or lacks one."""

    status = Status.ERROR_UNKNOWN_FIELD


class NoMatchError(Error, LookupError):
    """No variant of the family serves the request."""

    status = Status.ERROR_NO_MATCH


class NoHipLibraryError(Error, OSError):
    """No HIP library, or it lacks a function."""

    status = Status.ERROR_NO_HIP_LIBRARY


class NoDeviceError(Error):
    """No such device, or the bundle is loaded on none."""

    status = Status.ERROR_NO_DEVICE


class HipError(Error, RuntimeError):
    """A HIP call failed; the message has its name and code."""

    status = Status.ERROR_HIP


class OutOfMemoryError(Error, MemoryError):
    """Out of host or device memory."""

    status = Status.ERROR_OUT_OF_MEMORY


class InternalError(Error, RuntimeError):
    """A fault of the runtime itself."""

    status = Status.ERROR_INTERNAL


class FrozenError(Error):
    """The bundle is frozen: nothing can be loaded any more."""

    status = Status.ERROR_FROZEN


class NotFrozenError(Error):
    """The bundle has to be frozen first."""

    status = Status.ERROR_NOT_FROZEN


class InUseError(Error):
    """Plans or selectors of the bundle are alive."""

    status = Status.ERROR_IN_USE


class EnvironmentVariableError(Error, ValueError):
    """An environment variable has a value that it cannot have."""

    status = Status.ERROR_ENVIRONMENT


def _by_status(base: type[Error]) -> dict[Status, type[Error]]:
    found = {}
    for derived in base.__subclasses__():
        if "status" in vars(derived):
            found[derived.status] = derived
        found.update(_by_status(derived))
    return found


#: The exception of every status but ``OK``.
ERRORS: dict[Status, type[Error]] = _by_status(Error)


def check(status: int) -> None:
    """Raise the exception of a status, with the message of this thread's last failure."""
    if status != Status.OK:
        raise ERRORS[Status(status)](library.nvfp4rt_last_error().decode(errors="replace"))
