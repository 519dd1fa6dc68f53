//===- BundleApi.cpp - the life of a bundle in the C interface --------------===//
//
// Open, load, freeze, close.
//
//===------------------------------------------------------------------------===//
#include "runtime/api/Guarded.h"
#include "runtime/api/Handles.h"
#include "runtime/support/Log.h"

#include <fmt/format.h>

using namespace nvfp4rt;

namespace {

/// Open with `open`, under the settings of the environment.
template <typename Open> Result<void> openBundle(Open open, nvfp4rt_bundle **bundle) {
  *bundle = nullptr;
  const Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return tl::unexpected(settings.error());
  logLevel.store(settings->log, std::memory_order_relaxed);
  Result<Bundle> opened = open();
  if (!opened)
    return tl::unexpected(std::move(opened.error()));
  *bundle = new nvfp4rt_bundle{.bundle = std::move(*opened), .settings = *settings};
  log(LogLevel::Info, [&] {
    const Manifest &manifest = (*bundle)->bundle.manifest();
    return fmt::format("bundle {}: opened: {} variants of {} kernels, build {}{}",
                       (*bundle)->bundle.name(), manifest.variants.size(), manifest.kernels.size(),
                       manifest.buildId, settings->check ? "; launches are checked" : "");
  });
  return {};
}

bool isLoaded(const nvfp4rt_bundle &bundle, int device) {
  for (const std::unique_ptr<Module> &module : bundle.modules)
    if (module->device() == device)
      return true;
  return false;
}

/// Plans and selectors that are alive.
uint64_t users(const nvfp4rt_bundle &bundle) {
  uint64_t count = bundle.selectors.load(std::memory_order_acquire);
  if (bundle.frozen)
    for (const nvfp4rt_plan &plan : bundle.frozen->plans)
      count += plan.live.load(std::memory_order_acquire);
  return count;
}

} // namespace

extern "C" {

nvfp4rt_status nvfp4rt_bundle_open_file(const char *path, nvfp4rt_bundle **bundle) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!path)
      return nullArgument(function, "path");
    if (!bundle)
      return nullArgument(function, "bundle");
    return openBundle([&] { return Bundle::openPath(path); }, bundle);
  });
}

nvfp4rt_status nvfp4rt_bundle_open_memory(const void *data, size_t size, nvfp4rt_bundle **bundle) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!data)
      return nullArgument(function, "data");
    if (!bundle)
      return nullArgument(function, "bundle");
    const auto open = [&]() -> Result<Bundle> {
      std::string name = fmt::format("in memory ({} bytes)", size);
      if (size > kMaxFileBytes) // refused before it is copied
        return fail(NVFP4RT_ERROR_BAD_ELF,
                    fmt::format("bundle {}: expected at most {} bytes, found {}", name,
                                kMaxFileBytes, size));
      const auto *bytes = static_cast<const uint8_t *>(data);
      return Bundle::open({bytes, bytes + size}, std::move(name));
    };
    return openBundle(open, bundle);
  });
}

nvfp4rt_status nvfp4rt_bundle_load(nvfp4rt_bundle *bundle, int device) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (bundle->frozen)
      return fail(NVFP4RT_ERROR_FROZEN,
                  fmt::format("bundle {}: load on device {}: expected a bundle that is not frozen, "
                              "found it frozen",
                              bundle->bundle.name(), device));
    if (isLoaded(*bundle, device))
      return {};
    if (!bundle->hip) {
      Result<HipApi> hip = HipApi::load();
      if (!hip)
        return tl::unexpected(std::move(hip.error()));
      bundle->hip = std::move(*hip);
      log(LogLevel::Info, [&] {
        return fmt::format("bundle {}: HIP library {}", bundle->bundle.name(),
                           bundle->hip->library);
      });
    }
    Result<std::unique_ptr<Module>> module = Module::load(*bundle->hip, bundle->bundle, device);
    if (!module)
      return tl::unexpected(std::move(module.error()));
    bundle->modules.push_back(std::move(*module));
    log(LogLevel::Info, [&] {
      return fmt::format("bundle {}: loaded on device {}", bundle->bundle.name(), device);
    });
    return {};
  });
}

nvfp4rt_status nvfp4rt_bundle_freeze(nvfp4rt_bundle *bundle) {
  return guarded(__func__, [&](std::string_view function) -> Result<void> {
    if (!bundle)
      return nullArgument(function, "bundle");
    if (bundle->frozen)
      return {};
    if (bundle->modules.empty())
      return fail(NVFP4RT_ERROR_NO_DEVICE,
                  fmt::format("bundle {}: freeze: expected it loaded on a device at least, found "
                              "none",
                              bundle->bundle.name()));
    const std::vector<Variant> &variants = bundle->bundle.manifest().variants;
    auto frozen = std::make_unique<Frozen>(variants);
    for (const std::unique_ptr<Module> &module : bundle->modules) {
      frozen->devices.push_back(module->device());
      for (const Variant &variant : variants)
        frozen->plans.emplace_back(Plan(bundle->bundle, *module, variant, bundle->settings));
    }
    bundle->frozen = std::move(frozen);
    log(LogLevel::Info, [&] {
      return fmt::format("bundle {}: frozen: {} plans on {} devices", bundle->bundle.name(),
                         bundle->frozen->plans.size(), bundle->frozen->devices.size());
    });
    return {};
  });
}

nvfp4rt_status nvfp4rt_bundle_close(nvfp4rt_bundle *bundle) {
  return guarded(__func__, [&](std::string_view) -> Result<void> {
    if (!bundle)
      return {};
    if (const uint64_t count = users(*bundle))
      return fail(NVFP4RT_ERROR_IN_USE,
                  fmt::format("bundle {}: close: expected no plan or selector alive, found {}",
                              bundle->bundle.name(), count));
    const std::unique_ptr<nvfp4rt_bundle> owner(bundle);
    Result<void> result;
    for (const std::unique_ptr<Module> &module : bundle->modules)
      if (Result<void> ok = module->unload(); !ok)
        result = std::move(ok);
    log(LogLevel::Info, [&] { return fmt::format("bundle {}: closed", bundle->bundle.name()); });
    return result;
  });
}

} // extern "C"
