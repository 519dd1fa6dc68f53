//===- Properties.h - what the emulated device says of itself ---------------===//
//
// Owns the properties of an MI355X as ROCm reports them, and the layout of the
// structure that hipGetDevicePropertiesR0600 fills (ROCm 6 and later; the headers
// this library is compiled against have only the older one).
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_PROPERTIES_H
#define GFX950EMU_HIP_PROPERTIES_H

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace gfx950emu::hip {

/// Says that it is emulated, so that nobody takes a number measured here for a device's.
inline constexpr char deviceName[] = "AMD Instinct MI355X (gfx950emu)";
inline constexpr char gcnArchName[] = "gfx950:sramecc+:xnack-";

/// hipDeviceProp_tR0600. Runs of members that the emulator leaves zero are one array each.
struct DevicePropR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int texturesAndSurfaces[40]; ///< maxTexture1D ... maxSurfaceCubemapLayered
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int furtherSupport[12]; ///< sparseHipArraySupported ... unifiedFunctionPointers
  int reserved[63 + 32];  ///< reserved, hipReserved
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  hipDeviceArch_t arch;
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
};
static_assert(offsetof(DevicePropR0600, multiProcessorCount) == 388);
static_assert(offsetof(DevicePropR0600, surfaceAlignment) == 568);
static_assert(offsetof(DevicePropR0600, sharedMemPerMultiprocessor) == 640);
static_assert(offsetof(DevicePropR0600, sharedMemPerBlockOptin) == 696);
static_assert(offsetof(DevicePropR0600, reserved) == 780);
static_assert(offsetof(DevicePropR0600, gcnArchName) == 1160);
static_assert(offsetof(DevicePropR0600, maxSharedMemoryPerMultiProcessor) == 1416);
static_assert(offsetof(DevicePropR0600, asicRevision) == 1468);
static_assert(sizeof(DevicePropR0600) == 1472);
static_assert(sizeof(hipDeviceProp_t) == 792, "hipDeviceProp_tR0000 of the newer headers");

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_PROPERTIES_H
