//===- HostTarget.h - device memory that is host memory ---------------------===//
//
// Owns: the memory half of the fake targets.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TESTS_TOOLS_VERIFY_HOSTTARGET_H
#define NVFP4GEN_TESTS_TOOLS_VERIFY_HOSTTARGET_H

#include "tools/verify/Image.h"
#include "tools/verify/Target.h"

#include <cstdint>
#include <map>
#include <string>

namespace fake {

class HostTarget : public verify::Target {
public:
  /// Allocations above `largest` bytes fail.
  explicit HostTarget(uint64_t largest) : largest(largest) {}

  std::string description() const override { return "fake device"; }
  nvfp4rt::Result<void *> allocate(uint64_t bytes) override;
  void release(void *device) override;
  nvfp4rt::Result<void> write(void *device, const void *host, uint64_t bytes) override;
  nvfp4rt::Result<void> read(void *host, const void *device, uint64_t bytes) override;

  size_t liveAllocations() const { return memory.size(); }

private:
  uint64_t largest;
  std::map<void *, verify::LazyBuffer> memory;
};

} // namespace fake

#endif // NVFP4GEN_TESTS_TOOLS_VERIFY_HOSTTARGET_H
