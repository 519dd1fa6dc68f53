//===- Copy.cpp - copies and fills ------------------------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Execute.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace gfx950emu::hip;

namespace {

/// Makes an operation under the mutex, or says why the arguments are bad.
using Maker = llvm::function_ref<hipError_t(Runtime &, Operation &)>;

/// Operations without a stream run in the current device's null stream and wait for it.
hipError_t runSynchronously(Maker make) {
  return apiCall([&](Runtime &runtime) {
    std::unique_lock lock(runtime.mutex);
    if (hipError_t refused = refuseSynchronousWork(runtime); refused != hipSuccess)
      return refused;
    Operation operation;
    if (hipError_t bad = make(runtime, operation); bad != hipSuccess)
      return bad;
    std::shared_ptr<Stream> stream = runtime.currentDevice().nullStream;
    if (hipError_t failed = submit(runtime, *stream, std::move(operation), std::move(lock));
        failed != hipSuccess)
      return failed;
    return synchronize(runtime, *stream);
  });
}

hipError_t runAsynchronously(Maker make, hipStream_t handle) {
  return apiCall([&](Runtime &runtime) {
    std::unique_lock lock(runtime.mutex);
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    Operation operation;
    if (hipError_t bad = make(runtime, operation); bad != hipSuccess)
      return bad;
    return submit(runtime, *stream, std::move(operation), std::move(lock));
  });
}

/// ROCm goes by the addresses, not by the kind, but checks that the kind is one, and that device
/// memory takes part when the kind says so.
auto copyMaker(void *dst, const void *src, size_t bytes, int kind) {
  return [=](Runtime &runtime, Operation &out) {
    if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault)
      return hipErrorInvalidMemcpyDirection;
    bool needsDevice = kind != hipMemcpyHostToHost && kind != hipMemcpyDefault;
    if (bytes != 0 && needsDevice && !runtime.allocationOf(dst) && !runtime.allocationOf(src))
      return hipErrorInvalidValue;
    out = CopyOp{dst, src, bytes};
    return hipSuccess;
  };
}

auto fillMaker(void *dst, uint32_t value, unsigned elementBytes, size_t count) {
  return [=](Runtime &, Operation &out) {
    if (count > SIZE_MAX / elementBytes)
      return hipErrorInvalidValue;
    out = FillOp{dst, value, elementBytes, count};
    return hipSuccess;
  };
}

hipError_t copy(void *dst, const void *src, size_t bytes, const hipMemcpyKind &kind) {
  return runSynchronously(copyMaker(dst, src, bytes, rawValue(kind)));
}

hipError_t copyAsync(void *dst, const void *src, size_t bytes, const hipMemcpyKind &kind,
                     hipStream_t stream) {
  return runAsynchronously(copyMaker(dst, src, bytes, rawValue(kind)), stream);
}

hipError_t fill(void *dst, uint32_t value, unsigned elementBytes, size_t count) {
  return runSynchronously(fillMaker(dst, value, elementBytes, count));
}

hipError_t fillAsync(void *dst, uint32_t value, unsigned elementBytes, size_t count,
                     hipStream_t stream) {
  return runAsynchronously(fillMaker(dst, value, elementBytes, count), stream);
}

} // namespace

hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, hipMemcpyKind kind) {
  return copy(dst, src, bytes, kind);
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t bytes) {
  return copy(dst, src, bytes, hipMemcpyHostToDevice);
}

hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t bytes) {
  return copy(dst, src, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t bytes) {
  return copy(dst, src, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return copyAsync(dst, src, bytes, kind, stream);
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void *src, size_t bytes, hipStream_t stream) {
  return copyAsync(dst, src, bytes, hipMemcpyHostToDevice, stream);
}

hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t bytes, hipStream_t stream) {
  return copyAsync(dst, src, bytes, hipMemcpyDeviceToHost, stream);
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t bytes,
                              hipStream_t stream) {
  return copyAsync(dst, src, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemset(void *dst, int value, size_t bytes) {
  return fill(dst, static_cast<uint32_t>(value), 1, bytes);
}

hipError_t hipMemsetD8(hipDeviceptr_t dst, unsigned char value, size_t count) {
  return fill(dst, value, 1, count);
}

hipError_t hipMemsetD16(hipDeviceptr_t dst, unsigned short value, size_t count) {
  return fill(dst, value, 2, count);
}

hipError_t hipMemsetD32(hipDeviceptr_t dst, int value, size_t count) {
  return fill(dst, static_cast<uint32_t>(value), 4, count);
}

hipError_t hipMemsetAsync(void *dst, int value, size_t bytes, hipStream_t stream) {
  return fillAsync(dst, static_cast<uint32_t>(value), 1, bytes, stream);
}

hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count,
                            hipStream_t stream) {
  return fillAsync(dst, value, 1, count, stream);
}

hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value, size_t count,
                             hipStream_t stream) {
  return fillAsync(dst, value, 2, count, stream);
}

hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return fillAsync(dst, static_cast<uint32_t>(value), 4, count, stream);
}
