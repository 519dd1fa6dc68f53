//===- Stream.cpp - streams and synchronization -----------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Execute.h"

#include <algorithm>

using namespace gfx950emu::hip;

namespace {

constexpr int highestPriority = -1, lowestPriority = 1;

hipError_t createStream(hipStream_t *stream, unsigned flags, int priority) {
  return lockedCall([&](Runtime &runtime) {
    if (!stream || (flags != hipStreamDefault && flags != hipStreamNonBlocking))
      return hipErrorInvalidValue;
    runtime.createStream(runtime.currentDevice(), flags,
                         std::clamp(priority, highestPriority, lowestPriority), *stream);
    return hipSuccess;
  });
}

/// hipStreamSynchronize and hipStreamQuery: work is done when the call that enqueued it returns,
/// so both can only wait for calls of other threads.
hipError_t waitFor(hipStream_t handle) {
  return apiCall([&](Runtime &runtime) {
    std::shared_ptr<Stream> stream;
    {
      std::lock_guard lock(runtime.mutex);
      stream = runtime.stream(handle);
      if (!stream)
        return hipErrorContextIsDestroyed;
      if (hipError_t refused = refuseStreamSynchronize(runtime, *stream); refused != hipSuccess)
        return refused;
    }
    return synchronize(runtime, *stream);
  });
}

} // namespace

hipError_t hipStreamCreate(hipStream_t *stream) { return createStream(stream, 0, 0); }

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return createStream(stream, flags, 0);
}

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
  return createStream(stream, flags, priority);
}

hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
  return apiCall([&](Runtime &) {
    if (leastPriority)
      *leastPriority = lowestPriority;
    if (greatestPriority)
      *greatestPriority = highestPriority;
    return hipSuccess;
  });
}

hipError_t hipStreamDestroy(hipStream_t handle) {
  return apiCall([&](Runtime &runtime) {
    if (!handle || handle == streamLegacy || handle == hipStreamPerThread)
      return hipErrorInvalidHandle;
    std::shared_ptr<Stream> stream;
    {
      std::lock_guard lock(runtime.mutex);
      stream = runtime.streams.erase(handle);
      if (!stream)
        return hipErrorContextIsDestroyed;
      abandonCapture(runtime, *stream);
    }
    // Its pending fault was reported by the launch and has no other reader any more.
    (void)synchronize(runtime, *stream);
    return hipSuccess;
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) { return waitFor(stream); }

hipError_t hipStreamQuery(hipStream_t stream) { return waitFor(stream); }

hipError_t hipDeviceSynchronize() {
  return apiCall([&](Runtime &runtime) {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = refuseDeviceSynchronize(runtime); refused != hipSuccess)
        return refused;
      Device &device = runtime.currentDevice();
      streams.push_back(device.nullStream);
      for (const auto &[value, stream] : runtime.streams.all())
        if (stream->device == &device)
          streams.push_back(stream);
    }
    hipError_t result = hipSuccess;
    for (const std::shared_ptr<Stream> &stream : streams)
      if (hipError_t fault = synchronize(runtime, *stream); fault != hipSuccess)
        result = fault;
    return result;
  });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t eventHandle, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    std::shared_ptr<Event> event = runtime.events.find(eventHandle);
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!event || !stream)
      return hipErrorInvalidHandle;
    Capture *own = Runtime::activeCapture(*stream);
    Capture *capture = Runtime::activeCapture(*event);
    if (!capture) {
      if (flags != 0)
        return hipErrorInvalidValue;
      std::shared_ptr<Stream> recorded = event->stream.lock();
      if (!recorded || (!own && !Runtime::activeCapture(*recorded)))
        return hipSuccess; // what the event marks was done when it was recorded
      if (own)
        own->invalidated = true;
      return hipErrorStreamCaptureIsolation;
    }

    if (stream->isNull)
      return hipErrorInvalidHandle;
    if (own && own != capture) {
      own->invalidated = capture->invalidated = true;
      return hipErrorStreamCaptureMerge;
    }
    if (capture->invalidated)
      return hipErrorStreamCaptureInvalidated;
    if (!own) {
      stream->capture = event->capture;
      stream->captureTail.clear();
    }
    for (size_t node : event->captureTail)
      if (std::find(stream->captureTail.begin(), stream->captureTail.end(), node) ==
          stream->captureTail.end())
        stream->captureTail.push_back(node);
    return hipSuccess;
  });
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
  return lockedCall([&](Runtime &runtime) {
    if (!flags || !handle)
      return hipErrorInvalidValue;
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    *flags = stream->flags;
    return hipSuccess;
  });
}

hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
  return lockedCall([&](Runtime &runtime) {
    if (!priority)
      return hipErrorInvalidValue;
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    *priority = stream->priority;
    return hipSuccess;
  });
}
