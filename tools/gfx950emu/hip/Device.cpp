//===- Device.cpp - initialisation, device selection and peer access --------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Properties.h"

#include <cstdio>

using namespace gfx950emu::hip;

hipError_t hipInit(unsigned flags) {
  return apiCall([&](Runtime &) { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

// The version of the headers whose ABI this library has.
static hipError_t version(int *out) {
  return apiCall([&](Runtime &) {
    if (!out)
      return hipErrorInvalidValue;
    *out = HIP_VERSION;
    return hipSuccess;
  });
}

hipError_t hipDriverGetVersion(int *driverVersion) { return version(driverVersion); }
hipError_t hipRuntimeGetVersion(int *runtimeVersion) { return version(runtimeVersion); }

hipError_t hipGetDeviceCount(int *count) {
  return apiCall([&](Runtime &runtime) {
    if (!count)
      return hipErrorInvalidValue;
    *count = static_cast<int>(runtime.devices.size());
    return hipSuccess;
  });
}

hipError_t hipSetDevice(int deviceId) {
  return apiCall([&](Runtime &runtime) {
    if (!runtime.device(deviceId))
      return hipErrorInvalidDevice;
    thisThread().device = deviceId;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int *deviceId) {
  return apiCall([&](Runtime &) {
    if (!deviceId)
      return hipErrorInvalidValue;
    *deviceId = thisThread().device;
    return hipSuccess;
  });
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  return apiCall([&](Runtime &runtime) {
    if (!device)
      return hipErrorInvalidValue;
    if (!runtime.device(ordinal))
      return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device) {
  return apiCall([&](Runtime &runtime) {
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    if (!name || len <= 0)
      return hipErrorInvalidValue;
    snprintf(name, static_cast<size_t>(len), "%s", deviceName);
    return hipSuccess;
  });
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
  return apiCall([&](Runtime &runtime) {
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    if (!bytes)
      return hipErrorInvalidValue;
    *bytes = deviceMemoryBytes;
    return hipSuccess;
  });
}

hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId) {
  return apiCall([&](Runtime &runtime) {
    if (!canAccessPeer)
      return hipErrorInvalidValue;
    if (!runtime.device(deviceId) || !runtime.device(peerDeviceId))
      return hipErrorInvalidDevice;
    *canAccessPeer = deviceId != peerDeviceId;
    return hipSuccess;
  });
}

hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (flags != 0)
      return hipErrorInvalidValue;
    Device &device = runtime.currentDevice();
    if (!runtime.device(peerDeviceId) || peerDeviceId == device.id)
      return hipErrorInvalidDevice;
    if (device.peers[peerDeviceId])
      return hipErrorPeerAccessAlreadyEnabled;
    device.peers[peerDeviceId] = true;
    for (auto &[base, allocation] : runtime.allocations)
      if (!allocation.host && allocation.device->id == peerDeviceId)
        device.memory.add(base, allocation.bytes, /*writable=*/true,
                          allocation.device->memory.find(base)->defined);
    return hipSuccess;
  });
}

hipError_t hipDeviceDisablePeerAccess(int peerDeviceId) {
  return apiCall([&](Runtime &runtime) {
    std::lock_guard alone(runtime.gate);
    std::lock_guard lock(runtime.mutex);
    Device &device = runtime.currentDevice();
    if (!runtime.device(peerDeviceId) || peerDeviceId == device.id)
      return hipErrorInvalidDevice;
    if (!device.peers[peerDeviceId])
      return hipErrorPeerAccessNotEnabled;
    device.peers[peerDeviceId] = false;
    for (auto &[base, allocation] : runtime.allocations)
      if (!allocation.host && allocation.device->id == peerDeviceId)
        device.memory.remove(base);
    return hipSuccess;
  });
}
