//===- Traffic.h - global bytes of a dispatch, buffer by buffer ---------------===//
//
// Owns: the observer that counts bytes. A wave instruction moves the distinct bytes
// that its lanes name: lanes that read one address together move it once, two
// instructions that read it move it twice. Scalar loads of a buffer count as any
// other; what is in no named buffer (kernel arguments, constants of the code object)
// is counted apart. An atomic both reads and writes.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_TRAFFIC_H
#define NVFP4GEN_TOOLS_BENCH_TRAFFIC_H

#include "tools/gfx950emu/core/Observer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bench {

/// A buffer, and what a dispatch moved of it.
struct BufferTraffic {
  std::string name;
  uint64_t base = 0, size = 0;
  uint64_t read = 0, written = 0;
  /// Waves that read any of it, and what those with the most and the fewest bytes read.
  uint64_t readers = 0, mostRead = 0, leastRead = 0;
};

class Traffic : public gfx950emu::DispatchObserver {
public:
  /// Called now and then with the workgroups that have ended, from any thread, one call at a time.
  using Progress = std::function<void(uint64_t done)>;

  /// The buffers are disjoint, in any order.
  explicit Traffic(std::vector<BufferTraffic> buffers, Progress progress = {});

  std::unique_ptr<gfx950emu::WorkgroupObserver>
  workgroup(const gfx950emu::WorkgroupInfo &info) override;

  /// By address.
  const std::vector<BufferTraffic> &buffers() const { return sums; }
  uint64_t outsideBytes() const { return outside; }

private:
  class Workgroup;
  std::vector<BufferTraffic> sums;
  uint64_t outside = 0;
  uint64_t done = 0;
  Progress progress;
  std::mutex mutex;
};

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_TRAFFIC_H
