//===- Runtime.h - the state behind the HIP functions -----------------------===//
//
// Owns every object behind a HIP handle, the devices and the process-wide tables.
//
// Locks, in the order they are taken:
//   Stream::order      one operation of a stream at a time
//   Device::legacy     null stream alone, blocking streams shared
//   Runtime::gate      running work shared, unmapping memory alone
//   Runtime::mutex     every table and every field below not said to be constant
// The mutex is never held while a kernel, a copy or a code object load runs.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_RUNTIME_H
#define GFX950EMU_HIP_RUNTIME_H

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/hip/Gate.h"
#include "tools/gfx950emu/hip/HandleTable.h"
#include "tools/gfx950emu/hip/Operation.h"
#include "tools/gfx950emu/hip/Settings.h"

#include <hip/hip_runtime_api.h>

#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gfx950emu::hip {

/// hipStreamLegacy of the newer headers: the null stream by another name.
inline const hipStream_t streamLegacy = std::bit_cast<hipStream_t>(uint64_t{1});

inline constexpr uint64_t deviceMemoryBytes = uint64_t{288} << 30;
inline constexpr uint32_t ldsBytesPerWorkgroup = 160 * 1024;
inline constexpr uint32_t maxThreadsPerWorkgroup = 1024;

struct Capture;
struct Device;

/// A node of a graph. Constant once it is made.
struct GraphNode {
  std::shared_ptr<const Operation> operation;
  std::vector<size_t> dependencies; ///< indices of earlier nodes of the graph
};

struct Stream {
  Device *device = nullptr;        ///< constant
  unsigned flags = 0;              ///< constant
  int priority = 0;                ///< constant
  bool isNull = false;             ///< constant
  std::mutex order;                ///< held while an operation of this stream runs
  hipError_t pending = hipSuccess; ///< fault of a launch, for the next synchronization

  std::shared_ptr<Capture> capture; ///< may have ended: see activeCapture()
  std::vector<size_t> captureTail;  ///< nodes that the next captured node depends on
};

struct Event {
  Device *device = nullptr; ///< constant: current device of the creating thread
  unsigned flags = 0;       ///< constant
  std::optional<std::chrono::steady_clock::time_point> time; ///< of the last record
  std::weak_ptr<Stream> stream;                              ///< of the last record
  std::shared_ptr<Capture> capture; ///< when last recorded in a capturing stream; may have ended
  std::vector<size_t> captureTail;
};

struct Module {
  Device *device = nullptr;           ///< constant
  std::unique_ptr<CodeObject> object; ///< constant
  bool unloaded = false;
  std::map<std::string, hipFunction_t> functions; ///< handed out so far
};

struct Function {
  std::shared_ptr<Module> module;
  const KernelInfo *kernel = nullptr;
};

struct Graph {
  std::vector<std::shared_ptr<const GraphNode>> nodes; ///< in an order that respects dependencies
  std::vector<hipGraphNode_t> handles;                 ///< of the nodes
};

struct GraphExec {
  std::vector<std::shared_ptr<const Operation>> operations; ///< constant
};

/// A capture sequence: begins on its origin stream, spreads through captured events.
struct Capture {
  unsigned long long id = 0;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  uint64_t ownerThread = 0;
  const Stream *origin = nullptr; ///< for comparison only
  bool invalidated = false;
  bool ended = false;
  std::vector<std::shared_ptr<const GraphNode>> nodes;
};

struct Device {
  int id = 0;                         ///< constant
  MemoryMap memory;                   ///< what kernels of this device may touch; thread-safe
  std::shared_ptr<Stream> nullStream; ///< constant
  Gate legacy;
  uint64_t usedBytes = 0;
  std::vector<bool> peers; ///< devices whose memory this one may access
};

struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0; ///< as requested
  Device *device = nullptr;
  bool host = false; ///< of hipHostMalloc: every device may access it
  unsigned flags = 0;
};

/// What HIP keeps for every host thread.
struct ThreadState {
  int device = 0;
  hipError_t lastError = hipSuccess;
  hipStreamCaptureMode captureMode = hipStreamCaptureModeGlobal;
  uint64_t token = 0; ///< unique among all threads there ever were
  std::string lastFault;
  std::map<int, hipStream_t> perThreadStreams; ///< hipStreamPerThread, by device

  ThreadState();
  ~ThreadState();
};
ThreadState &thisThread();

class Runtime {
public:
  /// The process's runtime; lives until the process ends. Bad settings leave it without devices.
  static Runtime &get();

  explicit Runtime(llvm::Expected<Settings> parsed);

  bool usable() const { return !devices.empty(); }
  Device &currentDevice() { return *devices[thisThread().device]; }
  /// Null when `id` is out of range.
  Device *device(int id);

  // With the mutex held.
  /// Null for an invalid handle. Knows the null stream and the stream per thread.
  std::shared_ptr<Stream> stream(hipStream_t handle);
  std::shared_ptr<Stream> createStream(Device &device, unsigned flags, int priority,
                                       hipStream_t &handle);
  /// The allocation that holds `address`, if any.
  const Allocation *allocationOf(const void *address) const;
  /// The sequence that `owner` (a Stream or Event) takes part in now, null if none.
  template <typename Owner> static Capture *activeCapture(const Owner &owner) {
    return owner.capture && !owner.capture->ended ? owner.capture.get() : nullptr;
  }

  std::mutex mutex;
  Gate gate;
  Settings settings;                            ///< constant
  std::vector<std::unique_ptr<Device>> devices; ///< constant
  MemoryMap hostMemory;
  std::map<uint64_t, Allocation> allocations; ///< by base
  HandleTable<hipStream_t, Stream> streams{HandleKind::Stream};
  HandleTable<hipEvent_t, Event> events{HandleKind::Event};
  HandleTable<hipModule_t, Module> modules{HandleKind::Module};
  HandleTable<hipFunction_t, Function> functions{HandleKind::Function};
  HandleTable<hipGraph_t, Graph> graphs{HandleKind::Graph};
  HandleTable<hipGraphExec_t, GraphExec> graphExecs{HandleKind::GraphExec};
  HandleTable<hipGraphNode_t, const GraphNode> nodes{HandleKind::Node};
  std::vector<std::shared_ptr<Capture>> captures; ///< not ended
  unsigned long long lastCaptureId = 0;
};

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_RUNTIME_H
