//===- Event.cpp - events ---------------------------------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Execute.h"

#include <bit>

using namespace gfx950emu::hip;

namespace {

constexpr unsigned releaseFlags = hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned knownFlags = hipEventBlockingSync | hipEventDisableTiming | releaseFlags;

hipError_t createEvent(hipEvent_t *handle, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (!handle)
      return hipErrorInvalidValue;
    // Events between processes need device memory that processes share: there is none here.
    if (flags & hipEventInterprocess)
      return hipErrorNotSupported;
    if ((flags & ~knownFlags) || std::popcount(flags & releaseFlags) > 1)
      return hipErrorInvalidValue;
    auto event = std::make_shared<Event>();
    event->device = &runtime.currentDevice();
    event->flags = flags;
    *handle = runtime.events.insert(std::move(event));
    return hipSuccess;
  });
}

/// The event behind a handle and the stream it was last recorded in, refusing what capture forbids.
hipError_t resolve(Runtime &runtime, hipEvent_t handle, std::shared_ptr<Stream> &recorded) {
  std::shared_ptr<Event> event = runtime.events.find(handle);
  if (!event)
    return hipErrorInvalidHandle;
  if (Capture *capture = Runtime::activeCapture(*event)) {
    capture->invalidated = true;
    return hipErrorCapturedEvent;
  }
  recorded = event->stream.lock();
  return hipSuccess;
}

} // namespace

hipError_t hipEventCreate(hipEvent_t *event) { return createEvent(event, hipEventDefault); }

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return createEvent(event, flags);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return lockedCall([&](Runtime &runtime) {
    if (!event)
      return hipErrorInvalidHandle;
    return runtime.events.erase(event) ? hipSuccess : hipErrorContextIsDestroyed;
  });
}

hipError_t hipEventRecord(hipEvent_t eventHandle, hipStream_t streamHandle) {
  return apiCall([&](Runtime &runtime) {
    std::shared_ptr<Event> event;
    std::shared_ptr<Stream> stream;
    {
      std::lock_guard lock(runtime.mutex);
      event = runtime.events.find(eventHandle);
      if (!event)
        return hipErrorInvalidHandle;
      stream = runtime.stream(streamHandle);
      if (!stream)
        return hipErrorContextIsDestroyed;
      if (Capture *capture = Runtime::activeCapture(*stream)) {
        if (capture->invalidated)
          return hipErrorStreamCaptureInvalidated;
        event->capture = stream->capture;
        event->captureTail = stream->captureTail;
        event->stream.reset();
        event->time.reset();
        return hipSuccess;
      }
      if (event->device != stream->device)
        return hipErrorInvalidHandle;
    }
    // The event's time is after whatever another thread runs in the stream now.
    std::lock_guard order(stream->order);
    std::lock_guard lock(runtime.mutex);
    event->capture.reset();
    event->stream = stream;
    event->time = std::chrono::steady_clock::now();
    return hipSuccess;
  });
}

hipError_t hipEventQuery(hipEvent_t handle) {
  return apiCall([&](Runtime &runtime) {
    std::shared_ptr<Stream> recorded;
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = resolve(runtime, handle, recorded); refused != hipSuccess)
        return refused;
    }
    return recorded ? synchronize(runtime, *recorded) : hipSuccess;
  });
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  return apiCall([&](Runtime &runtime) {
    std::shared_ptr<Stream> recorded;
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = resolve(runtime, handle, recorded); refused != hipSuccess)
        return refused;
      if (recorded)
        if (hipError_t refused = refuseStreamSynchronize(runtime, *recorded); refused != hipSuccess)
          return refused;
    }
    return recorded ? synchronize(runtime, *recorded) : hipSuccess;
  });
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t startHandle, hipEvent_t stopHandle) {
  return lockedCall([&](Runtime &runtime) {
    if (!ms)
      return hipErrorInvalidValue;
    std::shared_ptr<Event> start = runtime.events.find(startHandle);
    std::shared_ptr<Event> stop = runtime.events.find(stopHandle);
    if (!start || !stop || start->device != stop->device || !start->time || !stop->time ||
        ((start->flags | stop->flags) & hipEventDisableTiming))
      return hipErrorInvalidHandle;
    *ms = std::chrono::duration<float, std::milli>(*stop->time - *start->time).count();
    return hipSuccess;
  });
}
