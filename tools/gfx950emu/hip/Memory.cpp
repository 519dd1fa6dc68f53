//===- Memory.cpp - device and pinned host memory ---------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"

#include "llvm/Support/MathExtras.h"

using namespace gfx950emu::hip;
using gfx950emu::MemoryMap;

namespace {

constexpr uint64_t pageBytes = 4096; ///< granule of the device memory account

uint64_t accountedBytes(uint64_t bytes) { return llvm::alignTo(bytes, pageBytes); }

/// Call `action(MemoryMap &)` for every map beside the owner's in which the allocation shows.
template <typename Action>
void forSharingDevices(Runtime &runtime, const Allocation &allocation, Action action) {
  for (auto &device : runtime.devices)
    if (allocation.host || device->peers[allocation.device->id])
      action(device->memory);
}

MemoryMap &ownerMap(Runtime &runtime, const Allocation &allocation) {
  return allocation.host ? runtime.hostMemory : allocation.device->memory;
}

/// Let `map` reach an allocation of another one.
void share(Runtime &runtime, const Allocation &allocation, MemoryMap &map) {
  std::optional<MemoryMap::Region> region = ownerMap(runtime, allocation).find(allocation.base);
  map.add(allocation.base, allocation.bytes, /*writable=*/true, region ? region->defined : nullptr);
}

hipError_t allocate(void **ptr, size_t bytes, bool host, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (hipError_t refused = refuseUnsafeCall(runtime); refused != hipSuccess)
      return refused;
    if (!ptr)
      return hipErrorInvalidValue;
    *ptr = nullptr;
    if (bytes == 0)
      return hipSuccess;
    Device &device = runtime.currentDevice();
    if (!host &&
        (bytes > deviceMemoryBytes || accountedBytes(bytes) > deviceMemoryBytes - device.usedBytes))
      return hipErrorOutOfMemory;
    Allocation allocation{0, bytes, &device, host, flags};
    void *base = ownerMap(runtime, allocation).allocate(bytes);
    if (!base)
      return hipErrorOutOfMemory;
    allocation.base = reinterpret_cast<uint64_t>(base);
    runtime.allocations.emplace(allocation.base, allocation);
    forSharingDevices(runtime, allocation,
                      [&](MemoryMap &map) { share(runtime, allocation, map); });
    if (!host)
      device.usedBytes += accountedBytes(bytes);
    *ptr = base;
    return hipSuccess;
  });
}

/// ROCm frees host and device memory through either function.
hipError_t release(void *ptr) {
  return apiCall([&](Runtime &runtime) {
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = refuseUnsafeCall(runtime); refused != hipSuccess)
        return refused;
    }
    if (!ptr)
      return hipSuccess;
    std::lock_guard alone(runtime.gate);
    std::lock_guard lock(runtime.mutex);
    auto it = runtime.allocations.find(reinterpret_cast<uint64_t>(ptr));
    if (it == runtime.allocations.end())
      return hipErrorInvalidValue;
    Allocation allocation = it->second;
    runtime.allocations.erase(it);
    forSharingDevices(runtime, allocation, [&](MemoryMap &map) { map.remove(allocation.base); });
    ownerMap(runtime, allocation).release(ptr);
    if (!allocation.host)
      allocation.device->usedBytes -= accountedBytes(allocation.bytes);
    return hipSuccess;
  });
}

} // namespace

hipError_t hipMalloc(void **ptr, size_t size) {
  return allocate(ptr, size, /*host=*/false, hipDeviceMallocDefault);
}

hipError_t hipFree(void *ptr) { return release(ptr); }

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned flags) {
  constexpr unsigned coherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
  constexpr unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                             hipHostMallocWriteCombined | hipHostMallocNumaUser | coherence;
  if ((flags & ~known) || (flags & coherence) == coherence)
    return remember(hipErrorInvalidValue);
  return allocate(ptr, size, /*host=*/true, flags);
}

hipError_t hipHostFree(void *ptr) { return release(ptr); }

hipError_t hipHostGetDevicePointer(void **devPtr, void *hostPtr, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (!devPtr || !hostPtr || flags != 0)
      return hipErrorInvalidValue;
    *devPtr = nullptr;
    const Allocation *allocation = runtime.allocationOf(hostPtr);
    if (!allocation || !allocation->host)
      return hipErrorInvalidValue;
    *devPtr = hostPtr;
    return hipSuccess;
  });
}

hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  return lockedCall([&](Runtime &runtime) {
    if (free)
      *free = deviceMemoryBytes - runtime.currentDevice().usedBytes;
    if (total)
      *total = deviceMemoryBytes;
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t ptr) {
  return lockedCall([&](Runtime &runtime) {
    const Allocation *allocation = runtime.allocationOf(ptr);
    if (!allocation)
      return hipErrorNotFound;
    if (base)
      *base = std::bit_cast<hipDeviceptr_t>(allocation->base);
    if (size)
      *size = allocation->bytes;
    return hipSuccess;
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr) {
  return lockedCall([&](Runtime &runtime) {
    if (!attributes || !ptr)
      return hipErrorInvalidValue;
    *attributes = {};
    const Allocation *allocation = runtime.allocationOf(ptr);
    if (!allocation)
      return hipErrorInvalidValue;
    attributes->memoryType = allocation->host ? hipMemoryTypeHost : hipMemoryTypeDevice;
    attributes->device = allocation->device->id;
    attributes->devicePointer = const_cast<void *>(ptr);
    attributes->hostPointer = allocation->host ? const_cast<void *>(ptr) : nullptr;
    attributes->allocationFlags = allocation->flags;
    return hipSuccess;
  });
}
