//===- Properties.cpp - what the emulated device says of itself -------------===//

#include "tools/gfx950emu/hip/Properties.h"
#include "tools/gfx950emu/hip/Api.h"

#include <climits>
#include <cstdio>
#include <cstring>

using namespace gfx950emu::hip;

namespace {

constexpr int wavefrontSize = 64;
constexpr int computeUnits = 256;
constexpr int threadsPerComputeUnit = 2048;
constexpr int registersPerComputeUnit = 4 * 512 * wavefrontSize; // 4 SIMDs of 512 VGPRs
constexpr int l2Bytes = 4 << 20;                                 // of one XCD, as ROCm reports it
constexpr int maxGridX = INT_MAX, maxGridYZ = 65536;
constexpr int clockKHz = 2'400'000, memoryClockKHz = 2'000'000, timerKHz = 100'000;

/// The members that both structures have, under the same names.
template <typename Prop> void fillCommon(Prop &prop, int device) {
  prop = {};
  snprintf(prop.name, sizeof prop.name, "%s", deviceName);
  snprintf(prop.gcnArchName, sizeof prop.gcnArchName, "%s", gcnArchName);
  prop.totalGlobalMem = deviceMemoryBytes;
  prop.sharedMemPerBlock = ldsBytesPerWorkgroup;
  prop.regsPerBlock = registersPerComputeUnit;
  prop.warpSize = wavefrontSize;
  prop.memPitch = INT_MAX;
  prop.maxThreadsPerBlock = maxThreadsPerWorkgroup;
  for (int &limit : prop.maxThreadsDim)
    limit = maxThreadsPerWorkgroup;
  prop.maxGridSize[0] = maxGridX;
  prop.maxGridSize[1] = prop.maxGridSize[2] = maxGridYZ;
  prop.clockRate = clockKHz;
  prop.memoryClockRate = memoryClockKHz;
  prop.memoryBusWidth = 8192;
  prop.totalConstMem = INT_MAX;
  prop.major = 9;
  prop.minor = 5;
  prop.multiProcessorCount = computeUnits;
  prop.l2CacheSize = l2Bytes;
  prop.maxThreadsPerMultiProcessor = threadsPerComputeUnit;
  prop.clockInstructionRate = timerKHz;
  prop.concurrentKernels = 1;
  prop.pciBusID = 1 + device;
  prop.maxSharedMemoryPerMultiProcessor = ldsBytesPerWorkgroup;
  prop.canMapHostMemory = 1;
  prop.textureAlignment = prop.texturePitchAlignment = 256;
  prop.ECCEnabled = 1;
  prop.isLargeBar = 1;
  hipDeviceArch_t &arch = prop.arch;
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = arch.hasSharedInt64Atomics = arch.hasDoubles = 1;
  arch.hasWarpVote = arch.hasWarpBallot = arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = arch.has3dGrid = 1;
}

DevicePropR0600 properties(int device) {
  DevicePropR0600 prop;
  fillCommon(prop, device);
  snprintf(prop.uuid, sizeof prop.uuid, "gfx950emu-%05d", device);
  prop.surfaceAlignment = 256;
  prop.unifiedAddressing = 1;
  prop.persistingL2CacheMaxSize = l2Bytes;
  prop.streamPrioritiesSupported = 1;
  prop.globalL1CacheSupported = prop.localL1CacheSupported = 1;
  prop.sharedMemPerMultiprocessor = ldsBytesPerWorkgroup;
  prop.regsPerMultiprocessor = registersPerComputeUnit;
  prop.sharedMemPerBlockOptin = ldsBytesPerWorkgroup;
  prop.maxBlocksPerMultiProcessor = threadsPerComputeUnit / maxThreadsPerWorkgroup;
  return prop;
}

template <typename Prop> hipError_t getProperties(Prop *prop, int device, auto &&fill) {
  return apiCall([&](Runtime &runtime) {
    if (!prop)
      return hipErrorInvalidValue;
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    fill();
    return hipSuccess;
  });
}

int saturate(size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

} // namespace

hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int deviceId) {
  return getProperties(prop, deviceId, [&] {
    fillCommon(*prop, deviceId);
    prop->gcnArch = 950;
  });
}

extern "C" __attribute__((visibility("default"))) hipError_t
hipGetDevicePropertiesR0600(DevicePropR0600 *prop, int deviceId);

hipError_t hipGetDevicePropertiesR0600(DevicePropR0600 *prop, int deviceId) {
  return getProperties(prop, deviceId, [&] { *prop = properties(deviceId); });
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
  return apiCall([&](Runtime &runtime) {
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    if (!major || !minor)
      return hipErrorInvalidValue;
    DevicePropR0600 prop = properties(device);
    *major = prop.major;
    *minor = prop.minor;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device) {
  return apiCall([&](Runtime &runtime) {
    if (!runtime.device(device))
      return hipErrorInvalidDevice;
    constexpr int length = sizeof "0000:00:00.0";
    if (!pciBusId || len < length)
      return hipErrorInvalidValue;
    DevicePropR0600 prop = properties(device);
    snprintf(pciBusId, static_cast<size_t>(len), "%04x:%02x:%02x.0", prop.pciDomainID,
             prop.pciBusID, prop.pciDeviceID);
    return hipSuccess;
  });
}

// The enumerators' values are the same in the headers of ROCm 5, 6 and 7.
static std::optional<int> attributeValue(int attribute, const DevicePropR0600 &prop) {
  switch (attribute) {
  case hipDeviceAttributeEccEnabled:
    return prop.ECCEnabled;
  case hipDeviceAttributeAsyncEngineCount:
  case hipDeviceAttributeDeviceOverlap:
    return prop.asyncEngineCount;
  case hipDeviceAttributeCanMapHostMemory:
    return prop.canMapHostMemory;
  case hipDeviceAttributeClockRate:
    return prop.clockRate;
  case hipDeviceAttributeComputeMode:
    return prop.computeMode;
  case hipDeviceAttributeConcurrentKernels:
    return prop.concurrentKernels;
  case hipDeviceAttributeCooperativeLaunch:
  case hipDeviceAttributeCooperativeMultiDeviceLaunch:
    return prop.cooperativeLaunch;
  case hipDeviceAttributeGlobalL1CacheSupported:
    return prop.globalL1CacheSupported;
  case hipDeviceAttributeIntegrated:
    return prop.integrated;
  case hipDeviceAttributeIsMultiGpuBoard:
    return prop.isMultiGpuBoard;
  case hipDeviceAttributeKernelExecTimeout:
    return prop.kernelExecTimeoutEnabled;
  case hipDeviceAttributeL2CacheSize:
    return prop.l2CacheSize;
  case hipDeviceAttributeLocalL1CacheSupported:
    return prop.localL1CacheSupported;
  case hipDeviceAttributeComputeCapabilityMajor:
    return prop.major;
  case hipDeviceAttributeComputeCapabilityMinor:
    return prop.minor;
  case hipDeviceAttributeManagedMemory:
  case hipDeviceAttributeConcurrentManagedAccess:
    return prop.managedMemory;
  case hipDeviceAttributeMaxBlocksPerMultiProcessor:
    return prop.maxBlocksPerMultiProcessor;
  case hipDeviceAttributeMaxBlockDimX:
    return prop.maxThreadsDim[0];
  case hipDeviceAttributeMaxBlockDimY:
    return prop.maxThreadsDim[1];
  case hipDeviceAttributeMaxBlockDimZ:
    return prop.maxThreadsDim[2];
  case hipDeviceAttributeMaxGridDimX:
    return prop.maxGridSize[0];
  case hipDeviceAttributeMaxGridDimY:
    return prop.maxGridSize[1];
  case hipDeviceAttributeMaxGridDimZ:
    return prop.maxGridSize[2];
  case hipDeviceAttributeMaxThreadsPerBlock:
    return prop.maxThreadsPerBlock;
  case hipDeviceAttributeMaxThreadsPerMultiProcessor:
    return prop.maxThreadsPerMultiProcessor;
  case hipDeviceAttributeMaxPitch:
    return saturate(prop.memPitch);
  case hipDeviceAttributeMemoryBusWidth:
    return prop.memoryBusWidth;
  case hipDeviceAttributeMemoryClockRate:
    return prop.memoryClockRate;
  case hipDeviceAttributeMultiprocessorCount:
  case hipDeviceAttributePhysicalMultiProcessorCount:
    return prop.multiProcessorCount;
  case hipDeviceAttributePageableMemoryAccess:
    return prop.pageableMemoryAccess;
  case hipDeviceAttributePciBusId:
    return prop.pciBusID;
  case hipDeviceAttributePciDeviceId:
    return prop.pciDeviceID;
  case hipDeviceAttributePciDomainID:
    return prop.pciDomainID;
  case hipDeviceAttributeMaxRegistersPerBlock:
    return prop.regsPerBlock;
  case hipDeviceAttributeMaxRegistersPerMultiprocessor:
    return prop.regsPerMultiprocessor;
  case hipDeviceAttributeReservedSharedMemPerBlock:
    return saturate(prop.reservedSharedMemPerBlock);
  case hipDeviceAttributeMaxSharedMemoryPerBlock:
    return saturate(prop.sharedMemPerBlock);
  case hipDeviceAttributeSharedMemPerBlockOptin:
    return saturate(prop.sharedMemPerBlockOptin);
  case hipDeviceAttributeSharedMemPerMultiprocessor:
    return saturate(prop.sharedMemPerMultiprocessor);
  case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    return saturate(prop.maxSharedMemoryPerMultiProcessor);
  case hipDeviceAttributeStreamPrioritiesSupported:
    return prop.streamPrioritiesSupported;
  case hipDeviceAttributeTextureAlignment:
    return saturate(prop.textureAlignment);
  case hipDeviceAttributeTexturePitchAlignment:
    return saturate(prop.texturePitchAlignment);
  case hipDeviceAttributeTotalConstantMemory:
    return saturate(prop.totalConstMem);
  case hipDeviceAttributeTotalGlobalMem:
    return saturate(prop.totalGlobalMem);
  case hipDeviceAttributeUnifiedAddressing:
    return prop.unifiedAddressing;
  case hipDeviceAttributeWarpSize:
    return prop.warpSize;
  case hipDeviceAttributeMemoryPoolsSupported:
  case hipDeviceAttributeCanUseStreamWaitValue:
  case hipDeviceAttributeImageSupport:
    return 0;
  case hipDeviceAttributeClockInstructionRate:
    return prop.clockInstructionRate;
  case hipDeviceAttributeIsLargeBar:
    return prop.isLargeBar;
  case hipDeviceAttributeAsicRevision:
    return prop.asicRevision;
  default:
    return std::nullopt;
  }
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int deviceId) {
  return apiCall([&](Runtime &runtime) {
    if (!value)
      return hipErrorInvalidValue;
    if (!runtime.device(deviceId))
      return hipErrorInvalidDevice;
    std::optional<int> known = attributeValue(rawValue(attribute), properties(deviceId));
    if (!known)
      return hipErrorInvalidValue;
    *value = *known;
    return hipSuccess;
  });
}
