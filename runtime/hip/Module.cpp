//===- Module.cpp - a bundle's kernels on one device ------------------------===//
//
// See Module.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/Module.h"

#include <fmt/format.h>
#include <map>

namespace nvfp4rt {
namespace {

/// Run `body` with `device` current, then make the device that was current before current again.
template <typename Body> Result<void> onDevice(const HipApi &hip, int device, Body body) {
  int before = 0;
  if (Result<void> ok = hip.check(hip.hipGetDevice(&before), "hipGetDevice"); !ok)
    return ok;
  if (Result<void> ok = hip.check(hip.hipSetDevice(device), "hipSetDevice"); !ok)
    return ok;
  Result<void> result = body();
  Result<void> restored = hip.check(hip.hipSetDevice(before), "hipSetDevice");
  return result ? restored : result;
}

Result<void> checkDevice(const HipApi &hip, const Bundle &bundle, int device) {
  int count = 0;
  if (Result<void> ok = hip.check(hip.hipGetDeviceCount(&count), "hipGetDeviceCount"); !ok)
    return ok;
  if (device < 0 || device >= count)
    return fail(NVFP4RT_ERROR_NO_DEVICE, fmt::format("device: expected one of the {} that {} "
                                                     "reports, found {}",
                                                     count, hip.library, device));
  const Result<std::string> arch = hip.archName(device);
  if (!arch)
    return tl::unexpected(arch.error());
  if (*arch != bundle.manifest().arch)
    return fail(NVFP4RT_ERROR_WRONG_ARCH, fmt::format("architecture of device {}: expected {}, "
                                                      "found {}",
                                                      device, bundle.manifest().arch, *arch));
  return {};
}

} // namespace

Result<std::unique_ptr<Module>> Module::load(const HipApi &hip, const Bundle &bundle, int device) {
  std::unique_ptr<Module> module(new Module(hip, device));
  Result<void> ok = checkDevice(hip, bundle, device);
  if (ok)
    ok = onDevice(hip, device, [&] { return module->loadOnCurrentDevice(bundle); });
  if (!ok)
    return fail(ok.error().code, fmt::format("bundle {}: {}", bundle.name(), ok.error().message));
  return module;
}

Result<void> Module::loadOnCurrentDevice(const Bundle &bundle) {
  std::map<const uint8_t *, void *> loaded; // by the address of the code object
  for (size_t i = 0; i < bundle.manifest().kernels.size(); ++i) {
    const std::string &symbol = bundle.manifest().kernels[i].symbol;
    const auto [module, isNew] = loaded.emplace(bundle.image(i).data(), nullptr);
    if (isNew) {
      if (Result<void> ok = hip_.check(
              hip_.hipModuleLoadData(&module->second, bundle.image(i).data()), "hipModuleLoadData");
          !ok)
        return ok;
      handles_.push_back(module->second);
    }
    void *function = nullptr;
    if (Result<void> ok =
            hip_.check(hip_.hipModuleGetFunction(&function, module->second, symbol.c_str()),
                       fmt::format("hipModuleGetFunction of {}", symbol));
        !ok)
      return ok;
    functions_.push_back(function);
  }
  return {};
}

Result<void> Module::unload() {
  const std::vector<void *> handles = std::exchange(handles_, {});
  if (handles.empty())
    return {};
  bool tried = false;
  const auto unloadNow = [&] {
    tried = true;
    Result<void> result;
    for (void *handle : handles)
      if (Result<void> ok = hip_.check(hip_.hipModuleUnload(handle), "hipModuleUnload");
          !ok && result)
        result = std::move(ok);
    return result;
  };
  Result<void> result = onDevice(hip_, device_, unloadNow);
  // A handle names its device. Where the device cannot be made current, the modules still go.
  if (!tried)
    (void)unloadNow();
  return result;
}

Module::~Module() { (void)unload(); }

} // namespace nvfp4rt
