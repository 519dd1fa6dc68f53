//===- Launch.cpp - kernel launch and occupancy -----------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Execute.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <climits>
#include <cstring>

using namespace gfx950emu::hip;
using gfx950emu::KernelArg;
using gfx950emu::KernelInfo;

namespace {

bool isHidden(const KernelArg &arg) {
  return llvm::StringRef(arg.valueKind).starts_with("hidden_");
}

/// Bytes of the explicit arguments. Without metadata all of the segment counts as explicit.
uint32_t explicitBytes(const KernelInfo &kernel) {
  if (kernel.args.empty())
    return kernel.kernargBytes;
  uint32_t end = 0;
  for (const KernelArg &arg : kernel.args)
    if (!isHidden(arg))
      end = std::max(end, arg.offset + arg.size);
  return end;
}

/// One pointer an explicit argument, in metadata order.
hipError_t gatherParams(const KernelInfo &kernel, void **params, std::vector<uint8_t> &out) {
  if (kernel.args.empty() && kernel.kernargBytes != 0)
    return hipErrorInvalidValue; // without metadata the sizes are not known
  size_t index = 0;
  for (const KernelArg &arg : kernel.args) {
    if (isHidden(arg))
      continue;
    const void *value = params[index++];
    if (!value)
      return hipErrorInvalidValue;
    memcpy(out.data() + arg.offset, value, arg.size);
  }
  return hipSuccess;
}

/// A packed buffer in the key-value list that ends with HIP_LAUNCH_PARAM_END. ROCm wants pointer
/// and size in this order. It takes the size on trust; here it has to fit the kernel.
hipError_t gatherExtra(const KernelInfo &kernel, void **extra, std::vector<uint8_t> &out) {
  if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END || !extra[3])
    return hipErrorInvalidValue;
  size_t size = *static_cast<const size_t *>(extra[3]);
  // A C struct of the arguments may be padded at its end, and may cover the hidden arguments.
  size_t most = std::max<size_t>(kernel.kernargBytes, llvm::alignTo(out.size(), 16));
  if (size < out.size() || size > most || (!extra[1] && !out.empty()))
    return hipErrorInvalidValue;
  if (!out.empty())
    memcpy(out.data(), extra[1], out.size());
  return hipSuccess;
}

hipError_t checkGeometry(const KernelInfo &kernel, const std::array<uint32_t, 3> &grid,
                         const std::array<uint32_t, 3> &block, uint32_t ldsBytes) {
  constexpr uint32_t maxGridYZ = 65536;
  if (grid[0] > INT_MAX || grid[1] > maxGridYZ || grid[2] > maxGridYZ)
    return hipErrorInvalidValue;
  for (int i = 0; i < 3; ++i)
    if (uint64_t{grid[i]} * block[i] > UINT32_MAX)
      return hipErrorInvalidConfiguration;
  for (int i = 0; i < 3; ++i)
    if (grid[i] == 0 || block[i] == 0)
      return hipErrorInvalidValue;
  if (ldsBytes > ldsBytesPerWorkgroup)
    return hipErrorInvalidValue;
  // Each extent is checked first: the product of three may not fit 64 bits.
  for (uint32_t extent : block)
    if (extent > maxThreadsPerWorkgroup)
      return hipErrorInvalidValue;
  uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (threads > maxThreadsPerWorkgroup)
    return hipErrorInvalidValue;
  // What fits the device but not this kernel has codes of its own.
  if (threads > kernel.maxWorkgroup)
    return hipErrorLaunchFailure;
  if (uint64_t{ldsBytes} + kernel.ldsBytes > ldsBytesPerWorkgroup)
    return hipErrorOutOfMemory;
  return hipSuccess;
}

/// Workgroups of `threads` that one compute unit holds, limited by waves, registers and LDS.
int activeBlocks(const KernelInfo &kernel, int threads, size_t dynamicLds) {
  constexpr uint32_t simds = 4, wavesPerSimd = 8, vgprsPerSimd = 512, sgprsPerSimd = 800;
  if (threads > static_cast<int>(maxThreadsPerWorkgroup))
    return 0;
  uint32_t waves = wavesPerSimd;
  if (kernel.vgprs != 0)
    waves = std::min(waves, vgprsPerSimd / static_cast<uint32_t>(llvm::alignTo(kernel.vgprs, 8)));
  if (kernel.sgprs != 0)
    waves = std::min(waves, sgprsPerSimd / static_cast<uint32_t>(llvm::alignTo(kernel.sgprs, 16)));
  uint32_t blocks = simds * waves / llvm::divideCeil(static_cast<uint32_t>(threads), 64u);
  size_t lds = kernel.ldsBytes + dynamicLds;
  if (lds != 0)
    blocks = static_cast<uint32_t>(std::min<size_t>(blocks, ldsBytesPerWorkgroup / lds));
  return static_cast<int>(blocks);
}

hipError_t maxActiveBlocks(int *numBlocks, hipFunction_t handle, int blockSize, size_t dynamicLds,
                           unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (!numBlocks || blockSize <= 0 || flags != hipOccupancyDefault)
      return hipErrorInvalidValue;
    std::shared_ptr<Function> function = runtime.functions.find(handle);
    if (!function)
      return hipErrorInvalidDeviceFunction;
    *numBlocks = activeBlocks(*function->kernel, blockSize, dynamicLds);
    return hipSuccess;
  });
}

} // namespace

hipError_t hipModuleLaunchKernel(hipFunction_t handle, unsigned gridX, unsigned gridY,
                                 unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                                 unsigned sharedMemBytes, hipStream_t streamHandle,
                                 void **kernelParams, void **extra) {
  return apiCall([&](Runtime &runtime) {
    std::unique_lock lock(runtime.mutex);
    std::shared_ptr<Stream> stream = runtime.stream(streamHandle);
    if (!stream)
      return hipErrorInvalidValue;
    std::shared_ptr<Function> function = runtime.functions.find(handle);
    if (!function)
      return hipErrorInvalidHandle;
    if (kernelParams && extra)
      return hipErrorInvalidValue;
    const KernelInfo &kernel = *function->kernel;
    KernelOp operation;
    operation.module = function->module;
    operation.kernel = &kernel;
    operation.grid = {gridX, gridY, gridZ};
    operation.block = {blockX, blockY, blockZ};
    operation.dynamicLdsBytes = sharedMemBytes;
    if (hipError_t bad = checkGeometry(kernel, operation.grid, operation.block, sharedMemBytes);
        bad != hipSuccess)
      return bad;
    if (function->module->device != stream->device)
      return hipErrorInvalidDevice;

    operation.kernarg.resize(explicitBytes(kernel));
    if (!kernelParams && !extra && !operation.kernarg.empty())
      return hipErrorInvalidValue;
    if (hipError_t bad = extra          ? gatherExtra(kernel, extra, operation.kernarg)
                         : kernelParams ? gatherParams(kernel, kernelParams, operation.kernarg)
                                        : hipSuccess;
        bad != hipSuccess)
      return bad;
    return submit(runtime, *stream, std::move(operation), std::move(lock));
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f,
                                                              int blockSize,
                                                              size_t dynSharedMemPerBlk) {
  return maxActiveBlocks(numBlocks, f, blockSize, dynSharedMemPerBlk, hipOccupancyDefault);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned flags) {
  return maxActiveBlocks(numBlocks, f, blockSize, dynSharedMemPerBlk, flags);
}
