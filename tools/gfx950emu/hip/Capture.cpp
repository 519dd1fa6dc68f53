//===- Capture.cpp - stream capture -----------------------------------------===//

#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Api.h"

#include <algorithm>

namespace gfx950emu::hip {

/// Invalidate every capture that `matches`; true if there was one.
template <typename Predicate> static bool invalidateIf(Runtime &runtime, Predicate matches) {
  bool any = false;
  for (const std::shared_ptr<Capture> &capture : runtime.captures)
    if (matches(*capture)) {
      capture->invalidated = true;
      any = true;
    }
  return any;
}

hipError_t refuseUnsafeCall(Runtime &runtime) {
  const ThreadState &thread = thisThread();
  if (thread.captureMode == hipStreamCaptureModeRelaxed)
    return hipSuccess;
  bool global = thread.captureMode == hipStreamCaptureModeGlobal;
  bool refused = invalidateIf(runtime, [&](const Capture &capture) {
    bool mine = capture.ownerThread == thread.token;
    return (mine && capture.mode != hipStreamCaptureModeRelaxed) ||
           (global && capture.mode == hipStreamCaptureModeGlobal);
  });
  return refused ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t refuseSynchronousWork(Runtime &runtime) {
  bool refused = invalidateIf(runtime, [](const Capture &) { return true; });
  return refused ? hipErrorStreamCaptureImplicit : hipSuccess;
}

hipError_t refuseDeviceSynchronize(Runtime &runtime) {
  bool refused = invalidateIf(runtime, [](const Capture &) { return true; });
  return refused ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t refuseStreamSynchronize(Runtime &runtime, const Stream &stream) {
  if (stream.isNull)
    return hipSuccess;
  Capture *capture = Runtime::activeCapture(stream);
  if (!capture)
    return refuseUnsafeCall(runtime);
  capture->invalidated = true;
  return hipErrorStreamCaptureUnsupported;
}

std::optional<hipError_t> captureOperation(Stream &stream, Operation &operation) {
  Capture *capture = Runtime::activeCapture(stream);
  if (!capture)
    return std::nullopt;
  if (capture->invalidated)
    return hipErrorStreamCaptureInvalidated;
  auto node = std::make_shared<GraphNode>();
  node->operation = std::make_shared<const Operation>(std::move(operation));
  node->dependencies = stream.captureTail;
  stream.captureTail.assign(1, capture->nodes.size());
  capture->nodes.push_back(std::move(node));
  return hipSuccess;
}

static void endCapture(Runtime &runtime, Capture &capture) {
  capture.ended = true;
  std::erase_if(runtime.captures, [&](const auto &other) { return other.get() == &capture; });
}

void abandonCapture(Runtime &runtime, Stream &stream) {
  if (Capture *capture = Runtime::activeCapture(stream); capture && capture->origin == &stream)
    endCapture(runtime, *capture);
}

/// True if every node is one that the origin stream's next node would depend on, directly or not.
static bool allJoined(const Capture &capture, const Stream &origin) {
  std::vector<bool> needed(capture.nodes.size());
  for (const auto &node : capture.nodes)
    for (size_t dependency : node->dependencies)
      needed[dependency] = true;
  for (size_t tail : origin.captureTail)
    needed[tail] = true;
  return std::find(needed.begin(), needed.end(), false) == needed.end();
}

} // namespace gfx950emu::hip

using namespace gfx950emu::hip;

static bool isMode(const hipStreamCaptureMode &mode) {
  int raw = rawValue(mode);
  return raw >= hipStreamCaptureModeGlobal && raw <= hipStreamCaptureModeRelaxed;
}

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return lockedCall([&](Runtime &runtime) {
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    if (stream->isNull)
      return hipErrorStreamCaptureUnsupported;
    if (!isMode(mode))
      return hipErrorInvalidValue;
    if (Runtime::activeCapture(*stream))
      return hipErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->id = ++runtime.lastCaptureId;
    capture->mode = mode;
    capture->ownerThread = thisThread().token;
    capture->origin = stream.get();
    stream->captureTail.clear();
    stream->capture = capture;
    runtime.captures.push_back(std::move(capture));
    return hipSuccess;
  });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *graphOut) {
  return lockedCall([&](Runtime &runtime) {
    if (!graphOut)
      return hipErrorInvalidValue;
    *graphOut = nullptr;
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    Capture *capture = Runtime::activeCapture(*stream);
    if (!capture)
      return hipErrorIllegalState;
    if (capture->origin != stream.get())
      return hipErrorStreamCaptureUnmatched;
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->ownerThread != thisThread().token)
      return hipErrorStreamCaptureWrongThread;

    endCapture(runtime, *capture);
    if (capture->invalidated)
      return hipErrorStreamCaptureInvalidated;
    if (!allJoined(*capture, *stream))
      return hipErrorStreamCaptureUnjoined;
    auto graph = std::make_shared<Graph>();
    graph->nodes = std::move(capture->nodes);
    for (const auto &node : graph->nodes)
      graph->handles.push_back(runtime.nodes.insert(node));
    *graphOut = runtime.graphs.insert(std::move(graph));
    return hipSuccess;
  });
}

static hipError_t captureInfo(hipStream_t handle, hipStreamCaptureStatus *status,
                              unsigned long long *id) {
  return lockedCall([&](Runtime &runtime) {
    if (!status)
      return hipErrorInvalidValue;
    std::shared_ptr<Stream> stream = runtime.stream(handle);
    if (!stream)
      return hipErrorContextIsDestroyed;
    *status = hipStreamCaptureStatusNone;
    if (Capture *capture = Runtime::activeCapture(*stream)) {
      *status =
          capture->invalidated ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
      if (id)
        *id = capture->id;
    }
    return hipSuccess;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus) {
  return captureInfo(stream, pCaptureStatus, nullptr);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                   unsigned long long *pId) {
  return captureInfo(stream, pCaptureStatus, pId);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  return apiCall([&](Runtime &) {
    if (!mode || !isMode(*mode))
      return hipErrorInvalidValue;
    std::swap(*mode, thisThread().captureMode);
    return hipSuccess;
  });
}
