"""Device memory and streams of the HIP library of the tests, by ctypes."""

import ctypes
import os
from ctypes import c_int, c_size_t, c_void_p

hip = ctypes.CDLL(os.environ["NVFP4RT_HIP_LIBRARY"])
hip.hipMalloc.argtypes = [ctypes.POINTER(c_void_p), c_size_t]
hip.hipFree.argtypes = [c_void_p]
hip.hipMemcpy.argtypes = [c_void_p, c_void_p, c_size_t, c_int]
hip.hipStreamCreate.argtypes = [ctypes.POINTER(c_void_p)]
hip.hipStreamSynchronize.argtypes = [c_void_p]
hip.hipStreamDestroy.argtypes = [c_void_p]


def check(error: int) -> None:
    if error:
        raise RuntimeError(f"HIP error {error}")


class Tensor:
    """What the package sees of a torch tensor."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self._memory = c_void_p()
        check(hip.hipMalloc(ctypes.byref(self._memory), self.size))
        check(hip.hipMemcpy(self._memory, data, self.size, 1))

    def __del__(self) -> None:
        hip.hipFree(self._memory)

    def data_ptr(self) -> int:
        return self._memory.value or 0

    def bytes(self) -> bytes:
        host = ctypes.create_string_buffer(self.size)
        check(hip.hipMemcpy(host, self._memory, self.size, 2))
        return host.raw


class Stream:
    def __init__(self) -> None:
        self._stream = c_void_p()
        check(hip.hipStreamCreate(ctypes.byref(self._stream)))

    def __del__(self) -> None:
        hip.hipStreamDestroy(self._stream)

    @property
    def cuda_stream(self) -> int:
        return self._stream.value or 0

    def synchronize(self) -> None:
        check(hip.hipStreamSynchronize(self._stream))
