//===- FakeHip.h - what the fake HIP libraries record -----------------------===//
//
// A test finds this state in the loaded library under the name kFakeHipState.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_TESTS_RUNTIME_FAKEHIP_H
#define NVFP4_TESTS_RUNTIME_FAKEHIP_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvfp4rt::test {

struct FakeLaunch {
  std::string kernel;
  void *function = nullptr; ///< HIP's handle
  int device = 0;           ///< current device of the launching thread
  unsigned grid[3] = {}, block[3] = {};
  unsigned sharedBytes = 0;
  void *stream = nullptr;
  std::vector<uint8_t> args;
};

struct FakeHipState {
  // Set by the test.
  int deviceCount = 2;
  std::string arch[2] = {"gfx950:sramecc+:xnack-", "gfx942"};
  std::string failingCall; ///< this function returns error 999
  size_t failAt = 0;       ///< so does the call with this number, counted from 1
  bool recordLaunches = true;
  // Recorded.
  std::vector<std::string> calls; ///< all but launches, in order
  size_t number = 0;              ///< of calls, launches included
  std::vector<FakeLaunch> launches;
  int currentDevice = 0;
  size_t loadedModules = 0, functions = 0; ///< handles that are alive
  std::vector<uint8_t> image;              ///< first bytes of the module that was loaded last
};

/// A function without arguments that returns FakeHipState *.
inline constexpr const char *kFakeHipState = "fakeHipState";

// HIP's property structs up to the architecture name, with members of one size folded together:
// the field lists of hip_runtime_api.h of HIP 5 and HIP 6. Written out so that the offsets in
// HipApi.h are held against something else than themselves.
struct PropertiesR0000 {
  char name[256];
  size_t memory[2];              // totalGlobalMem, sharedMemPerBlock
  int limits[2 + 1 + 3 + 3 + 3]; // regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim,
                                 // maxGridSize, clockRate, memoryClockRate, memoryBusWidth
  size_t totalConstMem;
  int versions[7]; // major .. clockInstructionRate
  unsigned arch;   // hipDeviceArch_t
  int bus[4];      // concurrentKernels, pciDomainID, pciBusID, pciDeviceID
  size_t maxSharedMemoryPerMultiProcessor;
  int flags[3]; // isMultiGpuBoard, canMapHostMemory, gcnArch
  char gcnArchName[256];
  char rest[140];
};

struct PropertiesR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t memory[2]; // totalGlobalMem, sharedMemPerBlock
  int registers[2]; // regsPerBlock, warpSize
  size_t memPitch;
  int limits[1 + 3 + 3 + 1]; // maxThreadsPerBlock, maxThreadsDim, maxGridSize, clockRate
  size_t totalConstMem;
  int version[2];             // major, minor
  size_t textureAlignment[2]; // textureAlignment, texturePitchAlignment
  int features[6];            // deviceOverlap .. computeMode
  int textures[26];           // maxTexture1D .. maxTextureCubemapLayered
  int surfaces[14];           // maxSurface1D .. maxSurfaceCubemapLayered
  size_t surfaceAlignment;
  int device[16]; // concurrentKernels .. localL1CacheSupported
  size_t sharedMemPerMultiprocessor;
  int memoryFeatures[12]; // regsPerMultiprocessor .. cooperativeMultiDeviceLaunch
  size_t sharedMemPerBlockOptin;
  int access[4]; // pageableMemoryAccessUsesHostPageTables .. accessPolicyMaxWindow
  size_t reservedSharedMemPerBlock;
  int support[13];       // hostRegisterSupported .. unifiedFunctionPointers
  int reserved[63 + 32]; // reserved, hipReserved
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch;
  void *flush[2];     // hdpMemFlushCntl, hdpRegFlushCntl
  int cooperative[6]; // cooperativeMultiDeviceUnmatchedFunc .. asicRevision
};

} // namespace nvfp4rt::test

#endif // NVFP4_TESTS_RUNTIME_FAKEHIP_H
