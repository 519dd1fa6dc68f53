//===- HipTarget.cpp - verified kernels on HIP ------------------------------===//
//
// Owns: what HipTarget.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/HipTarget.h"

#include "runtime/hip/HipApi.h"
#include "runtime/include/nvfp4rt.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

namespace verify {

using nvfp4rt::Error;
using nvfp4rt::Result;

namespace {

/// hipErrorOutOfMemory of HIP's headers.
constexpr int kErrorOutOfMemory = 2;

struct CloseBundle {
  void operator()(nvfp4rt_bundle *bundle) const { nvfp4rt_bundle_close(bundle); }
};
struct DestroyPlan {
  void operator()(nvfp4rt_plan *plan) const { nvfp4rt_plan_destroy(plan); }
};

/// gfx950emu_last_fault() of the emulator's library, null of any other. HIP libraries stay loaded
/// (see HipApi.h), so what this opens is never closed.
using LastFault = const char *();
LastFault *lastFaultOf(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<LastFault *>(dlsym(handle, "gfx950emu_last_fault")) : nullptr;
}

/// The first line of what the emulator said of the last launch, with the number of further ones;
/// all of them went to stderr.
std::string firstLine(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos)
    return std::string(text);
  return fmt::format("{} (and {} more)", text.substr(0, end),
                     std::count(text.begin(), text.end(), '\n'));
}

Result<void> checked(nvfp4rt_status status) {
  if (status == NVFP4RT_OK)
    return {};
  return nvfp4rt::fail(status, nvfp4rt_last_error());
}

/// A request in the form of the C interface; owns its strings.
class Fields {
public:
  explicit Fields(const nvfp4rt::Request &request) {
    for (size_t i = 0; i < nvfp4rt::kFieldCount; ++i) {
      const auto field = static_cast<nvfp4rt::Field>(i);
      if (auto value = request.get(field))
        texts.push_back({std::string(nvfp4rt::fieldName(field)),
                         nvfp4rt::fieldSymbols(field).empty() ? std::string()
                                                              : nvfp4rt::valueText(field, *value),
                         *value});
    }
    for (const Text &text : texts)
      fields.push_back({text.name.c_str(), text.symbol.empty() ? nullptr : text.symbol.c_str(),
                        text.symbol.empty() ? text.value : 0});
  }
  const nvfp4rt_field *data() const { return fields.data(); }
  size_t size() const { return fields.size(); }

private:
  struct Text {
    std::string name, symbol;
    int64_t value;
  };
  std::vector<Text> texts;
  std::vector<nvfp4rt_field> fields;
};

class HipTarget final : public Target {
public:
  HipTarget(nvfp4rt::HipApi hip, std::unique_ptr<nvfp4rt_bundle, CloseBundle> bundle, int device,
            std::string arch)
      : hip(std::move(hip)), bundle(std::move(bundle)), device(device), arch(std::move(arch)),
        lastFault(lastFaultOf(this->hip.library)) {}

  std::string description() const override {
    return fmt::format("{}, device {} ({})", hip.library, device, arch);
  }

  Result<void *> allocate(uint64_t bytes) override {
    void *address = nullptr;
    const int error = hip.hipMalloc(&address, bytes);
    if (error == kErrorOutOfMemory) {
      (void)hip.hipGetLastError(); // handled here; a later launch must not see it
      return nvfp4rt::fail(NVFP4RT_ERROR_OUT_OF_MEMORY,
                           fmt::format("hipMalloc of {} bytes: out of memory", bytes));
    }
    if (auto done = hip.check(error, "hipMalloc"); !done)
      return tl::unexpected(std::move(done.error()));
    return address;
  }

  void release(void *address) override {
    // A fault that made the context unusable has been reported by the launch.
    (void)hip.hipFree(address);
  }

  Result<void> write(void *to, const void *from, uint64_t bytes) override {
    return hip.check(hip.hipMemcpy(to, from, bytes, nvfp4rt::hip::kMemcpyHostToDevice),
                     "hipMemcpy to the device");
  }

  Result<void> read(void *to, const void *from, uint64_t bytes) override {
    return hip.check(hip.hipMemcpy(to, from, bytes, nvfp4rt::hip::kMemcpyDeviceToHost),
                     "hipMemcpy from the device");
  }

  Result<void> launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                      const void *args, size_t) override { // the struct says its own size
    const Fields fields(request);
    nvfp4rt_plan *raw = nullptr;
    if (auto made = checked(nvfp4rt_plan_create(bundle.get(), device, variant.family.c_str(),
                                                fields.data(), fields.size(), &raw));
        !made)
      return made;
    const std::unique_ptr<nvfp4rt_plan, DestroyPlan> plan(raw);
    if (nvfp4rt_plan_variant(raw) != variant.name || nvfp4rt_plan_symbol(raw) != variant.symbol)
      return nvfp4rt::fail(
          NVFP4RT_ERROR_INTERNAL,
          fmt::format("G2: request {}: expected variant {} and kernel {}, found {} and {}",
                      request.text(), variant.name, variant.symbol, nvfp4rt_plan_variant(raw),
                      nvfp4rt_plan_symbol(raw)));
    auto done = checked(nvfp4rt_launch(raw, args, nullptr));
    if (done)
      done = hip.check(hip.hipDeviceSynchronize(), "hipDeviceSynchronize after the launch");
    if (!done) {
      if (const std::string why = lastFault ? firstLine(lastFault()) : ""; !why.empty())
        done.error().message += ": " + why;
      // Reported here; where the device survives it, the next variant must not be blamed for it.
      (void)hip.hipDeviceSynchronize();
      (void)hip.hipGetLastError();
    }
    return done;
  }

private:
  nvfp4rt::HipApi hip;
  std::unique_ptr<nvfp4rt_bundle, CloseBundle> bundle;
  int device;
  std::string arch;
  LastFault *lastFault;
};

} // namespace

bool isEmulator(const std::string &hipLibrary) { return lastFaultOf(hipLibrary) != nullptr; }

Result<std::unique_ptr<Target>> makeHipTarget(const std::string &bundlePath,
                                              const std::string &hipLibrary, int device) {
  if (!hipLibrary.empty() && setenv("NVFP4RT_HIP_LIBRARY", hipLibrary.c_str(), 1) != 0)
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("HIP library {}: cannot be put in the environment", hipLibrary));
  nvfp4rt_bundle *raw = nullptr;
  if (auto opened = checked(nvfp4rt_bundle_open_file(bundlePath.c_str(), &raw)); !opened)
    return tl::unexpected(std::move(opened.error()));
  std::unique_ptr<nvfp4rt_bundle, CloseBundle> bundle(raw);
  auto hip = nvfp4rt::HipApi::load();
  if (!hip)
    return tl::unexpected(std::move(hip.error()));
  if (auto loaded = checked(nvfp4rt_bundle_load(raw, device)); !loaded)
    return tl::unexpected(std::move(loaded.error()));
  if (auto frozen = checked(nvfp4rt_bundle_freeze(raw)); !frozen)
    return tl::unexpected(std::move(frozen.error()));
  if (auto set = hip->check(hip->hipSetDevice(device), "hipSetDevice"); !set)
    return tl::unexpected(std::move(set.error()));
  auto arch = hip->archName(device);
  if (!arch)
    return tl::unexpected(std::move(arch.error()));
  return std::make_unique<HipTarget>(std::move(*hip), std::move(bundle), device, std::move(*arch));
}

} // namespace verify
