//===- Device.h - a bundle on the emulator, its launches counted --------------===//
//
// Owns: the emulated device that benched kernels run on: named buffers, the choice of
// a variant for a shape (by the runtime's own guards), launches in the grids that the
// runtime would use, and the counts of a launch.
//
// The emulator is linked in, not loaded as the HIP library: counts then come back as
// values, no interface for them has to be exported from a HIP library that has none,
// and bytes can be told apart by buffer. `verify` runs the same kernels through HIP.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_DEVICE_H
#define NVFP4GEN_TOOLS_BENCH_DEVICE_H

#include "runtime/bundle/Bundle.h"
#include "tools/bench/Shapes.h"
#include "tools/bench/Traffic.h"
#include "tools/gfx950emu/count/Cost.h"
#include "tools/gfx950emu/count/Counts.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

using nvfp4rt::Error;
using nvfp4rt::Result;

/// What one launch did.
struct Measurement {
  std::string variant;
  std::string symbol;
  gfx950emu::count::Counts counts;
  gfx950emu::count::Cost cost;
  std::vector<BufferTraffic> buffers; ///< those that it touched, by name
  uint64_t argumentBytes = 0;         ///< read outside of the buffers, see Traffic.h
  double seconds = 0;                 ///< of this machine

  uint64_t bytesRead() const;
  uint64_t bytesWritten() const;
};

/// Run a dispatch and count it. `buffers` are the regions of `memory` to tell apart.
Result<Measurement> measure(const gfx950emu::Dispatch &dispatch, gfx950emu::MemoryMap &memory,
                            std::vector<BufferTraffic> buffers,
                            const Traffic::Progress &progress = {});

class Device;

/// Device memory with an owner; device addresses are host addresses. Zeroed, and real memory only
/// where it was touched.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { *this = std::move(other); }
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();
  std::byte *data() const { return address; }
  uint64_t size() const { return bytes; }
  template <typename T> T *as() const { return reinterpret_cast<T *>(address); }

private:
  friend class Device;
  Device *device = nullptr;
  std::byte *address = nullptr;
  uint64_t bytes = 0;
};

class Device {
public:
  /// Load the code object of `bundle`, which is borrowed.
  static Result<std::unique_ptr<Device>> open(const nvfp4rt::Bundle &bundle);

  const nvfp4rt::Bundle &bundle() const { return bundle_; }

  /// `bytes` may be 0, which allocates nothing. NVFP4RT_ERROR_OUT_OF_MEMORY when the system
  /// refuses.
  Result<Buffer> allocate(std::string name, uint64_t bytes);

  /// The variant of `family` that serves the shape; its guard says what it was specialized for.
  /// NVFP4RT_ERROR_NO_MATCH when the bundle has none.
  Result<const nvfp4rt::Variant *> select(std::string_view family, const Shape &shape) const;

  /// Launch without counting; `args` is the family's argument struct.
  template <typename Args> Result<void> run(const nvfp4rt::Variant &variant, const Args &args) {
    return launch(variant, &args, nullptr);
  }
  /// Launch and count. A launch without workgroups is an error: there is nothing to count.
  template <typename Args>
  Result<Measurement> measure(const nvfp4rt::Variant &variant, const Args &args) {
    Measurement measurement;
    if (auto done = launch(variant, &args, &measurement); !done)
      return tl::unexpected(std::move(done.error()));
    return measurement;
  }

  /// Told of counted launches under way, see Traffic::Progress.
  void onProgress(std::function<void(uint64_t done, uint64_t workgroups)> callback) {
    progress = std::move(callback);
  }

private:
  explicit Device(const nvfp4rt::Bundle &bundle) : bundle_(bundle) {}
  Result<void> launch(const nvfp4rt::Variant &variant, const void *args, Measurement *measurement);

  friend class Buffer;
  const nvfp4rt::Bundle &bundle_;
  gfx950emu::MemoryMap memory;
  std::unique_ptr<gfx950emu::CodeObject> object; ///< unloads from `memory`
  struct Named {
    std::string name;
    uint64_t size;
  };
  std::map<uint64_t, Named> buffers; ///< by address
  std::function<void(uint64_t done, uint64_t workgroups)> progress;
};

/// The value that a variant was specialized for. NVFP4RT_ERROR_UNKNOWN_FIELD when its guard leaves
/// the field open.
Result<int64_t> configOf(const nvfp4rt::Variant &variant, nvfp4rt::Field field);

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_DEVICE_H
