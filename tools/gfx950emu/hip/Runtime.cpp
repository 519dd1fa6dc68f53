//===- Runtime.cpp - the state behind the HIP functions ---------------------===//

#include "tools/gfx950emu/hip/Runtime.h"
#include "tools/gfx950emu/hip/Capture.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace gfx950emu::hip {

ThreadState::ThreadState() {
  static std::atomic<uint64_t> lastToken{0};
  token = ++lastToken;
}

ThreadState::~ThreadState() {
  if (perThreadStreams.empty())
    return;
  Runtime &runtime = Runtime::get();
  std::lock_guard lock(runtime.mutex);
  for (auto [device, handle] : perThreadStreams)
    if (std::shared_ptr<Stream> stream = runtime.streams.erase(handle))
      abandonCapture(runtime, *stream);
}

ThreadState &thisThread() {
  static thread_local ThreadState state;
  return state;
}

Runtime &Runtime::get() {
  // Never destroyed: threads and exit handlers of the client may still call in at exit.
  static Runtime *runtime =
      new Runtime(parseSettings([](const char *name) { return getenv(name); }));
  return *runtime;
}

Runtime::Runtime(llvm::Expected<Settings> parsed) {
  if (!parsed) {
    fprintf(stderr, "gfx950emu: %s\n", llvm::toString(parsed.takeError()).c_str());
    return;
  }
  settings = *parsed;
  for (unsigned i = 0; i < settings.devices; ++i) {
    auto device = std::make_unique<Device>();
    device->id = static_cast<int>(i);
    device->peers.resize(settings.devices);
    device->nullStream = std::make_shared<Stream>();
    device->nullStream->device = device.get();
    device->nullStream->isNull = true;
    if (settings.checks && settings.checks->undefined)
      device->memory.trackDefined();
    devices.push_back(std::move(device));
  }
}

Device *Runtime::device(int id) {
  return id >= 0 && static_cast<size_t>(id) < devices.size() ? devices[id].get() : nullptr;
}

std::shared_ptr<Stream> Runtime::createStream(Device &device, unsigned flags, int priority,
                                              hipStream_t &handle) {
  auto stream = std::make_shared<Stream>();
  stream->device = &device;
  stream->flags = flags;
  stream->priority = priority;
  handle = streams.insert(stream);
  return stream;
}

std::shared_ptr<Stream> Runtime::stream(hipStream_t handle) {
  if (!handle || handle == streamLegacy)
    return currentDevice().nullStream;
  if (handle != hipStreamPerThread)
    return streams.find(handle);
  ThreadState &thread = thisThread();
  auto it = thread.perThreadStreams.find(thread.device);
  if (it != thread.perThreadStreams.end())
    return streams.find(it->second);
  hipStream_t created;
  auto stream = createStream(currentDevice(), hipStreamDefault, 0, created);
  thread.perThreadStreams.emplace(thread.device, created);
  return stream;
}

const Allocation *Runtime::allocationOf(const void *address) const {
  auto value = reinterpret_cast<uint64_t>(address);
  auto it = allocations.upper_bound(value);
  if (it == allocations.begin())
    return nullptr;
  const Allocation &candidate = std::prev(it)->second;
  return value - candidate.base < candidate.bytes ? &candidate : nullptr;
}

} // namespace gfx950emu::hip
