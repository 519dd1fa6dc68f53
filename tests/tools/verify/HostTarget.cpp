//===- HostTarget.cpp - device memory that is host memory -------------------===//
//
// Owns: what HostTarget.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/HostTarget.h"

#include <cstring>

namespace fake {

using nvfp4rt::Result;

Result<void *> HostTarget::allocate(uint64_t bytes) {
  if (bytes > largest)
    return nvfp4rt::fail(NVFP4RT_ERROR_OUT_OF_MEMORY, "fake device is full");
  auto buffer = verify::LazyBuffer::reserve(bytes);
  if (!buffer)
    return tl::unexpected(std::move(buffer.error()));
  void *address = buffer->data();
  memory.emplace(address, std::move(*buffer));
  return address;
}

void HostTarget::release(void *device) { memory.erase(device); }

Result<void> HostTarget::write(void *device, const void *host, uint64_t bytes) {
  std::memcpy(device, host, bytes);
  return {};
}

Result<void> HostTarget::read(void *host, const void *device, uint64_t bytes) {
  std::memcpy(host, device, bytes);
  return {};
}

} // namespace fake
