//===- Module.cpp - modules and functions -----------------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Execute.h"
#include "tools/gfx950emu/hip/Image.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace gfx950emu::hip;
using gfx950emu::CodeObject;
using gfx950emu::KernelInfo;

namespace {

hipError_t loadModule(Runtime &runtime, ImageSource &source, hipModule_t *out) {
  thisThread().lastFault.clear();
  llvm::Expected<std::vector<uint8_t>> image = extractCodeObject(source);
  if (!image) {
    hipError_t code = hipErrorInvalidImage;
    handleAllErrors(image.takeError(), [&](const ImageError &error) {
      thisThread().lastFault = error.text;
      code = error.code;
    });
    return code;
  }
  auto module = std::make_shared<Module>();
  module->device = &runtime.currentDevice();
  llvm::Expected<std::unique_ptr<CodeObject>> object =
      CodeObject::load(*image, module->device->memory);
  if (!object)
    return reportFault(object.takeError());
  module->object = std::move(*object);
  std::lock_guard lock(runtime.mutex);
  *out = runtime.modules.insert(std::move(module));
  return hipSuccess;
}

hipError_t loadData(hipModule_t *module, const void *image) {
  return apiCall([&](Runtime &runtime) {
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = refuseUnsafeCall(runtime); refused != hipSuccess)
        return refused;
    }
    if (!module || !image)
      return hipErrorInvalidValue;
    AddressSource source(image);
    return loadModule(runtime, source, module);
  });
}

/// The function behind a handle. hipFuncGetAttributes names it by the address of a host stub, of
/// which a process without compiled-in kernels has none; the handle itself is accepted there.
std::shared_ptr<Function> find(Runtime &runtime, const void *handle) {
  return runtime.functions.find(static_cast<hipFunction_t>(const_cast<void *>(handle)));
}

int maxDynamicLds(const KernelInfo &kernel) {
  return static_cast<int>(ldsBytesPerWorkgroup - kernel.ldsBytes);
}

constexpr int isaVersion = 95; // 10 * major + minor

} // namespace

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  return loadData(module, image);
}

// As in ROCm, there is nothing to compile and the options mean nothing.
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, hipJitOption *,
                               void **) {
  return loadData(module, image);
}

hipError_t hipModuleLoad(hipModule_t *module, const char *fname) {
  return apiCall([&](Runtime &runtime) {
    {
      std::lock_guard lock(runtime.mutex);
      if (hipError_t refused = refuseUnsafeCall(runtime); refused != hipSuccess)
        return refused;
    }
    if (!module || !fname)
      return hipErrorInvalidValue;
    auto file = llvm::MemoryBuffer::getFile(fname, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return hipErrorFileNotFound;
    if ((*file)->getBufferSize() == 0)
      return hipErrorInvalidValue;
    BufferSource source(llvm::arrayRefFromStringRef((*file)->getBuffer()));
    return loadModule(runtime, source, module);
  });
}

hipError_t hipModuleUnload(hipModule_t handle) {
  return apiCall([&](Runtime &runtime) {
    if (!handle)
      return hipErrorInvalidHandle;
    // Freed after the mutex is released: by this, or by the last work or graph that needs it.
    std::shared_ptr<Module> module;
    std::lock_guard lock(runtime.mutex);
    module = runtime.modules.erase(handle);
    if (!module)
      return hipErrorNotFound;
    module->unloaded = true;
    for (const auto &[name, function] : module->functions)
      runtime.functions.erase(function);
    return hipSuccess;
  });
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t handle, const char *kname) {
  return lockedCall([&](Runtime &runtime) {
    if (!function || !kname || !*kname)
      return hipErrorInvalidValue;
    if (!handle)
      return hipErrorInvalidHandle;
    std::shared_ptr<Module> module = runtime.modules.find(handle);
    // ROCm looks a function up only on the device that its module was loaded for.
    if (!module || module->device != &runtime.currentDevice())
      return hipErrorNotFound;
    auto known = module->functions.find(kname);
    if (known == module->functions.end()) {
      const KernelInfo *kernel = module->object->find(kname);
      if (!kernel)
        return hipErrorNotFound;
      hipFunction_t made =
          runtime.functions.insert(std::make_shared<Function>(Function{module, kernel}));
      known = module->functions.emplace(kname, made).first;
    }
    *function = known->second;
    return hipSuccess;
  });
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t handle) {
  return lockedCall([&](Runtime &runtime) {
    if (!value)
      return hipErrorInvalidValue;
    std::shared_ptr<Function> function = find(runtime, handle);
    if (!function)
      return hipErrorInvalidHandle;
    const KernelInfo &kernel = *function->kernel;
    switch (rawValue(attribute)) {
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel.ldsBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(kernel.maxWorkgroup);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(kernel.scratchBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(kernel.vgprs);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = isaVersion;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = maxDynamicLds(kernel);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = 0;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *func) {
  return lockedCall([&](Runtime &runtime) {
    if (!attributes)
      return hipErrorInvalidValue;
    std::shared_ptr<Function> function = find(runtime, func);
    if (!function)
      return hipErrorInvalidDeviceFunction;
    const KernelInfo &kernel = *function->kernel;
    *attributes = {};
    attributes->binaryVersion = attributes->ptxVersion = isaVersion;
    attributes->localSizeBytes = kernel.scratchBytes;
    attributes->maxDynamicSharedSizeBytes = maxDynamicLds(kernel);
    attributes->maxThreadsPerBlock = static_cast<int>(kernel.maxWorkgroup);
    attributes->numRegs = static_cast<int>(kernel.vgprs);
    attributes->sharedSizeBytes = kernel.ldsBytes;
    return hipSuccess;
  });
}
